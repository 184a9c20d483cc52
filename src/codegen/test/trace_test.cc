#include "codegen/trace.h"

#include <doctest/doctest.h>

#include "kansetsu/base/error.h"
#include "kansetsu/codegen/compile_model.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;
using codegen::Value, codegen::Op, codegen::Trace;

TEST_CASE("trace: what is known beforehand is no operation") {
  Trace t;
  const Value x = t.input(0, 0), y = t.input(0, 1), zero = t.constant(0), one = t.constant(1), minus = t.constant(-1);
  const int before = t.size();
  CHECK(zero == 0);  // memory full of zeros is full of the number zero
  CHECK(t.constant(-0.0) == zero);
  CHECK(t.add(x, zero) == x);
  CHECK(t.sub(x, zero) == x);
  CHECK(t.mul(one, x) == x);
  CHECK(t.mul(x, zero) == zero);
  CHECK(t.madd(x, zero, y) == y);
  CHECK(t.select(t.less(x, y), x, x) == x);
  CHECK(t.size() == before + 1);  // the comparison
  CHECK(t.mul(t.constant(2), t.constant(0.5)) == one);
  CHECK(t.select(t.less(zero, one), x, y) == x);  // a body without inertia: what 1/0 is does not matter
  CHECK(t.select(t.both(t.less_equal(one, zero), t.equal(x, y)), x, y) == y);
  CHECK(t.select(t.either(t.contrary(t.equal(one, zero)), t.equal(x, y)), x, y) == x);
  CHECK(t.negate(t.negate(x)) == x);
  CHECK(t.mul(minus, x) == t.negate(x));
}

TEST_CASE("trace: an operation exists once, signs go where they cost nothing") {
  Trace t;
  const Value x = t.input(0, 0), y = t.input(0, 1), z = t.input(1, 0);
  CHECK(t.mul(x, y) == t.mul(y, x));
  CHECK(t.add(x, y) == t.add(y, x));
  CHECK(t.sub(x, y) != t.sub(y, x));
  CHECK(t.add(x, t.negate(y)) == t.sub(x, y));
  CHECK(t.sub(x, t.negate(y)) == t.add(x, y));
  const Value difference = t.madd(t.negate(x), y, z);
  CHECK(t[difference].op == Op::kMsub);
  CHECK(t.madd(x, t.negate(y), z) == difference);
  CHECK(t[t.madd(t.negate(x), t.negate(y), z)].op == Op::kMadd);
}

TEST_CASE("trace: only what a result needs is needed") {
  Trace t;
  const Value x = t.input(0, 0), y = t.input(0, 1);
  const Value used = t.mul(x, x), unused = t.mul(y, y);
  const auto needed = t.needed_for({t.add(used, t.constant(3))});
  CHECK(needed[size_t(used)]);
  CHECK(needed[size_t(x)]);
  CHECK_FALSE(needed[size_t(unused)]);
  CHECK_FALSE(needed[size_t(y)]);
}

TEST_CASE("compile_model: names, sizes and what is refused") {
  const CompiledModel pendulum = compile_model(*find_figure("pendulum"));
  CHECK(pendulum.name == "pendulum_model");
  CHECK(pendulum.angles == 1);
  CHECK(pendulum.rnea_operations < 12);  // m·l²·q̈ + m·g·l·sin q, rotor included: a handful
  CHECK(pendulum.text.find("namespace pendulum_model {") != std::string::npos);
  CHECK(compile_model(human28(), "figure").text.find("inline constexpr int nq = 35, nv = 34;") != std::string::npos);
  CHECK_THROWS_WITH_AS(compile_model(human28(), "two words"),
                       "compile_model: the name 'two words' is not an identifier: use letters, digits and _", Error);
  CHECK_THROWS_AS(compile_model(human28(), "2legs"), Error);
  CHECK_THROWS_AS(compile_model(*find_figure("chain128")), Error);
}
