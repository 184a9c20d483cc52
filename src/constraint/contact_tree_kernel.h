#pragma once

#include "constraint/contact_newton_kernel.h"
#include "constraint/tree_rows_kernel.h"

/// The system of a Newton step by the articulated-body recursion, docs/theory/contact.md. With dr = q − H·dw,
///
///     (M + Jᵀ·H·J)·dv = Jᵀ·q,   dw = J·dv
///
/// A patch adds its H to the inertia of its body, P ← P + Σ F_a·H_ab·F_bᵀ, a bounded row to the pivot of its column. Friction that follows
/// the pressure makes H, and with it P, unsymmetric: then P and its transpose are eliminated side by side.
///
/// Rows that join two bodies (patches between limbs, tendons) stay rows: with G̃ = J·(M + …)⁻¹·Jᵀ over these alone,
/// (1 + H·G̃)·dr = q − H·c, where c is what everything else does to them.
namespace kansetsu::kernel::inline KANSETSU_ISA {

class TreeSystem {
 public:
  explicit TreeSystem(const TreeRowsView& rows) : t_(rows) {}

  void answer(const LawWork&, const double* r, double* w) const { tree_answer(t_, r, w); }

  /// dw for the right side q. False: a pivot vanishes, as it may where patches slide.
  bool solve(LawWork& k, const double* q, double* dw) {
    any_two_sided_ = false;
    for (int i = 0; i < t_.figure_count; ++i) begin_figure(t_.figures[i]);
    joined_ = 0;
    add_laws(k);
    add_right_side(q);
    for (int i = 0; i < t_.figure_count; ++i) {
      if (!eliminate(t_.figures[i])) return false;
    }
    if (joined_ > 0 && !solve_joining(k, q)) return false;
    for (int i = 0; i < t_.figure_count; ++i) sweep_out(t_.figures[i], factor_of(t_.figures[i], Matrix::kSystem));
    for (int i = 0; i < padded_rows(t_.rows); ++i) dw[i] = 0;
    add_motions(t_, -1, dw);
    return true;
  }
  /// The same for another right side, with the last factor. False: rows that join bodies take part.
  bool solve_again(LawWork&, const double* q, double* dw) const {
    if (joined_ == 0) tree_solve(t_, Matrix::kSystem, q, dw);
    return joined_ == 0;
  }

 private:
  void begin_figure(const TreeFigure& f) const {
    for (int b = 0; b < f.body_count; ++b) f.state[b] = TreeFigure::kRigid;
    for (int k = 0; k < f.nv; ++k) f.added[k] = f.y[k] = 0;
  }

  /// What a body carries so far: its own inertia until something is added to it.
  static const double* record_of(const TreeFigure& f, int body) {
    return (f.state[body] & TreeFigure::kOpen ? f.P : f.rigid) + kBodyRecord * body;
  }
  static void copy_record(const double* from, double* to) {
    for (int c = 0; c < 6; ++c) store_eight(load_eight(from + 8 * c), to + 8 * c);
  }
  static void open(const TreeFigure& f, int body) {
    if (f.state[body] & TreeFigure::kOpen) return;
    copy_record(f.rigid + kBodyRecord * body, f.P + kBodyRecord * body);
    f.state[body] |= TreeFigure::kOpen;
  }
  /// From now on the transpose is kept beside it: so far they are the same.
  void turn(const TreeFigure& f, int body) {
    any_two_sided_ = true;
    if (f.state[body] & TreeFigure::kTwoSided) return;
    copy_record(record_of(f, body), f.T + kBodyRecord * body);
    f.state[body] |= TreeFigure::kTwoSided;
  }

