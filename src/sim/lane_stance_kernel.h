#pragma once

#include "kinematics/entry.h"
#include "sim/lane_tree_kernel.h"

/// Soles that stand and hold, in each lane: their corners on the planes, their rows, the forces that keep them where they are,
/// and all that has to be true for these forces to be the step's. What World does in src/sim/contacts.cc (box on plane) and
/// src/constraint/contact_*.h (surface that sticks) for one world, without its other cases.
namespace kansetsu::kernel::inline KANSETSU_ISA {

template <class P>
KANSETSU_HD P larger(const P& a, const P& b) {
  return select(a > b, a, b);
}
template <class P>
KANSETSU_HD P smaller(const P& a, const P& b) {
  return select(a < b, a, b);
}

/// A sole as it stands. Corners in the plane, from their middle: −a−b, +a−b, +a+b, −a+b.
template <class P>
struct StandingSole {
  Vec3<P> origin;    ///< of the patch, from O
  P ax, ay, bx, by;  ///< half edges
  P arm;             ///< of friction, while the pressure is well inside
  P u[kSoleRows], drift[kSoleRows];
};

/// Whether the corners are those of a polygon whose arm is known: ContactFinder::arm_of().
template <class P>
KANSETSU_HD LaneMask<P> same_polygon(const StandingSole<P>& s, const P* known) {
  const P x[kSoleCorners] = {-s.ax - s.bx, s.ax - s.bx, s.ax + s.bx, s.bx - s.ax};
  const P y[kSoleCorners] = {-s.ay - s.by, s.ay - s.by, s.ay + s.by, s.by - s.ay};
  const P limit(1e-12);  // [m²]
  P most(0.0);
  for (int k = 0; k < kSoleCorners; ++k) {
    const P dx = x[k] - known[2 * k], dy = y[k] - known[2 * k + 1], square = madd(dx, dx, dy * dy);
    most = k == 0 ? square : select(square <= most, most, square);  // what is not a number stays
  }
  return most < limit;
}

/// Places a sole: true where all corners touch, none too deep, and the arm is known.
/// @param turning  how the velocity of a free base changes at v̇ = 0: Mechanics::base_turning()
template <class P>
KANSETSU_HD LaneMask<P> place_sole(const LaneStance& stance, int index, const LaneMotion<P>& m, const Vec3<P>& O,
                                   const Vec3<P>& turning, const LaneBlock& block, StandingSole<P>& s, P* corners,
                                   P& least_gap) {
  const LaneSole& sole = stance.soles[index];
  const Mat3<P> E = lift<P>(sole.E);
  const Vec3<P> n = E.column_z();
  const Vec3<P> middle = m.X * lift<P>(sole.middle_B), a = m.X.R * lift<P>(sole.a_B), b = m.X.R * lift<P>(sole.b_B);
  const P height = dot(n, middle + (O - lift<P>(sole.on_plane))), up_a = dot(n, a), up_b = dot(n, b);
  const P gap[kSoleCorners] = {height - up_a - up_b, height + up_a - up_b, height + up_a + up_b, height - up_a + up_b};
  least_gap = smaller(smaller(gap[0], gap[1]), smaller(gap[2], gap[3]));
  const P most_gap = larger(larger(gap[0], gap[1]), larger(gap[2], gap[3]));
  LaneMask<P> ok = (most_gap < P(stance.tol_gap)) & (least_gap >= P(-stance.slop)) &
                   (dot(n, m.X.R * lift<P>(sole.outward_B)) < P(-0.75));  // no other face can be nearer
  const Vec3<P> at = O + middle;
  const Vec3<P> p[kSoleCorners] = {at - a - b, at + a - b, at + a + b, at - a + b};
  for (int k = 0; k < kSoleCorners; ++k) {
    const Vec3<P> c = madd(P(-0.5) * gap[k], n, p[k]);
    corners[3 * k] = c.x, corners[3 * k + 1] = c.y, corners[3 * k + 2] = c.z;
  }
  s.origin = madd(P(-0.5) * height, n, middle);
  const Vec3<P> x = E.column_x(), y = E.column_y();
  s.ax = dot(x, a), s.ay = dot(y, a), s.bx = dot(x, b), s.by = dot(y, b);
  const P* known[2] = {as<P>(block.polygon[0]) + 2 * kSoleCorners * index,
                       as<P>(block.polygon[1]) + 2 * kSoleCorners * index};
  const LaneMask<P> first = same_polygon(s, known[0]), second = same_polygon(s, known[1]);
  s.arm = select(first, as<P>(block.arm[0])[index], as<P>(block.arm[1])[index]);
  const Vec3<P> r = s.origin - m.X.p, across = cross(m.w, r);
  const Vec3<P> u = transpose_times(E, m.v + across), w = transpose_times(E, m.w), du = transpose_times(E, turning);
  const P zero(0.0), rows[kSoleRows] = {u.x, u.y, u.z, w.x, w.y, w.z},
                     rates[kSoleRows] = {du.x, du.y, du.z, zero, zero, zero};
  for (int k = 0; k < kSoleRows; ++k) s.u[k] = rows[k], s.drift[k] = rates[k];
  return ok & (first | second);
}

/// Whether a sole that carried `last` is at rest: about the centre of its pressure then, and no corner comes in so fast that it
/// might be an impact.
template <class P>
KANSETSU_HD LaneMask<P> rests(const LaneStance& stance, const StandingSole<P>& s, const P* last) {
  const P x = -last[4] / last[2], y = last[3] / last[2];
  const P vx = msub(s.u[5], y, s.u[0]), vy = madd(s.u[5], x, s.u[1]);
  const P by_a = absolute(msub(s.u[4], s.ax, s.u[3] * s.ay)), by_b = absolute(msub(s.u[4], s.bx, s.u[3] * s.by));
  return (madd(vx, vx, vy * vy) <= P(stance.v_eps * stance.v_eps)) & (absolute(s.u[5]) <= P(stance.w_eps)) &
         (s.u[2] - by_a - by_b >= P(-stance.slow));
}

/// Z of the rows of a sole on their way to the root, [RBDA] 7.3: z = SᵀF, and each column takes its share off F. Three rows at
/// a time, forces along the axes or moments about them, so that they fit in registers.
template <class P>
KANSETSU_HD void climb_three(const LaneSole& sole, P (&F)[3][6], P* Z, P* root_F, const LaneWork<P>& w) {
  for (int n = 0; n < sole.path_count; ++n, Z += kSoleRows) {
    const int k = sole.path[n];
    const P *S = w.S + 6 * k, *U = w.U + 6 * k;
    const P inverse = w.D_inv[k];
#pragma GCC unroll 3
    for (int r = 0; r < 3; ++r) {
      const P turn = madd(S[2], F[r][2], madd(S[1], F[r][1], S[0] * F[r][0]));
      const P z = turn + madd(S[5], F[r][5], madd(S[4], F[r][4], S[3] * F[r][3]));
      Z[r] = z;
      const P share = inverse * z;
#pragma GCC unroll 6
      for (int i = 0; i < 6; ++i) F[r][i] = msub(share, U[i], F[r][i]);
    }
  }
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) {
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) root_F[6 * r + i] = F[r][i];
  }
}
template <class P>
KANSETSU_HD void climb(const LaneSole& sole, const Vec3<P>& origin, LaneWork<P>& w) {
  const Vec3<P> axes[3] = {lift<P>(sole.E.column_x()), lift<P>(sole.E.column_y()), lift<P>(sole.E.column_z())};
  P F[3][6];
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) put_motion(Motion<P>{cross(origin, axes[r]), axes[r]}, F[r]);
  climb_three(sole, F, w.Z, w.root_F, w);
