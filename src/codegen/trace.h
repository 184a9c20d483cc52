#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

/// The operations on numbers, as a graph without repetitions.
namespace kansetsu::codegen {

enum class Op {
  kConstant,
  kInput,
  kAdd,
  kSub,
  kMul,
  kDiv,
  kMadd,
  kMsub,
  kNegate,
  kSqrt,
  kSin,
  kCos,
  kLess,
  kLessEqual,
  kEqual,
  kAnd,
  kOr,
  kNot,
  kSelect
};

/// The result of an operation, by its number in the trace.
using Value = int;

struct Operation {
  Op op;
  Value a = -1, b = -1, c = -1;  ///< operands; of an input: which array, and which of its numbers
  double value = 0;              ///< of a constant

  bool operator==(const Operation&) const = default;
};

/// Operations in a valid order of evaluation. Each operation exists once. Constant expressions are folded, and x + 0, x·1, x·0 and
/// −(−x) are simplified. x·0 is 0: a model's zeros are exact, and states are finite.
class Trace {
 public:
  Trace() { constant(0); }

  Value constant(double value) { return insert({Op::kConstant, -1, -1, -1, value == 0 ? 0.0 : value}); }
  Value input(int array, int index) { return insert({Op::kInput, array, index}); }
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, Value b);
  Value div(Value a, Value b);
  Value madd(Value a, Value b, Value c);  ///< a·b + c
  Value negate(Value a);
  Value sqrt(Value a);
  Value sin(Value a) { return insert({Op::kSin, a}); }
  Value cos(Value a) { return insert({Op::kCos, a}); }
  // Comparisons and their combinations: 1 where they hold, 0 elsewhere, as far as they are constant.
  Value less(Value a, Value b);
  Value less_equal(Value a, Value b);
  Value equal(Value a, Value b);
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value contrary(Value a);
  Value select(Value mask, Value if_true, Value if_false);

  const Operation& operator[](Value id) const { return operations_[std::size_t(id)]; }
  int size() const { return int(operations_.size()); }

  /// Which operations the results need, themselves included.
  std::vector<bool> needed_for(const std::vector<Value>& results) const;

 private:
  struct Hash {
    std::size_t operator()(const Operation& x) const;
  };
  Value insert(const Operation& x);
  bool is(Value id, double value) const;
  bool constants(Value a, Value b) const;
  Value without_sign(Value a, bool& negative) const;

  std::vector<Operation> operations_;
  std::unordered_map<Operation, Value, Hash> known_;
};

}  // namespace kansetsu::codegen