  /// Jᵀ·H·J of all rows that act on one body or coordinate; the others that carry load are listed.
  void add_laws(const LawWork& k) {
    for (int i = 0; i < k.patch_count; ++i) {
      const PatchLaw& law = k.patches[i];
      const bool joins = t_.joins[law.row];
      for (int a = 0; a < law.rows && joins; ++a) take_part(law.row + a, law.active);
      if (!law.active || joins || t_.end_of[law.row] < 0) continue;
      const TreeEnd& e = t_.ends[t_.end_of[law.row]];
      if (law.follows) turn(t_.figures[e.figure], e.body);
      law.rows == 3 ? add_stiffness<3>(law.H, e) : add_stiffness<6>(law.H, e);
    }
    for (int i = 0; i < k.bound_count; ++i) {
      const BoundLaw& b = k.bounds[i];
      if (t_.joins[b.row]) take_part(b.row, b.free);
      if (!b.free || t_.joins[b.row]) continue;
      if (t_.end_of[b.row] >= 0) add_stiffness<1>(&b.H, t_.ends[t_.end_of[b.row]]);
      if (t_.torque_of[b.row] < 0) continue;
      const TreeTorque& c = t_.torques[t_.torque_of[b.row]];
      t_.figures[c.figure].added[c.column] += c.scale * c.scale * b.H;
    }
  }
  void take_part(int row, bool carries) {
    t_.place[row] = carries ? joined_ : -1;
    if (carries) t_.row_of[joined_++] = row;
  }
  template <int kRows>
  void add_stiffness(const double* H, const TreeEnd& e) const {
    const TreeFigure& f = t_.figures[e.figure];
    Eight F[kRows];
    for (int a = 0; a < kRows; ++a) F[a] = load_eight(e.F[a]);
    open(f, e.body);
    add_product<kRows, 6, 1>(H, F, e, f.P + kBodyRecord * e.body);
    if (f.state[e.body] & TreeFigure::kTwoSided) add_product<kRows, 1, 6>(H, F, e, f.T + kBodyRecord * e.body);
  }
  /// P += Σ F_a·H_ab·F_bᵀ with H_ab at kLine·a + kStep·b
  template <int kRows, int kLine, int kStep>
  static void add_product(const double* H, const Eight (&F)[kRows], const TreeEnd& e, double* P) {
    Eight B[kRows];
    for (int a = 0; a < kRows; ++a) {
      B[a] = Eight(H[kLine * a]) * F[0];
      for (int b = 1; b < kRows; ++b) B[a] = madd(Eight(H[kLine * a + kStep * b]), F[b], B[a]);
    }
    for (int c = 0; c < 6; ++c) {
      Eight sum = load_eight(P + 8 * c);
      for (int a = 0; a < kRows; ++a) sum = madd(Eight(e.F[a][kMotionLane[c]]), B[a], sum);
      store_eight(sum, P + 8 * c);
    }
  }

  /// Jᵀ·q of rows that are not solved for by themselves; the wrench on a body stands in the fourth lane of its record.
  void add_right_side(const double* q) const {
    alignas(64) double wrench[8];
    for (int i = 0; i < t_.end_count; ++i) {
      const TreeEnd& e = t_.ends[i];
      if (t_.joins[e.row] && t_.place[e.row] >= 0) continue;
      Eight F(0.0);
      for (int a = 0; a < e.count; ++a) F = madd(load_eight(e.F[a]), Eight(q[e.row + a]), F);
      store_eight(F, wrench);
      open(t_.figures[e.figure], e.body);
      double* P = t_.figures[e.figure].P + kBodyRecord * e.body;
      for (int c = 0; c < 6; ++c) P[8 * c + kBiasLane] += wrench[kMotionLane[c]];
    }
    for (int i = 0; i < t_.torque_count; ++i) {
      const TreeTorque& b = t_.torques[i];
      if (!t_.joins[b.row] || t_.place[b.row] < 0) t_.figures[b.figure].y[b.column] += b.scale * q[b.row];
    }
  }

