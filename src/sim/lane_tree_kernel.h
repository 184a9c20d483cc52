#pragma once

#include "constraint/column_elimination.h"
#include "kansetsu/spatial/pack.h"
#include "kansetsu/spatial/small_matrix.h"
#include "kinematics/posture_kernel.h"
#include "sim/lanes.h"

/// A figure in each lane: how its bodies move, its articulated inertias, and its accelerations; all in O, world axes at the
/// free base's present position. The recursion of constraint/recursion_kernel.h, where a number becomes a pack.
///
/// Symbols   P articulated inertia, Z its bias wrench, U = P·S, D = SᵀU + rotor + implicit gains, drive = τ − SᵀZ
///
/// The recursion goes to the base, or to a sole that holds (LaneTree): in O it makes no difference to S and P which body stands
/// still, but for the sign of S between them.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// How a body moves: its pose; its angular velocity and that of its origin; and their rates at v̇ = 0 (gravity apart).
template <class P>
struct LaneMotion {
  Transform<P> X;
  Vec3<P> w, v, alpha, a;
};
/// Where the entry (r, c), c ≤ r, of a symmetric matrix stands.
constexpr int packed(int r, int c) { return r * (r + 1) / 2 + c; }
constexpr int symmetric(int r, int c) { return r < c ? packed(c, r) : packed(r, c); }

/// A body with all that hangs on it: articulated inertia P by its lower triangle, articulated bias force Z. It stays in memory:
/// with the columns that are eliminated it is more than registers hold, and a register full of each is asked for at a time.
template <class P>
struct LaneArticulated {
  P I[21], Z[6];
};

template <class P>
struct LaneWork {
  Posture<P> posture;
  LaneMotion<P>* kept;
  Inertia<P>* M;     ///< per body with mass
  Force<P>* F;       ///< the wrench that holds it at v̇ = 0
  P *S, *U;          ///< per column: six numbers
  P *D_inv, *drive;  ///< per column
  P* share;          ///< per column, four numbers: what those eliminated with it before take of it
  P *tau, *extra;    ///< per column: torques; inertia that stands for implicit gains, the rotor's included
  P* x;              ///< per column: accelerations
  P *q, *v;          ///< in the middle of the step
  LaneArticulated<P>* articulated;  ///< per slot
  P* along;                         ///< per body: acceleration without drift, six numbers
  P* Z;                             ///< per column of the path of the second sole: kSoleRows numbers
  P* root_F;                        ///< the wrenches that come to the first one: six times as many
};

