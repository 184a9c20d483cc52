#pragma once

#include <string>
#include <vector>

#include "codegen/trace.h"
#include "kansetsu/model/model.h"

/// The algorithms that are compiled, as traces of the library's kernels.
namespace kansetsu::codegen {

/// An argument: an array of `size` numbers.
struct Argument {
  std::string name;
  int size;
};

struct Algorithm {
  std::string name, comment;
  std::vector<Argument> inputs;  ///< the n-th is array n of the trace
  Argument output;
  Trace trace;
  std::vector<Value> results;  ///< of the output
};

std::vector<Algorithm> trace_algorithms(const Model& model);

}  // namespace kansetsu::codegen
