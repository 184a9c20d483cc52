#pragma once

#include "kansetsu/spatial/small_matrix.h"
#include "kinematics/posture_kernel.h"
#include "sim/lanes.h"

/// A figure in each lane: how its bodies move, its articulated inertias, and its accelerations; all in O, world axes at the
/// free base's present position. The recursion of constraint/recursion_kernel.h, where a number becomes a pack.
///
/// Symbols   P articulated inertia, Z its bias wrench, U = P·S, D = SᵀU + rotor + implicit gains, drive = τ − SᵀZ
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// How a body moves: pose, velocity, acceleration at v̇ = 0 (gravity apart).
template <class P>
struct LaneMotion {
  Transform<P> X;
  Motion<P> V, A;
};
/// What hangs on a body, or its own share of it.
template <class P>
struct LaneBurden {
  ArticulatedInertia<P> P_;
  Force<P> Z;
};

template <class P>
struct LaneWork {
  Posture<P> posture;
  LaneMotion<P>* kept;
  Inertia<P>* M;     ///< per body with mass
  Force<P>* F;       ///< the wrench that holds it at v̇ = 0
  Motion<P>* S;      ///< per column
  Force<P>* U;       ///< per column
  P *D_inv, *drive;  ///< per column
  P *tau, *extra;    ///< per column: torques; inertia that stands for implicit gains, the rotor's included
  P* x;              ///< per column: accelerations
  LaneBurden<P>* burdens;
  Motion<P>* along;   ///< where limbs meet: accelerations without drift
  P* Z;               ///< per sole and column of its path: kSoleRows numbers
  Lower<P, 6>* base;  ///< factor of the base: L, and on its diagonal 1/D
  P* base_drive;      ///< six, in world axes
  P* base_Z;          ///< per row of all soles: six
  P* G;               ///< of the rows; and the factor of it
};

template <class P>
KANSETSU_HD LaneWork<P> carve_lanes(const LaneFigure& f, Carver<P>& carver) {
  const TreeView& tree = *f.tree;
  LaneWork<P> w;
  w.posture = carve_posture(tree, carver);
  w.kept = carver.template take<LaneMotion<P>>(f.kept_count);
  w.M = carver.template take<Inertia<P>>(f.heavy_count);
  w.F = carver.template take<Force<P>>(f.heavy_count);
  w.S = carver.template take<Motion<P>>(tree.nv);
  w.U = carver.template take<Force<P>>(tree.nv);
  for (P** p : {&w.D_inv, &w.drive, &w.tau, &w.extra, &w.x}) *p = carver.template take<P>(tree.nv);
  w.burdens = carver.template take<LaneBurden<P>>(f.meeting_count);
  w.along = carver.template take<Motion<P>>(f.meeting_count);
  w.Z = carver.template take<P>(kMostRows * tree.nv);
  w.base = carver.template take<Lower<P, 6>>(1);
  w.base_drive = carver.template take<P>(6);
  w.base_Z = carver.template take<P>(6 * kMostRows);
  w.G = carver.template take<P>(kMostRows * (kMostRows + 1));
  return w;
}

template <class P>
KANSETSU_HD Vec3<P> zero3() {
  return {P(0.0), P(0.0), P(0.0)};
}
template <class P>
KANSETSU_HD Motion<P> no_motion() {
  return {zero3<P>(), zero3<P>()};
}

/// The columns of a body, and what they add to its motion.
template <class P, class Joint>
KANSETSU_HD void pass_body(const Joint&, const Body& b, const double* sign, const P* v, LaneMotion<P>& m,
                           Motion<P>* S) {
  Motion<P> rate = no_motion<P>();
  for (int k = 0; k < b.nu; ++k) {
    const Motion<P> s = P(sign[b.u + k]) * (m.X * subspace<P>(b, k));
    S[b.u + k] = s;
    rate = madd(v[b.u + k], s, rate);
  }
  m.A += cross(m.V, rate);  // (V + rate)×rate
  m.V += rate;
}
template <class P, int AX>
KANSETSU_HD void pass_body(const AlignedHinge<P, AX>&, const Body& b, const double* sign, const P* v, LaneMotion<P>& m,
                           Motion<P>* S) {
  const Mat3<P>& R = m.X.R;
  const P plus(sign[b.u]);
  const Vec3<P> axis = plus * (AX == 0 ? R.column_x() : AX == 1 ? R.column_y() : R.column_z());
  const Motion<P> s{axis, cross(m.X.p, axis)};
  S[b.u] = s;
  const Motion<P> rate = v[b.u] * s;
  m.A += cross(m.V, rate);
  m.V += rate;
}

