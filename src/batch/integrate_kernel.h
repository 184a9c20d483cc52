#pragma once

#include <limits>

#include "batch/kernel_table.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The first lane with a quaternion for which is_rotation() is false; −1 if there is none. Does not look for non-finite numbers.
template <class P>
KANSETSU_HD int find_no_rotation(const int* at, int count, const P* q) {
  using Limits = std::numeric_limits<scalar_t<P>>;
  P least = P(scalar_t<P>(1)), most = least;
  for (int i = 0; i < count; ++i) {
    const P* r = q + at[i];
    const Quaternion<P> turn{r[0], r[1], r[2], r[3]};
    const P square = dot(turn, turn);
    least = select(square < least, square, least);
    most = select(square > most, square, most);
  }
  const auto stray = (least < P(Limits::min())) | (most > P(Limits::max()));
  auto any = stray.m[0];  // usually false in all lanes
  for (int lane = 1; lane < P::width; ++lane) any |= stray.m[lane];
  for (int lane = 0; any != 0 && lane < P::width; ++lane) {
    if (stray.m[lane] != 0) return lane;
  }
  return -1;
}

/// q ⊕ dt·v, as integrate() of configuration.h.
template <class T>
KANSETSU_HD void integrate(const CoordinateStretch* stretches, int count, const T* q, const T* v, const T& dt, T* out) {
  for (int i = 0; i < count; ++i) {
    const CoordinateStretch& s = stretches[i];
    if (s.kind == CoordinateStretch::kVector) {
      for (int k = 0; k < s.n; ++k) out[s.q + k] = q[s.q + k] + dt * v[s.v + k];
      continue;
    }
    const bool free = s.kind == CoordinateStretch::kFree;
    const T *p = q + s.q, *r = free ? p + 3 : p, *u = v + s.v;
    const Vec3<T> w{dt * u[0], dt * u[1], dt * u[2]};
    const Quaternion<T> turn{r[0], r[1], r[2], r[3]};
    T* to = out + s.q;
    if (free) {  // a constant twist in body axes moves along a screw, p + R·Jl(ω)·v
      const Vec3<T> moved = rotate(turn, left_jacobian(w) * Vec3<T>{dt * u[3], dt * u[4], dt * u[5]});
      to[0] = p[0] + moved.x, to[1] = p[1] + moved.y, to[2] = p[2] + moved.z;
      to += 3;
    }
    const Quaternion<T> turned = normalised(turn * exp_quaternion(w));
    to[0] = turned.x, to[1] = turned.y, to[2] = turned.z, to[3] = turned.w;
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
