#pragma once

#include "constraint/contact_pass_kernel.h"

/// Hypothesis and check: the corrected transition rules, and the full verification of what they end with.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// What a check did to a hypothesis. kRefined: same states, a better linearisation.
enum class Change { kNone, kRefined, kState };

inline void set_point(PatchWork& p, int vertex) { p.mode = ContactMode::kPoint, p.i0 = p.i1 = vertex; }
inline void set_line(PatchWork& p, int a, int b) { p.mode = ContactMode::kLine, p.i0 = a, p.i1 = b; }

/// All touching vertices.
inline void set_full(PatchWork& p) {
  if (p.count == 0) {
    p.mode = ContactMode::kOpen;
  } else if (p.count == 1) {
    set_point(p, 0);
  } else if (p.spans) {
    p.mode = ContactMode::kSurface;
  } else {
    set_line(p, 0, 1);
  }
}

/// Normal direction: which features carry. f, w: the patch's rows.
inline Change check_normal(const ContactWork& k, PatchWork& p, const double* f, const double* w) {
  if (p.rows == 3 && p.mode != ContactMode::kOpen) {
    if (f[2] > 0) return Change::kNone;
    p.mode = ContactMode::kOpen;
    return Change::kState;
  }
  if (p.mode == ContactMode::kOpen) {
    const int worst = worst_vertex(p, w, k.push_tolerance);
    if (worst < 0) return Change::kNone;
    set_point(p, worst);
    p.slip = p.given ? SlipMode::kSlide : SlipMode::kStick;
    return Change::kState;
  }
  if (!(f[2] > 0)) {
    p.mode = ContactMode::kOpen;
    return Change::kState;
  }
  if (p.mode == ContactMode::kSurface) {
    if (inside(p, f[2], -f[4], f[3])) return Change::kNone;
    int edge = 0;
    if (outside(p, f[2], -f[4], f[3], edge) <= 1e-12 * f[2]) return Change::kNone;
    set_line(p, ring(p, edge), ring(p, edge + 1));
    return Change::kState;
  }
  if (p.mode == ContactMode::kLine) {
    const double dx = p.x[p.i1] - p.x[p.i0], dy = p.y[p.i1] - p.y[p.i0];
    const double along = (-f[4] - f[2] * p.x[p.i0]) * dx + (f[3] - f[2] * p.y[p.i0]) * dy;
    const double whole = f[2] * (dx * dx + dy * dy);
    if (along < -1e-12 * whole) {
      set_point(p, p.i0);
      return Change::kState;
    }
    if (along > whole * (1 + 1e-12)) {
      set_point(p, p.i1);
      return Change::kState;
    }
  }
  const int worst = worst_vertex(p, w, k.push_tolerance);
  if (worst < 0) return Change::kNone;
  if (p.mode == ContactMode::kPoint) {
    const int apart = worst > p.i0 ? worst - p.i0 : p.i0 - worst;
    if (!p.spans || apart == 1 || apart == p.count - 1) {
      if (worst == p.i0) return Change::kNone;
      set_line(p, p.i0, worst);
    } else {
      p.mode = ContactMode::kSurface;
    }
  } else if (p.spans && worst != p.i0 && worst != p.i1) {
    p.mode = ContactMode::kSurface;
  } else {
    return Change::kNone;
  }
  return Change::kState;
}

inline void start_slide(PatchWork& p, const Triple& e) {
  p.slip = SlipMode::kSlide;
  p.newton = false;
  p.e[0] = e.x, p.e[1] = e.y, p.e[2] = e.z;
}

/// Direction of a slip that is known beforehand; it depends on the centre of pressure if the patch turns.
inline Triple given_direction(const ContactWork& k, const PatchWork& p, double px, double py) {
  const double m[6] = {p.motion[0], p.motion[1], 0, 0, 0, p.motion[2]};
  return opposing(k.set, slip_at(p, m, px, py, p.d));
}

/// Linearises about a centre of pressure. @return how far the arm has moved, relative to the patch's
inline double set_centre(PatchWork& p, const Pressure& c) {
  const Arm a = arm_at(p, c.x, c.y);
  const double moved = p.arm > 0 ? absolute(a.d - p.d) / p.arm : 0.0;
  p.p0[0] = c.x, p.p0[1] = c.y, p.d = a.d, p.dx = a.dx, p.dy = a.dy;
  return moved;
}

