#pragma once

#include <optional>

#include "kansetsu/model/description.h"

/// Mass properties of shapes taken as solids of one density.
namespace kansetsu {

/// [m³] of a sphere, box, cylinder or capsule; none for other shapes.
std::optional<double> volume(const Shape& shape);

/// About the shape's centre, in its axes [kg·m²]; none for other shapes.
std::optional<Sym3<>> solid_inertia(const Shape& shape, double mass);

/// Which part of a triangle mesh has mass.
enum class MeshMass {
  kExact,    ///< what it encloses; triangles face outwards
  kConvex,   ///< what its convex hull encloses
  kShell,    ///< the surface itself
  kPyramids  ///< pyramids from the centre over each triangle, all counted as positive: MuJoCo's "legacy"
};
/// A body of density one: its volume [m³] or, of a shell, its area [m²], its centre, and its inertia about that.
struct MeshSolid {
  double measure = 0;
  Vec3<> centre;
  Sym3<> inertia;
};
/// Exact for the triangles as they are. The volume of a surface that faces inwards is negative.
MeshSolid mesh_solid(const TriangleMeshData& mesh, MeshMass mass);

/// Any shape that encloses a volume: spheres, boxes, cylinders, capsules, hulls and closed surfaces of triangles. None for a plane, a height
/// field, a mesh that is only named, and what is flat or open.
std::optional<MeshSolid> solid(const Shape& shape);
/// Its inertia for a mass, about its centre, in the shape's axes. None as above.
std::optional<Inertial> solid_inertial(const Shape& shape, double mass);

/// Several solids as one, each given by its mass, centre and axes in a common frame. The result is in that frame's axes.
Inertial combine(const std::vector<Inertial>& parts);

}  // namespace kansetsu