/// From the base to the tips: motions, and inertia and bias wrench of the bodies that have a mass.
template <class P>
KANSETSU_HD void outward(const LaneFigure& f, const P* q, const P* v, LaneWork<P>& w) {
  const TreeView& tree = *f.tree;
  load_posture(tree, q, w.posture);
  const Vec3<P> up = lift<P>(-tree.gravity);
  const LaneMotion<P> ground{{}, no_motion<P>(), no_motion<P>()};
  LaneMotion<P> m = ground;
  for (int i = 0; i < tree.body_count; ++i) {
    const Body& b = tree.bodies[i];
    if (b.parent != i - 1) m = b.parent < 0 ? ground : w.kept[f.kept[b.parent]];
    if (i == 0 && tree.free_base) {
      m.X = {w.posture.X_PB[0].R, zero3<P>()};
      m.V = {m.X.R * Vec3<P>{v[0], v[1], v[2]}, m.X.R * Vec3<P>{v[3], v[4], v[5]}};
    } else {
      with_joint(b, w.posture, i, [&](const auto& joint) __attribute__((always_inline)) {
        m.X = b.concurrent ? joint.compose_in_place(m.X) : joint.compose(m.X);
        pass_body(joint, b, tree.columns.sign, v, m, w.S);
      });
    }
    if (f.kept[i] >= 0) w.kept[f.kept[i]] = m;
    if (f.heavy[i] < 0) continue;
    const Inertia<P> M = m.X * lift<P>(b.M_B);
    w.M[f.heavy[i]] = M;
    w.F[f.heavy[i]] = M * Motion<P>{m.A.w, m.A.v + up} + cross(m.V, M * m.V);
  }
}

/// P − k·Uᵀ, of which k = U/D
template <class P>
KANSETSU_HD void take_off(const Force<P>& k, const Force<P>& U, ArticulatedInertia<P>& I) {
  I.A = {msub(k.t.x, U.t.x, I.A.xx), msub(k.t.x, U.t.y, I.A.xy), msub(k.t.x, U.t.z, I.A.xz),
         msub(k.t.y, U.t.y, I.A.yy), msub(k.t.y, U.t.z, I.A.yz), msub(k.t.z, U.t.z, I.A.zz)};
  I.B = {madd(-k.t.x, U.f, I.B.x), madd(-k.t.y, U.f, I.B.y), madd(-k.t.z, U.f, I.B.z)};
  I.M = {msub(k.f.x, U.f.x, I.M.xx), msub(k.f.x, U.f.y, I.M.xy), msub(k.f.x, U.f.z, I.M.xz),
         msub(k.f.y, U.f.y, I.M.yy), msub(k.f.y, U.f.z, I.M.yz), msub(k.f.z, U.f.z, I.M.zz)};
}

/// Columns k, k − 1, … (kCount of them) at once: one after the other each would wait for the division of the one before.
/// @return the smallest pivot
template <int kCount, class P>
KANSETSU_HD P eliminate(LaneWork<P>& w, int k, LaneBurden<P>& b) {
  Force<P> U[kCount];
  P g[kCount][kCount], y[kCount], inverse[kCount];
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    const Motion<P>& S = w.S[k - i];
    U[i] = b.P_ * S;
    y[i] = w.tau[k - i] - dot(S, b.Z);
#pragma GCC unroll 3
    for (int j = 0; j <= i; ++j) g[i][j] = dot(S, U[j]);
    g[i][i] += w.extra[k - i];
  }
  P least = g[0][0];
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    if (i > 0) least = select(g[i][i] < least, g[i][i], least);
    inverse[i] = P(1.0) / g[i][i];
#pragma GCC unroll 3
    for (int j = i + 1; j < kCount; ++j) {
      const P share = g[j][i] * inverse[i];
#pragma GCC unroll 3
      for (int l = j; l < kCount; ++l) g[l][j] = msub(g[l][i], share, g[l][j]);
      U[j] = madd(-share, U[i], U[j]);
      y[j] = msub(share, y[i], y[j]);
    }
  }
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    const Force<P> gain = inverse[i] * U[i];
    take_off(gain, U[i], b.P_);
    b.Z = madd(y[i], gain, b.Z);
    w.U[k - i] = U[i];
    w.D_inv[k - i] = inverse[i];
    w.drive[k - i] = y[i];
  }
  return least;
}