#pragma GCC unroll 3
  for (int r = 0; r < 3; ++r) put_motion(Motion<P>{axes[r], zero3<P>()}, F[r]);
  climb_three(sole, F, w.Z + 3, w.root_F + 18, w);
}

inline constexpr int kOwnBlock = packed(kSoleRows, 0);

/// G = J·M⁻¹·Jᵀ of a sole, the lower triangle, while the first one holds; and a, the accelerations of its rows without its own
/// forces, where the first one has the acceleration `root`.
template <class P>
KANSETSU_HD void delassus(const LaneSole& sole, const LaneWork<P>& w, const P (&root)[6], P (&G)[kOwnBlock],
                          P (&a)[kSoleRows]) {
#pragma GCC unroll 21
  for (P& x : G) x = P(0.0);
  for (int n = 0; n < sole.path_count; ++n) {
    const P *z = w.Z + n * kSoleRows, inverse = w.D_inv[sole.path[n]];
#pragma GCC unroll 6
    for (int r = 0; r < kSoleRows; ++r) {
      const P scaled = inverse * z[r];
#pragma GCC unroll 6
      for (int c = 0; c <= r; ++c) G[packed(r, c)] = madd(scaled, z[c], G[packed(r, c)]);
    }
  }
  P rate[kSoleRows];
#pragma GCC unroll 6
  for (int r = 0; r < kSoleRows; ++r) {
    rate[r] = a[r];
#pragma GCC unroll 6
    for (int i = 0; i < 6; ++i) rate[r] = madd(root[i], w.root_F[6 * r + i], rate[r]);
  }
  for (int n = 0; n < sole.path_count; ++n) {
    const P x = w.D_inv[sole.path[n]] * w.drive[sole.path[n]];
#pragma GCC unroll 6
    for (int r = 0; r < kSoleRows; ++r) rate[r] = madd(x, w.Z[n * kSoleRows + r], rate[r]);
  }
  for (int r = 0; r < kSoleRows; ++r) a[r] = rate[r];
}

