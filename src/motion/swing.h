#pragma once

#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// One coordinate of a smooth way: position, velocity and acceleration.
struct Course {
  double p = 0, v = 0, a = 0;
};

/// 0 → 1 with velocity and acceleration zero at both ends: the least jerk.
double minimum_jerk(double s);
/// Moves on by dt along the polynomial of fifth degree that arrives at `goal` after `left` seconds. With left ≤ dt it is there.
Course approach(const Course& now, const Course& goal, double left, double dt);
/// The same to rest at `target` with the least squares of accelerations: a cubic, whose acceleration begins and ends with a jump.
Course glide(const Course& now, double target, double left, double dt);

}  // namespace kansetsu
