#pragma once

#include "sim/lane_stance_kernel.h"

/// A step of worlds in lanes: src/sim/step.cc in the common case, and the checks that it is one.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Explicit torques, and the inertia of the implicit part of PD control and dampers.
template <class P>
KANSETSU_HD void drive_columns(const LaneFigure& f, const LaneBlock& block, LaneWork<P>& w) {
  const TreeView& tree = *f.tree;
  const P *q = w.q, *v = w.v, *torque = as<P>(block.torque);
  const P *gain_p = as<P>(block.gain_p), *gain_d = as<P>(block.gain_d), *aim = as<P>(block.aim);
  const P h(f.h), half(0.5 * f.h);
  const auto put = [&](int k, const P& pull) KANSETSU_INLINE_LAMBDA {
    const P gain = madd(half, gain_p[k], gain_d[k]);
    w.tau[k] = msub(gain, v[k], torque[k] + pull);
    w.extra[k] = madd(h, gain, P(tree.rotor_inertia[k]));
  };
  for (int i = 0; i < f.run_count; ++i) {
    const LaneStretch& run = f.runs[i];
    for (int n = 0; n < run.count; ++n) put(run.v + n, msub(gain_p[run.v + n], q[run.q + n], aim[run.v + n]));
  }
  for (int i = 0; i < f.turn_count; ++i) {
    for (int n = 0; n < 3; ++n) put(f.turns[i].v + n, P(0.0));
  }
  for (int k = 3; tree.free_base && k < 6; ++k) put(k, P(0.0));
}

/// Whether no coordinate is near a limit.
template <class P>
KANSETSU_HD LaneMask<P> within_limits(const LaneFigure& f, const P* q, const P* v) {
  LaneMask<P> ok = P(0.0) < P(1.0);
  for (int i = 0; i < f.limit_count; ++i) {
    const LaneLimit& l = f.limits[i];
    const P x = madd(P(l.ratio), q[l.position], P(l.offset));
    const P reach = madd(P(f.limit_time), absolute(P(l.ratio) * v[l.column]), P(f.limit_near));
    ok = ok & (x - P(l.lower) >= reach) & (P(l.upper) - x >= reach);
  }
  return ok;
}

/// Whether nothing moves so fast that velocity products of the middle of the step count, FigureData::is_fast(), or that is not finite.
template <class P>
KANSETSU_HD LaneMask<P> moves_slowly(const LaneFigure& f, const P* v, const P* x) {
  const P h(f.h);
  P most(0.0);
  for (int k = 0; k < f.tree->nv; ++k) {
    const P speed = madd(h, absolute(x[k]), absolute(v[k]));
    if (f.tree->free_base && k >= 3 && k < 6)
      most = select(P(0.0) * speed == P(0.0), most, P(1e300));
    else
      most = select(speed <= most, most, speed);  // what is not a number stays
  }
  return P(0.5 * f.h) * most * most <= P(f.products_gain);
}

/// exp of a small turn, as turn_by() of src/sim/figure.cc.
template <class P>
KANSETSU_HD Quaternion<P> small_turn(const Vec3<P>& phi) {
  const P z = P(0.25) * dot(phi, phi);
  const P s = madd(z, madd(z, madd(z, madd(z, P(1.0 / 725760), P(-1.0 / 10080)), P(1.0 / 240)), P(-1.0 / 12)), P(0.5));
  const P c = madd(
      z, madd(z, madd(z, madd(z, madd(z, P(-1.0 / 3628800), P(1.0 / 40320)), P(-1.0 / 720)), P(1.0 / 24)), P(-0.5)),
      P(1.0));
  return {s * phi.x, s * phi.y, s * phi.z, c};
}

/// Writes to the lanes of a mask only.
template <class P>
struct MaskedStore {
  LaneMask<P> mask;
  KANSETSU_HD void operator()(const P& value, P& to) const {
    to = LaneTraits<P>::width == 1 ? value : select(mask, value, to);  // nothing is written down for no lane
  }
};