/// The rows of one sole as L·D·Lᵀ: below the diagonal L, on it 1/D. False where a pivot falls to a share of the diagonal, or a
/// row cannot move.
template <class P>
KANSETSU_HD LaneMask<P> factor_block(const P& share, const P& least, const P* diagonal, P (&l)[kOwnBlock]) {
  LaneMask<P> ok = P(0.0) < P(1.0);
#pragma GCC unroll 6
  for (int j = 0; j < kSoleRows; ++j) {
    const P pivot = l[packed(j, j)], inverse = P(1.0) / pivot;
    ok = ok & (pivot > share * diagonal[packed(j, j)]) & (diagonal[packed(j, j)] >= least);
#pragma GCC unroll 6
    for (int i = kSoleRows - 1; i > j; --i) {
      const P l_ij = l[packed(i, j)] * inverse;
#pragma GCC unroll 6
      for (int k = j + 1; k <= i; ++k) l[packed(i, k)] = msub(l_ij, l[packed(k, j)], l[packed(i, k)]);
      l[packed(i, j)] = l_ij;
    }
    l[packed(j, j)] = inverse;
  }
  return ok;
}
/// x ← L⁻¹·x; and x ← L⁻ᵀ·x
template <class P>
KANSETSU_HD void forward_block(const P* l, P (&x)[kSoleRows]) {
#pragma GCC unroll 6
  for (int i = 1; i < kSoleRows; ++i) {
#pragma GCC unroll 6
    for (int j = 0; j < i; ++j) x[i] = msub(l[packed(i, j)], x[j], x[i]);
  }
}
template <class P>
KANSETSU_HD void backward_block(const P* l, P (&x)[kSoleRows]) {
#pragma GCC unroll 6
  for (int i = kSoleRows - 1; i > 0; --i) {
#pragma GCC unroll 6
    for (int j = 0; j < i; ++j) x[j] = msub(l[packed(i, j)], x[i], x[j]);
  }
}

