#pragma once

#include "sim/island_work.h"
#include "sim/world_state.h"

/// Momentum of an island in flight. The step conserves it to third order; the rest is given to the island as a whole, as a rigid
/// motion, so that nothing inside it changes.
namespace kansetsu {

/// Whether nothing outside acts on the figures of an island but gravity and applied forces.
bool flies(const WorldState& world, const IslandWork& w);
/// Gives an island in flight the momentum that it should have after a part of a step: that of its beginning (q_begin, v_begin) and
/// what gravity and FigureData::acting add in h.
void keep_momentum(const WorldState& world, const IslandWork& w, double h);

// The figures of an island as one body.

struct RigidMotion {
  Vec3<> centre{}, turn{}, along{};  ///< centre of mass [m], angular velocity [rad/s], velocity of the centre [m/s]
  double energy = 0;                 ///< kinetic [J]
};

/// Inertia and momentum about a point, world axes.
struct Whole {
  Vec3<> about{};
  Inertia<> inertia{};
  Force<> momentum{};

  /// The motion with the momentum p about the same point, if all of it were rigid.
  RigidMotion rigid_motion(const Force<>& p) const;
};

/// Where the figures' mechanics are.
Whole whole(const IslandWork& w, const Vec3<>& about);
/// The motion of an island with the momentum of its figures; sets their mechanics to q and v.
RigidMotion rigid_motion(const IslandWork& w);
/// Adds a share of a rigid motion to the velocities of figures with a free base.
void add_rigid_motion(const IslandWork& w, const RigidMotion& m, double share);

}  // namespace kansetsu
