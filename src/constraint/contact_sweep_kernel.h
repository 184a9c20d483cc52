#pragma once

#include "constraint/contact_fast_kernel.h"
#include "constraint/contact_local_kernel.h"

/// The complementarity problem of all vertices: Gauss–Seidel over patches finds the states, Newton steps the numbers.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Adds G·Δ of three rows to the outcome.
inline void add_three(ContactWork& k, int row, const double* delta) {
  const Eight x(delta[0]), y(delta[1]), z(delta[2]);
  const double* G = k.G + row * k.ldg;
  const auto at = [](const double* from) { return *reinterpret_cast<const Eight*>(from); };
  for (int i = 0; i < k.n; i += 8) {
    eight(k.w + i) = madd(z, at(G + 2 * k.ldg + i), madd(y, at(G + k.ldg + i), madd(x, at(G + i), eight(k.w + i))));
  }
}

/// Adds G·Δ of some rows to the outcome.
inline void add_response(ContactWork& k, int row, int rows, const double* delta) {
  for (int r = 0; r < rows; ++r) {
    if (delta[r] != 0) add_scaled(delta[r], k.G + (row + r) * k.ldg, k.n, k.w);
  }
}

inline void sweep(ContactWork& k) {
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    double w[6], f[6], delta[6];
    ++p.sweeps;
    if (p.rows == 3 && !p.given && k.set == FrictionSet::kEllipse) {
      double* force = k.f + p.row;
      visit_point(p, k.G + p.row * k.ldg + p.row, k.ldg, k.close, k.w + p.row, force, delta);
      for (int r = 0; r < 3; ++r) force[r] += delta[r];
      if (delta[0] != 0 || delta[1] != 0 || delta[2] != 0) add_three(k, p.row, delta);
      p.slid = p.slid || p.slip == SlipMode::kSlide;
      continue;
    }
    for (int r = 0; r < p.rows; ++r) w[r] = k.w[p.row + r], f[r] = k.f[p.row + r];
    visit_patch(k.set, p, k.G + p.row * k.ldg + p.row, k.ldg, k.push_tolerance, k.close, w, f);
    for (int r = 0; r < p.rows; ++r) {
      delta[r] = f[r] - k.f[p.row + r];
      k.f[p.row + r] = f[r];
    }
    add_response(k, p.row, p.rows, delta);
    p.slid = p.slid || p.slip == SlipMode::kSlide;
  }
  for (int i = 0; i < k.bound_count; ++i) {
    BoundWork& b = k.bounds[i];
    if (!(b.inverse > 0)) continue;
    double f = k.f[b.row] - (k.w[b.row] - b.t) * b.inverse;
    b.side = f <= b.lower ? -1 : f >= b.upper ? 1 : 0;
    f = smaller(larger(f, b.lower), b.upper);
    const double delta = f - k.f[b.row];
    k.f[b.row] = b.f = f;
    add_response(k, b.row, 1, &delta);
  }
  ++k.sweeps;
}

/// States and sliding directions of the present iterate as hypotheses.
inline void take_hypotheses(ContactWork& k) {
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    p.stopped = p.newton = false;
    const double *f = k.f + p.row, *w = k.w + p.row;
    for (int r = 0; r < p.rows; ++r) p.f[r] = f[r];
    if (p.mode == ContactMode::kOpen) continue;
    const Pressure c = pressure_of(p, f);
    set_centre(p, c);
    if (p.slip != SlipMode::kSlide) continue;
    const Triple U = slip_at(p, w, c.x, c.y, p.d);
    const Triple e = opposing(k.set, U), F = friction_at(p, f, c.x, c.y, p.d);
    p.e[0] = e.x, p.e[1] = e.y, p.e[2] = e.z;
    if (k.set == FrictionSet::kEllipse) linearise_slide(k, p, F, U, c.fz, p.rows == 6 ? w[5] : 0.0);
  }
}

inline void keep(ContactWork& k) {
  for (int i = 0; i < k.n; ++i) k.best[i] = k.f[i];
  for (int i = 0; i < k.patch_count; ++i) k.saved[i] = k.patches[i];
  for (int i = 0; i < k.bound_count; ++i) k.saved_bounds[i] = k.bounds[i];
}
inline void put_back(ContactWork& k) {
  for (int i = 0; i < k.n; ++i) k.f[i] = k.best[i];
  for (int i = 0; i < k.patch_count; ++i) {
    const int solves = k.patches[i].solves, sweeps = k.patches[i].sweeps;
    k.patches[i] = k.saved[i];
    k.patches[i].solves = solves, k.patches[i].sweeps = sweeps;
  }
  for (int i = 0; i < k.bound_count; ++i) k.bounds[i] = k.saved_bounds[i];
  outcome(k);
}

/// Known sliding directions belong to the acceleration level; here friction opposes the velocity after the step.
inline void forget_given(ContactWork& k) {
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    p.given = false;
    if (p.slip == SlipMode::kSpin) p.slip = SlipMode::kStick;
  }
}

/// With μ_S > μ_D the conditions may have no solution between stick and slide; who slides after many sweeps keeps μ_D.
inline void settle_friction(ContactWork& k) {
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    if (p.slid) p.mu_hold = p.mu_slip;
    p.slid = false;
  }
}

