#pragma once

#include "dynamics/node_aba.h"
#include "model/limbs.h"

/// One state, limbs side by side in the lanes of a register, the trunk as plain numbers.
namespace kansetsu::kernel::inline KANSETSU_ISA {

using Limb = LimbConst;

/// Four numbers side by side. Never through memory: a wide load right after narrow stores waits for all of them.
KANSETSU_HD Limb lanes(double a, double b, double c, double d) { return Limb(Limb::Vector{a, b, c, d}); }

/// From the user's order to lanes: ratio·x, or zero if x is null.
KANSETSU_HD const Limb* gather_lanes(const NodeTreeViewOf<Limb>& tree, const double* x, Limb* out) {
  for (int k = 0; k < tree.coordinate_count; ++k) {
    const LaneCoordinate& c = tree.lane_coordinates[k];
    out[k] = x ? c.ratio * lanes(x[c.column[0]], x[c.column[1]], x[c.column[2]], x[c.column[3]]) : Limb(0);
  }
  return out;
}
KANSETSU_HD void load_lanes(const NodeTreeViewOf<Limb>& tree, const double* q, Limb* quaternions,
                            NodeState<Limb>& state) {
  for (int k = 0; k < tree.coordinate_count; ++k) {
    const LaneCoordinate& c = tree.lane_coordinates[k];
    const Limb angle = lanes(q[c.position[0]], q[c.position[1]], q[c.position[2]], q[c.position[3]]);
    sincos(madd(c.ratio, angle, c.offset), state.s[k], state.c[k]);
  }
  for (int k = 0; k < 4 * tree.ball_count; ++k) {
    const auto number = [&](int l) {
      const int at = tree.quaternions[kLimbLanes * k + l];
      return at >= 0 ? q[at] : k % 4 == 3 ? 1.0 : 0.0;
    };
    quaternions[k] = lanes(number(0), number(1), number(2), number(3));
  }
}
/// From lanes to the user's order.
KANSETSU_HD void scatter_lanes(const NodeTreeViewOf<Limb>& tree, int count, const Limb* x, const Limb* flags,
                               double* out, double* out_flags) {
  for (int k = 0; k < tree.coordinate_count; ++k) {
    const LaneCoordinate& c = tree.lane_coordinates[k];
    const Limb y = c.ratio * x[k];
    for (int l = 0; l < count; ++l) {
      if (c.ratio[l] == 0) continue;
      out[c.column[l]] = y[l];
      out_flags[c.column[l]] = flags[k][l];
    }
  }
}

/// Vectors of the carriers of a set, one per lane. of(l): that of lane l.
template <class Of>
KANSETSU_HD Vec3<Limb> side_by_side(const Of& of) {
  const Vec3<double>&a = of(0), &b = of(1), &c = of(2), &d = of(3);
  return {lanes(a.x, b.x, c.x, d.x), lanes(a.y, b.y, c.y, d.y), lanes(a.z, b.z, c.z, d.z)};
}
/// The place of a set's carrier among those where limbs meet; −1: the ground.
KANSETSU_HD int meeting_of(const LimbSetView& set, const NodeTreeViewOf<double>& trunk, int lane) {
  return set.carrier[lane] < 0 ? -1 : trunk.nodes[set.carrier[lane]].gathers;
}
KANSETSU_HD Drift<Limb> carrier_drifts(const LimbSetView& set, const NodeTreeViewOf<double>& trunk,
                                       const Drift<double>* drift, const Drift<double>& ground) {
  const auto of = [&](int l) -> const Drift<double>& {
    const int at = meeting_of(set, trunk, l);
    return at < 0 ? ground : drift[at];
  };
  return {side_by_side([&](int l) -> const Vec3<double>& { return of(l).w; }),
          side_by_side([&](int l) -> const Vec3<double>& { return of(l).e; }),
          side_by_side([&](int l) -> const Vec3<double>& { return of(l).a; })};
}
KANSETSU_HD Motion<Limb> carrier_accelerations(const LimbSetView& set, const NodeTreeViewOf<double>& trunk,
                                               const Motion<double>* A, const Motion<double>& ground) {
  const auto of = [&](int l) -> const Motion<double>& {
    const int at = meeting_of(set, trunk, l);
    return at < 0 ? ground : A[at];
  };
  return {side_by_side([&](int l) -> const Vec3<double>& { return of(l).w; }),
          side_by_side([&](int l) -> const Vec3<double>& { return of(l).v; })};
}

/// Wrenches on the bodies of a node of limbs.
KANSETSU_HD Force<Limb> lane_wrenches(const NodeOf<Limb>& node, const Force<double>* fext) {
  const Force<double> none;
  const auto of = [&](int l) -> const Force<double>& { return node.body[l] < 0 ? none : fext[node.body[l]]; };
  const Vec3<Limb> t = side_by_side([&](int l) -> const Vec3<double>& { return of(l).t; });
  const Vec3<Limb> f = side_by_side([&](int l) -> const Vec3<double>& { return of(l).f; });
  return {node.Q * t, node.Q * f};
}

/// Adds the articulated bodies of a set of limbs to their carriers. Packs and their structs are plain arrays of numbers.
KANSETSU_HD void put_down(const LimbSetView& set, const NodeTreeViewOf<double>& trunk, const ArticulatedBody<Limb>& b,
                          NodeWork<double>& w) {
  double P[21][kLimbLanes], Z[6][kLimbLanes];
  std::memcpy(P, &b.P, sizeof(P));
  std::memcpy(Z, &b.Z, sizeof(Z));
  for (int l = 0; l < set.count; ++l) {
    const int at = meeting_of(set, trunk, l);
    if (at < 0) continue;
    double* to = reinterpret_cast<double*>(&w.P[at]);
    for (int k = 0; k < 21; ++k) to[k] += P[k][l];
    to = reinterpret_cast<double*>(&w.Z[at]);
    for (int k = 0; k < 6; ++k) to[k] += Z[k][l];
  }
}

/// Forward dynamics of one state, see node_aba().
KANSETSU_HD void limb_aba(const NodeTreeViewOf<double>& trunk, const LimbSetView* sets, int set_count,
                          const Vec3<>& gravity, const double* q, const double* v, const double* tau,
                          const Force<double>* fext, void* scratch, double* vdot, double* singular) {
  const Drift<double> ground = at_rest<double>();
  const Motion<double> A_ground{{0, 0, 0}, -gravity};
  Carver<double> carver(scratch);
  NodeWork<double> w = carve_nodes(trunk, carver);
  load_posture(trunk, q, w.state);
  w.state.u = gather_coordinates(trunk, v, w.u_memory);
  w.tau = gather_coordinates(trunk, tau, w.tau_memory);
  if (fext)
    outward(trunk, q, ground, [&](const NodeOf<double>& node) { return fext[node.body[0]]; }, w);
  else
    outward(trunk, q, ground, nullptr, w);
  clear_gathers(trunk, w);
  NodeWork<Limb> limb[kMostLimbSets];
  Carver<Limb> limb_carver(carver.rest());
  for (int n = 0; n < set_count; ++n) {
    const LimbSetView& set = sets[n];
    limb[n] = carve_nodes(set.tree, limb_carver);
    Limb* quaternions = limb_carver.template take<Limb>(4 * set.tree.ball_count);
    load_lanes(set.tree, q, quaternions, limb[n].state);
    limb[n].state.u = gather_lanes(set.tree, v, limb[n].u_memory);
    limb[n].tau = gather_lanes(set.tree, tau, limb[n].tau_memory);
    const Drift<Limb> carriers = carrier_drifts(set, trunk, w.drift, ground);
    if (fext)
      outward(
          set.tree, quaternions, carriers, [&](const NodeOf<Limb>& node) { return lane_wrenches(node, fext); },
          limb[n]);
    else
      outward(set.tree, quaternions, carriers, nullptr, limb[n]);
    put_down(set, trunk, inward(set.tree, true, limb[n]), w);
  }
  inward(trunk, false, w);
  accelerate(trunk, A_ground, w);
  scatter_coordinates(trunk, w.vdot, vdot);
  for (int k = 0; k < trunk.coordinate_count; ++k) singular[trunk.coordinates[k].column] = w.singular[k];
  for (int n = 0; n < set_count; ++n) {
    const LimbSetView& set = sets[n];
    accelerate(set.tree, carrier_accelerations(set, trunk, w.A, A_ground), limb[n]);
    scatter_lanes(set.tree, set.count, limb[n].vdot, limb[n].singular, vdot, singular);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
