#include "kansetsu/scene/medium.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

using namespace kansetsu;

TEST_CASE("the box of an inertia is the box it was made of") {
  const Vec3<> edges{0.3, 0.2, 0.5};
  const double m = 1.7;
  const Vec3<> I = m / 12 *
                   Vec3<>{edges.y * edges.y + edges.z * edges.z, edges.x * edges.x + edges.z * edges.z,
                          edges.x * edges.x + edges.y * edges.y};
  const Vec3<> found = inertia_box(m, I);
  CHECK(norm(found - edges) < 1e-14);  // rounding
  CHECK(norm(inertia_box(0, I)) == 0);
  const Vec3<> flat = inertia_box(1, {1, 1, 2.1});  // breaks the triangle inequality: no NaN
  CHECK(std::isfinite(flat.x + flat.y + flat.z));
}

TEST_CASE("drag is that of Stokes at low speeds and grows with the square in what is dense") {
  const Vec3<> cube{0.2, 0.2, 0.2};
  const Force<> slow = drag_on_box({.viscosity = 3}, cube, {{0, 2, 0}, {0.5, 0, 0}});
  CHECK(slow.f.x == doctest::Approx(-6 * std::numbers::pi * 3 * 0.1 * 0.5));  // 6·π·μ·r·v
  CHECK(slow.t.y == doctest::Approx(-8 * std::numbers::pi * 3 * 1e-3 * 2));   // 8·π·μ·r³·ω
  const Force<> fast = drag_on_box({.density = 1.2}, {0.1, 0.2, 0.5}, {{}, {-4, 0, 0}});
  CHECK(fast.f.x == doctest::Approx(0.5 * 1.2 * 0.2 * 0.5 * 16));  // ½·ρ·area·v², against the motion
  CHECK(fast.f.y == 0);
  const Force<> nothing = drag_on_box({}, cube, {{1, 2, 3}, {4, 5, 6}});
  CHECK(norm(nothing.f) + norm(nothing.t) == 0);
}

TEST_CASE("what an ellipsoid pushes aside weighs what Lamb and Tuckerman say") {
  const double volume = 4.0 / 3 * std::numbers::pi;
  const AddedInertia ball = added_inertia({1, 1, 1});
  CHECK(ball.mass.x == doctest::Approx(0.5 * volume).epsilon(1e-12));  // half of the ball's volume, to rounding
  CHECK(norm(ball.inertia) == 0);
  // Lamb 1932, §115: a prolate spheroid of ratio 1.99 has k₁ = 0.209, k₂ = 0.702, k' = 0.240, three digits each
  const AddedInertia egg = added_inertia({1.99, 1, 1});
  CHECK(egg.mass.x / (1.99 * volume) == doctest::Approx(0.209).epsilon(0.003));
  CHECK(egg.mass.y / (1.99 * volume) == doctest::Approx(0.702).epsilon(0.001));
  CHECK(egg.inertia.y / (1.99 * volume / 5 * (1.99 * 1.99 + 1)) == doctest::Approx(0.240).epsilon(0.003));
  CHECK(egg.inertia.x == 0);
  // A thin disc pushes 8/3·r³ along its axis; of one of 1/1000 all but a thousandth.
  CHECK(added_inertia({1, 1, 1e-3}).mass.z == doctest::Approx(8.0 / 3).epsilon(3e-3));
}

TEST_CASE("forces on a ball are those of drag and spin; an oblique plate is lifted") {
  const Medium water{.density = 1000, .viscosity = 0.5};
  const EllipsoidDrag ball{.radii = {0.1, 0.1, 0.1}};
  const AddedInertia added = added_inertia(ball.radii);
  const Force<> F = force_on_ellipsoid(water, ball, added, {{}, {0, 2, 0}});
  const double area = std::numbers::pi * 0.01;
  CHECK(F.f.y == doctest::Approx(-1000 * 0.5 * area * 4 - 6 * std::numbers::pi * 0.1 * 0.5 * 2));
  CHECK(std::abs(F.f.x) + std::abs(F.f.z) + norm(F.t) < 1e-9);  // rounding of 60 N
  const Force<> spun = force_on_ellipsoid({.density = 1000}, ball, added, {{0, 0, 3}, {0, 2, 0}});
  const double displaced = 1000 * 4.0 / 3 * std::numbers::pi * 1e-3;
  CHECK(spun.f.x ==
        doctest::Approx(displaced * (-6) + displaced / 2 * 6));  // ω×v, less what the medium's inertia takes
  CHECK(spun.t.z < 0);
  const EllipsoidDrag plate{.radii = {0.2, 0.2, 0.01}, .blunt_drag = 0, .slender_drag = 0, .magnus_lift = 0};
  const Force<> lift = force_on_ellipsoid({.density = 1}, plate, {}, {{}, {1, 0, -0.1}});  // it sinks as it glides
  CHECK(lift.f.z > 0);
  CHECK(std::abs(lift.f.x * 1 + lift.f.z * -0.1) < 1e-12);  // lift does no work
  const Force<> still = force_on_ellipsoid(water, plate, added_inertia(plate.radii), {});
  CHECK(norm(still.f) + norm(still.t) == 0);
}
