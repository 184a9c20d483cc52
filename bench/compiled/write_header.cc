// write_header FILE: human28 as a compiled model, for bench_compiled.
#include <fstream>

#include "kansetsu/codegen/compile_model.h"
#include "kansetsu/model/figures.h"

int main(int, char** arguments) {
  std::ofstream(arguments[1]) << kansetsu::compile_model(kansetsu::human28(), "figure").text;
}