template <class P>
KANSETSU_HD void take_up(const LaneStep& step, const LaneWork<P>& w, LaneBurden<P>& b) {
  if (step.leaf) {
    if (step.heavy < 0) {
      const Sym3<P> O = Sym3<P>::diagonal(P(0.0), P(0.0), P(0.0));
      b = {{O, {zero3<P>(), zero3<P>(), zero3<P>()}, O}, {zero3<P>(), zero3<P>()}};
      return;
    }
    b = {to_articulated(w.M[step.heavy]), w.F[step.heavy]};
    return;
  }
  if (step.from >= 0) b = {b.P_ + w.burdens[step.from].P_, b.Z + w.burdens[step.from].Z};
  if (step.heavy < 0) return;
  const Inertia<P>& M = w.M[step.heavy];
  b.P_.A = b.P_.A + M.I;
  b.P_.B = b.P_.B + skew(M.h);
  b.P_.M.xx += M.m, b.P_.M.yy += M.m, b.P_.M.zz += M.m;
  b.Z += w.F[step.heavy];
}

/// The base: P = L·D·Lᵀ in world axes. @return the smallest pivot
template <class P>
KANSETSU_HD P eliminate_base(const LaneFigure& f, LaneWork<P>& w, LaneBurden<P>& b) {
  take_up(f.base, w, b);
  const Mat3<P>& R = w.posture.X_PB[0].R;
  const Vec3<P> t = R * Vec3<P>{w.tau[0], w.tau[1], w.tau[2]} - b.Z.t;
  const Vec3<P> u = R * Vec3<P>{w.tau[3], w.tau[4], w.tau[5]} - b.Z.f;
  const Sym3<P>&A = b.P_.A, &M = b.P_.M;
  const Mat3<P>& B = b.P_.B;
  const Lower<P, 6> I{A.xx,  A.xy,  A.yy, A.xz, A.yz,  A.zz,  B.x.x, B.y.x, B.z.x, M.xx, B.x.y,
                      B.y.y, B.z.y, M.xy, M.yy, B.x.z, B.y.z, B.z.z, M.xz,  M.yz,  M.zz};
  const Ldlt<P, 6> factor = Ldlt<P, 6>::factor(I, P(0.0));
  *w.base = factor.l;
  w.base_drive[0] = t.x, w.base_drive[1] = t.y, w.base_drive[2] = t.z;
  w.base_drive[3] = u.x, w.base_drive[4] = u.y, w.base_drive[5] = u.z;
  for (int i = 1; i < 6; ++i) {
    for (int j = 0; j < i; ++j) w.base_drive[i] = msub((*w.base)(i, j), w.base_drive[j], w.base_drive[i]);
  }
  return factor.least_pivot;
}

/// From the tips to the base. @return the smallest pivot
template <class P>
KANSETSU_HD P inward(const LaneFigure& f, LaneWork<P>& w) {
  LaneBurden<P> b;
  P least(1e300);
  const auto note = [&](const P& pivot) { least = select(pivot < least, pivot, least); };
  for (int n = 0; n < f.step_count; ++n) {
    const LaneStep& step = f.steps[n];
    take_up(step, w, b);
    int k = step.last;
    for (; k - 2 >= step.first; k -= 3) note(eliminate<3>(w, k, b));
    if (k - 1 == step.first) note(eliminate<2>(w, k, b));
    if (k == step.first) note(eliminate<1>(w, k, b));
    if (step.to < 0) continue;
    LaneBurden<P>& to = w.burdens[step.to];
    to = step.opens ? b : LaneBurden<P>{to.P_ + b.P_, to.Z + b.Z};
  }
  if (f.tree->free_base) note(eliminate_base(f, w, b));
  return least;
}

/// From the base to the tips: accelerations x of all columns, of which x holds D⁻¹·(half-solved torques).
template <class P>
KANSETSU_HD void descend(const LaneFigure& f, LaneWork<P>& w) {
  Motion<P> A = no_motion<P>();
  if (f.tree->free_base) {
    P* y = w.base_drive;
    for (int i = 4; i >= 0; --i) {
      for (int j = i + 1; j < 6; ++j) y[i] = msub((*w.base)(j, i), y[j], y[i]);
    }
    A = {{y[0], y[1], y[2]}, {y[3], y[4], y[5]}};
    if (f.base.after >= 0) w.along[f.base.after] = A;
    const Mat3<P>& R = w.posture.X_PB[0].R;
    const Vec3<P> t = transpose_times(R, A.w), u = transpose_times(R, A.v);
    w.x[0] = t.x, w.x[1] = t.y, w.x[2] = t.z, w.x[3] = u.x, w.x[4] = u.y, w.x[5] = u.z;
  }
  for (int n = f.step_count - 1; n >= 0; --n) {
    const LaneStep& step = f.steps[n];
    if (step.before != -1) A = step.before == LaneStep::kGround ? no_motion<P>() : w.along[step.before];
    for (int k = step.first; k <= step.last; ++k) {
      w.x[k] = msub(w.D_inv[k], dot(A, w.U[k]), w.x[k]);
      A = madd(w.x[k], w.S[k], A);
    }
    if (step.after >= 0) w.along[step.after] = A;
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
