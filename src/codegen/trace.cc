#include "codegen/trace.h"

#include <bit>
#include <cmath>

namespace kansetsu::codegen {

std::size_t Trace::Hash::operator()(const Operation& x) const {
  std::uint64_t h = std::bit_cast<std::uint64_t>(x.value) ^ std::uint64_t(x.op);
  for (const Value id : {x.a, x.b, x.c})
    h = (h ^ std::uint64_t(id)) * 0x9e3779b97f4a7c15ull;  // 2⁶⁴ over the golden ratio
  return std::size_t(h ^ (h >> 29));
}

Value Trace::insert(const Operation& x) {
  const auto [at, is_new] = known_.try_emplace(x, size());
  if (is_new) operations_.push_back(x);
  return at->second;
}

bool Trace::is(Value id, double value) const { return (*this)[id].op == Op::kConstant && (*this)[id].value == value; }

bool Trace::constants(Value a, Value b) const {
  return (*this)[a].op == Op::kConstant && (*this)[b].op == Op::kConstant;
}

Value Trace::without_sign(Value a, bool& negative) const {
  if ((*this)[a].op != Op::kNegate) return a;
  negative = !negative;
  return (*this)[a].a;
}

Value Trace::negate(Value a) {
  if ((*this)[a].op == Op::kConstant) return constant(-(*this)[a].value);
  if ((*this)[a].op == Op::kNegate) return (*this)[a].a;
  return insert({Op::kNegate, a});
}

Value Trace::add(Value a, Value b) {
  if (constants(a, b)) return constant((*this)[a].value + (*this)[b].value);
  if (is(a, 0)) return b;
  if (is(b, 0)) return a;
  if ((*this)[b].op == Op::kNegate) return sub(a, (*this)[b].a);
  if ((*this)[a].op == Op::kNegate) return sub(b, (*this)[a].a);
  return insert({Op::kAdd, std::min(a, b), std::max(a, b)});
}

Value Trace::sub(Value a, Value b) {
  if (constants(a, b)) return constant((*this)[a].value - (*this)[b].value);
  if (is(b, 0)) return a;
  if (is(a, 0)) return negate(b);
  if ((*this)[b].op == Op::kNegate) return add(a, (*this)[b].a);
  return insert({Op::kSub, a, b});
}

Value Trace::mul(Value a, Value b) {
  if (constants(a, b)) return constant((*this)[a].value * (*this)[b].value);
  if (is(a, 0) || is(b, 0)) return constant(0);
  if (is(a, 1)) return b;
  if (is(b, 1)) return a;
  bool negative = is(a, -1) || is(b, -1);
  if (negative) return negate(is(a, -1) ? b : a);
  a = without_sign(a, negative);
  b = without_sign(b, negative);
  const Value product = insert({Op::kMul, std::min(a, b), std::max(a, b)});
  return negative ? negate(product) : product;
}

Value Trace::div(Value a, Value b) {
  if (constants(a, b)) return constant((*this)[a].value / (*this)[b].value);
  return insert({Op::kDiv, a, b});
}

Value Trace::madd(Value a, Value b, Value c) {
  if (constants(a, b) || is(a, 0) || is(b, 0) || is(a, 1) || is(b, 1) || is(a, -1) || is(b, -1))
    return add(mul(a, b), c);
  if (is(c, 0)) return mul(a, b);
  bool negative = false;
  a = without_sign(a, negative);
  b = without_sign(b, negative);
  return insert({negative ? Op::kMsub : Op::kMadd, std::min(a, b), std::max(a, b), c});
}

Value Trace::sqrt(Value a) {
  if ((*this)[a].op == Op::kConstant) return constant(std::sqrt((*this)[a].value));
  return insert({Op::kSqrt, a});
}

Value Trace::less(Value a, Value b) {
  if (constants(a, b)) return constant((*this)[a].value < (*this)[b].value ? 1 : 0);
  return insert({Op::kLess, a, b});
}

Value Trace::less_equal(Value a, Value b) {
  if (constants(a, b)) return constant((*this)[a].value <= (*this)[b].value ? 1 : 0);
  return insert({Op::kLessEqual, a, b});
}

Value Trace::equal(Value a, Value b) {
  if (constants(a, b)) return constant((*this)[a].value == (*this)[b].value ? 1 : 0);
  return insert({Op::kEqual, a, b});
}

Value Trace::both(Value a, Value b) {
  if (is(a, 0) || is(b, 0)) return constant(0);
  if (is(a, 1)) return b;
  return is(b, 1) ? a : insert({Op::kAnd, a, b});
}

Value Trace::either(Value a, Value b) {
  if (is(a, 1) || is(b, 1)) return constant(1);
  if (is(a, 0)) return b;
  return is(b, 0) ? a : insert({Op::kOr, a, b});
}

Value Trace::contrary(Value a) {
  if ((*this)[a].op == Op::kConstant) return constant(1 - (*this)[a].value);
  return insert({Op::kNot, a});
}

Value Trace::select(Value mask, Value if_true, Value if_false) {
  if (if_true == if_false || is(mask, 1)) return if_true;
  if (is(mask, 0)) return if_false;
  return insert({Op::kSelect, mask, if_true, if_false});
}

std::vector<bool> Trace::needed_for(const std::vector<Value>& results) const {
  std::vector<bool> needed(operations_.size(), false);
  for (const Value id : results) needed[std::size_t(id)] = true;
  for (Value id = size() - 1; id >= 0; --id) {
    const Operation& x = (*this)[id];
    if (!needed[std::size_t(id)] || x.op == Op::kInput) continue;
    for (const Value operand : {x.a, x.b, x.c}) {
      if (operand >= 0) needed[std::size_t(operand)] = true;
    }
  }
  return needed;
}

}  // namespace kansetsu::codegen
