#include "sim/figure.h"

#include <doctest/doctest.h>

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

}  // namespace kansetsu
