#pragma once

#include "constraint/contact_states_kernel.h"

/// The unknowns of the present hypotheses, block by block: what of a patch or a bounded row is free, and what it is to do; and back
/// from their values to forces.
namespace kansetsu::kernel::inline KANSETSU_ISA {

struct Assembly {
  int m = 0;  ///< unknowns
  int blocks = 0;
  bool symmetric = true;  ///< no sliding friction in it
};

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

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
