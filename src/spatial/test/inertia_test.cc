#include "kansetsu/spatial/inertia.h"

#include <Eigen/LU>

#include "kansetsu/spatial/eigen.h"
#include "spatial/test/support.h"

namespace kansetsu {
namespace {

using test::Lanes;
using test::Random;

constexpr double kTolerance = 4e-13;  // R·I·Rᵀ plus two lever arms: a hundred roundings of values below 200

double difference(const Matrix6d& a, const Matrix6d& b) { return (a - b).cwiseAbs().maxCoeff(); }

TEST_CASE("make_inertia: the point mass and the parallel-axis theorem") {
  const Inertia<> M = make_inertia(2.0, Vec3<>{0, 0, 3}, Sym3<>::diagonal(0.1, 0.2, 0.3));
  CHECK(M.h == Vec3<>{0, 0, 6});
  CHECK(std::abs(M.I.xx - 18.1) < 1e-14);  // one rounding of 18
  CHECK(std::abs(M.I.yy - 18.2) < 1e-14);  // one rounding of 18
  CHECK(M.I.zz == 0.3);
  CHECK(M.I.xy == 0);
}

TEST_CASE("inertia: products and transforms agree with 6×6 algebra") {
  const unsigned seed = 41;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Inertia<> M_B = random.inertia(), N_B = random.inertia();
    const Transform<> X = random.transform();
    const Motion<> V = random.motion();
    const Matrix6d dense = to_eigen(M_B);
    CHECK((to_eigen(M_B * V) - dense * to_eigen(V)).cwiseAbs().maxCoeff() < kTolerance);
    CHECK(difference(to_eigen(X * M_B), force_matrix(X) * dense * motion_matrix(X).inverse()) < kTolerance);
    CHECK(difference(to_eigen(M_B + N_B), dense + to_eigen(N_B)) < kTolerance);
    Matrix6d expected;  // written out: [I h̃; h̃ᵀ m·1]
    expected << to_eigen(M_B.I), to_eigen(skew(M_B.h)), -to_eigen(skew(M_B.h)), M_B.m * Eigen::Matrix3d::Identity();
    CHECK(difference(dense, expected) == 0);
  }
}

TEST_CASE("inertia: momentum and kinetic energy do not depend on the frame") {
  const unsigned seed = 42;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Inertia<> M_B = random.inertia();
    const Transform<> X_AB = random.transform();
    const Motion<> V_B = random.motion();
    CHECK(test::distance((X_AB * M_B) * (X_AB * V_B), X_AB * (M_B * V_B)) <
          5 * kTolerance);  // lever arms enter twice more
    CHECK(dot(V_B, M_B * V_B) > 0);
  }
}

TEST_CASE("articulated inertia: products, shift and transform agree with 6×6 algebra") {
  const unsigned seed = 43;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const ArticulatedInertia<> P = random.articulated(), Q = random.articulated();
    const Transform<> X = random.transform(), step{Mat3<>::identity(), X.p};
    const Motion<> V = random.motion();
    const Matrix6d dense = to_eigen(P);
    CHECK((to_eigen(P * V) - dense * to_eigen(V)).cwiseAbs().maxCoeff() < kTolerance);
    CHECK(difference(to_eigen(P + Q), dense + to_eigen(Q)) == 0);
    CHECK(difference(to_eigen(shift(X.p, P)), force_matrix(step) * dense * motion_matrix(step).inverse()) < kTolerance);
    CHECK(difference(to_eigen(X * P), force_matrix(X) * dense * motion_matrix(X).inverse()) < kTolerance);
  }
}

TEST_CASE("articulated inertia: a rigid body transforms alike in both forms") {
  const unsigned seed = 44;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Inertia<> M = random.inertia();
    const Transform<> X = random.transform();
    CHECK(difference(to_eigen(X * to_articulated(M)), to_eigen(X * M)) < kTolerance);
  }
}

TEST_CASE("inertia: packs give the bits of the scalar") {
  const unsigned seed = 45;
  CAPTURE(seed);
  Random random(seed);
  std::array<Transform<>, 4> X;
  std::array<Inertia<>, 4> M;
  std::array<ArticulatedInertia<>, 4> P;
  std::array<Motion<>, 4> V;
  for (std::size_t i = 0; i < 4; ++i)
    X[i] = random.transform(), M[i] = random.inertia(), P[i] = random.articulated(), V[i] = random.motion();
  const auto PX = test::pack<Transform<Lanes>>(X);
  const auto PM = test::pack<Inertia<Lanes>>(M);
  const auto PP = test::pack<ArticulatedInertia<Lanes>>(P);
  const auto PV = test::pack<Motion<Lanes>>(V);
  for (int i = 0; i < 4; ++i) {
    const auto k = std::size_t(i);
    test::require_same_bits(PM * PV, i, M[k] * V[k]);
    test::require_same_bits(PX * PM, i, X[k] * M[k]);
    test::require_same_bits(PP * PV, i, P[k] * V[k]);
    test::require_same_bits(PX * PP, i, X[k] * P[k]);
  }
}

}  // namespace
}  // namespace kansetsu
