#pragma once

#include "constraint/contact_fast_kernel.h"

/// Active set on the normal forces of all vertices (Lawson–Hanson), with the friction of sticking patches as free unknowns.
/// Exact without friction and where everything sticks; finite.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Unknowns of `use` from the full system in matrix2; the others are zero.
inline void solve_subset(ContactWork& k, int m, const unsigned char* use, double* z) {
  int* map = k.order;
  int count = 0;
  for (int i = 0; i < m; ++i) {
    if (use[i]) map[count++] = i;
    z[i] = 0;
  }
  for (int a = 0; a < count; ++a) {
    for (int b = 0; b < count; ++b) k.matrix[a * k.ld + b] = k.matrix2[map[a] * k.ld + map[b]];
    k.matrix[a * k.ld + count] = k.matrix2[map[a] * k.ld + m];
  }
  k.rank_deficiency = solve_semidefinite(k.matrix, count, k.ld, k.rank_tolerance, k.cut, k.g);
  for (int a = 0; a < count; ++a) z[map[a]] = k.cut[a];
  ++k.solves;
}

inline bool lawson_hanson(ContactWork& k, int m, int free_count, unsigned char* use, double* x, double* z) {
  double size = 1e-300;
  for (int i = 0; i < m; ++i) {
    use[i] = i < free_count, x[i] = 0;
    size = larger(size, absolute(k.matrix2[i * k.ld + m]));
  }
  if (free_count > 0) solve_subset(k, m, use, x);
  for (int n = 0; n < 4 * m + 20; ++n) {
    int enter = -1;
    double least = -1e-10 * size;
    for (int i = free_count; i < m; ++i) {
      if (use[i]) continue;
      double u = -k.matrix2[i * k.ld + m];
      for (int j = 0; j < m; ++j) u += k.matrix2[i * k.ld + j] * x[j];
      if (u < least) least = u, enter = i;
    }
    if (enter < 0) return true;
    use[enter] = 1;
    for (int inner = 0; inner < m + 5; ++inner) {
      solve_subset(k, m, use, z);
      double step = 1;
      int leave = -1;
      for (int i = free_count; i < m; ++i) {
        if (!use[i] || z[i] >= 0) continue;
        const double part = x[i] > 0 ? x[i] / (x[i] - z[i]) : 0.0;
        if (part < step) step = part, leave = i;
      }
      for (int i = 0; i < m; ++i) x[i] += step * (z[i] - x[i]);
      if (leave < 0) break;
      use[leave] = 0, x[leave] = 0;
      if (leave == enter && step == 0) break;
    }
  }
  return false;
}

inline bool active_set(ContactWork& k) {
  if (k.bound_count > 0) return false;
  Assembly s;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    if (p.count == 0) continue;
    if (p.given || p.slip == SlipMode::kSpin || (p.slip == SlipMode::kSlide && p.mu_slip > 0)) return false;
    k.swept = false;  // states are changed from here on
    set_full(p);
    if (p.arm <= 0 && p.count > 1 && p.mu_hold > 0) return false;
  }
  int vertices = 0;
  for (int i = 0; i < k.patch_count; ++i) vertices += k.patches[i].count;
  if (k.n + vertices > k.column_capacity || k.n + vertices > 256) return false;
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    if (p.mode == ContactMode::kOpen || !(p.mu_hold > 0)) continue;
    open_block(k, s, p.row, p.rows, i, -1);
    add_stick(k, s, i);
  }
  const int free_count = s.m;
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    if (p.count > 0) open_block(k, s, p.row, p.rows, i, -1);
    for (int v = 0; v < p.count; ++v) {
      double column[6];
      normal_column(1, p.x[v], p.y[v], column);
      if (p.rows == 3) column[3] = column[4] = 0;
      add_column(k, s, column, column, p.t[v]);
    }
  }
  fill_matrix(k, s, nullptr, 0);
  for (int i = 0; i < s.m * k.ld; ++i) k.matrix2[i] = k.matrix[i];
  unsigned char use[256];
  if (!lawson_hanson(k, s.m, free_count, use, k.x, k.best)) return false;
  int v = free_count;
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    int closed[kMaxTouching], count = 0;
    for (int j = 0; j < p.count; ++j, ++v) {
      if (k.x[v] > 0) closed[count++] = j;
    }
    if (count == 0) {
      p.mode = ContactMode::kOpen;
    } else if (count == 1) {
      set_point(p, closed[0]);
    } else if (count == 2) {
      set_line(p, closed[0], closed[1]);
    } else {
      set_full(p);
    }
  }
  spread(k, s);
  outcome(k);
  return k.accepted = verify(k) <= accepted_residual(k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
