#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// The edge from vertex a to vertex b, as a key.
inline std::uint64_t edge_key(int a, int b) { return (std::uint64_t(std::uint32_t(a)) << 32) | std::uint32_t(b); }

/// A convex polyhedron. A flat one has two faces back to back, a segment two vertices, a point one vertex, both no face.
struct HullData {
  struct Face {
    Vec3<> normal;     ///< unit, outward
    double offset;     ///< normal · x of its points
    int first, count;  ///< its vertices in `loop`, counterclockwise from outside
  };
  std::vector<Vec3<>> vertices;
  std::vector<Face> faces;
  std::vector<int> loop;       ///< vertices of the faces, one after the other
  std::vector<int> loop_edge;  ///< number of the edge that leaves loop[i]; both faces of an edge know it by one number
  std::vector<int> first_neighbour;  ///< neighbours of vertex i: neighbour[first_neighbour[i] … first_neighbour[i + 1])
  std::vector<int> neighbour;
  Vec3<> centre;  ///< a point inside
};

/// The hull of at least one finite point. Vertices keep their order; points inside, or closer than about 1e-10 of the size to the
/// hull of the others, are left out.
HullData make_hull(std::span<const Vec3<>> points);

}  // namespace kansetsu