/// q ⊕ h·v, from one place to another: FigureData::drift(). @param R  axes of a free base there
template <class P, class Put>
KANSETSU_HD void drift(const LaneFigure& f, const P& h, const P* q, const P* v, const Mat3<P>& R, P* q_to, P* v_to,
                       const Put& put) {
  const TreeView& tree = *f.tree;
  for (int i = 0; i < f.run_count; ++i) {
    for (int n = 0; n < f.runs[i].count; ++n) {
      const int at = f.runs[i].q + n;
      put(madd(h, v[f.runs[i].v + n], q[at]), q_to[at]);
    }
  }
  for (int k = tree.free_base ? 6 : 0; k < tree.nv; ++k) put(v[k], v_to[k]);
  for (int i = 0; i < f.turn_count; ++i) {
    const P *from = q + f.turns[i].q, *w = v + f.turns[i].v;
    P* to = q_to + f.turns[i].q;
    const bool base = tree.free_base && f.turns[i].v == 0;
    const Quaternion<P> before{from[0], from[1], from[2], from[3]};
    const Quaternion<P> after = normalised(before * small_turn(Vec3<P>{h * w[0], h * w[1], h * w[2]}));
    const Vec3<P> v_W = base ? R * Vec3<P>{v[3], v[4], v[5]} : zero3<P>();
    put(after.x, to[0]), put(after.y, to[1]), put(after.z, to[2]), put(after.w, to[3]);
    if (!base) continue;
    const Vec3<P> turned = transpose_times(to_mat3(after), v_W);
    put(madd(h, v_W.x, q[0]), q_to[0]), put(madd(h, v_W.y, q[1]), q_to[1]), put(madd(h, v_W.z, q[2]), q_to[2]);
    for (int k = 0; k < 3; ++k) put(v[k], v_to[k]);
    put(turned.x, v_to[3]), put(turned.y, v_to[4]), put(turned.z, v_to[5]);
  }
}

/// v += h·v̇ in the middle of the step: FigureData::kick().
template <class P>
KANSETSU_HD void kick(const LaneFigure& f, const P* x, P* v) {
  const P h(f.h);
  const bool base = f.tree->free_base;
  const Vec3<P> turning = base ? h * cross(Vec3<P>{v[0], v[1], v[2]}, Vec3<P>{v[3], v[4], v[5]}) : zero3<P>();
  for (int k = 0; k < f.tree->nv; ++k) v[k] = madd(h, x[k], v[k]);
  if (base) v[3] += turning.x, v[4] += turning.y, v[5] += turning.z;
}

/// Torques as they acted, and their work with the mean velocity.
template <class P>
KANSETSU_HD void account(const LaneFigure& f, const LaneBlock& block, const LaneWork<P>& w, const MaskedStore<P>& put) {
  const TreeView& tree = *f.tree;
  const P h(f.h), half(0.5 * f.h), *v = w.v;
  P work(0.0);
  for (int k = 0; k < tree.nv; ++k) {
    const P effort = msub(w.extra[k] - P(tree.rotor_inertia[k]), w.x[k], w.tau[k]);
    work = madd(effort, madd(half, w.x[k], v[k]), work);
    put(effort, as<P>(block.effort)[k]);
    put(w.x[k], as<P>(block.vdot)[k]);
  }
  put(madd(h, work, *as<P>(block.work_torque)), *as<P>(block.work_torque));
}

/// What a step finds of its soles.
template <int kSoles, class P>
struct LaneSoles {
  static constexpr int kSize = kSoles > 0 ? kSoles : 1;
  StandingSole<P> sole[kSize];
  P corners[kSize * kSoleCorners * 3], gap[kSize];
  P force[kSize * kSoleRows];
  P residual = P(0.0), work = P(0.0);
};

