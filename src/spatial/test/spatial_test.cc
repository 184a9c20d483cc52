#include "kansetsu/spatial/spatial.h"

#include <Eigen/Geometry>
#include <Eigen/LU>

#include "kansetsu/spatial/eigen.h"
#include "spatial/test/support.h"
#include "spatial/test/vectors.h"

namespace kansetsu {
namespace {

using test::distance;
using test::Lanes;
using test::Random;

constexpr double kTolerance =
    5e-14;  // products of up to four numbers below 4, some twenty roundings of values below 100

// Only meaningful products exist.
template <class A, class B>
concept CanAdd = requires(A a, B b) { a + b; };
template <class A, class B>
concept CanMultiply = requires(A a, B b) { a* b; };
template <class A, class B>
concept CanDot = requires(A a, B b) { dot(a, b); };
template <class A, class B>
concept CanCross = requires(A a, B b) { cross(a, b); };
template <class A, class B>
concept CanAssign = requires(A a, B b) { a = b; };

static_assert(CanAdd<Motion<>, Motion<>> && CanAdd<Force<>, Force<>>);
static_assert(!CanAdd<Motion<>, Force<>> && !CanAdd<Force<>, Motion<>> && !CanAdd<Motion<>, Vec3<>>);
static_assert(CanDot<Motion<>, Force<>>);
static_assert(!CanDot<Motion<>, Motion<>> && !CanDot<Force<>, Force<>> && !CanDot<Vec3<>, Motion<>>);
static_assert(CanCross<Motion<>, Motion<>> && CanCross<Motion<>, Force<>>);
static_assert(!CanCross<Force<>, Motion<>> && !CanCross<Force<>, Force<>>);
static_assert(CanMultiply<Inertia<>, Motion<>> && CanMultiply<ArticulatedInertia<>, Motion<>>);
static_assert(!CanMultiply<Inertia<>, Force<>> && !CanMultiply<ArticulatedInertia<>, Force<>>);
static_assert(!CanMultiply<Inertia<>, Inertia<>> && !CanMultiply<Inertia<>, Vec3<>>);
static_assert(CanMultiply<Transform<>, Motion<>> && CanMultiply<Transform<>, Force<>> &&
              CanMultiply<Transform<>, Transform<>>);
static_assert(CanMultiply<Transform<>, Inertia<>> && CanMultiply<Transform<>, ArticulatedInertia<>>);
static_assert(!CanMultiply<Motion<>, Transform<>> && !CanMultiply<Motion<>, Motion<>> &&
              !CanMultiply<Motion<>, Force<>>);
static_assert(!CanAdd<Transform<>, Transform<>> && !CanAdd<Inertia<>, ArticulatedInertia<>>);
static_assert(!CanAssign<Motion<>, Force<>> && !CanAssign<Force<>, Motion<>> && !CanAssign<Motion<>, Vec3<>>);

double difference(const Motion<>& a, const Vector6d& b) { return (to_eigen(a) - b).cwiseAbs().maxCoeff(); }
double difference(const Force<>& a, const Vector6d& b) { return (to_eigen(a) - b).cwiseAbs().maxCoeff(); }

TEST_CASE("transform: products, inverses and points agree with 4×4 algebra") {
  const unsigned seed = 31;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Transform<> X_AB = random.transform(), X_BC = random.transform();
    const Vec3<> p = random.vector();
    const Eigen::Isometry3d e_AB(to_eigen(X_AB)), e_BC(to_eigen(X_BC));
    CHECK((to_eigen(X_AB * X_BC) - (e_AB * e_BC).matrix()).cwiseAbs().maxCoeff() < kTolerance);
    CHECK((to_eigen(inverse(X_AB)) - e_AB.inverse().matrix()).cwiseAbs().maxCoeff() < kTolerance);
    CHECK((to_eigen(X_AB * p) - e_AB * to_eigen(p)).cwiseAbs().maxCoeff() < kTolerance);
    CHECK(distance(X_AB * inverse(X_AB), Transform<>{}) < kTolerance);
  }
}

TEST_CASE("motion and force: transforms and cross products agree with 6×6 algebra") {
  const unsigned seed = 32;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Transform<> X = random.transform();
    const Motion<> V = random.motion(), b = random.motion();
    const Force<> F = random.force();
    const Matrix6d m = motion_matrix(X), f = force_matrix(X);
    CHECK((f - m.inverse().transpose()).cwiseAbs().maxCoeff() < kTolerance);
    CHECK(difference(X * V, m * to_eigen(V)) < kTolerance);
    CHECK(difference(X * F, f * to_eigen(F)) < kTolerance);
    CHECK(difference(inverse_times(X, V), m.inverse() * to_eigen(V)) < kTolerance);
    CHECK(difference(inverse_times(X, F), f.inverse() * to_eigen(F)) < kTolerance);
    Matrix6d crm;  // [ω̃ 0; ṽ ω̃]
    crm << to_eigen(skew(V.w)), Eigen::Matrix3d::Zero(), to_eigen(skew(V.v)), to_eigen(skew(V.w));
    CHECK(difference(cross(V, b), crm * to_eigen(b)) < kTolerance);
    CHECK(difference(cross(V, F), -crm.transpose() * to_eigen(F)) < kTolerance);
    CHECK(difference(madd(1.5, V, b), 1.5 * to_eigen(V) + to_eigen(b)) < kTolerance);
    CHECK(difference(madd(1.5, F, F), 2.5 * to_eigen(F)) < kTolerance);
    CHECK(std::abs(dot(V, F) - to_eigen(V).dot(to_eigen(F))) < kTolerance);
  }
}