template <class P>
KANSETSU_HD LaneWork<P> carve_lanes(const LaneFigure& f, Carver<P>& carver) {
  const TreeView& tree = *f.tree;
  LaneWork<P> w;
  w.posture = carve_posture(tree, carver);
  w.kept = carver.template take<LaneMotion<P>>(f.kept_count);
  w.M = carver.template take<Inertia<P>>(f.heavy_count);
  w.F = carver.template take<Force<P>>(f.heavy_count);
  w.S = carver.template take<P>(6 * tree.nv);
  w.U = carver.template take<P>(6 * tree.nv);
  w.share = carver.template take<P>(4 * tree.nv);
  for (P** p : {&w.D_inv, &w.drive, &w.tau, &w.extra, &w.x, &w.v}) *p = carver.template take<P>(tree.nv);
  w.q = carver.template take<P>(tree.nq);
  w.articulated = carver.template take<LaneArticulated<P>>(f.slot_count);
  w.along = carver.template take<P>(6 * tree.body_count);
  w.Z = carver.template take<P>(kSoleRows * tree.nv);
  w.root_F = carver.template take<P>(6 * kSoleRows);
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

/// A number beside no other is a lane, too.
template <class P>
struct LaneTraits {
  using Mask = typename P::Mask;
  static constexpr int width = P::width;
};
template <>
struct LaneTraits<double> {
  using Mask = bool;
  static constexpr int width = 1;
};
template <class P>
using LaneMask = typename LaneTraits<P>::Mask;

/// Bit i: lane i of a mask.
template <class P>
KANSETSU_HD std::uint32_t bits_of(const LaneMask<P>& mask) {
  if constexpr (LaneTraits<P>::width == 1) {
    return mask;
  } else {
#if defined(__AVX512F__)
    if constexpr (sizeof(P) == 64) return _mm512_test_epi64_mask(__m512i(mask.m), __m512i(mask.m));
#elif defined(__AVX2__)
    if constexpr (sizeof(P) == 32) return std::uint32_t(_mm256_movemask_pd(__m256d(mask.m)));
#endif
    std::uint32_t bits = 0;
    for (int i = 0; i < P::width; ++i) bits |= std::uint32_t(mask.m[i] != 0) << i;
    return bits;
  }
}

/// sincos() where |x| is below π/4, to the bit: nothing is reduced there.
template <class P>
KANSETSU_HD void small_sincos(const P& x, P& s, P& c) {
  constexpr detail::SincosConstants<double> K{};
  const P z = x * x;
  detail::within_quarter(x, P(0.0), z, detail::polynomial(z, K.S), detail::polynomial(z, K.C), s, c);
}

/// load_posture(); most hinges of a figure that stands are bent so little that their sines are quickly found.
template <class P>
KANSETSU_HD void load_lane_posture(const LaneFigure& f, const P* q, Posture<P>& out) {
  const TreeView& tree = *f.tree;
  if (!f.aligned || LaneTraits<P>::width == 1) return load_posture(tree, q, out);
  constexpr std::uint32_t kAll = (1u << LaneTraits<P>::width) - 1;
  const P limit(0.78);
  for (int i = tree.free_base ? 1 : 0; i < tree.body_count; ++i) {
    const P x = tree_position(tree, tree.bodies[i].u, q);
    if (bits_of<P>((x < limit) & (x > -limit)) == kAll)
      small_sincos(x, out.s[i], out.c[i]);
    else
      sincos(x, out.s[i], out.c[i]);
  }
  if (!tree.free_base) return;
  const P* x = q + tree.large[tree.bodies[0].large].q;
  out.X_PB[0].R = lift<P>(tree.bodies[0].X_PJ.R) * to_mat3(Quaternion<P>{x[3], x[4], x[5], x[6]});
}

template <class P>
KANSETSU_HD void put_motion(const Motion<P>& s, P* to) {
  to[0] = s.w.x, to[1] = s.w.y, to[2] = s.w.z, to[3] = s.v.x, to[4] = s.v.y, to[5] = s.v.z;
}

/// The point of a body at r from its origin becomes its origin.
template <class P>
KANSETSU_HD void move_origin(const Vec3<P>& r, LaneMotion<P>& m) {
  const Vec3<P> u = cross(m.w, r);
  m.a = add_cross(add_cross(m.a, m.alpha, r), m.w, u);
  m.v += u;
  m.X.p += r;
}

/// From a body to one that hangs on it: its pose, its columns, and what they add to its motion.
template <class P, int AX>
KANSETSU_HD void pass_body(const AlignedHinge<P, AX>& joint, const Body& b, const double* sign, const bool* turned,
                           const P* v, LaneMotion<P>& m, P* S) {
  Mat3<P>& R = m.X.R;
  if (!b.concurrent) {
    const Vec3<>& p = b.X_PJ.p;
    move_origin(p.x == 0 && p.y == 0 ? P(p.z) * R.column_z() : R * joint.p, m);
  }
  R = {turn_back<AX>(joint.c, joint.s, R.x), turn_back<AX>(joint.c, joint.s, R.y),
       turn_back<AX>(joint.c, joint.s, R.z)};
  Vec3<P> axis = AX == 0 ? R.column_x() : AX == 1 ? R.column_y() : R.column_z();
  if (sign[b.u] < 0) axis = -axis;
  const Vec3<P> rate = v[b.u] * axis;
  if (turned[b.u]) axis = -axis;
  put_motion(Motion<P>{axis, cross(m.X.p, axis)}, S + 6 * b.u);
  m.alpha = add_cross(m.alpha, m.w, rate);
  m.w += rate;
}
/// Any other primitive, by spatial velocities in O.
template <class P, class Joint>
KANSETSU_HD void pass_body(const Joint& joint, const Body& b, const double* sign, const bool* turned, const P* v,
                           LaneMotion<P>& m, P* S) {
  Motion<P> V{m.w, add_cross(m.v, m.X.p, m.w)};
  Motion<P> A{m.alpha, add_cross(add_cross(m.a, m.X.p, m.alpha), m.v, m.w)};
  m.X = joint.compose(m.X);
  Motion<P> rate{zero3<P>(), zero3<P>()};
  for (int k = 0; k < b.nu; ++k) {
    const Motion<P> s = P(sign[b.u + k]) * (m.X * subspace<P>(b, k));
    put_motion(turned[b.u + k] ? -s : s, S + 6 * (b.u + k));
    rate = madd(v[b.u + k], s, rate);
  }
  A += cross(V, rate);
  V += rate;
  m.w = V.w, m.v = add_cross(V.v, V.w, m.X.p);
  m.alpha = A.w, m.a = add_cross(add_cross(A.v, A.w, m.X.p), m.w, m.v);
}

/// Inertia of a body about O, and the wrench that holds it at v̇ = 0: Newton and Euler about its centre of mass.
template <class P>
KANSETSU_HD void weigh_body(const LaneInertia& own, const LaneMotion<P>& m, const Vec3<P>& up, Inertia<P>& M,
                            Force<P>& F) {
  const Mat3<P>& R = m.X.R;
  const Vec3<P> r = own.along_z ? P(own.com.z) * R.column_z() : R * lift<P>(own.com), c = m.X.p + r;
  Sym3<P> I;
  if (own.diagonal) {  // Ixx·1 + (Iyy − Ixx)·y·yᵀ + (Izz − Ixx)·z·zᵀ
    const P xx(own.I.xx);
    const Vec3<P> y = R.column_y(), z = R.column_z(), a = P(own.I.yy - own.I.xx) * y, b = P(own.I.zz - own.I.xx) * z;
    I = {madd(a.x, y.x, madd(b.x, z.x, xx)), madd(a.x, y.y, b.x * z.y), madd(a.x, y.z, b.x * z.z),
         madd(a.y, y.y, madd(b.y, z.y, xx)), madd(a.y, y.z, b.y * z.z), madd(a.z, y.z, madd(b.z, z.z, xx))};
  } else {
    I = congruence(R, lift<P>(own.I));
  }
  const P mass(own.m);
  const Vec3<P> f = mass * (add_cross(add_cross(m.a, m.alpha, r), m.w, cross(m.w, r)) + up);
  F = {add_cross(add_cross(I * m.alpha, m.w, I * m.w), c, f), f};
  const Vec3<P> h = mass * c;
  M = {mass,
       h,
       {madd(h.y, c.y, madd(h.z, c.z, I.xx)), msub(h.x, c.y, I.xy), msub(h.x, c.z, I.xz),
        madd(h.x, c.x, madd(h.z, c.z, I.yy)), msub(h.y, c.z, I.yz), madd(h.x, c.x, madd(h.y, c.y, I.zz))}};
}

/// Adds the own inertia and bias wrench of a body to what hangs on it, or begins with them.
template <bool kBegin, class P>
KANSETSU_HD void add_body(const Inertia<P>& M, const Force<P>& F, LaneArticulated<P>& b) {
  const auto add = [&](int r, int c, const P& x) KANSETSU_INLINE_LAMBDA {
    P& entry = b.I[packed(r, c)];
    entry = kBegin ? x : entry + x;
  };
  const P zero(0.0);
  add(0, 0, M.I.xx), add(1, 0, M.I.xy), add(1, 1, M.I.yy), add(2, 0, M.I.xz), add(2, 1, M.I.yz), add(2, 2, M.I.zz);
  // [I h̃; −h̃ m]: rows 3 to 5 of it
  add(3, 1, M.h.z), add(3, 2, -M.h.y), add(4, 0, -M.h.z), add(4, 2, M.h.x), add(5, 0, M.h.y), add(5, 1, -M.h.x);
  add(3, 3, M.m), add(4, 4, M.m), add(5, 5, M.m);
  if (kBegin) {
    add(3, 0, zero), add(4, 1, zero), add(4, 3, zero), add(5, 2, zero), add(5, 3, zero), add(5, 4, zero);
  }
  const P f[6] = {F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z};
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) b.Z[i] = kBegin ? f[i] : b.Z[i] + f[i];
}

