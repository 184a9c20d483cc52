#pragma once

#include "kansetsu/spatial/spatial.h"

namespace kansetsu {

/// What fills the world: air, water. It brakes each link as it would brake the box that has the link's mass and inertia.
struct Medium {
  double density = 0;    ///< [kg/m³]
  double viscosity = 0;  ///< [Pa·s]
  Vec3<> wind{};         ///< its velocity [m/s]

  bool acts() const { return density > 0 || viscosity > 0; }
  friend bool operator==(const Medium&, const Medium&) = default;
};

/// Edges of the box of one density that has these principal moments of inertia.
Vec3<> inertia_box(double mass, const Vec3<>& moments);
/// Force and moment at the centre of a box that moves with V through a medium at rest, all in the axes of the box:
/// Stokes's law for a ball of the mean edge, and the pressure on each face, ½·ρ·area·v² along each axis.
Force<> drag_on_box(const Medium& medium, const Vec3<>& edges, const Motion<>& V);

}  // namespace kansetsu
