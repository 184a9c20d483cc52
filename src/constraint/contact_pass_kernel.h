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
  k.blocks[s.blocks] = {row, rows, s.m, 0, patch, bound, ContactWork::Unknowns::kMixed, nullptr, 0};
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
  using Unknowns = ContactWork::Unknowns;
  for (int i = 0; i < k.n; i += 8) eight(k.f + i) = Eight(0.0);
  for (int b = 0; b < k.bound_count; ++b) {
    if (k.bounds[b].side != 0) k.f[k.bounds[b].row] = k.bounds[b].f;
  }
  for (int q = 0; q < s.blocks; ++q) {
    const ContactWork::Block& b = k.blocks[q];
    double* f = k.f + b.row;
    const double* x = k.x + b.first;
    if (b.kind == Unknowns::kRows) {
      for (int c = 0; c < b.count; ++c) f[b.place[c]] = x[c];
    } else if (b.kind == Unknowns::kSlide) {
      const PatchWork& p = k.patches[b.patch];
      const double along = -p.mu_slip * x[0], across = b.count > 1 ? x[1] : 0.0;
      f[0] = along * p.e[0] - across * p.e[1], f[1] = along * p.e[1] + across * p.e[0], f[2] = x[0];
    } else {
      for (int r = 0; r < b.rows; ++r) {
        double sum = 0;
        for (int c = 0; c < b.count; ++c) sum += k.columns[48 * q + 8 * r + c] * x[c];
        f[r] = sum;
      }
    }
    if (b.bound >= 0) k.bounds[b.bound].f = f[0];
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

/// A block whose unknowns need no columns and equations written down. False: it does.
inline bool add_direct(ContactWork& k, Assembly& s, int index) {
  using Unknowns = ContactWork::Unknowns;
  const PatchWork& p = k.patches[index];
  const auto open = [&](Unknowns kind, int count, const signed char* place) {
    k.blocks[s.blocks++] = {p.row, p.rows, s.m, count, index, -1, kind, place, 0};
    s.m += count;
  };
  if (const signed char* place = places(p)) {
    const bool surface = p.rows == 6, holds = p.slip != SlipMode::kSlide && p.mu_hold > 0;
    const int normals = surface ? 3 : 1;
    for (int i = 0; i < normals; ++i) k.x[s.m + i] = !surface ? p.t[p.i0] : p.targets ? p.plane[i] : 0.0;
    for (int i = normals; i < 2 * normals + 1; ++i) k.x[s.m + i] = 0;
    open(Unknowns::kRows, normals + (!holds ? 0 : surface ? 3 : 2), place);
    return true;
  }
  if (p.rows != 3 || p.slip != SlipMode::kSlide) return false;
  k.x[s.m] = p.t[p.i0], k.x[s.m + 1] = 0;
  open(Unknowns::kSlide, p.newton ? 2 : 1, nullptr);
  s.symmetric = false;
  return true;
}

/// The unknowns of all blocks, and of those that are mixed columns and equations. Bounded rows come first, as their rows do.
/// @param direct  not all need be mixed
inline Assembly assemble(ContactWork& k, SlipEquations* slips, int& slip_count, bool direct) {
  using Unknowns = ContactWork::Unknowns;
  Assembly s;
  slip_count = 0;
  for (int b = 0; b < k.bound_count; ++b) {
    if (k.bounds[b].side != 0) continue;
    static constexpr signed char kOnly[1] = {0};
    if (direct) {
      k.x[s.m] = k.bounds[b].t;
      k.blocks[s.blocks++] = {k.bounds[b].row, 1, s.m++, 1, -1, b, Unknowns::kRows, kOnly, 0};
      continue;
    }
    const double unit[6] = {1, 0, 0, 0, 0, 0};
    open_block(k, s, k.bounds[b].row, 1, -1, b);
    add_column(k, s, unit, unit, k.bounds[b].t);
  }
  for (int i = 0; i < k.patch_count; ++i) {
    const PatchWork& p = k.patches[i];
    if (p.mode == ContactMode::kOpen || (direct && add_direct(k, s, i))) continue;
    double coefficient[3][3];
    const int normal = s.m;
    open_block(k, s, p.row, p.rows, i, -1);
    const int normals = k.blocks[s.blocks - 1].normals = add_normals(k, s, i, coefficient);
    if (p.slip != SlipMode::kSlide) {
      if (p.mu_hold > 0 || p.slip == SlipMode::kSpin) add_stick(k, s, i);
      if (p.slip == SlipMode::kSpin) s.symmetric = false;
    } else if (p.newton) {
      slips[slip_count++] = add_slip(k, s, i, normal, normals, coefficient);
    } else if (p.mu_slip > 0) {
      s.symmetric = false;
    }
  }
  return s;
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

/// The same equations with the columns left where the rows of G are, so that where unknowns are forces of rows nothing is
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
