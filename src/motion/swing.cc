#include "motion/swing.h"

#include <algorithm>

namespace kansetsu {

double minimum_jerk(double s) {
  s = std::clamp(s, 0.0, 1.0);
  return s * s * s * (10 + s * (-15 + 6 * s));
}

Course approach(const Course& now, const Course& goal, double left, double dt) {
  if (left <= dt) return goal;
  // p(s) = Σ c_k·s^k over s = t/left from the two ends
  const double T = left, v0 = now.v * T, a0 = now.a * T * T, v1 = goal.v * T, a1 = goal.a * T * T, d = goal.p - now.p;
  const double c3 = 10 * d - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1;
  const double c4 = -15 * d + 8 * v0 + 7 * v1 + 1.5 * a0 - a1;
  const double c5 = 6 * d - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1;
  const double s = dt / T;
  const double p = now.p + s * (v0 + s * (0.5 * a0 + s * (c3 + s * (c4 + s * c5))));
  const double v = v0 + s * (a0 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)));
  const double a = a0 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5));
  return {p, v / T, a / (T * T)};
}

Course glide(const Course& now, double target, double left, double dt) {
  constexpr double kShortest = 0.02;  // [s] what is left of the way then is not caught up with
  if (left <= dt) return {target, 0, 0};
  const double T = std::max(left, kShortest), a = (6 * (target - now.p) - 4 * now.v * T) / (T * T);
  return {now.p + dt * (now.v + 0.5 * dt * a), now.v + dt * a, a};
}

}  // namespace kansetsu