/// Places all soles; where they rest.
template <int kSoles, class P>
KANSETSU_HD LaneMask<P> stand(const LaneStance& stance, const LaneBlock& block, const Vec3<P>& O,
                              const Vec3<P>& turning, const LaneWork<P>& w, LaneSoles<kSoles, P>& out) {
  LaneMask<P> ok = P(0.0) < P(1.0);
  for (int s = 0; s < kSoles; ++s) {
    const LaneMotion<P>& m = w.kept[stance.soles[s].kept];
    ok = ok & place_sole(stance, s, m, O, turning, block, out.sole[s], out.corners + s * kSoleCorners * 3, out.gap[s]);
    ok = ok & rests(stance, out.sole[s], as<P>(block.wrench) + s * kSoleRows);
  }
  return ok;
}

/// Adds what the forces of a sole do to what drives the columns on its way to the root: Z·force.
template <class P>
KANSETSU_HD void drive_path(const LaneSole& sole, const P* force, LaneWork<P>& w) {
  const P* Z = w.Z;
  for (int n = 0; n < sole.path_count; ++n, Z += kSoleRows) {
    P sum = w.drive[sole.path[n]];
    for (int r = 0; r < kSoleRows; ++r) sum = madd(Z[r], force[r], sum);
    w.drive[sole.path[n]] = sum;
  }
}

/// The forces that hold all soles, and where they can. The first one is the root of the tree: its acceleration is known.
template <int kSoles, class P>
KANSETSU_HD LaneMask<P> hold(const LaneFigure& f, const LaneStance& stance, LaneWork<P>& w, P (&root)[6],
                             LaneSoles<kSoles, P>& out) {
  const P h(f.h), rate(1 / f.h);
  P outcomes[kSoles * kSoleRows];
  for (int r = 0; r < kSoleRows; ++r) outcomes[r] = P(0.0);
  LaneMask<P> ok = P(0.0) < P(1.0);
  resting(rate, stance.soles[0], out.sole[0], root);
  P* second = nullptr;  // forces
  if constexpr (kSoles == 2) {
    P G[kOwnBlock], a[kSoleRows], c[kSoleRows];
    const LaneSole& sole = stance.soles[1];
    second = out.force + kSoleRows;
    climb(sole, out.sole[1].origin, w);
    for (int r = 0; r < kSoleRows; ++r) a[r] = out.sole[1].drift[r];
    delassus(sole, w, root, G, a);
    for (int r = 0; r < kSoleRows; ++r) c[r] = madd(out.sole[1].u[r], rate, a[r]);
    ok = ok & solve_rows(f, stance, G, c, second);
    outcome(G, c, second, outcomes + kSoleRows);
    drive_path(sole, second, w);
  }
  root_wrench(stance.soles[0], out.sole[0], w.articulated[stance.tree.root.slot], root, w, second, out.force);
  P most(0.0);
  for (int s = 0; s < kSoles; ++s) {
    P left;
    const P *force = out.force + s * kSoleRows, *after = outcomes + s * kSoleRows;
    ok = ok & holds(f, stance.soles[s], out.sole[s], force, after, left);
    out.residual = larger(out.residual, left);
    most = larger(most, absolute(force[2]));
    // With the mean velocity of the rows: u + h·(w − u/h)/2, of which the half comes later.
    for (int r = 0; r < kSoleRows; ++r) out.work = madd(force[r], madd(h, after[r], out.sole[s].u[r]), out.work);
  }
  return ok & (out.residual <= P(stance.tolerance) * larger(P(1.0), most * h));
}

