#include <doctest/doctest.h>

#include "codegen/algorithms.h"
#include "kansetsu/dynamics/dynamics.h"
#include "random_models.h"

/// What compiled models compute, operation by operation, is what the library computes: on every kind of tree.
using namespace kansetsu;
using codegen::Value, codegen::Op;

namespace {

using Arrays = std::vector<Eigen::VectorXd>;

double evaluate(const codegen::Operation& x, const std::vector<double>& r, const Arrays& in) {
  const auto at = [&](Value id) { return r[size_t(id)]; };
  switch (x.op) {
    case Op::kConstant:
      return x.value;
    case Op::kInput:
      return in[size_t(x.a)][x.b];
    case Op::kAdd:
      return at(x.a) + at(x.b);
    case Op::kSub:
      return at(x.a) - at(x.b);
    case Op::kMul:
      return at(x.a) * at(x.b);
    case Op::kDiv:
      return at(x.a) / at(x.b);
    case Op::kMadd:
      return at(x.a) * at(x.b) + at(x.c);
    case Op::kMsub:
      return at(x.c) - at(x.a) * at(x.b);
    case Op::kNegate:
      return -at(x.a);
    case Op::kSqrt:
      return std::sqrt(at(x.a));
    case Op::kSin:
      return std::sin(at(x.a));
    case Op::kCos:
      return std::cos(at(x.a));
    case Op::kLess:
      return at(x.a) < at(x.b) ? 1 : 0;
    case Op::kLessEqual:
      return at(x.a) <= at(x.b) ? 1 : 0;
    case Op::kEqual:
      return at(x.a) == at(x.b) ? 1 : 0;
    case Op::kAnd:
      return at(x.a) * at(x.b);
    case Op::kOr:
      return std::max(at(x.a), at(x.b));
    case Op::kNot:
      return 1 - at(x.a);
    case Op::kSelect:
      return at(x.a) != 0 ? at(x.b) : at(x.c);
  }
  return NAN;
}

Eigen::VectorXd evaluate(const codegen::Algorithm& algorithm, const Arrays& in) {
  std::vector<double> r;
  for (Value id = 0; id < algorithm.trace.size(); ++id) r.push_back(evaluate(algorithm.trace[id], r, in));
  Eigen::VectorXd out(Eigen::Index(algorithm.results.size()));
  for (Eigen::Index i = 0; i < out.size(); ++i) out[i] = r[size_t(algorithm.results[size_t(i)])];
  return out;
}

double relative(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}

}  // namespace

TEST_CASE("compiled: traces of all kinds of trees give the library's results") {
  for (const auto& [seed, model] : test::invariant_models(20)) {
    CAPTURE(seed);
    const std::vector<codegen::Algorithm> algorithms = codegen::trace_algorithms(model);
    REQUIRE(algorithms.size() == 4);
    std::mt19937_64 rng(seed + 1);
    for (int i = 0; i < 3; ++i) {
      const State state = test::regular_state(model, rng);
      const Eigen::VectorXd x = test::random_vector(model.nv(), rng);
      // Both round some hundred times on the way; forward dynamics divides by projected inertias on top.
      CHECK(relative(evaluate(algorithms[0], {state.q, state.v, x}), rnea(model, state, x)) < 1e-12);
      CHECK(relative(evaluate(algorithms[1], {state.q}), crba(model, state.q).reshaped()) < 1e-12);
      CHECK(relative(evaluate(algorithms[2], {state.q, state.v, x}), aba(model, state, x).vdot) < 1e-8);
    }
  }
}
