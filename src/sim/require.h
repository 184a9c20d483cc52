#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/scene/scene.h"

/// Checks of arguments of a world; `function` and `name` are part of the error.
namespace kansetsu {

/// Transform<>{{}, p} has zero axes: it is no pose.
inline void require_pose(const Transform<>& X, const char* function, const char* name) {
  const Mat3<>& R = X.R;
  const Vec3<> x = R.column_x(), y = R.column_y(), z = R.column_z();
  const double off =
      std::max({norm(cross(x, y) - z), std::abs(norm(x) - 1), std::abs(norm(y) - 1), std::abs(dot(x, y))});
  if (off < 1e-6 && std::isfinite(X.p.x + X.p.y + X.p.z)) return;
  throw Error(fmt::format(
      "{}: {} is not a pose: the axes of its R have lengths {:.3g}, {:.3g}, {:.3g}, its p is ({:.6g} {:.6g} {:.6g})",
      function, name, norm(x), norm(y), norm(z), X.p.x, X.p.y, X.p.z));
}

inline void require_finite(const Vec3<>& v, const char* function, const char* name) {
  if (std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z)) return;
  throw Error(fmt::format("{}: {} is ({}, {}, {}), which is not finite", function, name, v.x, v.y, v.z));
}
inline void require_not_negative(double x, const char* function, const char* name) {
  if (!(x >= 0)) throw Error(fmt::format("{}: {} is {}, it must be zero or more", function, name, x));
}
inline void require_motion(const PrescribedMotion& m, const char* function) {
  for (const Vec3<>& v : {m.velocity, m.amplitude, m.axis}) require_finite(v, function, "a vector of the motion");
  require_finite({m.rate, m.swing, m.start}, function, "(rate, swing, start) of the motion");
  require_finite({m.frequency, m.phase, 0}, function, "(frequency, phase) of the motion");
  if (!(m.stop >= m.start))
    throw Error(fmt::format("{}: the motion stops at {} s, before it starts at {} s", function, m.stop, m.start));
}

}  // namespace kansetsu