/// G·x = −c
template <class P>
KANSETSU_HD LaneMask<P> solve_rows(const LaneFigure& f, const LaneStance& stance, const P (&G)[kOwnBlock],
                                   const P (&c)[kSoleRows], P* x) {
  P l[kOwnBlock], y[kSoleRows];
#pragma GCC unroll 21
  for (int i = 0; i < kOwnBlock; ++i) l[i] = G[i];
  const LaneMask<P> ok = factor_block(P(stance.rank_tolerance), P(f.least_mobility), G, l);
  for (int r = 0; r < kSoleRows; ++r) y[r] = -c[r];
  forward_block(l, y);
  for (int j = 0; j < kSoleRows; ++j) y[j] = l[packed(j, j)] * y[j];
  backward_block(l, y);
  for (int r = 0; r < kSoleRows; ++r) x[r] = y[r];
  return ok;
}

/// w = c + G·x
template <class P>
KANSETSU_HD void outcome(const P (&G)[kOwnBlock], const P (&c)[kSoleRows], const P* x, P* w) {
  P sum[kSoleRows];
  for (int r = 0; r < kSoleRows; ++r) sum[r] = c[r];
#pragma GCC unroll 6
  for (int r = 0; r < kSoleRows; ++r) {
#pragma GCC unroll 6
    for (int k = 0; k < r; ++k) {
      const P& entry = G[packed(r, k)];
      sum[r] = madd(entry, x[k], sum[r]);
      sum[k] = madd(entry, x[r], sum[k]);
    }
    sum[r] = madd(G[packed(r, r)], x[r], sum[r]);
  }
  for (int r = 0; r < kSoleRows; ++r) w[r] = sum[r];
}

/// The acceleration, besides its drift, of a body whose sole comes to rest within the step: at O.
template <class P>
KANSETSU_HD void resting(const P& rate, const LaneSole& sole, const StandingSole<P>& s, P (&A)[6]) {
  P c[kSoleRows];
#pragma GCC unroll 6
  for (int r = 0; r < kSoleRows; ++r) c[r] = -madd(s.u[r], rate, s.drift[r]);
  const Mat3<P> E = lift<P>(sole.E);
  const Vec3<P> turn = E * Vec3<P>{c[3], c[4], c[5]};
  put_motion(Motion<P>{turn, add_cross(E * Vec3<P>{c[0], c[1], c[2]}, s.origin, turn)}, A);
}

/// The wrench of the first sole, along the axes of its patch: what the root needs to accelerate with A.
/// @param force  of the second sole; null: there is none
template <class P>
KANSETSU_HD void root_wrench(const LaneSole& sole, const StandingSole<P>& s, const LaneArticulated<P>& b,
                             const P (&A)[6], const LaneWork<P>& w, const P* force, P* out) {
  P W[6];
#pragma GCC unroll 6
  for (int i = 0; i < 6; ++i) {
    W[i] = b.Z[i];
#pragma GCC unroll 6
    for (int k = 0; k < 6; ++k) W[i] = madd(b.I[symmetric(i, k)], A[k], W[i]);
#pragma GCC unroll 6
    for (int r = 0; force && r < kSoleRows; ++r) W[i] = msub(w.root_F[6 * r + i], force[r], W[i]);
  }
  const Mat3<P> E = lift<P>(sole.E);
  const Vec3<P> F{W[3], W[4], W[5]}, f = transpose_times(E, F);
  const Vec3<P> t = transpose_times(E, add_cross(Vec3<P>{W[0], W[1], W[2]}, F, s.origin));
  out[0] = f.x, out[1] = f.y, out[2] = f.z, out[3] = t.x, out[4] = t.y, out[5] = t.z;
}

