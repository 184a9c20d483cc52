#pragma once

#include "constraint/contact_unknowns_kernel.h"

/// One pass: the equations of the unknowns are filled and solved; forces, and the outcome of all rows.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// w = c + G·f, kPacks registers of it; G is symmetric.
template <int kPacks>
KANSETSU_HD void outcome_of(ContactWork& k) {
  Eight sum[kPacks];
  for (int p = 0; p < kPacks; ++p) sum[p] = *reinterpret_cast<const Eight*>(k.c + 8 * p);
  for (int j = 0; j < k.n; ++j) {
    const Eight f(k.f[j]);
    for (int p = 0; p < kPacks; ++p) sum[p] = madd(f, *reinterpret_cast<const Eight*>(k.G + j * k.ldg + 8 * p), sum[p]);
  }
  for (int p = 0; p < kPacks; ++p) eight(k.w + 8 * p) = sum[p];
}
inline void outcome(ContactWork& k) {
  switch ((k.n + 7) / 8) {
    case 1:
      return outcome_of<1>(k);
    case 2:
      return outcome_of<2>(k);
    case 3:
      return outcome_of<3>(k);
    case 4:
      return outcome_of<4>(k);
    default:
      break;
  }
  for (int i = 0; i < k.n; i += 8) eight(k.w + i) = *reinterpret_cast<const Eight*>(k.c + i);
  for (int j = 0; j < k.n; ++j) {
    if (k.f[j] != 0) add_scaled(k.f[j], k.G + j * k.ldg, k.n, k.w);
  }
}

/// Whether the unknowns are the rows themselves: every patch a sticking surface with six rows, `apart` from one to the next.
inline bool all_rows_held(const ContactWork& k, int apart) {
  if (apart * (k.patch_count - 1) + 6 != k.n || k.bound_count > 0) return false;
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    if (p.mode != ContactMode::kSurface || p.slip != SlipMode::kStick || p.row != apart * i || !(p.arm > 0) ||
        p.targets) {
      return false;
    }
  }
  return true;
}

/// Minimum-norm solution of a consistent semidefinite system by proximal steps; forces and moments are weighed by 0.1 m.
inline void solve_proximal(ContactWork& k, const Assembly& s, const double* A, const double* rhs) {
  double mean = 0;
  for (int i = 0; i < s.m; ++i) mean += A[i * k.ld + i];
  const double eps = 1e-6 * mean / s.m;
  for (int i = 0; i < s.m; ++i) k.x[i] = 0;
  for (int pass = 0; pass < 4; ++pass) {
    for (int q = 0; q < s.blocks; ++q) {
      const ContactWork::Block& b = k.blocks[q];
      for (int c = 0; c < b.count; ++c) {
        const int i = b.first + c;
        for (int j = 0; j < s.m; ++j) k.matrix[i * k.ld + j] = A[i * k.ld + j];
        double moment = 0, force = 0;
        for (int r = 0; r < 3; ++r) force = larger(force, absolute(k.columns[48 * q + 8 * r + c]));
        for (int r = 3; r < 6; ++r) moment = larger(moment, absolute(k.columns[48 * q + 8 * r + c]));
        const double weight = force > 0 ? eps : eps * 100 * moment * moment;
        k.matrix[i * k.ld + i] += weight;
        k.matrix[i * k.ld + s.m] = rhs[i] + weight * k.x[i];
      }
    }
    solve_semidefinite(k.matrix, s.m, k.ld, 0, k.x, k.g);
  }
}

/// g ← equationᵀ · rows of G: kPacks registers of it, 0: as many as there are, in memory.
template <int kPacks>
KANSETSU_HD void equation_row(const ContactWork& k, const double* equation, int row, int rows, double* g) {
  if constexpr (kPacks == 0) {
    for (int n = 0; n < k.n; n += 8) eight(g + n) = Eight(0.0);
    for (int r = 0; r < rows; ++r) {
      if (equation[r] != 0) add_scaled(equation[r], k.G + (row + r) * k.ldg, k.n, g);
    }
  } else {
    Eight sum[kPacks];
    for (int p = 0; p < kPacks; ++p) sum[p] = Eight(0.0);
    for (int r = 0; r < rows; ++r) {
      if (equation[r] == 0) continue;
      const Eight e(equation[r]);
      const double* G = k.G + (row + r) * k.ldg;
      for (int p = 0; p < kPacks; ++p) sum[p] = madd(e, *reinterpret_cast<const Eight*>(G + 8 * p), sum[p]);
    }
    for (int p = 0; p < kPacks; ++p) eight(g + 8 * p) = sum[p];
  }
}