template <class P>
KANSETSU_HD P absolute(const P& a) {
  return select(a < P(0.0), -a, a);
}
/// No less than the length of a.
template <class P>
KANSETSU_HD P taxicab(const Vec3<P>& a) {
  return absolute(a.x) + absolute(a.y) + absolute(a.z);
}

/// How far the shapes of a body are from planes, less what they may come closer within the step; the smallest distance so far.
template <class P>
KANSETSU_HD P least_clearance(const LaneStance& stance, int body, const LaneMotion<P>& m, const Vec3<P>& O, P least) {
  const Transform<P>& X = m.X;
  for (int k = stance.watch_begin[body]; k < stance.watch_begin[body + 1]; ++k) {
    const LaneWatch& watch = stance.watches[k];
    const LanePlane& plane = stance.planes[watch.plane];
    const Vec3<P> n = lift<P>(plane.normal), n_B = plane.level ? X.R.z : transpose_times(X.R, n);
    const P height = plane.level ? X.p.z + (O.z - P(plane.point.z)) : dot(n, X.p + (O - lift<P>(plane.point)));
    P clear = height + (dot(n_B, lift<P>(watch.centre_B)) - P(watch.radius));
    for (int e = 0; e < watch.e_count; ++e) {
      const P along = dot(n_B, lift<P>(watch.e_B[e]));
      clear = clear - select(along < P(0.0), -along, along);
    }
    const P sinks = plane.level ? -m.v.z : -dot(n, m.v);
    const P approach = madd(P(watch.lever), taxicab(m.w), select(sinks > P(0.0), sinks, P(0.0)));
    clear = msub(P(stance.twice_h), approach, clear);
    least = select(clear < least, clear, least);
  }
  return least;
}

