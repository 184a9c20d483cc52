#pragma once

#include "constraint/contact_fast_kernel.h"
#include "constraint/contact_local_kernel.h"

/// Sweeps over the patches of many bodies. Each visit solves one patch exactly and hands the change to its two bodies.
namespace kansetsu::kernel::inline KANSETSU_ISA {

inline void row_velocities(const LargeRow& row, int rows, const double* v, double* w) {
  for (int r = 0; r < rows; ++r) w[r] = 0;
  for (int b = 0; b < row.parts; ++b) {
    const LargeRow::Part& part = row.part[b];
    for (int r = 0; r < rows; ++r) {
      double sum = 0;
      for (int c = 0; c < part.size; ++c) sum = madd(part.J[r * part.size + c], v[part.offset + c], sum);
      w[r] += sum;
    }
  }
}

inline void apply_impulse(const LargeRow& row, int rows, const double* delta, double* v) {
  for (int b = 0; b < row.parts; ++b) {
    const LargeRow::Part& part = row.part[b];
    double* to = v + part.offset;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < part.size; ++c) to[c] = madd(part.Y[r * part.size + c], delta[r], to[c]);
    }
  }
}

inline void own_block(LargeRow& row, int rows) {
  for (int a = 0; a < rows; ++a) {
    for (int b = 0; b < rows; ++b) {
      double sum = 0;
      for (int i = 0; i < row.parts; ++i) {
        const LargeRow::Part& part = row.part[i];
        for (int c = 0; c < part.size; ++c) sum = madd(part.J[a * part.size + c], part.Y[b * part.size + c], sum);
      }
      row.D[6 * a + b] = sum;
    }
  }
}

/// @return the largest change of a linear velocity of the patch, or of a rotation's at its rim
inline double visit(LargeWork& k, int i) {
  LargeRow& row = k.rows[i];
  if (i >= k.patch_count) {
    BoundWork& b = k.bounds[i - k.patch_count];
    double w = 0;
    row_velocities(row, 1, k.v, &w);
    if (!(row.D[0] > 0)) return 0;
    const double f = smaller(larger(row.f[0] - (w - b.t) / row.D[0], b.lower), b.upper);
    const double delta = f - row.f[0];
    row.f[0] = b.f = f;
    if (delta != 0) apply_impulse(row, 1, &delta, k.v);
    return absolute(delta) * row.D[0];
  }
  PatchWork& p = k.patches[i];
  if (p.count == 0) return 0;
  double before[6], w[6], f[6], delta[6];
  row_velocities(row, p.rows, k.v, w);
  for (int r = 0; r < p.rows; ++r) before[r] = w[r], f[r] = row.f[r];
  visit_patch(k.set, p, row.D, 6, k.push_tolerance, kExactFriction, w, f);
  double change = 0;
  for (int r = 0; r < p.rows; ++r) {
    delta[r] = f[r] - row.f[r];
    row.f[r] = f[r];
    const double moved = absolute(w[r] - before[r]);
    change = larger(change, r < 3 ? moved : moved * p.band);
  }
  p.slid = p.slid || p.slip == SlipMode::kSlide;
  ++p.sweeps;
  apply_impulse(row, p.rows, delta, k.v);
  return change;
}

inline void large_sweeps(LargeWork& k) {
  const int count = k.patch_count + k.bound_count;
  for (int i = 0; i < count; ++i) {
    const int rows = i < k.patch_count ? k.patches[i].rows : 1;
    own_block(k.rows[i], rows);
    apply_impulse(k.rows[i], rows, k.rows[i].f, k.v);
  }
  k.converged = false;
  for (int n = 0; n < k.max_sweeps && !k.converged; ++n) {
    double change = 0;
    for (int i = 0; i < count; ++i) change = larger(change, visit(k, n % 2 == 0 ? i : count - 1 - i));
    ++k.sweeps;
    k.converged = change <= k.sweep_tolerance;
    if (n % 12 != 11) continue;
    for (int i = 0; i < k.patch_count; ++i) {  // as in the complementarity solver
      if (k.patches[i].slid) k.patches[i].mu_hold = k.patches[i].mu_slip;
      k.patches[i].slid = false;
    }
  }
  ContactWork scale;
  scale.set = k.set;
  for (int i = 0; i < count; ++i) {
    double w[6];
    if (i >= k.patch_count) {
      row_velocities(k.rows[i], 1, k.v, w);
      k.residual = larger(k.residual, bound_residual(scale, k.bounds[i - k.patch_count], k.rows[i].f[0], w[0]));
      continue;
    }
    PatchWork& p = k.patches[i];
    if (p.count == 0) continue;
    row_velocities(k.rows[i], p.rows, k.v, w);
    p.residual = patch_residual(scale, p, w, k.rows[i].f, false);
    k.residual = larger(k.residual, p.residual);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