TEST_CASE("motion and force: power and cross products do not depend on the frame") {
  const unsigned seed = 33;
  CAPTURE(seed);
  Random random(seed);
  for (int i = 0; i < 100; ++i) {
    const Transform<> X = random.transform();
    const Motion<> V = random.motion(), b = random.motion();
    const Force<> F = random.force();
    CHECK(std::abs(dot(X * V, X * F) - dot(V, F)) < kTolerance);
    CHECK(distance(cross(X * V, X * b), X * cross(V, b)) < 4 * kTolerance);   // two lever arms, values below 500
    CHECK(distance(cross(X * V, X * F), X * cross(V, F)) < 4 * kTolerance);   // two lever arms, values below 500
    CHECK(std::abs(dot(cross(V, b), F) + dot(b, cross(V, F))) < kTolerance);  // V×* = −(V×)ᵀ
    CHECK(distance(cross(V, V), Motion<>{}) < kTolerance);
  }
}

TEST_CASE("spatial: packs give the bits of the scalar") {
  const unsigned seed = 34;
  CAPTURE(seed);
  Random random(seed);
  std::array<Transform<>, 4> X, Y;
  std::array<Motion<>, 4> V;
  std::array<Force<>, 4> F;
  for (std::size_t i = 0; i < 4; ++i) X[i] = random.transform(), Y[i] = random.transform();
  for (std::size_t i = 0; i < 4; ++i) V[i] = random.motion(), F[i] = random.force();
  const auto PX = test::pack<Transform<Lanes>>(X), PY = test::pack<Transform<Lanes>>(Y);
  const auto PV = test::pack<Motion<Lanes>>(V);
  const auto PF = test::pack<Force<Lanes>>(F);
  for (int i = 0; i < 4; ++i) {
    const auto k = std::size_t(i);
    test::require_same_bits(PX * PY, i, X[k] * Y[k]);
    test::require_same_bits(inverse(PX), i, inverse(X[k]));
    test::require_same_bits(PX * PV, i, X[k] * V[k]);
    test::require_same_bits(inverse_times(PX, PF), i, inverse_times(X[k], F[k]));
    test::require_same_bits(cross(PV, PF), i, cross(V[k], F[k]));
    test::require_same_bits(dot(PV, PF), i, dot(V[k], F[k]));
  }
}

TEST_CASE("eigen: every type survives the way there and back, and quaternions mean the same rotation") {
  const unsigned seed = 36;
  CAPTURE(seed);
  Random random(seed);
  const Transform<> X = random.transform();
  const Motion<> V = random.motion();
  const Force<> F = random.force();
  const Quaternion<> q = random.quaternion();
  const Eigen::Isometry3d isometry(to_eigen(X));
  const Eigen::Quaterniond quaternion(to_eigen(q));
  CHECK(to_transform(isometry.matrix()) == X);
  CHECK(to_quaternion(quaternion.coeffs()) == q);
  CHECK(to_motion(to_eigen(V)) == V);
  CHECK(to_force(to_eigen(F)) == F);
  CHECK(to_vec3(to_eigen(V.w)) == V.w);
  CHECK(to_mat3(to_eigen(X.R)) == X.R);
  CHECK((to_eigen(to_mat3(q)) - quaternion.toRotationMatrix()).cwiseAbs().maxCoeff() < 1e-15);  // a few roundings of 1
}