/// The direction of sliding as the next pass takes it, from z = ρ·U − F: F = −μ·fz·z/|z| says all of Coulomb's law, and where
/// next to nothing slips F tells the direction better than U. False: |z| is within the set, it holds.
inline bool linearise_slide(const ContactWork& k, PatchWork& p, const Triple& F, const Triple& U, double fz,
                            double wz) {
  const double* G = k.G + p.row * (k.ldg + 1);
  const double stiff = 0.5 * (G[0] + G[k.ldg + 1]), rho = stiff > 0 ? 1 / stiff : 0.0;
  const Triple z{rho * U.x - F.x, rho * U.y - F.y, rho * U.z - F.z};
  const double size = length(z), reach = p.mu_slip * fz;
  constexpr double kEdge = 1e-3;  // what is that close to slipping may be about to
  if (!(size > reach * (1 - kEdge)) || !(size > 0)) return false;
  const double inverse = 1 / size;
  p.e[0] = z.x * inverse, p.e[1] = z.y * inverse, p.e[2] = z.z * inverse;
  p.U0 = larger(size - reach, 0) * stiff, p.fz0 = fz, p.wz0 = wz;
  p.newton = reach > 0;
  return true;
}

inline Change check_slide(const ContactWork& k, PatchWork& p, const Pressure& c, const double* f, const double* w) {
  const double shifted = set_centre(p, c) * absolute(p.e[2]);
  const double arm = p.d;
  if (p.given) {
    const Triple e = given_direction(k, p, c.x, c.y);
    const double moved = absolute(e.x - p.e[0]) + absolute(e.y - p.e[1]) + absolute(e.z - p.e[2]);
    p.e[0] = e.x, p.e[1] = e.y, p.e[2] = e.z;
    return moved + shifted > 1e-12 ? Change::kRefined : Change::kNone;
  }
  if (!(p.mu_slip > 0)) return Change::kNone;
  const Triple U = slip_at(p, w, c.x, c.y, arm), was{p.e[0], p.e[1], p.e[2]};
  const bool ellipse = k.set == FrictionSet::kEllipse;
  const Triple F = friction_at(p, f, c.x, c.y, arm);
  const bool slides = ellipse ? linearise_slide(k, p, F, U, c.fz, p.rows == 6 ? w[5] : 0.0) : inner(U, was) > 0;
  if (!slides) {  // friction would drive: it holds instead
    if (p.stopped) return Change::kNone;
    p.stopped = true;
    p.slip = SlipMode::kStick;
    return Change::kState;
  }
  if (!ellipse) {
    const Triple e = opposing(k.set, U);
    p.e[0] = e.x, p.e[1] = e.y, p.e[2] = e.z;
  }
  const double moved = absolute(p.e[0] - was.x) + absolute(p.e[1] - was.y) + absolute(p.e[2] - was.z);
  return moved + shifted > 1e-7 ? Change::kRefined : Change::kNone;
}

inline Change check_friction(const ContactWork& k, PatchWork& p, const double* f, const double* w) {
  const Pressure c = pressure_of(p, f);
  if (p.slip == SlipMode::kSlide) return check_slide(k, p, c, f, w);
  if (p.slip == SlipMode::kStick && p.arm <= 0 &&
      p.mode != ContactMode::kPoint) {  // held at the centre of pressure only
    const double moved = absolute(c.x - p.p0[0]) + absolute(c.y - p.p0[1]);
    p.p0[0] = c.x, p.p0[1] = c.y;
    if (moved > 1e-11) return Change::kRefined;
  }
  const double arm = arm_at(p, c.x, c.y).d;
  Triple F = friction_at(p, f, c.x, c.y, arm);
  if (p.slip == SlipMode::kSpin) F.z = 0;
  const double limit = p.mu_hold * f[2];
  if (k.set == FrictionSet::kEllipse && inner(F, F) <= limit * limit) return Change::kNone;
  const double size = set_norm(k.set, F);
  if (size <= p.mu_hold * f[2] * (1 + 1e-12)) return Change::kNone;
  set_centre(p, c);
  start_slide(p, {-F.x / size, -F.y / size, -F.z / size});
  if (k.set == FrictionSet::kEllipse && !p.given) linearise_slide(k, p, F, {0, 0, 0}, c.fz, 0);
  return Change::kState;
}

