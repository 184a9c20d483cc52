#pragma once

#include "constraint/recursion_kernel.h"
#include "constraint/tree_rows_table.h"

/// Sweeps over the trees of an island for rows that need no matrix. All in O: nothing is turned between a body and its parent.
///
///   in    y_k = Sᵀ·F + τ_k,   F ← F − U·y_k/D      the wrench on a body, on its way to the base
///   out   x_k = (y_k − W·A)/D, A ← A + S·x_k       rates of columns, motions of bodies
///
/// with U = P·S and W = Sᵀ·P, which are the same for M alone. [RBDA] 7.3.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A factor of M, or of M with stiffness of rows: a line per column of U and of W, and pivots.
struct TreeFactor {
  const double *U, *W, *D_inv;
};
enum class Matrix { kMass, kSystem };
inline TreeFactor factor_of(const TreeFigure& f, Matrix which) {
  if (which == Matrix::kMass) return {f.m->U, f.m->U, f.m->D_inv};
  return {f.U, f.W, f.D_inv};
}

/// Wrenches of f.F and torques of f.y on their way in.
inline void sweep_in(const TreeFigure& f, const TreeFactor& factor) {
  for (int n = 0; n < f.body_count; ++n) {
    const TreeBody& b = f.bodies[n];
    Eight F = load_eight(f.F + 8 * b.body);
    for (int k = b.first + b.count - 1; k >= b.first; --k) {
      const double y = f.y[k] + total(load_eight(f.m->S + 8 * k) * F);
      F = madd(load_eight(factor.U + 8 * k), Eight(-(factor.D_inv[k] * y)), F);
      f.y[k] = y;
    }
    if (b.parent >= 0) store_eight(load_eight(f.F + 8 * b.parent) + F, f.F + 8 * b.parent);
  }
}
/// Rates f.x and motions f.A for the torques of f.y.
inline void sweep_out(const TreeFigure& f, const TreeFactor& factor) {
  for (int n = f.body_count - 1; n >= 0; --n) {
    const TreeBody& b = f.bodies[n];
    Eight A = b.parent < 0 ? Eight(0.0) : load_eight(f.A + 8 * b.parent);
    for (int k = b.first; k < b.first + b.count; ++k) {
      const double x = factor.D_inv[k] * (f.y[k] - total(load_eight(factor.W + 8 * k) * A));
      A = madd(load_eight(f.m->S + 8 * k), Eight(x), A);
      f.x[k] = x;
    }
    store_eight(A, f.A + 8 * b.body);
  }
}

inline void clear_forces(const TreeFigure& f) {
  const Eight zero(0.0);
  for (int i = 0; i < f.body_count; ++i) store_eight(zero, f.F + 8 * i);
  for (int k = 0; k < f.nv; ++k) f.y[k] = 0;
}
inline void add_wrench(const TreeEnd& e, const double* r, const TreeFigure& f) {
  Eight F = load_eight(f.F + 8 * e.body);
  for (int a = 0; a < e.count; ++a) F = madd(load_eight(e.F[a]), Eight(r[e.row + a]), F);
  store_eight(F, f.F + 8 * e.body);
}
/// N·A: what the rows of an end measure of a motion, in the lanes of the rows.
KANSETSU_HD Eight measure(const TreeEnd& e, const double* A) {
  return madd(load_eight(e.N[2]), Eight(A[2]),
              madd(load_eight(e.N[1]), Eight(A[1]), load_eight(e.N[0]) * Eight(A[0]))) +
         madd(load_eight(e.N[5]), Eight(A[6]), madd(load_eight(e.N[4]), Eight(A[5]), load_eight(e.N[3]) * Eight(A[4])));
}
/// w += what rows measure of the motions of one figure; −1: of all
inline void add_motions(const TreeRowsView& t, int figure, double* w) {
  alignas(64) double measured[8];
  for (int i = 0; i < t.end_count; ++i) {
    const TreeEnd& e = t.ends[i];
    if (figure >= 0 && e.figure != figure) continue;
    store_eight(measure(e, t.figures[e.figure].A + 8 * e.body), measured);
    for (int a = 0; a < e.count; ++a) w[e.row + a] += measured[a];
  }
  for (int i = 0; i < t.torque_count; ++i) {
    const TreeTorque& b = t.torques[i];
    if (figure < 0 || b.figure == figure) w[b.row] += b.scale * t.figures[b.figure].x[b.column];
  }
}

/// Velocities w of rows under impulses r: by M alone, or by the last system.
inline void tree_solve(const TreeRowsView& t, Matrix which, const double* r, double* w) {
  for (int i = 0; i < t.figure_count; ++i) clear_forces(t.figures[i]);
  for (int i = 0; i < t.end_count; ++i) add_wrench(t.ends[i], r, t.figures[t.ends[i].figure]);
  for (int i = 0; i < t.torque_count; ++i) {
    const TreeTorque& b = t.torques[i];
    t.figures[b.figure].y[b.column] += b.scale * r[b.row];
  }
  for (int i = 0; i < t.figure_count; ++i) {
    sweep_in(t.figures[i], factor_of(t.figures[i], which));
    sweep_out(t.figures[i], factor_of(t.figures[i], which));
  }
  for (int i = 0; i < padded_rows(t.rows); ++i) w[i] = 0;
  add_motions(t, -1, w);
}

