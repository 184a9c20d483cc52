#define KANSETSU_ISA baseline
#include "constraint/contact_linear_kernel.h"

#include <doctest/doctest.h>

#include <Eigen/Dense>
#include <limits>
#include <random>
#include <vector>

using namespace kansetsu::kernel;

TEST_CASE("elimination in order solves systems of every size, whatever stands in memory behind them") {
  std::mt19937 rng(5);
  std::normal_distribution<double> normal;
  for (int n = 1; n <= 60; ++n) {
    const int padded = (n + 7) / 8 * 8, stride = padded + 16;
    const double junk = std::numeric_limits<double>::quiet_NaN();
    std::vector<double> A(size_t((padded + 1) * stride), junk), lower = A, inverse(size_t(stride), junk),
                                                                right = inverse, x = inverse, least = inverse;
    Eigen::MatrixXd matrix(n, n);
    for (int i = 0; i < n; ++i) {
      for (int j = 0; j < n; ++j) matrix(i, j) = (i + j) % 3 == 0 ? 0 : normal(rng);  // with zeros to pass over
      matrix(i, i) += 3 * n;
      for (int j = 0; j < padded; ++j) A[size_t(i * stride + j)] = j < n ? matrix(i, j) : 0;
      least[size_t(i)] = 1e-9 * matrix(i, i);
    }
    const OrderedSystem s{A.data(), lower.data(), inverse.data(), n, stride};
    REQUIRE(factorise_in_order(s, least.data()));
    for (int side = 0; side < 2; ++side) {  // the factor serves again
      const Eigen::VectorXd b = Eigen::VectorXd::NullaryExpr(n, [&] { return normal(rng); });
      std::copy(b.begin(), b.end(), right.begin());
      substitute_forward(s, right.data(), x.data());
      substitute_back(s, x.data());
      const Eigen::VectorXd answer = Eigen::Map<const Eigen::VectorXd>(x.data(), n);
      CAPTURE(n);
      CHECK((matrix * answer - b).norm() < 1e-13 * b.norm());  // rounding: the diagonal is the largest by far
      for (int i = n; i < padded; ++i) CHECK(x[size_t(i)] == 0);
    }
  }
}

TEST_CASE("elimination in order ends where a pivot falls below its least") {
  for (const double rest : {0.5e-9, 2e-9}) {  // of the diagonal
    const double least[2] = {1e-9, 1e-9};
    double A[2 * 24] = {}, lower[2 * 24] = {}, inverse[8];
    A[0] = A[1] = A[24] = 1, A[25] = 1 + rest;
    CHECK(factorise_in_order({A, lower, inverse, 2, 24}, least) == (rest > 1e-9));
  }
}
