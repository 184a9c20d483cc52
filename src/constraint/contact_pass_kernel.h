#pragma once

#include "constraint/contact_states_kernel.h"

/// One pass: the linear system of the present hypotheses, its solution as wrenches, the outcome of all rows.
namespace kansetsu::kernel::inline KANSETSU_ISA {

struct Assembly {
  int m = 0;  ///< unknowns
  int blocks = 0;
  bool symmetric = true;  ///< no sliding friction in it
};

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

inline void open_block(ContactWork& k, Assembly& s, int row, int rows, int patch, int bound) {
  k.blocks[s.blocks] = {row, rows, s.m, 0, patch, bound, nullptr};
  for (int r = 0; r < 6; ++r) eight(k.columns + 48 * s.blocks + 8 * r) = Eight(0.0);
  ++s.blocks;
}
inline void add_column(ContactWork& k, Assembly& s, const double* column, const double* equation, double target) {
  ContactWork::Block& b = k.blocks[s.blocks - 1];
  double* columns = k.columns + 48 * (s.blocks - 1) + b.count;
  double* equations = k.equations + 64 * (s.blocks - 1) + 8 * b.count;
  for (int r = 0; r < 6; ++r) columns[8 * r] = column[r], equations[r] = equation[r];
  k.x[s.m] = target;
  ++s.m, ++b.count;
}

/// Normal unknowns, with the friction −μ·fz·e of what slides folded into them; (fz, X, Y) per unknown.
inline int add_normals(ContactWork& k, Assembly& s, int index, double (*coefficient)[3]) {
  const PatchWork& p = k.patches[index];
  double target[3];
  int count = 0;
  if (p.mode == ContactMode::kSurface) {
    count = 3;
    const double unit[3][3] = {{1, 0, 0}, {0, 0, 1}, {0, -1, 0}};
    for (int i = 0; i < 3; ++i) {
      for (int j = 0; j < 3; ++j) coefficient[i][j] = unit[i][j];
      target[i] = p.targets ? p.plane[i] : 0.0;
    }
  } else {
    const int ends[2] = {p.i0, p.i1};
    count = p.mode == ContactMode::kLine ? 2 : 1;
    for (int i = 0; i < count; ++i) {
      const int v = ends[i];
      coefficient[i][0] = 1, coefficient[i][1] = p.x[v], coefficient[i][2] = p.y[v];
      target[i] = p.t[v];
    }
  }
  const double arm = p.d;
  for (int i = 0; i < count; ++i) {
    const double fz = coefficient[i][0], X = coefficient[i][1], Y = coefficient[i][2];
    double equation[6], column[6];
    normal_column(fz, X, Y, equation);
    for (int r = 0; r < 6; ++r) column[r] = equation[r];
    if (p.slip == SlipMode::kSlide) {  // f = −μ·fz·e, at the centre of pressure; its arm moves with that
      const double moved = p.newton ? p.dx * (X - p.p0[0] * fz) + p.dy * (Y - p.p0[1] * fz) : 0.0;
      column[0] = -p.mu_slip * p.e[0] * fz;
      column[1] = -p.mu_slip * p.e[1] * fz;
      column[5] = -p.mu_slip * (p.e[2] * (arm * fz + moved) + X * p.e[1] - Y * p.e[0]);
    } else if (p.slip == SlipMode::kSpin) {
      column[5] = -p.mu_slip * arm * p.e[2] * fz;
    }
    if (p.rows == 3) column[3] = column[4] = column[5] = equation[3] = equation[4] = equation[5] = 0;
    add_column(k, s, column, equation, target[i]);
  }
  return count;
}

/// Friction unknowns of a patch that sticks: held at every point (surface, line), or at one (point, spin).
inline void add_stick(ContactWork& k, Assembly& s, int index) {
  const PatchWork& p = k.patches[index];
  const bool turns = p.slip == SlipMode::kSpin || p.mode == ContactMode::kPoint || !(p.arm > 0);
  double px = 0, py = 0;
  if (p.slip == SlipMode::kSpin) {
    px = p.centre[0], py = p.centre[1];
  } else if (p.mode == ContactMode::kPoint) {
    px = p.x[p.i0], py = p.y[p.i0];
  } else if (turns) {
    px = p.p0[0], py = p.p0[1];
  }
  if (p.rows == 3) px = py = 0;
  const double x[6] = {1, 0, 0, 0, 0, -py}, y[6] = {0, 1, 0, 0, 0, px}, z[6] = {0, 0, 0, 0, 0, 1};
  const double *o = p.omega, along = o[0] * px + o[1] * py, square = o[0] * o[0] + o[1] * o[1] + o[2] * o[2];
  add_column(k, s, x, x, px * square - o[0] * along);  // against the centripetal part
  add_column(k, s, y, y, py * square - o[1] * along);
  if (!turns) add_column(k, s, z, z, 0);
}

/// Two directions across e, orthonormal; of two dimensions only the first.
inline void across(const double* e, int dimensions, double (&t)[2][3]) {
  if (dimensions == 2) {
    t[0][0] = -e[1], t[0][1] = e[0], t[0][2] = 0;
    return;
  }
  const double sign = e[2] < 0 ? -1.0 : 1.0, a = -1 / (sign + e[2]), b = e[0] * e[1] * a;
  t[0][0] = 1 + sign * e[0] * e[0] * a, t[0][1] = sign * b, t[0][2] = -sign * e[0];
  t[1][0] = b, t[1][1] = sign + e[1] * e[1] * a, t[1][2] = -e[1];
}

/// A patch whose sliding direction is unknown: F = −μ·fz·e + Σ φ·t across e, and t·U + s·φ = 0, which is F = −μ·fz·U/|U|
/// linearised. The terms in s, and those of U that move with the centre of pressure, go to `extra`.
struct SlipEquations {
  int first, count;     ///< the unknowns φ
  int normal, normals;  ///< normal unknowns
  double weight;        ///< s
  double extra[2][3];   ///< per equation: coefficients of the normals
};
inline SlipEquations add_slip(ContactWork& k, Assembly& s, int index, int normal, int normals,
                              const double (*coefficient)[3]) {
  const PatchWork& p = k.patches[index];
  const double arm = p.d;
  const int dimensions = arm > 0 && p.rows == 6 ? 3 : 2;
  const double px = p.rows == 3 ? 0 : p.p0[0], py = p.rows == 3 ? 0 : p.p0[1];
  double t[2][3];
  across(p.e, dimensions, t);
  SlipEquations q{};
  q.first = s.m, q.count = dimensions - 1, q.normal = normal, q.normals = normals;
  q.weight = p.U0 / (p.mu_slip * p.fz0);
  for (int a = 0; a < q.count; ++a) {
    const double column[6] = {t[a][0], t[a][1], 0, 0, 0, px * t[a][1] - py * t[a][0] + arm * t[a][2]};
    for (int j = 0; j < normals; ++j) {
      const double fz = coefficient[j][0];
      const double dX = coefficient[j][1] - p.p0[0] * fz, dY = coefficient[j][2] - p.p0[1] * fz;
      const bool moves = p.rows == 6 && p.mode != ContactMode::kPoint;
      q.extra[a][j] = moves ? p.wz0 / p.fz0 * (t[a][1] * dX - t[a][0] * dY + t[a][2] * (p.dx * dX + p.dy * dY)) : 0.0;
    }
    add_column(k, s, column, column, 0);
  }
  s.symmetric = false;
  return q;
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

/// Unknowns to forces.
inline void spread(ContactWork& k, const Assembly& s) {
  for (int i = 0; i < k.n; ++i) k.f[i] = 0;
  for (int b = 0; b < k.bound_count; ++b) {
    if (k.bounds[b].side != 0) k.f[k.bounds[b].row] = k.bounds[b].f;
  }
  for (int q = 0; q < s.blocks; ++q) {
    const ContactWork::Block& b = k.blocks[q];
    for (int r = 0; r < b.rows; ++r) {
      double sum = 0;
      for (int c = 0; c < b.count; ++c) sum += k.columns[48 * q + 8 * r + c] * k.x[b.first + c];
      k.f[b.row + r] = sum;
    }
    if (b.bound >= 0) k.bounds[b.bound].f = k.f[b.row];
  }
  for (int i = 0; i < k.patch_count; ++i) {
    PatchWork& p = k.patches[i];
    for (int r = 0; r < p.rows; ++r) p.f[r] = k.f[p.row + r];
    ++p.solves;
  }
}

/// Whether the unknowns of a patch are the forces of its rows, and which: normals come first.
inline const signed char* places(const PatchWork& p) {
  static constexpr signed char kPoint[3] = {2, 0, 1}, kSurface[6] = {2, 3, 4, 0, 1, 5};
  if (p.slip == SlipMode::kSpin) return nullptr;
  const bool folded = p.slip == SlipMode::kSlide && p.mu_slip > 0;
  if (p.rows == 3) return folded ? nullptr : kPoint;
  return p.mode == ContactMode::kSurface && p.slip == SlipMode::kStick && p.arm > 0 ? kSurface : nullptr;
}

inline Assembly assemble(ContactWork& k, SlipEquations* slips, int& slip_count) {
  Assembly s;
  slip_count = 0;
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    if (p.mode == ContactMode::kOpen) continue;
    double coefficient[3][3];
    const int normal = s.m;
    open_block(k, s, p.row, p.rows, i, -1);
    k.blocks[s.blocks - 1].place = places(p);
    const int normals = add_normals(k, s, i, coefficient);
    if (p.slip != SlipMode::kSlide) {
      if (p.mu_hold > 0 || p.slip == SlipMode::kSpin) add_stick(k, s, i);
      if (p.slip == SlipMode::kSpin) s.symmetric = false;
    } else if (p.newton) {
      slips[slip_count++] = add_slip(k, s, i, normal, normals, coefficient);
    } else if (p.mu_slip > 0) {
      s.symmetric = false;
    }
  }
  for (int b = 0; b < k.bound_count; ++b) {
    if (k.bounds[b].side != 0) continue;
    const double unit[6] = {1, 0, 0, 0, 0, 0};
    static constexpr signed char kOnly[1] = {0};
    open_block(k, s, k.bounds[b].row, 1, -1, b);
    k.blocks[s.blocks - 1].place = kOnly;
    add_column(k, s, unit, unit, k.bounds[b].t);
  }
  return s;
}

/// g ← equationᵀ · rows of G: kPacks registers of it.
template <int kPacks>
KANSETSU_HD void equation_row(const ContactWork& k, const double* equation, int row, int rows, double* g) {
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
inline void equation_row(const ContactWork& k, const double* equation, int row, int rows, double* g) {
  switch ((k.n + 7) / 8) {
    case 1:
      return equation_row<1>(k, equation, row, rows, g);
    case 2:
      return equation_row<2>(k, equation, row, rows, g);
    case 3:
      return equation_row<3>(k, equation, row, rows, g);
    case 4:
      return equation_row<4>(k, equation, row, rows, g);
    case 5:
      return equation_row<5>(k, equation, row, rows, g);
    case 6:
      return equation_row<6>(k, equation, row, rows, g);
    default:
      for (int n = 0; n < k.n; n += 8) eight(g + n) = Eight(0.0);
      for (int r = 0; r < rows; ++r) {
        if (equation[r] != 0) add_scaled(equation[r], k.G + (row + r) * k.ldg, k.n, g);
      }
  }
}

/// w of what the clamped rows already do.
inline void clamped_outcome(ContactWork& k) {
  for (int i = 0; i < k.n; i += 8) eight(k.w + i) = *reinterpret_cast<const Eight*>(k.c + i);
  for (int b = 0; b < k.bound_count; ++b) {
    const BoundWork& bound = k.bounds[b];
    if (bound.side != 0 && bound.f != 0) add_scaled(bound.f, k.G + bound.row * k.ldg, k.n, k.w);
  }
}

/// The same equations with the columns left where the rows of G are, so that where unknowns are forces of rows nothing is
/// moved. k.order: the column of each unknown; k.cut: the right sides.
/// @param damping  share of its diagonal by which each row answers a change of its force in addition
inline void fill_wide(ContactWork& k, const Assembly& s, const SlipEquations* slips, int slip_count, double damping) {
  clamped_outcome(k);
  int mixed[64], mixed_count = 0;
  for (int p = 0; p < s.blocks; ++p) {
    const ContactWork::Block& b = k.blocks[p];
    if (!b.place) mixed[mixed_count++] = p;
    for (int c = 0; c < b.count; ++c) {
      k.order[b.first + c] = b.row + (b.place ? b.place[c] : c);
      const double* equation = k.equations + 64 * p + 8 * c;
      double target = k.x[b.first + c];
      for (int r = 0; r < b.rows; ++r) target -= equation[r] * k.w[b.row + r];
      double* line = k.matrix + (b.first + c) * k.ld;
      equation_row(k, equation, b.row, b.rows, line);
      for (int r = 0; damping > 0 && r < b.rows; ++r) {
        const double part = damping * equation[r] * k.G[(b.row + r) * (k.ldg + 1)];
        line[b.row + r] += part;
        target += part * (b.patch >= 0 ? k.patches[b.patch].f[r] : k.bounds[b.bound].f);
      }
      k.cut[b.first + c] = target;
    }
  }
  for (int n = 0; n < mixed_count; ++n) {
    const int q = mixed[n];
    const ContactWork::Block& d = k.blocks[q];
    for (int i = 0; i < s.m; ++i) {
      double* line = k.matrix + i * k.ld + d.row;
      Eight sum(0.0);
      for (int r = 0; r < d.rows; ++r) sum = madd(Eight(line[r]), eight(k.columns + 48 * q + 8 * r), sum);
      for (int c = 0; c < d.count; ++c) line[c] = sum[c];
    }
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
      equation_row(k, equation, b.row, b.rows, k.g);
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

constexpr int kWideRows = 48;  // what solve_wide() has registers for
inline bool solve_wide(ContactWork& k, const Assembly& s) {
  const double share = s.symmetric ? k.rank_tolerance : 1e-4;
  switch ((k.n + 7) / 8) {
    case 1:
      return solve_lines<1>(k.matrix, s.m, k.ld, k.order, share, k.cut, k.g, k.x);
    case 2:
      return solve_lines<2>(k.matrix, s.m, k.ld, k.order, share, k.cut, k.g, k.x);
    case 3:
      return solve_lines<3>(k.matrix, s.m, k.ld, k.order, share, k.cut, k.g, k.x);
    case 4:
      return solve_lines<4>(k.matrix, s.m, k.ld, k.order, share, k.cut, k.g, k.x);
    case 5:
      return solve_lines<5>(k.matrix, s.m, k.ld, k.order, share, k.cut, k.g, k.x);
    case 6:
      return solve_lines<6>(k.matrix, s.m, k.ld, k.order, share, k.cut, k.g, k.x);
    default:
      return false;
  }
}

/// Small systems in registers, without exchanges; if a pivot is small, with care.
inline void solve_assembled(ContactWork& k, const Assembly& s) {
  if (s.m == 0) return;
  const double share = s.symmetric ? k.rank_tolerance : 1e-4;
  if (s.m <= 6 && solve_filled<6>(k.matrix, s.m, k.ld, share, k.x)) return;
  if (s.m > 6 && s.m <= 12 && solve_filled<12>(k.matrix, s.m, k.ld, share, k.x)) return;
  if (!s.symmetric) {
    const int packs = (s.m + 1 + 7) / 8 * 8;
    if (s.m > 12) {  // smaller ones have been tried without exchanges
      for (int i = 0; i < s.m; ++i) {
        for (int j = 0; j < packs; j += 8) eight(k.matrix2 + i * k.ld + j) = eight(k.matrix + i * k.ld + j);
      }
      if (solve_plain(k.matrix2, s.m, k.ld, share, k.x, k.g)) return;
    }
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

/// Solves the present hypotheses: k.f, k.w and the patches' f.
inline void pass(ContactWork& k, SlipEquations* slips) {
  ++k.solves;
  k.rank_deficiency = 0;
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
  const Assembly s = assemble(k, slips, slip_count);
  bool done = false;
  if (k.n <= kWideRows) {
    fill_wide(k, s, slips, slip_count, 0);
    done = solve_wide(k, s);
    if (!done && !s.symmetric) {  // rows that nearly depend on each other: not far from the forces there are
      constexpr double kDamping = 1e-3;
      fill_wide(k, s, slips, slip_count, kDamping);
      done = solve_wide(k, s);
    }
  }
  if (!done) {
    fill_matrix(k, s, slips, slip_count);
    solve_assembled(k, s);
  }
  spread(k, s);
  outcome(k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
