#include "kansetsu/spatial/small_matrix.h"

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "kansetsu/spatial/eigen.h"
#include "spatial/test/support.h"

namespace kansetsu {
namespace {

using test::Lanes;
using test::Random;

template <int N>
using Dense = Eigen::Matrix<double, N, N>;
template <int N>
using DenseVector = Eigen::Matrix<double, N, 1>;

template <int N>
Dense<N> random_positive(Random& random) {
  Dense<N> m;
  for (double& x : m.reshaped()) x = random.number();
  return m * m.transpose() + 0.5 * Dense<N>::Identity();
}
template <int N>
Lower<double, N> lower(const Dense<N>& m) {
  Lower<double, N> a;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) a(i, j) = m(i, j);
  return a;
}
template <int N>
Dense<N> dense(const Lower<double, N>& a) {
  Dense<N> m;
  for (int i = 0; i < N; ++i)
    for (int j = 0; j <= i; ++j) m(i, j) = m(j, i) = a(i, j);
  return m;
}

// One copy each of what would otherwise be unrolled into every test: sanitizers make that slow to compile.
template <int N>
[[gnu::noinline]] Ldlt<double, N> factor_dense(const Dense<N>& A, double floor) {
  return Ldlt<double, N>::factor(lower<N>(A), floor);
}
template <int N>
[[gnu::noinline]] Dense<N> inverse_dense(const Ldlt<double, N>& f) {
  return dense<N>(f.inverse());
}
template <int N>
[[gnu::noinline]] DenseVector<N> solve_dense(const Ldlt<double, N>& f, const DenseVector<N>& b) {
  double x[N];
  DenseVector<N>::Map(x) = b;
  f.solve(x);
  return DenseVector<N>::Map(x);
}

constexpr double kRelative = 1e-12;  // eps times the condition number, which 0.5·1 keeps below 200, times N²

template <int N>
void check_against_eigen(unsigned seed) {
  CAPTURE(N);
  CAPTURE(seed);
  Random random(seed);
  for (int round = 0; round < 50; ++round) {
    const Dense<N> A = random_positive<N>(random);
    DenseVector<N> b;
    for (double& x : b.reshaped()) x = random.number();
    const Ldlt<double, N> f = factor_dense<N>(A, 0.0);
    const DenseVector<N> x = A.ldlt().solve(b);
    CHECK((solve_dense<N>(f, b) - x).norm() < kRelative * (1 + x.norm()));
    CHECK((inverse_dense<N>(f) - A.inverse()).norm() < kRelative * A.inverse().norm());
    CHECK(f.dropped == 0);
    double product = 1, least = 1e300;
    for (int i = 0; i < N; ++i) product /= f.l(i, i), least = std::min(least, 1 / f.l(i, i));
    CHECK(std::abs(product - A.determinant()) < kRelative * A.determinant());
    CHECK(std::abs(f.least_pivot - least) < 1e-15 * least * 4);  // two roundings
  }
}

TEST_CASE("ldlt: factor, solve and inverse agree with Eigen for N = 1 … 6") {
  check_against_eigen<1>(51);
  check_against_eigen<2>(52);
  check_against_eigen<3>(53);
  check_against_eigen<4>(54);
  check_against_eigen<5>(55);
  check_against_eigen<6>(56);
}

TEST_CASE("ldlt: a dropped pivot gives no response there, and the rest solves the system without it") {
  const unsigned seed = 57;
  CAPTURE(seed);
  Random random(seed);
  for (int dropped = 0; dropped < 6; ++dropped) {
    CAPTURE(dropped);
    Dense<6> A = random_positive<6>(random);
    A.row(dropped).setZero();
    A.col(dropped).setZero();
    DenseVector<6> b = DenseVector<6>::Ones();
    const Ldlt<double, 6> f = factor_dense<6>(A, 1e-9);
    CHECK(f.dropped == 1);
    CHECK(f.least_pivot == 0);
    A(dropped, dropped) = 1;
    DenseVector<6> x = A.ldlt().solve(b);
    x(dropped) = 0;
    CHECK((solve_dense<6>(f, b) - x).norm() < kRelative * (1 + x.norm()));
    Dense<6> inverse = A.inverse();
    inverse.row(dropped).setZero();
    inverse.col(dropped).setZero();
    CHECK((inverse_dense<6>(f) - inverse).norm() < kRelative * inverse.norm());
  }
}

TEST_CASE("ldlt: a rank-deficient matrix solves consistent systems and never gives ∞ or NaN") {
  const unsigned seed = 58;
  CAPTURE(seed);
  Random random(seed);
  for (int rank = 0; rank < 6; ++rank) {
    CAPTURE(rank);
    Dense<6> A = Dense<6>::Zero();
    for (int i = 0; i < rank; ++i) {
      DenseVector<6> v;
      for (double& x : v.reshaped()) x = random.number();
      A += v * v.transpose();
    }
    const Ldlt<double, 6> f = factor_dense<6>(A, 1e-9);
    CHECK(f.dropped == 6 - rank);
    const DenseVector<6> b = A * DenseVector<6>::Ones(), x = solve_dense<6>(f, b);
    CHECK(x.allFinite());
    CHECK((A * x - b).norm() < 1e-10);  // pivots of random vectors may be as small as 1e-4: eps·1e4·|b|
    CHECK(inverse_dense<6>(f).allFinite());
  }
}

TEST_CASE("ldlt: a NaN is not hidden by the floor") {
  Sym3<> A = Sym3<>::diagonal(1, std::nan(""), 1);
  CHECK(std::isnan(solve(factor(A, 0.0), Vec3<>{1, 1, 1}).y));
}

TEST_CASE("invert_sym3 and the solve with a Sym3 agree with Eigen") {
  const unsigned seed = 59;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Sym3<> A = random.positive();
    const Vec3<> b = random.vector();
    const Eigen::Matrix3d inverse = to_eigen(A).inverse();
    const double scale = kRelative * inverse.norm();
    CHECK((to_eigen(invert_sym3(A, 0.0)) - inverse).norm() < scale);
    CHECK((to_eigen(solve(factor(A, 0.0), b)) - inverse * to_eigen(b)).norm() < 4 * scale);  // |b| < 4
  }
}