/// The same of three rows: those of an equation of a patch of six, across its plane or along it.
template <int kPacks>
KANSETSU_HD void equation_row(const ContactWork& k, const double* equation, int row, const int (&at)[3], double* g) {
  const Eight x(equation[at[0]]), y(equation[at[1]]), z(equation[at[2]]);
  const double *X = k.G + (row + at[0]) * k.ldg, *Y = k.G + (row + at[1]) * k.ldg, *Z = k.G + (row + at[2]) * k.ldg;
  const auto from = [](const double* p) { return *reinterpret_cast<const Eight*>(p); };
  for (int n = 0; n < (kPacks > 0 ? 8 * kPacks : k.n); n += 8)
    eight(g + n) = madd(z, from(Z + n), madd(y, from(Y + n), x * from(X + n)));
}

/// w of what the clamped rows already do.
inline void clamped_outcome(ContactWork& k) {
  for (int i = 0; i < k.n; i += 8) eight(k.w + i) = *reinterpret_cast<const Eight*>(k.c + i);
  for (int b = 0; b < k.bound_count; ++b) {
    const BoundWork& bound = k.bounds[b];
    if (bound.side != 0 && bound.f != 0) add_scaled(bound.f, k.G + bound.row * k.ldg, k.n, k.w);
  }
}

/// Lines and right sides of blocks whose unknowns are not mixed.
template <int kPacks>
inline void fill_rows(ContactWork& k, const ContactWork::Block& b) {
  for (int c = 0; c < b.count; ++c) {
    const int row = b.row + b.place[c], i = b.first + c;
    const double* G = k.G + row * k.ldg;
    double* line = k.matrix + i * k.ld;
    for (int n = 0; n < (kPacks > 0 ? 8 * kPacks : k.n); n += 8)
      eight(line + n) = *reinterpret_cast<const Eight*>(G + n);
    k.order[i] = row;
    k.cut[i] = k.x[i] - k.w[row];
  }
}
template <int kPacks>
inline void fill_slide(ContactWork& k, const ContactWork::Block& b) {
  const PatchWork& p = k.patches[b.patch];
  const double* G = k.G + b.row * k.ldg;
  const auto at = [](const double* from) { return *reinterpret_cast<const Eight*>(from); };
  double *line = k.matrix + b.first * k.ld, *second = line + k.ld;
  const Eight x(-p.e[1]), y(p.e[0]);
  for (int n = 0; n < (kPacks > 0 ? 8 * kPacks : k.n); n += 8) {
    eight(line + n) = at(G + 2 * k.ldg + n);
    if (b.count > 1) eight(second + n) = madd(x, at(G + n), y * at(G + k.ldg + n));
  }
  const double* w = k.w + b.row;
  k.order[b.first] = b.row;
  k.cut[b.first] = k.x[b.first] - w[2];
  if (b.count == 1) return;
  k.order[b.first + 1] = b.row + 1;
  k.cut[b.first + 1] = p.e[1] * w[0] - p.e[0] * w[1];
}

/// From the rows of a block to its unknowns, in the columns of all lines.
inline void mix_slide(ContactWork& k, int m, const ContactWork::Block& b) {
  const PatchWork& p = k.patches[b.patch];
  const double x = p.e[0], y = p.e[1], mu = p.mu_slip;
  for (int i = 0; i < m; ++i) {
    double* line = k.matrix + i * k.ld + b.row;
    const double l0 = line[0], l1 = line[1];
    line[0] = line[2] - mu * (x * l0 + y * l1);
    line[1] = x * l1 - y * l0;
  }
  if (b.count > 1) k.matrix[(b.first + 1) * k.ld + b.row + 1] += p.U0 / (mu * p.fz0);
}
inline void mix_block(ContactWork& k, int m, int q) {
  const ContactWork::Block& b = k.blocks[q];
  Eight column[6];
  for (int r = 0; r < 6; ++r) column[r] = eight(k.columns + 48 * q + 8 * r);
  if (b.rows == 6) {
    for (int i = 0; i < m; ++i) {
      double* line = k.matrix + i * k.ld + b.row;
      const Eight first = madd(Eight(line[2]), column[2], madd(Eight(line[1]), column[1], Eight(line[0]) * column[0]));
      const Eight second = madd(Eight(line[5]), column[5], madd(Eight(line[4]), column[4], Eight(line[3]) * column[3]));
      store_six(line, first + second);
    }
    return;
  }
  for (int i = 0; i < m; ++i) {
    double* line = k.matrix + i * k.ld + b.row;
    Eight sum = Eight(line[0]) * column[0];
    for (int r = 1; r < b.rows; ++r) sum = madd(Eight(line[r]), column[r], sum);
    for (int c = 0; c < b.count; ++c) line[c] = sum[c];
  }
}