inline Change check_bound(const ContactWork& k, BoundWork& b) {
  const double slack = 1e-12 * (absolute(b.f) + 1);
  if (b.side == 0) {
    if (b.f < b.lower - slack) {
      b.side = -1, b.f = b.lower;
    } else if (b.f > b.upper + slack) {
      b.side = 1, b.f = b.upper;
    } else {
      return Change::kNone;
    }
    return Change::kState;
  }
  const double past = (k.w[b.row] - b.t) * b.side;  // should not be above zero at the upper bound
  if (past <= k.push_tolerance) return Change::kNone;
  b.side = 0;
  ++b.changes;
  return Change::kState;
}

inline unsigned long long state_hash(const ContactWork& k) {
  unsigned long long hash = 1469598103934665603ull;
  const auto mix = [&hash](unsigned value) { hash = (hash ^ value) * 1099511628211ull; };
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    mix(unsigned(p.mode) + 4 * unsigned(p.slip) + 16 * unsigned(p.mode == ContactMode::kSurface ? 0 : p.i0) +
        256 * unsigned(p.mode == ContactMode::kLine ? p.i1 : 0) + 4096 * unsigned(p.stopped));
    if (p.three) mix(unsigned(p.corner[0] + 16 * p.corner[1] + 256 * p.corner[2]));
  }
  for (int b = 0; b < k.bound_count; ++b) mix(unsigned(k.bounds[b].side + 1));
  return hash;
}

inline double bound_residual(const ContactWork& k, const BoundWork& b, double f, double w) {
  const double above = w - b.t;  // positive: only allowed at the lower bound
  const double room = above > 0 ? smaller(above, f - b.lower) : smaller(-above, b.upper - f);
  return larger(larger(b.lower - f, f - b.upper), room) * k.scale;
}

/// Worst violation over everything; stored per patch. NaN counts as infinite.
/// `checked`: the states were just found to fit their wrenches.
inline double verify(ContactWork& k, bool checked = false) {
  double worst = 0, zero = 0;
  for (int i = 0; i < k.n; ++i) zero += (k.w[i] - k.w[i]) + (k.f[i] - k.f[i]);  // NaN unless all are finite
  bool finite = zero == 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    p.residual = patch_residual(k, p, k.w + p.row, k.f + p.row, checked);
    worst = larger(worst, p.residual);
    finite = finite && p.residual < 1e300;
  }
  for (int b = 0; b < k.bound_count; ++b) {
    const double r = bound_residual(k, k.bounds[b], k.f[k.bounds[b].row], k.w[k.bounds[b].row]);
    worst = larger(worst, r);
    finite = finite && r < 1e300;
  }
  return k.residual = finite ? worst : 1e300;
}

inline double accepted_residual(const ContactWork& k) {
  double force = 0;
  for (int i = 0; i < k.patch_count; ++i) force = larger(force, absolute(k.f[k.patches[i].row + 2]));
  return k.tolerance * larger(1, force * k.scale);
}

/// No Painlevé state: the normals of each sliding patch, with its friction folded in, push outwards.
inline bool definite(const ContactWork& k) {
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    if (p.mode == ContactMode::kOpen || p.slip != SlipMode::kSlide || !(p.mu_slip > 0)) continue;
    double column[6], equation[6];
    const Pressure c = pressure_of(p, p.f);
    normal_column(1, c.x, c.y, equation);
    for (int r = 0; r < 6; ++r) column[r] = equation[r];
    column[0] = -p.mu_slip * p.e[0], column[1] = -p.mu_slip * p.e[1];
    column[5] = -p.mu_slip * (p.d * p.e[2] + c.x * p.e[1] - c.y * p.e[0]);
    double sum = 0;
    for (int a = 0; a < p.rows; ++a) {
      for (int b = 0; b < p.rows; ++b) sum += equation[a] * k.G[(p.row + a) * k.ldg + p.row + b] * column[b];
    }
    if (!(sum > 0)) return false;
  }
  return true;
}

/// Where rows depend on each other and contradict, what is held all the same moves: there it slips, at its limit.
inline bool let_slip(ContactWork& k, double accepted) {
  bool any = false;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    if (p.mode == ContactMode::kOpen || p.slip != SlipMode::kStick || p.residual <= accepted || !(p.mu_slip > 0))
      continue;
    const double *f = k.f + p.row, *w = k.w + p.row;
    const Pressure c = pressure_of(p, f);
    set_centre(p, c);
    const Triple U = slip_at(p, w, c.x, c.y, p.d);
    const double size = length(U);
    if (!(size > 0) || !(c.fz > 0)) continue;
    start_slide(p, {U.x / size, U.y / size, U.z / size});
    p.U0 = size, p.fz0 = c.fz, p.wz0 = p.rows == 6 ? w[5] : 0.0;
    p.newton = any = true;
  }
  return any;
}