/// Lets the columns k, k − 1, … (kCount of them) move freely, all at once.
/// @return the smallest pivot
template <int kCount, class P>
KANSETSU_HD P eliminate(LaneWork<P>& w, int k, LaneArticulated<P>& b) {
  P S[kCount][6], U[kCount][6], g[kCount][kCount], y[kCount], inverse[kCount];
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) S[i][a] = w.S[6 * (k - i) + a];
    y[i] = w.tau[k - i];
#pragma GCC unroll 3
    for (int j = 0; j <= i; ++j) g[i][j] = i == j ? w.extra[k - i] : P(0.0);
  }
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) {
    const P Z = b.Z[a];
#pragma GCC unroll 3
    for (int i = 0; i < kCount; ++i) {
      P sum = b.I[symmetric(a, 0)] * S[i][0];
#pragma GCC unroll 6
      for (int c = 1; c < 6; ++c) sum = madd(b.I[symmetric(a, c)], S[i][c], sum);
      U[i][a] = sum;
      y[i] = msub(S[i][a], Z, y[i]);
    }
#pragma GCC unroll 3
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 3
      for (int j = 0; j <= i; ++j) g[i][j] = madd(S[i][a], U[j][a], g[i][j]);
    }
  }
  P least = g[0][0], share[kCount][kCount];
  factor_group(
      g, inverse, share,
      [&](int i, const P& pivot) KANSETSU_INLINE_LAMBDA {
        if (i > 0) least = select(pivot < least, pivot, least);
        return P(1.0) / pivot;
      },
      [&](int j, int i, const P& x) KANSETSU_INLINE_LAMBDA { y[j] = msub(x, y[i], y[j]); });
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    w.D_inv[k - i] = inverse[i];
    w.drive[k - i] = y[i];
  }
  keep_shares(share, w.share + 4 * k);
