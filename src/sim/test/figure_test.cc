#include "sim/figure.h"

#include <doctest/doctest.h>

#include <limits>

#include "kansetsu/model/builder.h"

namespace kansetsu {
namespace {

/// What becomes of the velocity products of a body that spins about all axes, when a step changes its spin.
ProductsState settle(const Shape& shape, double spin, double h) {
  FigureData f(value_or_throw(Model::build(make_body("body", shape, 1, {}).model)), {});
  f.v.head<3>() << spin, 0.7 * spin, -0.4 * spin;
  f.set_products(h);
  f.vdot.head<3>() << 300 * spin, -200 * spin, 100 * spin;  // what contacts did
  return f.correct_products(h, false);
}

}  // namespace

TEST_CASE("velocity products of a ball and a cube, which have none, are settled at once") {
  for (const double spin : {0.5, 3.0, 20.0}) {
    CAPTURE(spin);
    CHECK(settle(Sphere{0.1}, spin, 0.002) == ProductsState::kSettled);
    CHECK(settle(Box{{0.2, 0.2, 0.2}}, spin, 0.002) == ProductsState::kSettled);
  }
}

TEST_CASE("velocity products of a plank in fast motion are not, those of a slow one are") {
  const Shape plank = Box{{0.4, 0.1, 0.05}};
  CHECK(settle(plank, 10, 0.002) == ProductsState::kChanged);
  CHECK(settle(plank, 0.2, 0.002) == ProductsState::kSettled);  // 0.2 rad/s: less than its weight gives in a step
}

/// A plank that turns about an axis of its own, whose products are zero: what it has instead changes by `change` of the least power
/// that counts, that of its weight in a step of free fall.
ProductsState correct(double change, double spin, bool held, double before = std::numeric_limits<double>::infinity()) {
  constexpr double kStep = 2e-3, kG = 9.81;
  FigureData f(value_or_throw(Model::build(make_body("plank", Box{{0.4, 0.1, 0.05}}, 1, {}).model)), {});
  f.v[0] = spin;
  f.set_products(kStep);
  const double least = kG * kStep * kG;
  f.products[0] = change * least / spin;
  f.products_change = before * least;
  return f.correct_products(kStep, held);
}

TEST_CASE("velocity products are settled below kSlowProductsSettle of all power, held ones below kProductsSettle") {
  for (const double side : {0.99, 1.01}) {
    const ProductsState expected = side < 1 ? ProductsState::kSettled : ProductsState::kChanged;
    CHECK(correct(side * threshold::kSlowProductsSettle, 1, false) == expected);
    CHECK(correct(side * threshold::kProductsSettle, 1, true) == expected);
    CHECK(correct(side * threshold::kProductsSettle, 50, false) == expected);  // 0.1 rad in a step: far
  }
}

TEST_CASE("velocity products that change by kProductsGrowth times the last change run away") {
  for (const double side : {0.99, 1.01}) {
    const ProductsState expected = side < 1 ? ProductsState::kChanged : ProductsState::kRunAway;
    CHECK(correct(side * threshold::kProductsGrowth, 1, false, 1) == expected);
  }
}

}  // namespace kansetsu
