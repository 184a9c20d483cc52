#pragma once

#include <cstdint>
#include <memory>

#include "kansetsu/geometry/shape.h"

/// A shape prepared for collision queries.
namespace kansetsu {

enum class ShapeKind : std::uint8_t {
  kPlane,
  kSphere,
  kCapsule,
  kBox,
  kCylinder,
  kConvexHull,
  kHeightField,
  kTriangleMesh
};
const char* to_string(ShapeKind kind);

/// An axis-aligned box. One that is not bounded has infinite limits.
struct Aabb {
  Vec3<> lower, upper;
  friend bool operator==(const Aabb&, const Aabb&) = default;
};
inline bool overlap(const Aabb& a, const Aabb& b) {
  return a.lower.x <= b.upper.x && b.lower.x <= a.upper.x && a.lower.y <= b.upper.y && b.lower.y <= a.upper.y &&
         a.lower.z <= b.upper.z && b.lower.z <= a.upper.z;
}

struct HullData;
struct HeightFieldData;
struct MeshData;

/// A Shape prepared for collisions: made once, immutable, cheap to copy and safe to share between threads. Construction may
/// allocate and costs O(n log n) for hulls and meshes; queries never allocate.
class Geometry {
 public:
  /// Throws Error, with the values, if a size is negative or not finite, a hull has no vertex, a height field's grid and
  /// its heights disagree, a triangle refers to a missing vertex, or a Mesh is only a reference, which io::load_mesh loads.
  /// Sizes of zero are legal: a box of zero height is a rectangle.
  explicit Geometry(const Shape& shape);

  ShapeKind kind() const { return kind_; }
  bool is_convex() const { return kind_ <= ShapeKind::kConvexHull; }
  /// Sphere, capsule, cylinder: the radius; others 0.
  double radius() const { return radius_; }
  /// Box: half of its edges. Capsule and cylinder: half the length is z. Others 0.
  const Vec3<>& half() const { return half_; }
  /// Around the shape, in its own frame.
  const Aabb& local_bounds() const { return bounds_; }

  /// For the collision code: hull_data() of a convex hull and so on; null for other kinds.
  const HullData* hull_data() const { return hull_.get(); }
  const HeightFieldData* height_field_data() const { return height_field_.get(); }
  const MeshData* mesh_data() const { return mesh_.get(); }

 private:
  ShapeKind kind_ = ShapeKind::kSphere;
  double radius_ = 0;
  Vec3<> half_{};
  Aabb bounds_{};
  std::shared_ptr<const HullData> hull_{};
  std::shared_ptr<const HeightFieldData> height_field_{};
  std::shared_ptr<const MeshData> mesh_{};
};

/// Around the shape in the world. Exact for every kind but height fields and meshes, whose turned local box it bounds.
/// A plane is bounded along an axis only if its normal is that axis.
Aabb bounds(const Geometry& geometry, const Transform<>& X_WG);

}  // namespace kansetsu