inline void tree_rates(const TreeRowsView& t, int figure, const double* half, double* a) {
  const TreeFigure& f = t.figures[figure];
  for (int k = 0; k < f.nv; ++k) f.y[k] = half[k];
  sweep_out(f, factor_of(f, Matrix::kMass));
  add_motions(t, figure, a);
}

inline void tree_answer(const TreeRowsView& t, const double* r, double* w) { tree_solve(t, Matrix::kMass, r, w); }

inline void tree_respond(const TreeRowsView& t, int figure, const double* r, double share, double* out) {
  const TreeFigure& f = t.figures[figure];
  clear_forces(f);
  for (int i = 0; i < t.end_count; ++i) {
    if (t.ends[i].figure == figure) add_wrench(t.ends[i], r, f);
  }
  for (int i = 0; i < t.torque_count; ++i) {
    const TreeTorque& b = t.torques[i];
    if (b.figure == figure) f.y[b.column] += b.scale * r[b.row];
  }
  sweep_in(f, factor_of(f, Matrix::kMass));
  for (int k = 0; k < f.nv; ++k) f.y[k] += share * f.m->drive[k];
  sweep_out(f, factor_of(f, Matrix::kMass));
  for (int k = 0; k < f.nv; ++k) out[k] += f.x[k];
}

/// Motion of every body under a wrench on it, from the base on: Ω ← T·Ω·Tᵀ + S·Sᵀ/D with T = 1 − S·Uᵀ/D; and what a torque does to its
/// own column, 1/D + Uᵀ·Ω·U/D². Constant per column, unlike a row of M⁻¹.
inline void find_compliance(const TreeFigure& f) {
  for (int n = f.body_count - 1; n >= 0; --n) {
    const TreeBody& b = f.bodies[n];
    Eight C[6];
    for (int c = 0; c < 6; ++c) {
      C[c] = b.parent < 0 ? Eight(0.0) : load_eight(f.compliance + kBodyRecord * b.parent + 8 * c);
    }
    for (int k = b.first; k < b.first + b.count; ++k) {
      const double *S = f.m->S + 8 * k, *U = f.m->U + 8 * k, D_inv = f.m->D_inv[k];
      Eight y(0.0);  // Ω·U/D
      for (int c = 0; c < 6; ++c) y = madd(C[c], Eight(D_inv * U[kMotionLane[c]]), y);
      f.own[k] = D_inv + D_inv * total(load_eight(U) * y);
      const Eight s = load_eight(S), rest = madd(s, Eight(f.own[k]), y * Eight(-1.0));
      alignas(64) double numbers[8];
      store_eight(y, numbers);
      for (int c = 0; c < 6; ++c) {
        C[c] = madd(rest, Eight(S[kMotionLane[c]]), C[c]);
        C[c] = madd(s, Eight(-numbers[kMotionLane[c]]), C[c]);
      }
    }
    for (int c = 0; c < 6; ++c) store_eight(C[c], f.compliance + kBodyRecord * b.body + 8 * c);
  }
}

/// Forces along rows take U off on their way in, what rows measure W: the two differ where friction follows pressure.
enum class Side { kForces, kMeasures };
inline double* lines_of(const TreeFigure& f, Side side) { return side == Side::kForces ? f.right : f.left; }

/// Rows of the system that join bodies: what a force of 1 along each is when it comes to each column on its way in.
inline void climb_joining(const TreeRowsView& t, Matrix which, Side side) {
  for (int i = 0; i < t.figure_count; ++i) {
    const TreeFigure& f = t.figures[i];
    for (long k = 0; k < long(f.nv) * t.stride; k += 8) store_eight(Eight(0.0), lines_of(f, side) + k);
  }
  const auto climb_from = [&](const TreeFigure& f, int k, Eight(&F)[6], Eight z, int place) {
    const TreeFactor factor = factor_of(f, which);
    const double* const U = side == Side::kForces ? factor.U : factor.W;
    for (; k >= 0; k = f.m->up[k], z = Eight(0.0)) {
      const double* S = f.m->S + 8 * k;
      z = z + madd(F[2], Eight(S[2]), madd(F[1], Eight(S[1]), F[0] * Eight(S[0]))) +
          madd(F[5], Eight(S[6]), madd(F[4], Eight(S[5]), F[3] * Eight(S[4])));
      double* to = lines_of(f, side) + long(k) * t.stride + place;
      store_eight(load_eight(to) + z, to);
      const Eight share = z * Eight(-factor.D_inv[k]);
      for (int c = 0; c < 6; ++c) F[c] = madd(share, Eight(U[8 * k + kMotionLane[c]]), F[c]);
    }
  };
  for (int i = 0; i < t.end_count; ++i) {
    const TreeEnd& e = t.ends[i];
    if (t.place[e.row] < 0) continue;
    const TreeFigure& f = t.figures[e.figure];
    Eight F[6];
    for (int c = 0; c < 6; ++c) F[c] = load_eight(e.N[c]);
    const Body& b = f.tree->bodies[e.body];
    climb_from(f, b.u + b.nu - 1, F, Eight(0.0), t.place[e.row]);
  }
  for (int i = 0; i < t.torque_count; ++i) {
    const TreeTorque& b = t.torques[i];
    if (t.place[b.row] < 0) continue;
    Eight F[6], z(0.0);
    for (Eight& f : F) f = Eight(0.0);
    z.set(0, b.scale);
    climb_from(t.figures[b.figure], b.column, F, z, t.place[b.row]);
  }
}

