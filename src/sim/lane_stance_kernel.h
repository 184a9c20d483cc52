#pragma once

#include "kinematics/entry.h"
#include "sim/lane_tree_kernel.h"

/// Soles that stand and hold, in each lane: their corners on the planes, their rows, the forces that keep them where they are,
/// and all that has to be true for these forces to be the step's. What World does in src/sim/contacts.cc (box on plane) and
/// src/constraint/contact_*.h (surface that sticks) for one world, without its other cases.
namespace kansetsu::kernel::inline KANSETSU_ISA {

template <class P>
using LaneMask = typename P::Mask;

template <class P>
KANSETSU_HD P absolute(const P& a) {
  return select(a < P(0.0), -a, a);
}
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

/// Whether the corners are those of a polygon whose arm is known: Contacts::arm_of().
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
template <class P>
KANSETSU_HD LaneMask<P> place_sole(const LaneStance& stance, int index, const LaneMotion<P>& m, const Vec3<P>& O,
                                   const LaneBlock& block, StandingSole<P>& s, P* corners, P& least_gap) {
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
  const Vec3<P> v = add_cross(m.V.v, m.V.w, s.origin);
  const Vec3<P> acceleration = add_cross(add_cross(m.A.v, m.A.w, s.origin), m.V.w, v);
  const Vec3<P> u = transpose_times(E, v), w = transpose_times(E, m.V.w);
  const Vec3<P> du = transpose_times(E, acceleration), dw = transpose_times(E, m.A.w);
  const P rows[kSoleRows] = {u.x, u.y, u.z, w.x, w.y, w.z}, rates[kSoleRows] = {du.x, du.y, du.z, dw.x, dw.y, dw.z};
  for (int r = 0; r < kSoleRows; ++r) s.u[r] = rows[r], s.drift[r] = rates[r];
  return ok & (first | second);
}

/// Whether a sole that carried `last` is at rest: about the centre of its pressure then.
template <class P>
KANSETSU_HD LaneMask<P> rests(const LaneStance& stance, const StandingSole<P>& s, const P* last) {
  const P x = -last[4] / last[2], y = last[3] / last[2];
  const P vx = msub(s.u[5], y, s.u[0]), vy = madd(s.u[5], x, s.u[1]);
  return (madd(vx, vx, vy * vy) <= P(stance.v_eps * stance.v_eps)) & (absolute(s.u[5]) <= P(stance.w_eps));
}

/// Z of the rows of a sole on their way to the base, [RBDA] 7.3: z = SᵀF, and each column takes its share off F.
template <class P>
KANSETSU_HD void climb(const LaneFigure& f, const LaneStance& stance, int index, const Vec3<P>& origin,
                       LaneWork<P>& w) {
  const LaneSole& sole = stance.soles[index];
  Force<P> F[kSoleRows];
  const Vec3<P> axes[3] = {lift<P>(sole.E.column_x()), lift<P>(sole.E.column_y()), lift<P>(sole.E.column_z())};
  for (int r = 0; r < 3; ++r) {
    F[r] = {cross(origin, axes[r]), axes[r]};
    F[3 + r] = {axes[r], zero3<P>()};
  }
  P* Z = w.Z + index * kSoleRows * f.tree->nv;
  for (int n = 0; n < sole.path_count; ++n, Z += kSoleRows) {
    const int k = sole.path[n];
    const Motion<P> S = w.S[k];
    const Force<P> U = w.U[k];
    const P inverse = w.D_inv[k];
#pragma GCC unroll 6
    for (int r = 0; r < kSoleRows; ++r) {
      const P z = dot(S, F[r]);
      Z[r] = z;
      F[r] = madd(-(inverse * z), U, F[r]);
    }
  }
  if (!f.tree->free_base) return;
  const Lower<P, 6>& L = *w.base;
#pragma GCC unroll 6
  for (int r = 0; r < kSoleRows; ++r) {
    P* z = w.base_Z + 6 * (index * kSoleRows + r);
    P y[6] = {F[r].t.x, F[r].t.y, F[r].t.z, F[r].f.x, F[r].f.y, F[r].f.z};
#pragma GCC unroll 6
    for (int i = 1; i < 6; ++i) {
#pragma GCC unroll 6
      for (int j = 0; j < i; ++j) y[i] = msub(L(i, j), y[j], y[i]);
    }
    for (int i = 0; i < 6; ++i) z[i] = y[i];
  }
}

/// Where the entry (r, c), c ≤ r, of a symmetric matrix stands.
constexpr int packed(int r, int c) { return r * (r + 1) / 2 + c; }

/// What a column of one sole's path adds to its own block of G.
template <class P>
KANSETSU_HD void add_column(const P& inverse, const P* Z, int row, P* G) {
#pragma GCC unroll 6
  for (int r = 0; r < kSoleRows; ++r) {
    const P z = inverse * Z[r];
    for (int c = 0; c <= r; ++c) G[packed(row + r, row + c)] = madd(z, Z[c], G[packed(row + r, row + c)]);
  }
}

/// G = J·M⁻¹·Jᵀ, by its lower triangle.
template <int kSoles, class P>
KANSETSU_HD void delassus(const LaneFigure& f, const LaneStance& stance, const LaneWork<P>& w, P* G) {
  constexpr int kRows = kSoles * kSoleRows;
  P scaled[6];
  for (int r = 0; r < kRows; ++r) {
    const P* z = w.base_Z + 6 * r;
    for (int i = 0; i < 6; ++i) scaled[i] = (*w.base)(i, i) * z[i];
    for (int c = 0; c <= r; ++c) {
      const P* y = w.base_Z + 6 * c;
      P sum = scaled[0] * y[0];
      for (int i = 1; i < 6; ++i) sum = madd(scaled[i], y[i], sum);
      G[packed(r, c)] = f.tree->free_base ? sum : P(0.0);
    }
  }
  const int size = kSoleRows * f.tree->nv;
  for (int s = 0; s < kSoles; ++s) {
    const LaneSole& sole = stance.soles[s];
    const P* Z = w.Z + s * size;
    for (int n = 0; n < sole.path_count; ++n) {
      add_column(w.D_inv[sole.path[n]], Z + n * kSoleRows, s * kSoleRows, G);
    }
  }
  for (int i = 0; kSoles == 2 && i < stance.common_count; ++i) {
    const P *a = w.Z + stance.common_a[i] * kSoleRows, *b = w.Z + size + stance.common_b[i] * kSoleRows;
    const P inverse = w.D_inv[stance.soles[0].path[stance.common_a[i]]];
    for (int r = 0; r < kSoleRows; ++r) {
      const P z = inverse * b[r];
      for (int c = 0; c < kSoleRows; ++c) G[packed(kSoleRows + r, c)] = madd(z, a[c], G[packed(kSoleRows + r, c)]);
    }
  }
}

/// Accelerations of the rows without contact forces.
template <class P>
KANSETSU_HD void free_rows(const LaneFigure& f, const LaneStance& stance, int index, const LaneWork<P>& w, P* a) {
  const LaneSole& sole = stance.soles[index];
  const P* Z = w.Z + index * kSoleRows * f.tree->nv;
  for (int n = 0; n < sole.path_count; ++n, Z += kSoleRows) {
    const int k = sole.path[n];
    const P x = w.D_inv[k] * w.drive[k];
    for (int r = 0; r < kSoleRows; ++r) a[r] = madd(x, Z[r], a[r]);
  }
  if (!f.tree->free_base) return;
  P x[6];
  for (int i = 0; i < 6; ++i) x[i] = (*w.base)(i, i) * w.base_drive[i];
  for (int r = 0; r < kSoleRows; ++r) {
    const P* z = w.base_Z + 6 * (index * kSoleRows + r);
    for (int i = 0; i < 6; ++i) a[r] = madd(x[i], z[i], a[r]);
  }
}

/// G·x = −c. False where a pivot falls to a share of its diagonal, or a row cannot move.
template <int kRows, class P>
KANSETSU_HD LaneMask<P> solve_rows(const LaneFigure& f, const LaneStance& stance, const P* G, const P* c, P* L, P* x) {
  for (int i = 0; i < packed(kRows, 0); ++i) L[i] = G[i];
  LaneMask<P> ok = P(0.0) < P(1.0);
  for (int r = 0; r < kRows; ++r) x[r] = -c[r];
  for (int j = 0; j < kRows; ++j) {
    const P pivot = L[packed(j, j)], diagonal = G[packed(j, j)];
    ok = ok & (pivot > P(stance.rank_tolerance) * diagonal) & (diagonal >= P(f.least_mobility));
    const P inverse = P(1.0) / pivot;
    P column[kRows];
    for (int i = j + 1; i < kRows; ++i) column[i] = L[packed(i, j)];
    for (int i = j + 1; i < kRows; ++i) {
      const P l = column[i] * inverse;
      for (int k = j + 1; k <= i; ++k) L[packed(i, k)] = msub(l, column[k], L[packed(i, k)]);
      x[i] = msub(l, x[j], x[i]);
      L[packed(i, j)] = l;
    }
    L[packed(j, j)] = inverse;
  }
  for (int j = 0; j < kRows; ++j) x[j] = L[packed(j, j)] * x[j];
  for (int i = kRows - 2; i >= 0; --i) {
    for (int j = i + 1; j < kRows; ++j) x[i] = msub(L[packed(j, i)], x[j], x[i]);
  }
  return ok;
}

/// w = c + G·x
template <int kRows, class P>
KANSETSU_HD void outcome(const P* G, const P* c, const P* x, P* w) {
  for (int r = 0; r < kRows; ++r) w[r] = c[r];
  for (int r = 0; r < kRows; ++r) {
    for (int k = 0; k < r; ++k) {
      w[r] = madd(G[packed(r, k)], x[k], w[r]);
      w[k] = madd(G[packed(r, k)], x[r], w[k]);
    }
    w[r] = madd(G[packed(r, r)], x[r], w[r]);
  }
}

/// The arm of friction where the pressure of a parallelogram is centred at (x, y): arm_at() of the contact solver.
template <class P>
KANSETSU_HD P arm_at(const StandingSole<P>& s, const P& area, const P& x, const P& y) {
  const P half(0.5), quarter(0.25);
  P least = s.arm;
  const P size_a = P(2.0) * sqrt(madd(s.ax, s.ax, s.ay * s.ay)), size_b = P(2.0) * sqrt(madd(s.bx, s.bx, s.by * s.by));
  // Four vertices, twice the area is 8·a×b, and the squares of the edges add up to 2·(|2a|² + |2b|²).
  const P around = P(2.0) * madd(size_a, size_a, size_b * size_b);
  const P band = smaller(s.arm, P(2.0) * area / sqrt(P(4.0) * around));
  const auto edge = [&](const P& along, const P& size, const P& distance) KANSETSU_INLINE_LAMBDA {
    const P left = madd(half, size, -absolute(along));  // to the nearer end
    const P on_edge = smaller(larger(left, P(0.0)), quarter * size);
    const P part = larger(distance, P(0.0)) / band;
    const P d = madd(s.arm - on_edge, part, on_edge);
    const LaneMask<P> counts = (distance < band) & (on_edge < s.arm) & (d < least);
    least = select(counts, d, least);
  };
  const P inv_a = P(2.0) / size_a, inv_b = P(2.0) / size_b;
  const P uax = inv_a * s.ax, uay = inv_a * s.ay, ubx = inv_b * s.bx, uby = inv_b * s.by;
  // From the middles: along either edge, and to the left of it; what an edge is shifted along itself against the other.
  const P along_a = madd(uax, x, uay * y), along_b = madd(ubx, x, uby * y);
  const P left_a = msub(uay, x, uax * y), left_b = msub(uby, x, ubx * y);
  const P shift_a = madd(uax, s.bx, uay * s.by), shift_b = madd(ubx, s.ax, uby * s.ay);
  const P from_a = area * inv_a, from_b = area * inv_b;
  edge(along_a + shift_a, size_a, from_a + left_a);
  edge(along_a - shift_a, size_a, from_a - left_a);
  edge(along_b - shift_b, size_b, from_b + left_b);
  edge(along_b + shift_b, size_b, from_b - left_b);
  return larger(least, P(1e-9) * s.arm);
}

/// Whether a wrench pushes, with its pressure inside the sole and its friction in the set; and what it leaves of the conditions.
template <class P>
KANSETSU_HD LaneMask<P> holds(const LaneFigure& f, const LaneSole& sole, const StandingSole<P>& s, const P* force,
                              const P* w, P& residual) {
  const P fz = force[2], X = -force[4], Y = force[3], mu(sole.mu), h(f.h);
  const P area = msub(s.ay, s.bx, s.ax * s.by);  // a×b, a quarter of the whole
  const P by_a = absolute(msub(s.ay, X, s.ax * Y)), by_b = absolute(msub(s.by, X, s.bx * Y)), most = fz * area;
  LaneMask<P> ok = (fz > P(0.0)) & (area > P(0.0)) & (by_a <= most) & (by_b <= most);
  const P inverse = P(1.0) / fz, x = X * inverse, y = Y * inverse;
  const P arm = arm_at(s, area, x, y);
  const P spin = force[5] - msub(y, force[0], x * force[1]);  // about the centre of pressure
  const P limit = mu * fz, slip = madd(force[0], force[0], force[1] * force[1]);
  ok = ok & (madd(slip * arm, arm, spin * spin) <= (limit * arm) * (limit * arm));
  const P reach = larger(absolute(s.ax + s.bx) + absolute(s.ay + s.by), absolute(s.ax - s.bx) + absolute(s.ay - s.by));
  const P turn = larger(larger(absolute(w[3]), absolute(w[4])), absolute(w[5])) * reach;
  const P worst = larger(larger(absolute(w[0]), absolute(w[1])), absolute(w[2])) + turn;
  residual = larger(smaller(worst, fz) * h, P(2.0) * limit * worst * h * h);
  return ok;
}

/// Whether everything that is not a sole stays away.
template <class P>
KANSETSU_HD LaneMask<P> nothing_near(const LaneStance& stance, const LaneWork<P>& w, const Vec3<P>& O) {
  LaneMask<P> ok = P(0.0) < P(1.0);
  const P margin(stance.margin);
  for (int i = 0; i < stance.plane_count; ++i) {
    const LanePlane& plane = stance.planes[i];
    const Vec3<P> n = lift<P>(plane.normal);
    const P base = dot(n, O - lift<P>(plane.point));
    int last = -1;
    Vec3<P> n_B = n;
    P height = base;
    for (int k = 0; k < plane.watch_count; ++k) {
      const LaneWatch& watch = plane.watches[k];
      if (watch.kept != last) {
        last = watch.kept;
        const Transform<P>& X = w.kept[last].X;
        n_B = transpose_times(X.R, n);
        height = base + dot(n, X.p);
      }
      P clear = height + dot(n_B, lift<P>(watch.centre_B)) - P(watch.radius);
      for (int e = 0; e < watch.e_count; ++e) clear = clear - absolute(dot(n_B, lift<P>(watch.e_B[e])));
      ok = ok & (clear > margin);
    }
  }
  for (int i = 0; i < stance.pair_count; ++i) {
    const LanePair& pair = stance.pairs[i];
    const Vec3<P> b = w.kept[pair.kept_b].X * lift<P>(pair.centre_b);
    const Vec3<P> d =
        pair.kept_a < 0 ? b + (O - lift<P>(pair.centre_a)) : b - w.kept[pair.kept_a].X * lift<P>(pair.centre_a);
    ok = ok & (dot(d, d) > P(pair.reach * pair.reach));
  }
  return ok;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