/// The equations with the columns left where the rows of G are, so that where unknowns are forces of rows nothing is
/// moved. k.order: the column of each unknown; k.cut: the right sides.
/// @param damping  share of its diagonal by which each row answers a change of its force in addition; then all blocks are mixed
template <int kPacks>
inline void fill_wide(ContactWork& k, const Assembly& s, const SlipEquations* slips, int slip_count, double damping) {
  using Unknowns = ContactWork::Unknowns;
  constexpr int kAcross[3] = {2, 3, 4}, kAlong[3] = {0, 1, 5};
  clamped_outcome(k);
  for (int p = 0; p < s.blocks; ++p) {
    const ContactWork::Block& b = k.blocks[p];
    if (b.kind == Unknowns::kRows) {
      fill_rows<kPacks>(k, b);
      continue;
    }
    if (b.kind == Unknowns::kSlide) {
      fill_slide<kPacks>(k, b);
      continue;
    }
    for (int c = 0; c < b.count; ++c) {
      k.order[b.first + c] = b.row + c;
      const double* equation = k.equations + 64 * p + 8 * c;
      double target = k.x[b.first + c];
      for (int r = 0; r < b.rows; ++r) target -= equation[r] * k.w[b.row + r];
      double* line = k.matrix + (b.first + c) * k.ld;
      if (b.rows == 6)
        equation_row<kPacks>(k, equation, b.row, c < b.normals ? kAcross : kAlong, line);
      else
        equation_row<kPacks>(k, equation, b.row, b.rows, line);
      for (int r = 0; damping > 0 && r < b.rows; ++r) {
        const double part = damping * equation[r] * k.G[(b.row + r) * (k.ldg + 1)];
        line[b.row + r] += part;
        target += part * k.near[b.row + r];
      }
      k.cut[b.first + c] = target;
    }
  }
  for (int q = 0; q < s.blocks; ++q) {
    if (k.blocks[q].kind == Unknowns::kSlide) mix_slide(k, s.m, k.blocks[q]);
    if (k.blocks[q].kind == Unknowns::kMixed) mix_block(k, s.m, q);
  }
  for (int q = 0; q < slip_count; ++q) {
    const SlipEquations& e = slips[q];
    for (int a = 0; a < e.count; ++a) {
      double* line = k.matrix + (e.first + a) * k.ld;
      for (int j = 0; j < e.normals; ++j) line[k.order[e.normal + j]] += e.extra[a][j];
      line[k.order[e.first + a]] += e.weight;
    }
  }
}

inline void fill_matrix(ContactWork& k, const Assembly& s, const SlipEquations* slips, int slip_count) {
  clamped_outcome(k);
  for (int p = 0; p < s.blocks; ++p) {
    const ContactWork::Block& b = k.blocks[p];
    for (int c = 0; c < b.count; ++c) {
      const int i = b.first + c;
      const double* equation = k.equations + 64 * p + 8 * c;
      double target = k.x[i];
      for (int r = 0; r < b.rows; ++r) target -= equation[r] * k.w[b.row + r];
      equation_row<0>(k, equation, b.row, b.rows, k.g);
      double* line = k.matrix + i * k.ld;
      for (int q = 0; q < s.blocks; ++q) {
        const ContactWork::Block& d = k.blocks[q];
        Eight sum(0.0);
        if (d.rows == 1) {
          sum = Eight(k.g[d.row]) * eight(k.columns + 48 * q);
        } else {
          for (int r = 0; r < 3; ++r) sum = madd(Eight(k.g[d.row + r]), eight(k.columns + 48 * q + 8 * r), sum);
        }
        if (d.rows == 6) {
          Eight turn(0.0);
          for (int r = 3; r < 6; ++r) turn = madd(Eight(k.g[d.row + r]), eight(k.columns + 48 * q + 8 * r), turn);
          sum = sum + turn;
        }
        __builtin_memcpy(line + d.first, &sum, sizeof(sum));  // what lies past the block is overwritten by the next
      }
      line[s.m] = target;
    }
  }
  for (int q = 0; q < slip_count; ++q) {
    const SlipEquations& e = slips[q];
    for (int a = 0; a < e.count; ++a) {
      double* line = k.matrix + (e.first + a) * k.ld;
      for (int j = 0; j < e.normals; ++j) line[e.normal + j] += e.extra[a][j];
      line[e.first + a] += e.weight;
    }
  }
}