/// Writes the next state and its report.
template <int kSoles, class P>
KANSETSU_HD void finish(const LaneFigure& f, const LaneBlock& block, LaneWork<P>& w, const LaneSoles<kSoles, P>& out,
                        const MaskedStore<P>& put) {
  account(f, block, w, put);
  kick(f, w.x, w.v);
  drift(f, P(0.5 * f.h), w.q, w.v, w.posture.X_PB[0].R, as<P>(block.q), as<P>(block.v), put);
  for (int r = 0; r < kSoles * kSoleRows; ++r) put(out.force[r], as<P>(block.wrench)[r]);
  for (int k = 0; k < kSoles * kSoleCorners * 3; ++k) put(out.corners[k], as<P>(block.corners)[k]);
  P &worst_gap = *as<P>(block.worst_gap), &worst = *as<P>(block.worst_residual), &work = *as<P>(block.work_contact);
  for (int s = 0; s < kSoles; ++s) {
    put(out.gap[s], as<P>(block.gap)[s]);
    put(smaller(out.gap[s], worst_gap), worst_gap);
  }
  put(out.residual, *as<P>(block.residual));
  put(larger(out.residual, worst), worst);
  put(madd(P(0.5 * f.h), out.work, work), work);
}

template <class P>
KANSETSU_HD LaneMask<P> mask_of(std::uint32_t bits) {
  if constexpr (LaneTraits<P>::width == 1) {
    return bits != 0;
  } else {
    P x(0.0);
    for (int i = 0; i < P::width; ++i) x.set(i, (bits >> i & 1) != 0 ? 1.0 : 0.0);
    return x > P(0.0);
  }
}

/// One step of the lanes in `wanted`, in the order of World::Impl::contact_step(). @return those for which it is valid
template <int kSoles, class P>
std::uint32_t lane_step(const LaneFigure& f, const LaneStance& stance, std::uint32_t wanted, void* scratch,
                        const LaneBlock& block) {
  Carver<P> carver(scratch);
  LaneWork<P> w = carve_lanes(f, carver);
  const TreeView& tree = *f.tree;
  const P* start = as<P>(block.q) + (tree.free_base ? 3 : 0);
  const Mat3<P> R =
      tree.free_base ? to_mat3(Quaternion<P>{start[0], start[1], start[2], start[3]}) : lift<P>(Mat3<>::identity());
  drift(f, P(0.5 * f.h), as<P>(block.q), as<P>(block.v), R, w.q, w.v,
        [](const P& x, P& to) KANSETSU_INLINE_LAMBDA { to = x; });
  const P *q = w.q, *v = w.v;
  const Vec3<P> O = tree.free_base ? Vec3<P>{q[0], q[1], q[2]} : zero3<P>();
  LaneSoles<kSoles, P> soles;
  LaneMask<P> ok = mask_of<P>(wanted);
  drive_columns(f, block, w);
  ok = ok & (go_out(f, stance, q, v, O, w) > P(stance.margin));
  ok = ok & within_limits(f, q, v) & pairs_are_apart(stance, w, O);
  Vec3<P> turning = zero3<P>();
  if (tree.free_base) turning = w.posture.X_PB[0].R * cross(Vec3<P>{v[0], v[1], v[2]}, Vec3<P>{v[3], v[4], v[5]});
  ok = ok & stand(stance, block, O, turning, w, soles);
  if (bits_of<P>(ok) == 0) return 0;
  const LaneTree& order = stance.tree;
  P pivot = come_back(order, w), root[6] = {};
  if (kSoles > 0 || tree.free_base) collect(order, order.root, w, w.articulated[order.root.slot]);
  if constexpr (kSoles > 0)
    ok = ok & hold(f, stance, w, root, soles);
  else if (tree.free_base)
    pivot = smaller(free_base(w.articulated[order.root.slot], root), pivot);
  ok = ok & (pivot > P(f.least_pivot));
  descend(f, order, root, w);
  ok = ok & moves_slowly(f, v, as<P>(block.vdot)) & moves_slowly(f, v, w.x);
  const std::uint32_t done = bits_of<P>(ok);
  if (done != 0) finish(f, block, w, soles, MaskedStore<P>{ok});
  return done;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