inline bool is_finite(const ContactWork& k) {
  double zero = 0;
  for (int i = 0; i < k.n; ++i) zero += 0 * k.f[i] + 0 * k.w[i];
  return zero == 0;
}

inline void begin_sweeps(ContactWork& k) {
  for (int i = 0; i < k.n; ++i) k.f[i] = k.start[i];
  outcome(k);
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    const double* G = k.G + p.row * (k.ldg + 1);
    const double g = G[2 * (k.ldg + 1)], det = G[0] * G[k.ldg + 1] - G[1] * G[1];
    p.normal_inverse = p.rows == 3 && g > 0 ? 1 / g : 0.0;
    p.tangent_inverse = p.rows == 3 && det > 0 ? 1 / det : 0.0;
  }
  for (int i = 0; i < k.bound_count; ++i) {
    const double g = k.G[k.bounds[i].row * (k.ldg + 1)];
    k.bounds[i].inverse = g > 0 ? 1 / g : 0.0;
  }
}

/// Newton steps and the full check from the present iterate.
/// @param residual  of the iterate, where it is asked for: the first Newton steps of the fast path do not
/// @param back      if that fails the iterate is put back; else it is what the last Newton step gave
inline bool polish(ContactWork& k, bool want_definite, double& residual, bool back = true) {
  constexpr int kMostChanges = 3;  // of states: where more are wrong, sweeps find them sooner
  take_hypotheses(k);
  if (!want_definite || k.polishes > 0) residual = verify(k);
  if (!want_definite && residual <= accepted_residual(k)) return true;
  if (back) keep(k);
  k.expected = k.polishes++ > 0 ? residual : 0;
  if (hypotheses(k, k.max_passes, want_definite, false, kMostChanges)) return true;
  if (back)
    put_back(k);
  else if (!is_finite(k))
    begin_sweeps(k);
  return false;
}

/// Sweeps until the states have stayed the same for a while; at most so many.
inline void settle(ContactWork& k, int most) {
  constexpr int kSame = 2;
  unsigned long long states = 0;
  for (int n = 0, same = 0; n < most && same < kSame; ++n) {
    sweep(k);
    const unsigned long long now = state_hash(k);
    same = now == states ? same + 1 : 0;
    states = now;
  }
}

inline bool fast_path(ContactWork& k) {
  for (int i = 0; i < k.n; i += 8) eight(k.f + i) = Eight(0.0);
  if (!k.changeable && hypotheses(k, k.max_passes, true, true)) return k.accepted = true;
  constexpr int kFirst = 12, kMore = 6, kRounds = 4;
  double residual = 0;
  begin_sweeps(k);
  unsigned long long tried[kRounds];
  for (int round = 0; round < kRounds; ++round) {
    if (round == 0) settle(k, kFirst);
    for (int n = 0; round > 0 && n < kMore; ++n) sweep(k);
    tried[round] = state_hash(k);
    bool again = false;  // then Newton steps lead back to where they came from
    for (int i = 0; i < round; ++i) again = again || tried[i] == tried[round];
    if (polish(k, true, residual, again || round + 1 == kRounds)) return k.accepted = true;
  }
  k.swept = true;
  return k.accepted = false;
}

/// No force at all: where nothing was found, better than forces beyond all measure.
inline void open_all(ContactWork& k) {
  for (int i = 0; i < k.n; ++i) k.f[i] = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    p.mode = ContactMode::kOpen, p.slip = SlipMode::kStick;
    for (double& f : p.f) f = 0;
  }
  for (int i = 0; i < k.bound_count; ++i) {
    BoundWork& b = k.bounds[i];
    k.f[b.row] = b.f = smaller(larger(0, b.lower), b.upper);
    b.side = b.f <= b.lower ? -1 : b.f >= b.upper ? 1 : 0;
  }
  outcome(k);
}

inline bool complementarity(ContactWork& k) {
  forget_given(k);
  k.close = kExactFriction;
  if (!k.swept) begin_sweeps(k);
  unsigned long long states = 0, tried = 0;
  int again = 0, stuck = 0;
  double least = 1e300;
  for (int i = 0; i < k.n; ++i) k.record[i] = k.f[i];
  constexpr int kStuck = 3;  // checks that do not halve the residual: sweeps lead nowhere, or to no solution
  for (int n = k.swept ? k.sweeps + 1 : 1; n <= k.max_sweeps && stuck < kStuck; ++n) {
    sweep(k);
    if (n % 6 == 0) settle_friction(k);
    const unsigned long long now = state_hash(k);
    const bool settled = now == states && (now != tried || n >= again);
    states = now;
    if (!settled && n < again) continue;
    tried = now, again = n + 4 + n / 4;
    double residual = 0;
    if (polish(k, false, residual)) return k.accepted = true;
    stuck = residual < 0.5 * least ? 0 : stuck + 1;
    if (residual < least) {  // what is returned if no iterate is accepted
      least = residual;
      for (int i = 0; i < k.n; ++i) k.record[i] = k.f[i];
    }
  }
  for (int i = 0; i < k.n; ++i) k.f[i] = k.record[i];
  outcome(k);
  sweep(k);  // states that belong to it
  take_hypotheses(k);
  const double best = verify(k);
  keep(k);
  open_all(k);
  if (!(verify(k) < best)) put_back(k), verify(k);
  return k.accepted = false;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
