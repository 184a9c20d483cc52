#pragma once

#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// One coordinate of a smooth way: position, velocity and acceleration.
struct Course {
  double p = 0, v = 0, a = 0;
};

/// Moves on by dt along the polynomial of fifth degree that arrives at (target, arrival speed, no acceleration) after `left`
/// seconds. With left ≤ dt it is there.
Course approach(const Course& now, double target, double arrival, double left, double dt);

}  // namespace kansetsu