TEST_CASE("articulated inertia: P⁻¹·F agrees with Eigen, and a point mass does not turn") {
  const unsigned seed = 60;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const ArticulatedInertia<> P = to_articulated(random.inertia());
    const Force<> F = random.force();
    const Vector6d x = to_eigen(P).ldlt().solve(to_eigen(F));
    CHECK((to_eigen(solve(factor(P, 0.0), F)) - x).norm() < 1e-10 * (1 + x.norm()));  // condition number up to 1e4 here
  }
  const ArticulatedInertia<> point = to_articulated(Inertia<>{2, {}, {}});
  const Ldlt<double, 6> f = factor(point, 1e-12);
  CHECK(f.dropped == 3);
  CHECK(solve(f, Force<>{{1, 1, 1}, {2, 4, 6}}) == Motion<>{{}, {1, 2, 3}});
}

TEST_CASE("ldlt: packs give the bits of the scalar, with dropped pivots in some lanes only") {
  const unsigned seed = 61;
  CAPTURE(seed);
  Random random(seed);
  std::array<ArticulatedInertia<>, 4> P;
  std::array<Force<>, 4> F;
  for (std::size_t i = 0; i < 4; ++i) P[i] = to_articulated(random.inertia()), F[i] = random.force();
  P[2] = to_articulated(Inertia<>{2, {}, {}});
  const auto packed = factor(test::pack<ArticulatedInertia<Lanes>>(P), Lanes(1e-9));
  const auto x = solve(packed, test::pack<Force<Lanes>>(F));
  for (int i = 0; i < 4; ++i) {
    const auto f = factor(P[std::size_t(i)], 1e-9);
    test::require_same_bits(packed, i, f);
    test::require_same_bits(packed.inverse(), i, f.inverse());
    test::require_same_bits(x, i, solve(f, F[std::size_t(i)]));
  }
}

}  // namespace
}  // namespace kansetsu