/// Assembles, fills and eliminates without exchanges; false if a pivot is small.
inline bool solve_wide(ContactWork& k, const Assembly& s, const SlipEquations* slips, int slip_count, double damping) {
  const int packs = (k.n + 7) / 8;
  switch (packs) {
    case 1:
      fill_wide<1>(k, s, slips, slip_count, damping);
      break;
    case 2:
      fill_wide<2>(k, s, slips, slip_count, damping);
      break;
    case 3:
      fill_wide<3>(k, s, slips, slip_count, damping);
      break;
    case 4:
      fill_wide<4>(k, s, slips, slip_count, damping);
      break;
    case 5:
      fill_wide<5>(k, s, slips, slip_count, damping);
      break;
    default:
      fill_wide<0>(k, s, slips, slip_count, damping);
      break;
  }
  const double share = s.symmetric || k.exact ? k.rank_tolerance : 1e-4;
  return solve_lines(k.matrix, s.m, k.ld, packs, k.order, share, k.cut, k.g, k.x);
}

/// With care, where a pivot is small.
inline void solve_assembled(ContactWork& k, const Assembly& s) {
  if (!s.symmetric) {
    k.rank_deficiency = solve_general(k.matrix, s.m, k.ld, 1e-13, k.x, k.g, k.order);
    return;
  }
  for (int i = 0; i < s.m; ++i) {
    for (int j = 0; j <= s.m; ++j) k.matrix2[i * k.ld + j] = k.matrix[i * k.ld + j];
  }
  k.rank_deficiency = solve_semidefinite(k.matrix, s.m, k.ld, k.rank_tolerance, k.x, k.g);
  if (k.rank_deficiency == 0) return;
  for (int i = 0; i < s.m; ++i) k.cut[i] = k.matrix2[i * k.ld + s.m];
  solve_proximal(k, s, k.matrix2, k.cut);
}

/// The same not far from k.near, where rows nearly depend on each other. False: it cannot be.
inline bool pass_nearby(ContactWork& k, SlipEquations* slips, double damping) {
  int slip_count = 0;
  const Assembly s = assemble(k, slips, slip_count, false);
  if (s.m == 0 || !solve_wide(k, s, slips, slip_count, damping)) return false;
  k.damped = true;
  spread(k, s);
  outcome(k);
  return true;
}

/// Solves the present hypotheses: k.f, k.w and the patches' f.
inline void pass(ContactWork& k, SlipEquations* slips) {
  ++k.solves;
  k.rank_deficiency = 0;
  k.damped = false;
  for (int i = 0; i < k.n; i += 8) eight(k.near + i) = eight(k.f + i);
  if (k.n == 14 || k.n == 12 || k.n == 6) {
    if (all_rows_held(k, k.n == 12 ? 6 : 8)) {
      const bool good = k.n == 14   ? solve_two_blocks(k.G, k.ldg, k.c, k.rank_tolerance, k.f)
                        : k.n == 12 ? solve_definite<12>(k.G, k.ldg, k.c, k.rank_tolerance, k.f)
                                    : solve_definite<6>(k.G, k.ldg, k.c, k.rank_tolerance, k.f);
      if (good) {
        outcome(k);
        for (int i = 0; i < k.patch_count; ++i) {
          PatchWork& p = k.patches[i];
          for (int r = 0; r < 6; ++r) p.f[r] = k.f[p.row + r];
          ++p.solves;
        }
        return;
      }
    }
  }
  int slip_count = 0;
  Assembly s = assemble(k, slips, slip_count, true);
  const bool done = s.m == 0 || solve_wide(k, s, slips, slip_count, 0);
  if (!done) {
    constexpr double kDamping = 1e-3;
    if (!s.symmetric && !k.exact && pass_nearby(k, slips, kDamping)) return;
    s = assemble(k, slips, slip_count, false);
    fill_matrix(k, s, slips, slip_count);
    solve_assembled(k, s);
  }
  spread(k, s);
  outcome(k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
