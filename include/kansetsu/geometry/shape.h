#pragma once

#include <string>
#include <variant>

#include "kansetsu/spatial/spatial.h"

/// Shapes as plain data, in metres, centred on their own frame. Cylinders and capsules stand along z; the length of a
/// capsule is that of its cylindrical part.
namespace kansetsu {

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

/// The half-space z ≤ 0: its surface is the plane z = 0, its outward normal +z. Without end, so it belongs to the world.
struct Plane {
  friend bool operator==(const Plane&, const Plane&) = default;
};

using Shape = std::variant<Sphere, Box, Cylinder, Capsule, Mesh, Plane>;

}  // namespace kansetsu
