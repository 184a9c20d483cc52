#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "geometry/hull.h"
#include "kansetsu/geometry/contact.h"

/// A convex shape for the collision code. All are a core (point, segment, box, cylinder, hull, triangle) with a
/// radius around it, in a common frame: world axes, with the origin where precision is best.
namespace kansetsu::detail {

inline constexpr int kMaxFaceVertices = 32;

/// An uninitialised array: setting it to zero costs more than most patches.
template <class T, int N>
class Scratch {
 public:
  T& operator[](int i) { return reinterpret_cast<T*>(memory_)[i]; }
  const T& operator[](int i) const { return reinterpret_cast<const T*>(memory_)[i]; }
  T* data() { return reinterpret_cast<T*>(memory_); }

 private:
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);
  alignas(T) std::byte memory_[N * sizeof(T)];
};

/// Vertex, edge or face of a shape in 16 bits.
enum class FeatureKind : std::uint32_t { kVertex = 0, kEdge = 1, kFace = 2, kCurved = 3 };
constexpr std::uint32_t feature(FeatureKind kind, int index) {
  return (std::uint32_t(kind) << 14) | (std::uint32_t(index) & 0x3fff);
}
constexpr std::uint32_t feature_pair(std::uint32_t a, std::uint32_t b) { return (a << 16) | b; }

struct Convex {
  ShapeKind kind;     ///< kTriangleMesh: one triangle
  double radius = 0;  ///< around the core: sphere and capsule only
  Vec3<> half{};      ///< box; z of the segment; cylinder: (radius, radius, half length)
  const HullData* hull = nullptr;
  const Vec3<>* triangle = nullptr;  ///< three corners in its own frame
  Transform<> X{};                   ///< own frame in the common one
  double size = 0;                   ///< largest distance of the core from its frame's origin
};

Convex make_convex(const Geometry& geometry, const Transform<>& X);

/// Furthest point of the core along d, which need not be a unit vector.
Vec3<> support(const Convex& shape, const Vec3<>& d, std::uint32_t& feature);
inline double support_height(const Convex& shape, const Vec3<>& d) {
  std::uint32_t unused;
  return dot(d, support(shape, d, unused));
}

/// How far a point is outside of the core, in the largest of its violated sides; not positive inside.
double excess(const Convex& shape, const Vec3<>& p);

/// A flat piece of a surface, in the common frame: polygon, segment (2 points) or point.
struct Facet {
  Vec3<> normal;  ///< outward, of a polygon
  std::uint32_t face = 0;
  int count = 0;
  Scratch<Vec3<>, kMaxFaceVertices> p;
  std::uint32_t vertex[kMaxFaceVertices];  ///< features
  std::uint32_t edge[kMaxFaceVertices];    ///< from p[i] to p[i + 1]
};

/// The face whose normal is nearest to d. False where there are none.
bool nearest_face(const Convex& shape, const Vec3<>& d, Facet& out);
/// Normal of that face alone.
bool nearest_face_normal(const Convex& shape, const Vec3<>& d, Vec3<>& normal);
/// The contact set with a plane that faces the shape along −d: a face of a polyhedron, a face or a line of a cylinder including
/// its point furthest along d, a segment, a point.
void touching_facet(const Convex& shape, const Vec3<>& d, Facet& out);
/// The straight line of the surface furthest along d, of those that run across d: an edge, or the side of a cylinder. False
/// where there is none.
bool touching_edge(const Convex& shape, const Vec3<>& d, Facet& out);

}  // namespace kansetsu::detail