  /// Columns from the tips to the base: U, W, pivots, and the torques y of the right side.
  bool eliminate(const TreeFigure& f) {
    for (int n = 0; n < f.body_count; ++n) {
      const TreeBody& b = f.bodies[n];
      const bool two_sided = f.state[b.body] & TreeFigure::kTwoSided;
      if (!(two_sided ? eliminate_body<true>(f, b) : eliminate_body<false>(f, b))) return false;
    }
    return true;
  }
  template <bool kTwoSided>
  bool eliminate_body(const TreeFigure& f, const TreeBody& b) {
    static constexpr double kBias[8] = {0, 0, 0, 1, 0, 0, 0, 0};
    const ColumnInput in{f.rotor, f.extra, nullptr};
    ArticulatedRows P(record_of(f, b.body)), T(f.T + kBodyRecord * (kTwoSided ? b.body : 0));
    for (int k = b.first + b.count - 1; k >= b.first; --k) {
      const double* S = f.m->S + 8 * k;
      const Eight W = madd(load_eight(kBias), Eight(f.y[k]), P.times(S)), U = kTwoSided ? T.times(S) : W;
      const double D = total(load_eight(S) * W) + in.added(k) + f.added[k];
      const double free = f.m->D_inv[k];  // 1/pivot of M alone; 0: nothing resists, and it stands still
      if (free > 0 && !(absolute(D) * free > kVanishing)) return false;
      const double inverse = free > 0 ? 1 / D : 0;
      f.y[k] = W[kBiasLane], f.D_inv[k] = inverse;
      store_eight(W, f.W + 8 * k);
      store_eight(U, f.U + 8 * k);
      P.take_off(U * Eight(-inverse), W);
      if constexpr (kTwoSided) T.take_off(W * Eight(-inverse), U);
    }
    if (b.parent < 0) return true;
    if (kTwoSided) turn(f, b.parent);
    if (f.state[b.parent] & TreeFigure::kTwoSided) (kTwoSided ? T : P).add_to(f.T + kBodyRecord * b.parent);
    P.add(record_of(f, b.parent)), P.put(f.P + kBodyRecord * b.parent);
    f.state[b.parent] |= TreeFigure::kOpen;
    return true;
  }

  /// Forces of the rows that join bodies, added to the torques y of the columns.
  bool solve_joining(const LawWork& k, const double* q) {
    climb_joining(t_, Matrix::kSystem, Side::kForces);
    if (any_two_sided_) climb_joining(t_, Matrix::kSystem, Side::kMeasures);
    const Side left = any_two_sided_ ? Side::kMeasures : Side::kForces;
    const int n = joined_, ld = t_.stride;
    join_rows(t_, n, Matrix::kSystem, left);
    double* c = t_.weight;
    for (int a = 0; a < n; ++a) c[a] = 0;
    for (int i = 0; i < t_.figure_count; ++i) {
      const TreeFigure& f = t_.figures[i];
      for (int j = 0; j < f.nv; ++j) {
        const double weight = f.D_inv[j] * f.y[j], *line = lines_of(f, left) + long(j) * ld;
        for (int a = 0; a < n; ++a) c[a] += weight * line[a];
      }
    }
    const Eight zero(0.0);
    for (int a = 0; a < n; ++a) {
      for (int b = 0; b < ld; b += 8) store_eight(zero, t_.A + a * ld + b);
      t_.A[a * ld + a] = 1;
      t_.right[a] = q[t_.row_of[a]];
    }
    const auto add = [&](int a, int b, double H) {  // H·(G̃, −c) of row b to line a
      if (H == 0) return;
      add_scaled(H, t_.G + b * ld, n, t_.A + a * ld);
      t_.right[a] -= H * c[b];
    };
    for (int i = 0; i < k.patch_count; ++i) {
      const PatchLaw& law = k.patches[i];
      if (!law.active || !t_.joins[law.row]) continue;
      const int first = t_.place[law.row];
      for (int a = 0; a < law.rows; ++a) {
        for (int b = 0; b < law.rows; ++b) add(first + a, first + b, law.H[6 * a + b]);
      }
    }
    for (int i = 0; i < k.bound_count; ++i) {
      const BoundLaw& b = k.bounds[i];
      if (b.free && t_.joins[b.row]) add(t_.place[b.row], t_.place[b.row], b.H);
    }
    for (int a = 0; a < n; ++a) {
      for (int b = n; b < ld; ++b) t_.A[a * ld + b] = 0;
      t_.A[a * ld + n] = t_.right[a];
    }
    if (solve_general(t_.A, n, ld, kSingular, t_.solution, t_.weight, t_.order) > 0) return false;
    for (int i = 0; i < t_.figure_count; ++i) {
      const TreeFigure& f = t_.figures[i];
      for (int j = 0; j < f.nv; ++j) {
        const double* line = f.right + long(j) * ld;
        for (int a = 0; a < n; ++a) f.y[j] += line[a] * t_.solution[a];
      }
    }
    return true;
  }

  const TreeRowsView& t_;
  bool any_two_sided_ = false;  ///< some body is
  int joined_ = 0;              ///< rows that are solved for by themselves
};

inline void newton_tree(LawWork& k, const TreeRowsView& rows) {
  TreeSystem system(rows);
  solve_law(system, k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
