#pragma once

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "kansetsu/spatial/spatial.h"

/// Shapes as plain data, in metres, centred on their own frame. Cylinders and capsules stand along z; the length of a
/// capsule is that of its cylindrical part.
namespace kansetsu {

/// The extent of planes, and absent limits.
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

struct Sphere {
  double radius = 0;
  friend bool operator==(const Sphere&, const Sphere&) = default;
};
struct Box {
  Vec3<> size{};  ///< full edge lengths
  friend bool operator==(const Box&, const Box&) = default;
};
struct Cylinder {
  double radius = 0, length = 0;
  friend bool operator==(const Cylinder&, const Cylinder&) = default;
};
struct Capsule {
  double radius = 0, length = 0;
  friend bool operator==(const Capsule&, const Capsule&) = default;
};
/// A mesh by reference; `path` is empty if the file was not found when the model was read.
struct Mesh {
  std::string uri{};   ///< as written in the source, e.g. package://robot/arm.stl
  std::string path{};  ///< resolved file name
  Vec3<> scale{1, 1, 1};
  friend bool operator==(const Mesh& a, const Mesh& b) { return a.uri == b.uri && a.scale == b.scale; }
};

/// The half space z ≤ 0.
struct Plane {
  friend bool operator==(const Plane&, const Plane&) = default;
};
/// The convex hull of points.
struct ConvexHull {
  std::vector<Vec3<>> vertices{};
  friend bool operator==(const ConvexHull&, const ConvexHull&) = default;
};
/// Ground below heights sampled on a grid over the rectangle size_x × size_y around the origin; solid all the way down. The
/// cells are cut along the diagonal from their corner of lowest x and y.
struct HeightField {
  int columns = 0, rows = 0;  ///< samples along x and along y, two at least
  double size_x = 0, size_y = 0;
  std::vector<double> heights{};  ///< row by row, y growing: heights[row·columns + column] is z there
  friend bool operator==(const HeightField&, const HeightField&) = default;
};
/// A surface of triangles, counterclockwise as seen from outside.
struct TriangleMeshData {
  std::vector<Vec3<>> vertices{};
  std::vector<std::array<int, 3>> triangles{};
  friend bool operator==(const TriangleMeshData&, const TriangleMeshData&) = default;
};
/// A loaded mesh. Its data is shared by copies and never changes.
struct TriangleMesh {
  std::shared_ptr<const TriangleMeshData> data{};
  friend bool operator==(const TriangleMesh& a, const TriangleMesh& b) {
    return a.data == b.data || (a.data && b.data && *a.data == *b.data);
  }
};

using Shape = std::variant<Sphere, Box, Cylinder, Capsule, Mesh, Plane, ConvexHull, HeightField, TriangleMesh>;

}  // namespace kansetsu