#pragma GCC unroll 6
  for (int a = 0; a < 6; ++a) {
    P gain[kCount], Z = b.Z[a];
#pragma GCC unroll 3
    for (int i = 0; i < kCount; ++i) {
#pragma GCC unroll 3
      for (int j = 0; j < i; ++j) U[i][a] = msub(share[i][j], U[j][a], U[i][a]);
      w.U[6 * (k - i) + a] = U[i][a];
      gain[i] = inverse[i] * U[i][a];
      Z = madd(y[i], gain[i], Z);
    }
    b.Z[a] = Z;
#pragma GCC unroll 6
    for (int c = 0; c <= a; ++c) {
      P entry = b.I[packed(a, c)];
#pragma GCC unroll 3
      for (int i = 0; i < kCount; ++i) entry = msub(gain[i], U[i][c], entry);
      b.I[packed(a, c)] = entry;
    }
  }
  return least;
}

template <class P>
KANSETSU_HD void collect(const LaneTree& tree, const LaneStep& step, const LaneWork<P>& w, LaneArticulated<P>& b) {
  if (step.leaf && step.heavy >= 0) {
    add_body<true>(w.M[step.heavy], w.F[step.heavy], b);
  } else if (step.leaf) {
    for (P& x : b.I) x = P(0.0);
    for (P& x : b.Z) x = P(0.0);
  } else {
    for (int n = step.others; n < step.others_end; ++n) {
      const LaneArticulated<P>& other = w.articulated[tree.others[n]];
      for (int i = 0; i < 21; ++i) b.I[i] += other.I[i];
      for (int i = 0; i < 6; ++i) b.Z[i] += other.Z[i];
    }
    if (step.heavy >= 0) add_body<false>(w.M[step.heavy], w.F[step.heavy], b);
  }
  if (!step.base) return;
  const Mat3<P>& R = w.posture.X_PB[0].R;
  const Vec3<P> t = R * Vec3<P>{w.tau[0], w.tau[1], w.tau[2]}, u = R * Vec3<P>{w.tau[3], w.tau[4], w.tau[5]};
  b.Z[0] -= t.x, b.Z[1] -= t.y, b.Z[2] -= t.z, b.Z[3] -= u.x, b.Z[4] -= u.y, b.Z[5] -= u.z;
}

/// A free base: its acceleration A = −P⁻¹·Z in world axes. @return the smallest pivot
template <class P>
KANSETSU_HD P free_base(const LaneArticulated<P>& b, P (&A)[6]) {
  Lower<P, 6> I;
  for (int i = 0; i < 21; ++i) I.a[i] = b.I[i];
  const Ldlt<P, 6> factor = Ldlt<P, 6>::factor(I, P(0.0));
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
    A[i] = -b.Z[i];
#pragma GCC unroll 6
    for (int j = 0; j < i; ++j) A[i] = msub(factor.l(i, j), A[j], A[i]);
  }
  for (int i = 0; i < 6; ++i) A[i] = factor.l(i, i) * A[i];
#pragma GCC unroll 6
  for (int i = 5; i > 0; --i) {
#pragma GCC unroll 6
    for (int j = 0; j < i; ++j) A[j] = msub(factor.l(i, j), A[i], A[j]);
  }
  return factor.least_pivot;
}

/// From the base to the tips: how bodies move, inertia and bias wrench of those that have a mass.
/// @return the smallest distance of a watched shape from its plane
template <class P>
KANSETSU_HD P go_out(const LaneFigure& f, const LaneStance& stance, const P* q, const P* v, const Vec3<P>& O,
                     LaneWork<P>& w) {
  const TreeView& tree = *f.tree;
  load_lane_posture(f, q, w.posture);
  const Vec3<P> up = lift<P>(-tree.gravity), zero = zero3<P>();
  P clearance(1e300);
  LaneMotion<P> m{{}, zero, zero, zero, zero};
  for (int i = 0; i < tree.body_count; ++i) {
    const Body& b = tree.bodies[i];
    if (b.parent != i - 1) {
      if (b.parent < 0)
        m = {{}, zero, zero, zero, zero};
      else
        m = w.kept[f.kept[b.parent]];
    }
    if (i == 0 && tree.free_base) {
      m.X = {w.posture.X_PB[0].R, zero};
      m.w = m.X.R * Vec3<P>{v[0], v[1], v[2]}, m.v = m.X.R * Vec3<P>{v[3], v[4], v[5]};
      m.a = cross(m.w, m.v);  // of the point itself, at a spatial acceleration of zero
    } else {
      with_joint(b, w.posture, i, [&](const auto& joint) __attribute__((always_inline)) {
        pass_body(joint, b, tree.columns.sign, stance.tree.turned, v, m, w.S);
      });
    }
    if (f.kept[i] >= 0) w.kept[f.kept[i]] = m;
    if (f.heavy[i] >= 0) weigh_body(f.inertias[i], m, up, w.M[f.heavy[i]], w.F[f.heavy[i]]);
    clearance = least_clearance(stance, i, m, O, clearance);
  }
  return clearance;
}

