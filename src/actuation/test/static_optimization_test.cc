#include "kansetsu/actuation/static_optimization.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kansetsu/base/error.h"
#include "no_alloc.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

struct Problem {
  Eigen::MatrixXd A;
  Eigen::VectorXd b, lower, upper;
};

/// As of a leg: few moments, many muscles, each across one or two joints.
Problem random_problem(std::mt19937& rng, long moments, long muscles, double strain) {
  std::uniform_real_distribution<double> moment(-60, 60);
  std::uniform_int_distribution<long> joint(0, moments - 1);
  Problem p{Eigen::MatrixXd::Zero(moments, muscles), Eigen::VectorXd(moments), {}, {}};
  for (long i = 0; i < muscles; ++i)
    for (int k = 0; k < 2; ++k) p.A(joint(rng), i) = moment(rng);
  for (long j = 0; j < moments; ++j) p.b[j] = strain * moment(rng);
  p.lower = Eigen::VectorXd::Constant(muscles, 0.01), p.upper = Eigen::VectorXd::Ones(muscles);
  return p;
}

}  // namespace

TEST_CASE("static optimization: moments are met, and no other activations cost less") {
  constexpr unsigned kSeed = 92;
  CAPTURE(kSeed);
  std::mt19937 rng(kSeed);
  for (int i = 0; i < 300; ++i) {
    CAPTURE(i);
    const Problem p = random_problem(rng, 1 + i % 20, 1 + i % 92, i % 3 == 0 ? 10 : 0.5);
    const double reserve = i % 2 == 0 ? 1 : 0.1;
    StaticOptimization optimum({.reserve = reserve});
    const SharedMoments& s = optimum.solve(p.A, p.b, p.lower, p.upper);
    REQUIRE(s.solved);
    const Eigen::VectorXd error = p.A * s.activations + s.reserves - p.b;
    CHECK(error.cwiseAbs().maxCoeff() < 2e-8 * std::max(1.0, p.b.cwiseAbs().maxCoeff()));  // its own tolerance, twice
    // Karush, Kuhn and Tucker: the problem is convex, so whatever has multipliers is the optimum.
    const Eigen::VectorXd lambda = s.reserves / (reserve * reserve);
    for (long k = 0; k < p.A.cols(); ++k)
      CHECK(s.activations[k] ==
            doctest::Approx(std::clamp(p.A.col(k).dot(lambda), p.lower[k], p.upper[k])).epsilon(1e-9));
  }
}

TEST_CASE("static optimization: of two muscles the one with twice the moment works twice as hard") {
  StaticOptimization optimum({.reserve = 0.1});
  const Eigen::MatrixXd A = Eigen::RowVector2d{20, 40};
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(2), one = Eigen::VectorXd::Ones(2);
  const SharedMoments& s = optimum.solve(A, Eigen::VectorXd::Constant(1, 10), zero, one);
  CHECK(s.activations[0] == doctest::Approx(0.1).epsilon(1e-4));  // 20·0.1 + 40·0.2 = 10; the reserve takes 5e-6 of it
  CHECK(s.activations[1] == doctest::Approx(0.2).epsilon(1e-4));
  // What is too much is left to the reserve.
  const SharedMoments& strained = optimum.solve(A, Eigen::VectorXd::Constant(1, 100), zero, one);
  CHECK(strained.activations == one);
  CHECK(strained.reserves[0] == doctest::Approx(40));
}

TEST_CASE("static optimization: solved again from its own solution it takes no step, and allocates nothing") {
  std::mt19937 rng(7);
  const Problem p = random_problem(rng, 17, 92, 0.3);
  StaticOptimization optimum;
  CHECK(optimum.solve(p.A, p.b, p.lower, p.upper).steps > 0);
  CHECK(optimum.solve(p.A, p.b, p.lower, p.upper).steps == 0);
  const Eigen::VectorXd other = -p.b;
  CHECK(allocations_in([&] { optimum.solve(p.A, other, p.lower, p.upper); }) == 0);
}

TEST_CASE("static optimization refuses numbers that make no problem") {
  StaticOptimization optimum;
  const Eigen::MatrixXd A = Eigen::MatrixXd::Ones(1, 2);
  const Eigen::VectorXd b = Eigen::VectorXd::Ones(1), zero = Eigen::VectorXd::Zero(2), one = Eigen::VectorXd::Ones(2);
  CHECK_THROWS_AS(optimum.solve(A, zero, zero, one), Error);
  CHECK_THROWS_AS(optimum.solve(A, b, one, zero), Error);
  CHECK_THROWS_AS(optimum.solve(A, b * NAN, zero, one), Error);
  CHECK_THROWS_AS(StaticOptimization({.reserve = 0}), Error);
}
