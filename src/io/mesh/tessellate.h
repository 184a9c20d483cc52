#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kansetsu/geometry/shape.h"

namespace kansetsu::io {

/// Triangles with a normal at every corner, in single precision as glTF stores them.
struct Triangles {
  std::vector<float> positions{}, normals{};  ///< x y z each
  std::vector<std::uint32_t> indices{};

  void add(const Vec3<>& p, const Vec3<>& n);
};

/// The surface of a shape; none for meshes and shapes without an end.
std::optional<Triangles> tessellate(const Shape& shape);

}  // namespace kansetsu::io