/// From the tips to the root. @return the smallest pivot
template <class P>
KANSETSU_HD P come_back(const LaneTree& tree, LaneWork<P>& w) {
  P least(1e300);
  const auto note = [&](const P& pivot) { least = select(pivot < least, pivot, least); };
  for (int n = 0; n < tree.step_count; ++n) {
    const LaneStep& step = tree.steps[n];
    LaneArticulated<P>& b = w.articulated[step.slot];
    collect(tree, step, w, b);
    visit_groups_inward(step.first, step.last, [&]<int kCount>(int k, detail::Constant<kCount>) KANSETSU_INLINE_LAMBDA {
      note(eliminate<kCount>(w, k, b));
    });
  }
  return least;
}

/// Accelerations of the columns k, k − 1, … that were eliminated at once; A becomes that of what they move. With their shares
/// none waits for the one before.
template <int kCount, class P>
KANSETSU_HD void accelerate(int k, P (&A)[6], const LaneWork<P>& w) {
  P x[kCount];
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    const P* U = w.U + 6 * (k - i);
    const P near = madd(A[2], U[2], madd(A[1], U[1], A[0] * U[0])),
            far = madd(A[5], U[5], madd(A[4], U[4], A[3] * U[3]));
    x[i] = w.D_inv[k - i] * (w.drive[k - i] - (near + far));
  }
  const P* share = w.share + 4 * k;
  if constexpr (kCount == 3) {
    x[1] = msub(share[2], x[2], x[1]);
    x[0] = msub(share[0], x[1], msub(share[1], x[2], x[0]));
  } else if constexpr (kCount == 2) {
    x[0] = msub(share[0], x[1], x[0]);
  }
#pragma GCC unroll 3
  for (int i = kCount - 1; i >= 0; --i) {
    const P* S = w.S + 6 * (k - i);
#pragma GCC unroll 6
    for (int a = 0; a < 6; ++a) A[a] = madd(x[i], S[a], A[a]);
    w.x[k - i] = x[i];
  }
}

/// From the root, which has the acceleration A besides its drift, to the tips: accelerations x of all columns, from what drives
/// them.
template <class P>
KANSETSU_HD void descend(const LaneFigure& f, const LaneTree& tree, P (&A)[6], LaneWork<P>& w) {
  for (int i = 0; i < 6; ++i) w.along[6 * tree.root.after + i] = A[i];
  for (int n = tree.step_count - 1; n >= 0; --n) {
    const LaneStep& step = tree.steps[n];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) A[i] = step.before == LaneStep::kGround ? P(0.0) : w.along[6 * step.before + i];
    visit_groups_outward(step.first, step.last,
                         [&]<int kCount>(int k, detail::Constant<kCount>)
                             KANSETSU_INLINE_LAMBDA { accelerate<kCount>(k, A, w); });
    if (step.leaf && !step.base) continue;
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) w.along[6 * step.after + i] = A[i];
  }
  if (!f.tree->free_base) return;
  const Mat3<P>& R = w.posture.X_PB[0].R;
  const Vec3<P> t = transpose_times(R, Vec3<P>{w.along[0], w.along[1], w.along[2]});
  const Vec3<P> u = transpose_times(R, Vec3<P>{w.along[3], w.along[4], w.along[5]});
  w.x[0] = t.x, w.x[1] = t.y, w.x[2] = t.z, w.x[3] = u.x, w.x[4] = u.y, w.x[5] = u.z;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
