#pragma once

#include "sim/impl.h"

/// Figures of an island as one body.
namespace kansetsu {

using Figures = std::vector<std::unique_ptr<FigureData>>;

struct RigidMotion {
  Vec3<> centre{}, turn{}, along{};  ///< centre of mass [m], angular velocity [rad/s], velocity of the centre [m/s]
  double energy = 0;                 ///< kinetic [J]
};

/// Inertia and momentum about a point, world axes.
struct Whole {
  Vec3<> about{};
  Inertia<> inertia{};
  Force<> momentum{};

  /// The motion that has the momentum p about the same point, were all of it rigid.
  RigidMotion rigid_motion(const Force<>& p) const;
};

/// Where the figures' mechanics are.
Whole whole(const Figures& figures, const IslandWork& w, const Vec3<>& about);
/// The motion of an island with the momentum that its figures have; leaves their mechanics there.
RigidMotion rigid_motion(const Figures& figures, const IslandWork& w);
/// Adds a share of a rigid motion to the velocities of figures that are free.
void add_rigid_motion(const Figures& figures, const IslandWork& w, const RigidMotion& m, double share);

}  // namespace kansetsu
