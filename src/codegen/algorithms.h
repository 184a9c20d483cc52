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

/// The precision an algorithm is for: a joint counts as singular sooner in single precision.
enum class Precision { kAny, kDouble, kSingle };

struct Algorithm {
  std::string name, comment;
  std::vector<Argument> inputs;  ///< the n-th is array n of the trace
  Argument output;
  Precision precision = Precision::kAny;
  Trace trace{};
  std::vector<Value> results{};  ///< of the output
};

/// rnea, crba, aba, and aba in single precision.
std::vector<Algorithm> trace_algorithms(const Model& model);

}  // namespace kansetsu::codegen