/// Sliding friction that is past its limit by less than counts.
inline void put_on_limit(ContactWork& k) {
  bool any = false;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    if (p.mode == ContactMode::kOpen || p.slip != SlipMode::kSlide || k.set != FrictionSet::kEllipse) continue;
    double* f = k.f + p.row;
    const Pressure c = pressure_of(p, f);
    const double arm = arm_at(p, c.x, c.y).d, reach = p.mu_slip * larger(f[2], 0);
    const Triple F = friction_at(p, f, c.x, c.y, arm);
    const double size = length(F);
    if (!(size > reach)) continue;
    const double share = reach / size;
    f[0] *= share, f[1] *= share;
    if (p.rows == 6) f[5] = share * arm * F.z + c.x * f[1] - c.y * f[0];
    for (int r = 0; r < p.rows; ++r) p.f[r] = f[r];
    any = true;
  }
  if (any) outcome(k);
}

/// Whether the last pass has made forces beyond all measure of those before it: rows that depend on each other ask for such.
inline bool grows(const ContactWork& k) {
  constexpr double kMeasure = 10;
  double before = 0, now = 0;
  for (int i = 0; i < k.n; ++i) before = larger(before, absolute(k.near[i])), now = larger(now, absolute(k.f[i]));
  return now > kMeasure * before;
}

/// Passes from the present hypotheses until nothing changes, and the full check. The loop gives up if a set of states
/// comes back, if a limit is reached, if Newton steps do not settle, if states change more than max_changes times, or
/// at the first change of the normal direction if those are to stay.
inline bool hypotheses(ContactWork& k, int max_passes, bool want_definite, bool normals_fixed, int max_changes = 99) {
  constexpr int kMaxSlips = 64, kWatched = 4;
  constexpr double kWild = 3, kNearby = 1e-2;  // a worse residual than before by as much: rather a step that is not far
  SlipEquations slips[kMaxSlips];
  if (k.patch_count > kMaxSlips) return false;
  int seen = 0, refined = 0, slips_left = 2;
  double last = 1e300;
  k.seen[seen++] = state_hash(k);
  k.exact = false;
  for (int n = 0; n < max_passes; ++n) {
    pass(k, slips);
    if (k.expected > 0 && n < kWatched && verify(k) > kWild * k.expected) pass_nearby(k, slips, kNearby);
    if (k.exact && grows(k)) return false;
    Change change = Change::kNone;
    for (int i = 0; i < k.patch_count; ++i) {
      PatchWork& p = k.patches[i];
      Change c = check_normal(k, p, k.f + p.row, k.w + p.row);
      if (c != Change::kNone && normals_fixed) return false;
      if (c == Change::kNone && p.mode != ContactMode::kOpen) c = check_friction(k, p, k.f + p.row, k.w + p.row);
      if (c > change) change = c;
    }
    for (int b = 0; b < k.bound_count; ++b) {
      const Change c = check_bound(k, k.bounds[b]);
      if (c > change) change = c;
    }
    if (change != Change::kState) {  // where the residual is that small, a refined linearisation is not needed any more
      const double share = change == Change::kNone ? 1 : 0.1;
      const bool good = verify(k, change == Change::kNone) <= share * accepted_residual(k);
      k.indefinite = good && want_definite && !definite(k);
      if (good && change == Change::kRefined) put_on_limit(k);
      if (good) return !k.indefinite;
      const double before = last;
      last = k.residual;
      if (k.damped && !k.exact &&
          (change == Change::kNone || last > 0.5 * before)) {  // states fit, numbers do not come
        k.exact = true;
        max_passes = n + 1 + k.max_passes;
        continue;
      }
      const bool contradicts = change == Change::kNone && k.rank_deficiency > 0 && k.set == FrictionSet::kEllipse;
      if (contradicts && slips_left-- > 0 && let_slip(k, accepted_residual(k))) continue;
      if (change == Change::kNone || ++refined > 8) return false;
      continue;
    }
    const unsigned long long hash = state_hash(k);
    for (int i = 0; i < seen; ++i) {
      if (k.seen[i] == hash) return false;
    }
    if (seen == k.seen_capacity || seen > max_changes) return false;
    k.seen[seen++] = hash;
  }
  return false;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