/// Whether a wrench pushes and its four vertices can share it: pressures by how near each is to the centre of pressure, friction in
/// proportion, its moment as a turn about that centre, each within its bound. Then the law of contact_law_kernel.h holds with nothing moving.
template <class P>
KANSETSU_HD LaneMask<P> holds(const LaneFigure& f, const LaneSole& sole, const StandingSole<P>& s, const P* force,
                              const P* w, P& residual) {
  const P one(1.0), fz = force[2], mu(sole.mu), h(f.h), inverse = one / fz, x = -force[4] * inverse,
                    y = force[3] * inverse;
  // The centre of pressure is α·a + β·b; corners are ±a ± b.
  const P det = one / msub(s.ay, s.bx, s.ax * s.by), alpha = det * msub(y, s.bx, x * s.by),
          beta = det * msub(x, s.ay, y * s.ax);
  const P cx[kSoleCorners] = {-s.ax - s.bx, s.ax - s.bx, s.ax + s.bx, s.bx - s.ax};
  const P cy[kSoleCorners] = {-s.ay - s.by, s.ay - s.by, s.ay + s.by, s.by - s.ay};
  const P share[kSoleCorners] = {(one - alpha) * (one - beta), (one + alpha) * (one - beta),
                                 (one + alpha) * (one + beta), (one - alpha) * (one + beta)};  // times 4
  const P far = P(0.5) * (sqrt(madd(cx[0], cx[0], cy[0] * cy[0])) + sqrt(madd(cx[1], cx[1], cy[1] * cy[1])));
  const P ring = smaller(s.arm / far, one);
  LaneMask<P> ok = (fz > P(0.0)) & (absolute(alpha) <= one) & (absolute(beta) <= one);
  P inertia(0.0);
  for (int k = 0; k < kSoleCorners; ++k) {
    const P rx = ring * (cx[k] - x), ry = ring * (cy[k] - y);
    inertia = madd(P(0.25) * share[k], madd(rx, rx, ry * ry), inertia);
  }
  const P spin = force[5] - msub(y, force[0], x * force[1]);  // about the centre of pressure
  const P turn = spin / inertia, limit = mu * fz;
  for (int k = 0; k < kSoleCorners; ++k) {
    const P fx = msub(turn * ring, cy[k] - y, force[0]), fy = madd(turn * ring, cx[k] - x, force[1]);
    ok = ok & (madd(fx, fx, fy * fy) <= limit * limit);
  }
  const P reach = larger(absolute(s.ax + s.bx) + absolute(s.ay + s.by), absolute(s.ax - s.bx) + absolute(s.ay - s.by));
  const P spinning = larger(larger(absolute(w[3]), absolute(w[4])), absolute(w[5])) * reach;
  const P worst = larger(larger(absolute(w[0]), absolute(w[1])), absolute(w[2])) + spinning;
  residual = larger(smaller(worst, fz) * h, P(2.0) * limit * worst * h * h);
  return ok;
}

/// Whether pairs of balls stay apart.
template <class P>
KANSETSU_HD LaneMask<P> pairs_are_apart(const LaneStance& stance, const LaneWork<P>& w, const Vec3<P>& O) {
  LaneMask<P> ok = P(0.0) < P(1.0);
  for (int i = 0; i < stance.pair_count; ++i) {
    const LanePair& pair = stance.pairs[i];
    const LaneMotion<P>& mover = w.kept[pair.kept_b];
    const Vec3<P> b = mover.X * lift<P>(pair.centre_b);
    Vec3<P> d = b + (O - lift<P>(pair.centre_a)), v = mover.v;
    P speed = P(pair.lever_b) * taxicab(mover.w);
    if (pair.kept_a >= 0) {
      const LaneMotion<P>& other = w.kept[pair.kept_a];
      d = b - other.X * lift<P>(pair.centre_a), v = v - other.v;
      speed = madd(P(pair.lever_a), taxicab(other.w), speed);
    }
    const P reach = madd(P(stance.twice_h), speed + taxicab(v), P(pair.reach));
    ok = ok & (dot(d, d) > reach * reach);
  }
  return ok;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
