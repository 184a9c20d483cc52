#include "kansetsu/scene/scene.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/model/solid.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
namespace {

double distance(const Vec3<>& a, const Vec3<>& b) { return norm(a - b); }

TEST_CASE("a prescribed motion starts where it is told, and its velocities are the derivatives of its poses") {
  PrescribedMotion motion{.velocity = {0.3, 0, -0.1}, .amplitude = {0, 0.2, 0.05}, .axis = {1, 2, 2}, .rate = 0.4};
  motion.swing = 0.7, motion.frequency = 1.3, motion.phase = 0.9, motion.start = 0.5, motion.stop = 4;
  const Transform<> X0 = to_transform({{1, 2, 3}, {0.1, 0.2, 0.3}});
  CHECK(sample(motion, X0, 0).X_WB.p == X0.p);
  CHECK(sample(motion, X0, 0).V_WB == Motion<>{});
  CHECK(sample(motion, X0, 5).V_WB == Motion<>{});
  const double h = 1e-5;
  for (const double t : {0.6, 1.0, 2.7, 3.9}) {
    const MotionSample now = sample(motion, X0, t), before = sample(motion, X0, t - h),
                       after = sample(motion, X0, t + h);
    // central differences: error h²/6 times the third derivative, below 1e3·h²
    CHECK(distance(0.5 / h * (after.X_WB.p - before.X_WB.p), now.V_WB.v) < 1e-7);
    CHECK(distance(0.5 / h * log_rotation(after.X_WB.R * transpose(before.X_WB.R)), now.V_WB.w) < 1e-7);
    CHECK(distance(0.5 / h * (after.V_WB.v - before.V_WB.v), now.A_WB.v) < 1e-7);
    CHECK(distance(0.5 / h * (after.V_WB.w - before.V_WB.w), now.A_WB.w) < 1e-7);
  }
}

/// ∫ over the solid by summing thin slices along z: (volume, ∫x², ∫z²), from the radius at height z.
template <class RadiusAt>
std::array<double, 3> slices(double top, const RadiusAt& radius_at) {
  std::array<double, 3> sums{};
  const int n = 200000;
  for (int i = 0; i < n; ++i) {
    const double dz = 2 * top / n, z = -top + (i + 0.5) * dz, r = radius_at(z), area = 3.14159265358979323846 * r * r;
    sums[0] += area * dz;
    sums[1] += area * r * r / 4 * dz;
    sums[2] += area * z * z * dz;
  }
  return sums;
}

TEST_CASE("volume and inertia of round solids agree with sums over slices") {
  const double r = 0.2, l = 0.7, mass = 3;
  const auto ball = [&](double z) { return std::sqrt(std::max(0.0, r * r - z * z)); };
  const auto capsule = [&](double z) { return ball(std::max(0.0, std::abs(z) - l / 2)); };
  const std::pair<Shape, std::array<double, 3>> cases[] = {
      {Sphere{r}, slices(r, ball)},
      {Cylinder{r, l}, slices(l / 2, [&](double) { return r; })},
      {Capsule{r, l}, slices(l / 2 + r, capsule)},
  };
  for (const auto& [shape, sums] : cases) {
    const double density = mass / sums[0];
    const Sym3<> I = *solid_inertia(shape, mass);
    CHECK(*volume(shape) == doctest::Approx(sums[0]).epsilon(1e-8));  // midpoint sums of 2e5 slices
    CHECK(I.xx == doctest::Approx(density * (sums[1] + sums[2])).epsilon(1e-8));
    CHECK(I.zz == doctest::Approx(density * 2 * sums[1]).epsilon(1e-8));
  }
  CHECK_FALSE(volume(Plane{}));
  CHECK_FALSE(solid_inertia(Mesh{}, 1));
}

TEST_CASE("a box cut in two and put together again is the box") {
  const Vec3<> size{0.2, 0.3, 0.8}, half{0.2, 0.3, 0.4};
  const Inertial upper{2, {{0, 0, 0.2}, {0, 0, 0}}, *solid_inertia(Box{half}, 2)};
  Inertial lower{2, {{0, 0, -0.2}, {0, 0, 1.5707963267948966}}, *solid_inertia(Box{{0.3, 0.2, 0.4}}, 2)};
  const Inertial whole = combine({upper, lower});
  const Sym3<> expected = *solid_inertia(Box{size}, 4);
  CHECK(whole.mass == 4);
  CHECK(norm(whole.origin.p) < 1e-15);                                     // rounding
  CHECK(whole.inertia.xx == doctest::Approx(expected.xx).epsilon(1e-14));  // rounding
  CHECK(whole.inertia.yy == doctest::Approx(expected.yy).epsilon(1e-14));
  CHECK(whole.inertia.zz == doctest::Approx(expected.zz).epsilon(1e-14));
  CHECK(std::abs(whole.inertia.xy) < 1e-16);  // rounding of cos(π/2)
}

TEST_CASE("a keyframe moves the figures it names") {
  SceneDescription scene;
  scene.figures = {make_body("a", Sphere{1}, 1, {}), make_body("b", Sphere{1}, 1, {})};
  scene.keyframes = {{.name = "up", .figures = {{"b", {.base = {{0, 0, 1}, {}}}}}}};
  apply_keyframe(scene, "up");
  CHECK(scene.figures[0].initial.base.p.z == 0);
  CHECK(scene.figures[1].initial.base.p.z == 1);
  CHECK_THROWS_AS(apply_keyframe(scene, "down"), Error);
}

}  // namespace
}  // namespace kansetsu
