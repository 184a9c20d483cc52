#pragma once

#include <cmath>

#include "constraint/contact_linear_kernel.h"
#include "constraint/contact_work.h"

/// One patch: its states, its friction set, the wrench of a vertex force.
namespace kansetsu::kernel::inline KANSETSU_ISA {

inline double root(double a) { return __builtin_sqrt(a); }

struct Arm {
  double d, dx, dy;  ///< value and gradient by the centre of pressure
};
/// Arm of an edge at the centre of pressure: a quarter of its length, falling to zero over the last quarter at each end.
inline Arm edge_arm(double length, double along, double ux, double uy) {
  const double left = along < length - along ? along : length - along;
  if (left >= 0.25 * length) return {0.25 * length, 0, 0};
  if (left <= 0) return {0, 0, 0};
  const double sign = along < length - along ? 1.0 : -1.0;
  return {left, sign * ux, sign * uy};
}
/// Moment arm of friction when the pressure is centred at (x, y). Uniform pressure gives the patch's own arm, a quarter of the
/// length on an edge and zero in a vertex; between them it is continuous, without which no solution need exist.
inline Arm arm_at(const PatchWork& p, double x, double y) {
  if (p.mode == ContactMode::kPoint || p.mode == ContactMode::kOpen || !(p.arm > 0)) return {0, 0, 0};
  Arm least{p.arm, 0, 0};
  if (!p.spans) {
    least = edge_arm(p.length, (x - p.x[0]) * p.along[0] + (y - p.y[0]) * p.along[1], p.along[0], p.along[1]);
    least.d = larger(least.d, 1e-9 * p.length);
    return least;
  }
  for (int i = 0; i < p.count; ++i) {
    const int j = i + 1 < p.count ? i + 1 : 0;
    const double ex = p.x[j] - p.x[i], ey = p.y[j] - p.y[i], square = ex * ex + ey * ey;
    const double cross = p.turn * (ex * (y - p.y[i]) - ey * (x - p.x[i]));
    if (cross > 0 && cross * cross >= p.band * p.band * square) continue;
    const double size = root(square);
    if (!(size > 0)) continue;
    const double ux = ex / size, uy = ey / size;
    Arm e = edge_arm(size, (x - p.x[i]) * ux + (y - p.y[i]) * uy, ux, uy);
    if (e.d >= p.arm) continue;
    const double part = larger(cross / size, 0) / p.band;
    const double d = e.d + (p.arm - e.d) * part;
    if (d >= least.d) continue;
    const double inwards = p.turn * (p.arm - e.d) / p.band;
    least = {d, (1 - part) * e.dx - inwards * uy, (1 - part) * e.dy + inwards * ux};
  }
  least.d = larger(least.d, 1e-9 * p.arm);
  return least;
}

/// Outcome of the normal of vertex i above its target; w: the patch's rows.
inline double approach(const PatchWork& p, const double* w, int i) {
  return p.rows == 3 ? w[2] - p.t[i] : w[2] + w[3] * p.y[i] - w[4] * p.x[i] - p.t[i];
}

/// Vertex that goes inwards most; −1 if none does by more than the tolerance.
inline int worst_vertex(const PatchWork& p, const double* w, double tolerance) {
  int worst = -1;
  double least = -tolerance;
  for (int i = 0; i < p.count; ++i) {
    const double a = approach(p, w, i);
    if (a < least) least = a, worst = i;
  }
  return worst;
}

/// Centre of pressure times fz is (X, Y) = (−ny, nx). For a point: the vertex; without force: the middle.
struct Pressure {
  double fz, x, y;
};
inline Pressure pressure_of(const PatchWork& p, const double* f) {
  if (p.mode == ContactMode::kPoint || p.rows == 3) return {f[2], p.x[p.i0], p.y[p.i0]};
  if (f[2] > 0) return {f[2], -f[4] / f[2], f[3] / f[2]};
  double x = 0, y = 0;
  for (int i = 0; i < p.count; ++i) x += p.x[i], y += p.y[i];
  return {f[2], x / p.count, y / p.count};
}

/// Friction about a point in the metric of the set: fx, fy, nz/arm. And the slip it opposes: vx, vy, arm·ωz.
struct Triple {
  double x, y, z;
};
inline double length(const Triple& a) { return root(a.x * a.x + a.y * a.y + a.z * a.z); }
inline double inner(const Triple& a, const Triple& b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
inline Triple friction_at(const PatchWork& p, const double* f, double px, double py, double arm) {
  if (p.rows == 3 || arm <= 0) return {f[0], f[1], 0};
  return {f[0], f[1], (f[5] - (px * f[1] - py * f[0])) / arm};
}
inline Triple slip_at(const PatchWork& p, const double* w, double px, double py, double arm) {
  if (p.rows == 3) return {w[0], w[1], 0};
  return {w[0] - w[5] * py, w[1] + w[5] * px, arm * w[5]};
}

/// Size of a friction triple: 1 · μ·fz is the boundary of the set.
inline double set_norm(FrictionSet set, const Triple& F) {
  if (set == FrictionSet::kEllipse) return length(F);
  return root(F.x * F.x + F.y * F.y) + absolute(F.z);
}
/// Boundary point of the set that opposes the slip U, as a factor of −μ·fz. Ellipse: of greatest dissipation. The
/// paper's cone: (1 − exp(−l/d)) of the force and exp(−l/d) of the moment, l = distance of the rotation centre.
inline Triple opposing(FrictionSet set, const Triple& U) {
  const double size = length(U);
  if (!(size > 0)) return {0, 0, 0};
  if (set == FrictionSet::kEllipse) return {U.x / size, U.y / size, U.z / size};
  const double v = root(U.x * U.x + U.y * U.y), w = absolute(U.z);
  const double share = w > 0 ? std::exp(-v / w) : 0.0;  // k·l = v/(ωz·d)
  const double along = v > 0 ? (1 - share) / v : 0.0;
  return {along * U.x, along * U.y, U.z > 0 ? share : -share};
}

/// The closed vertices of a surface, in order.
inline int ring_size(const PatchWork& p) { return p.three ? 3 : p.count; }
inline int ring(const PatchWork& p, int i) {
  const int size = ring_size(p), k = i < size ? i : i - size;
  return p.three ? p.corner[k] : k;
}
inline bool is_closed(const PatchWork& p, int i) {
  if (p.mode == ContactMode::kSurface) return !p.three || i == p.corner[0] || i == p.corner[1] || i == p.corner[2];
  if (p.mode == ContactMode::kLine) return i == p.i0 || i == p.i1;
  return p.mode == ContactMode::kPoint && i == p.i0;
}

/// Largest outward distance of (X, Y)/fz from an edge of the closed polygon, times fz; the edge by its place in the ring.
inline double outside(const PatchWork& p, double fz, double X, double Y, int& edge) {
  double most = -1e300;
  edge = 0;
  for (int n = 0; n < ring_size(p); ++n) {
    const int i = ring(p, n), j = ring(p, n + 1);
    const double dx = p.x[j] - p.x[i], dy = p.y[j] - p.y[i];
    const double size = root(dx * dx + dy * dy);
    if (!(size > 0)) continue;
    const double out = -p.turn * (dx * (Y - fz * p.y[i]) - dy * (X - fz * p.x[i])) / size;
    if (out > most) most = out, edge = n;
  }
  return most;
}

/// Whether (X, Y)/fz lies in the closed polygon; without square roots.
inline bool inside(const PatchWork& p, double fz, double X, double Y) {
  bool in = true;
  for (int n = 0; n < ring_size(p); ++n) {
    const int i = ring(p, n), j = ring(p, n + 1);
    const double dx = p.x[j] - p.x[i], dy = p.y[j] - p.y[i];
    in &= p.turn * (dx * (Y - fz * p.y[i]) - dy * (X - fz * p.x[i])) >= 0;
  }
  return in;
}

/// The residual of a point, as patch_residual() has it.
inline double point_residual(const ContactWork& k, const PatchWork& p, const double* w, const double* f) {
  const double s = k.scale, a = p.count > 0 ? w[2] - p.t[0] : 0.0;
  if (p.mode == ContactMode::kOpen) return larger(-a * s, 0);
  const double fz = larger(f[2], 0), away = a < 0 ? -a : smaller(a, fz);
  const bool slides = p.slip == SlipMode::kSlide;
  const double reach = (slides ? p.mu_slip : p.mu_hold) * fz, size = root(f[0] * f[0] + f[1] * f[1]);
  const double slip = root(w[0] * w[0] + w[1] * w[1]);
  const double r = larger(larger(away, -f[2]), size - reach) * s;
  const double power = slides ? absolute(f[0] * w[0] + f[1] * w[1] + reach * slip) : reach * slip;
  return larger(r, power * s * s);
}

/// Complementarity residual of a patch: what is pushed in, pulled, outside the friction set, or not opposed to slip.
/// w, f: the patch's rows.
/// `checked`: the wrench is known to lie in the cones.
inline double patch_residual(const ContactWork& k, const PatchWork& p, const double* w, const double* f, bool checked) {
  if (p.rows == 3 && !p.given && p.slip != SlipMode::kSpin && k.set == FrictionSet::kEllipse)
    return point_residual(k, p, w, f);
  const double s = k.scale;
  double r = 0;
  if (checked && p.mode == ContactMode::kSurface && p.slip == SlipMode::kStick && !p.targets) {
    // All vertices closed and nothing slips: bounds by the extent of the patch.
    double reach = 0;
    for (int i = 0; i < p.count; ++i) reach = larger(reach, absolute(p.x[i]) + absolute(p.y[i]));
    const double turn = larger(larger(absolute(w[3]), absolute(w[4])), absolute(w[5])) * reach;
    const double worst = larger(larger(absolute(w[0]), absolute(w[1])), absolute(w[2])) + turn;
    return larger(smaller(worst, f[2]) * s, p.mu_hold * f[2] * 2 * worst * s * s);
  }
  for (int i = 0; i < p.count; ++i) {
    const double a = approach(p, w, i);
    r = larger(r, -a * s);
    if (is_closed(p, i)) r = larger(r, smaller(absolute(a), larger(f[2], 0)) * s);
  }
  if (p.mode == ContactMode::kOpen) return r;
  r = larger(r, -f[2] * s);
  const Pressure c = pressure_of(p, f);
  if (p.mode == ContactMode::kSurface && f[2] > 0) {
    int edge = 0;
    r = larger(r, outside(p, f[2], -f[4], f[3], edge) * s);
  } else if (p.mode == ContactMode::kLine && f[2] > 0) {
    const double dx = p.x[p.i1] - p.x[p.i0], dy = p.y[p.i1] - p.y[p.i0], size = root(dx * dx + dy * dy);
    const double along = ((c.x - p.x[p.i0]) * dx + (c.y - p.y[p.i0]) * dy) / size;
    r = larger(r, larger(-along, along - size) * f[2] * s);
  }
  const double arm = arm_at(p, c.x, c.y).d;
  const Triple F = friction_at(p, f, c.x, c.y, arm);
  const bool slides = p.slip != SlipMode::kStick;
  const double mu = slides ? p.mu_slip : p.mu_hold;
  r = larger(r, (set_norm(k.set, F) - mu * larger(f[2], 0)) * s);
  if (p.slip == SlipMode::kSpin) return r;
  Triple U = slip_at(p, w, c.x, c.y, arm);
  double us = s;
  if (p.given && slides) {
    const double m[6] = {p.motion[0], p.motion[1], 0, 0, 0, p.motion[2]};
    U = slip_at(p, m, c.x, c.y, arm);
    us = 1;
  }
  if (!slides) return larger(r, mu * larger(f[2], 0) * length(U) * s * s);
  const Triple o = opposing(k.set, U);
  const double reach = -mu * larger(f[2], 0);
  return larger(r, absolute(inner({F.x - reach * o.x, F.y - reach * o.y, F.z - reach * o.z}, U)) * s * us);
}

/// Rows and moments of unit normal force at (x, y), or of the plane's unknowns.
inline void normal_column(double fz, double X, double Y, double* column) {
  column[0] = 0, column[1] = 0, column[2] = fz, column[3] = Y, column[4] = -X, column[5] = 0;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
