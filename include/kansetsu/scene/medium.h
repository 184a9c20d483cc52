#pragma once

#include "kansetsu/spatial/spatial.h"

namespace kansetsu {

/// The fluid that fills the world: air, water. Its drag on a link is that on the box with the link's mass and inertia, or on the ellipsoids
/// given for it.
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

/// How a medium acts on an ellipsoid: drag, lift and the inertia of what it pushes aside.
struct EllipsoidDrag {
  Vec3<> radii{};              ///< its semi-axes [m]
  double blunt_drag = 0.5;     ///< of the area that the motion sees
  double slender_drag = 0.25;  ///< of the rest of the largest area
  double angular_drag = 1.5;
  double kutta_lift = 1;   ///< of surfaces that are oblique to the motion
  double magnus_lift = 1;  ///< of what spins

  friend bool operator==(const EllipsoidDrag&, const EllipsoidDrag&) = default;
};
/// Masses and moments of inertia that a medium of density 1 adds to an ellipsoid, along and about its axes.
struct AddedInertia {
  Vec3<> mass{}, inertia{};
};
AddedInertia added_inertia(const Vec3<>& radii);
/// Force and moment at the centre of an ellipsoid that moves with V through a medium at rest, all in its axes.
Force<> force_on_ellipsoid(const Medium& medium, const EllipsoidDrag& drag, const AddedInertia& added,
                           const Motion<>& V);

}  // namespace kansetsu
