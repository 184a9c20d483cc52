#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "kansetsu/geometry/geometry.h"

/// Surfaces of many triangles. Neighbours in one plane form a region: contacts of a region are one patch.
namespace kansetsu {

/// An edge of a triangle. Contacts at flat or hollow edges belong to the faces: without this, a body sliding over a floor
/// of triangles would trip over their edges.
struct TriangleEdge {
  bool ridge = false;  ///< contacts may lean over it
  double lean = 1;     ///< cosine of how far: up to the neighbour's normal; at a border, by a right angle
};

struct HeightFieldData {
  HeightField field;
  double step_x, step_y;
  /// By triangle, two per cell: 2·(row·(columns − 1) + column), that on the side of x, and the one after it.
  std::vector<std::uint32_t> region;
};

struct MeshData {
  struct Node {
    Aabb box;
    int first;  ///< leaf: first triangle in `order`; otherwise the left child is the next node, and this is the right one
    int count;  ///< leaf: number of triangles; otherwise 0
  };
  std::shared_ptr<const TriangleMeshData> data;
  std::vector<Vec3<>> normals;
  std::vector<std::array<TriangleEdge, 3>> edges;
  std::vector<std::uint32_t> region;
  struct Range {
    std::size_t first = 0, count = 0;
  };
  std::vector<Vec3<>> around;       ///< neighbours of a vertex: the same for all vertices at one place
  std::vector<Range> around_range;  ///< by vertex
  std::vector<int> order;
  std::vector<Node> nodes;
};

HeightFieldData make_height_field(const HeightField& field);
MeshData make_mesh(const TriangleMesh& mesh);

/// A triangle of either, ready for contact.
struct TerrainTriangle {
  Vec3<> corner[3];
  Vec3<> normal;
  std::array<TriangleEdge, 3> edges;  ///< from corner i to i + 1
  std::uint32_t region;
  std::array<std::span<const Vec3<>>, 3> around{};  ///< of a mesh: the vertices next to each corner
};
/// Number `index` as in HeightFieldData::region.
TerrainTriangle height_field_triangle(const HeightFieldData& data, int index);
TerrainTriangle mesh_triangle(const MeshData& data, int index);
/// Normal of triangle `index` of a height field.
Vec3<> height_field_normal(const HeightFieldData& data, int index);
/// How contacts may lean over the edge from p to q of a triangle with normal n, whose neighbour has the normal m and the
/// corner `beyond` opposite to the edge.
TriangleEdge edge_between(const Vec3<>& p, const Vec3<>& n, const Vec3<>& m, const Vec3<>& beyond);

}  // namespace kansetsu
