#include "kansetsu/spatial/vec3.h"

#include <Eigen/Geometry>

#include "kansetsu/spatial/eigen.h"
#include "spatial/test/support.h"

namespace kansetsu {
namespace {

using test::distance;
using test::Lanes;
using test::Random;

constexpr double kTolerance = 1e-14;  // products of three numbers up to 2, a dozen roundings of values below 50

double difference(const Vec3<>& a, const Eigen::Vector3d& b) { return (to_eigen(a) - b).cwiseAbs().maxCoeff(); }
template <class M>
double difference(const M& a, const Eigen::Matrix3d& b) {
  return (to_eigen(a) - b).cwiseAbs().maxCoeff();
}

TEST_CASE("vec3: products agree with Eigen") {
  const unsigned seed = 21;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Vec3<> a = random.vector(), b = random.vector(), c = random.vector();
    const Mat3<> A = random.matrix(), B = random.matrix();
    const Sym3<> S = random.symmetric();
    const Eigen::Vector3d ea = to_eigen(a), eb = to_eigen(b), ec = to_eigen(c);
    const Eigen::Matrix3d eA = to_eigen(A), eB = to_eigen(B), eS = to_eigen(S);
    CHECK(std::abs(dot(a, b) - ea.dot(eb)) < kTolerance);
    CHECK(std::abs(norm(a) - ea.norm()) < kTolerance);
    CHECK(difference(cross(a, b), ea.cross(eb)) < kTolerance);
    CHECK(difference(add_cross(c, a, b), ec + ea.cross(eb)) < kTolerance);
    CHECK(difference(madd(2.5, a, b), 2.5 * ea + eb) < kTolerance);
    CHECK(difference(A * b, eA * eb) < kTolerance);
    CHECK(difference(transpose_times(A, b), eA.transpose() * eb) < kTolerance);
    CHECK(difference(row_times(a, B), eB.transpose() * ea) < kTolerance);
    CHECK(difference(A * B, eA * eB) < kTolerance);
    CHECK(difference(times_transpose(A, B), eA * eB.transpose()) < kTolerance);
    CHECK(difference(transpose(A), eA.transpose()) == 0);
    CHECK(difference(outer(a, b), ea * eb.transpose()) < kTolerance);
    CHECK(difference(skew(a) * b, ea.cross(eb)) < kTolerance);
    CHECK(difference(S * b, eS * eb) < kTolerance);
    CHECK(difference(congruence(A, S), eA * eS * eA.transpose()) < 10 * kTolerance);  // five factors, values below 500
    CHECK(difference(A + B, eA + eB) == 0);
    CHECK(difference(A - B, eA - eB) == 0);
    CHECK(difference(3.0 * A, 3 * eA) == 0);
    CHECK(difference(to_sym3(to_mat3(S)), eS) == 0);
  }
}

TEST_CASE("vec3: columns, in-place sums and identity") {
  const Mat3<> A{{1, 2, 3}, {4, 5, 6}, {7, 8, 9}};
  CHECK(A.column_x() == Vec3<>{1, 4, 7});
  CHECK(A.column_y() == Vec3<>{2, 5, 8});
  CHECK(A.column_z() == Vec3<>{3, 6, 9});
  Vec3<> a{1, 2, 3};
  a += {1, 1, 1};
  a -= {0, 0, 4};
  CHECK(a == Vec3<>{2, 3, 0});
  CHECK(Mat3<>::identity() * a == a);
  CHECK(Sym3<>::diagonal(1, 2, 3) * a == Vec3<>{2, 6, 0});
}

TEST_CASE("vec3: a NaN in a vector is not equal to itself, as for numbers") {
  const Vec3<> a{0, std::nan(""), 0};
  CHECK_FALSE(a == a);
}

TEST_CASE("vec3: packs give the bits of the scalar") {
  const unsigned seed = 22;
  CAPTURE(seed);
  Random random(seed);
  std::array<Mat3<>, 4> A, B;
  std::array<Sym3<>, 4> S;
  for (auto& a : A) a = random.matrix();
  for (auto& b : B) b = random.matrix();
  for (auto& s : S) s = random.symmetric();
  const auto PA = test::pack<Mat3<Lanes>>(A), PB = test::pack<Mat3<Lanes>>(B);
  const auto PS = test::pack<Sym3<Lanes>>(S);
  for (int i = 0; i < 4; ++i) {
    const auto k = std::size_t(i);
    test::require_same_bits(PA * PB, i, A[k] * B[k]);
    test::require_same_bits(congruence(PA, PS), i, congruence(A[k], S[k]));
    test::require_same_bits(add_cross(PA.x, PA.y, PB.z), i, add_cross(A[k].x, A[k].y, B[k].z));
  }
}

}  // namespace
}  // namespace kansetsu