/// G = Σ leftᵀ·D⁻¹·right over the rows that join bodies.
inline void join_rows(const TreeRowsView& t, int joined, Matrix which, Side left) {
  for (int i = 0; i < joined * t.stride; ++i) t.G[i] = 0;
  for (int i = 0; i < t.figure_count; ++i) {
    const TreeFigure& f = t.figures[i];
    const TreeFactor factor = factor_of(f, which);
    for (int k = 0; k < f.nv; ++k) {
      const double *l = lines_of(f, left) + long(k) * t.stride, *r = f.right + long(k) * t.stride;
      for (int a = 0; a < joined; ++a) {
        if (l[a] == 0) continue;
        const Eight weight(factor.D_inv[k] * l[a]);
        double* line = t.G + a * t.stride;
        for (int c = 0; c < joined; c += 8)
          store_eight(madd(weight, load_eight(r + c), load_eight(line + c)), line + c);
      }
    }
  }
}

/// Own block of the rows of an end, by the compliance of its body.
inline void own_of_end(const TreeEnd& e, const TreeFigure& f, double* own) {
  const double* C = f.compliance + kBodyRecord * e.body;
  for (int a = 0; a < e.count; ++a) {
    Eight B(0.0);
    for (int c = 0; c < 6; ++c) B = madd(load_eight(C + 8 * c), Eight(e.F[a][kMotionLane[c]]), B);
    alignas(64) double motion[8];
    store_eight(B, motion);
    store_eight(measure(e, motion), own + 8 * (e.row + a));
  }
}

inline void tree_begin(const TreeRowsView& t, double* a) {
  for (int i = 0; i < t.figure_count; ++i) {
    const TreeFigure& f = t.figures[i];
    MechanicsBlock bodies = *f.m;
    bodies.articulated = f.P;  // free until the first system
    heavy_records<NativePack<double>>(*f.tree, bodies);
    const Eight zero(0.0);
    for (int b = 0; b < f.body_count; ++b) {
      for (int c = 0; c < 6 && f.tree->bodies[b].massless; ++c) store_eight(zero, f.rigid + kBodyRecord * b + 8 * c);
    }
    for (int n = 0; n < f.m->heavy_count; ++n) {
      for (int c = 0; c < 6; ++c) {
        double* to = f.rigid + kBodyRecord * f.m->heavy[n] + 8 * c;
        store_eight(load_eight(f.P + kBodyRecord * n + 8 * c), to);
        to[kBiasLane] = 0;
      }
    }
    find_compliance(f);
    for (int k = 0; k < f.nv; ++k) f.y[k] = f.m->drive[k];
    sweep_out(f, factor_of(f, Matrix::kMass));
  }
  add_motions(t, -1, a);
  for (int i = 0; i < t.end_count; ++i) {
    const TreeEnd& e = t.ends[i];
    if (!t.joins[e.row]) own_of_end(e, t.figures[e.figure], t.own);
  }
  for (int i = 0; i < t.torque_count; ++i) {
    const TreeTorque& b = t.torques[i];
    if (!t.joins[b.row]) t.own[8 * b.row] = b.scale * b.scale * t.figures[b.figure].own[b.column];
  }
  if (t.joined == 0) return;
  int n = 0;
  for (int row = 0; row < t.rows; ++row) {
    t.place[row] = t.joins[row] ? n : -1;
    if (t.joins[row]) t.row_of[n++] = row;
  }
  climb_joining(t, Matrix::kMass, Side::kForces);
  join_rows(t, n, Matrix::kMass, Side::kForces);
  for (int p = 0; p < n; ++p) {  // six columns from the first of its block on
    const int row = t.row_of[p], end = t.end_of[row], first = end < 0 ? p : t.place[t.ends[end].row];
    for (int c = 0; c < 6 && first + c < n; ++c) t.own[8 * row + c] = t.G[p * t.stride + first + c];
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