TEST_CASE("lift: a model constant reaches every lane unchanged") {
  const unsigned seed = 35;
  CAPTURE(seed);
  Random random(seed);
  const Transform<> X = random.transform();
  const Inertia<> M = random.inertia();
  for (int lane = 0; lane < 4; ++lane) {
    test::require_same_bits(lift<Lanes>(X), lane, X);
    test::require_same_bits(lift<Lanes>(M), lane, M);
  }
  CHECK(lift<float>(X).p.x == float(X.p.x));
}

/// Frame b moving relative to frame a: spec dynamics §2. Own quantities in own axes, relative ones in axes of a.
struct MovingFrames {
  Transform<> X_ab;
  Vec3<> w_a, v_a, alpha_a, a_a, w_ab, v_ab, alpha_ab, a_ab, w_b, v_b, alpha_b, a_b;
};

std::vector<MovingFrames> load_moving_frames() {
  std::vector<MovingFrames> cases;
  const nlohmann::json file = test::load_cases("dynamics/kin_frames.json");
  for (const auto& c : file) {
    const auto v = [&](const char* key) { return test::vec3(c.at(key)); };
    cases.push_back({{test::mat3(c.at("R_ab")), v("r_ab")},
                     v("omega_a"),
                     v("v_a"),
                     v("alpha_a"),
                     v("a_a"),
                     v("omega_ab"),
                     v("v_ab"),
                     v("alpha_ab"),
                     v("a_ab"),
                     v("omega_b"),
                     v("v_b"),
                     v("alpha_b"),
                     v("a_b")});
  }
  return cases;
}

constexpr double kFrameTolerance = 4e-14;  // the vectors have 17 digits; their own check was 4e-15, values up to 30

TEST_CASE("vectors kin_frames: spatial velocities and accelerations propagate through a moving frame") {
  for (const MovingFrames& c : load_moving_frames()) {
    const Transform<> turn{c.X_ab.R, {}};
    const Motion<> V_a{c.w_a, c.v_a}, V_rel = inverse_times(turn, Motion<>{c.w_ab, c.v_ab});
    const Motion<> V_b = inverse_times(c.X_ab, V_a) + V_rel;
    CHECK(distance(V_b, Motion<>{c.w_b, c.v_b}) < kFrameTolerance);
    // spatial acceleration = [α; a − ω×v]; the components of V_rel in axes of b change by Rᵀ(α_ab, a_ab − ω_ab×v_ab)
    const Motion<> A_a{c.alpha_a, c.a_a - cross(c.w_a, c.v_a)};
    const Motion<> A_rel = inverse_times(turn, Motion<>{c.alpha_ab, c.a_ab - cross(c.w_ab, c.v_ab)});
    const Motion<> A_b = inverse_times(c.X_ab, A_a) + cross(V_b, V_rel) + A_rel;
    CHECK(distance(A_b.w, c.alpha_b) < kFrameTolerance);
    CHECK(distance(A_b.v + cross(V_b.w, V_b.v), c.a_b) < kFrameTolerance);
  }
}

TEST_CASE("errata [Tazz13] (7) and (8): dots on angular velocities give wrong accelerations") {
  double wrong_7 = 0, wrong_8 = 0, right_7 = 0, right_8 = 0;
  for (const MovingFrames& c : load_moving_frames()) {
    const Vec3<>&r = c.X_ab.p, &w = c.w_a;
    const auto acceleration = [&](const Vec3<>& dotted) {  // (7) in axes of a; printed with ω̇ where ω belongs
      return transpose_times(c.X_ab.R, c.a_a + cross(c.alpha_a, r) + dot(w, r) * dotted - dot(w, w) * r +
                                           2.0 * cross(dotted, c.v_ab) + c.a_ab);
    };
    const auto angular = [&](const Vec3<>& dotted) {  // (8)
      return transpose_times(c.X_ab.R, c.alpha_a + cross(dotted, c.w_ab) + c.alpha_ab);
    };
    wrong_7 = std::max(wrong_7, distance(acceleration(c.alpha_a), c.a_b));
    wrong_8 = std::max(wrong_8, distance(angular(c.alpha_a), c.alpha_b));
    right_7 = std::max(right_7, distance(acceleration(w), c.a_b));
    right_8 = std::max(right_8, distance(angular(w), c.alpha_b));
  }
  CHECK(wrong_7 > 1);  // the spec found 14
  CHECK(wrong_8 > 1);  // the spec found 5
  CHECK(right_7 < kFrameTolerance);
  CHECK(right_8 < kFrameTolerance);
}

}  // namespace
}  // namespace kansetsu
