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
  CHECK(norm(found - edges) < 1e-14);
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
