#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "kansetsu/geometry/shape.h"

namespace kansetsu::io {

/// Triangles with vertex normals in single precision, as in glTF.
struct Triangles {
  std::vector<float> positions{}, normals{};  ///< x y z each
  std::vector<std::uint32_t> indices{};

  void add(const Vec3<>& p, const Vec3<>& n);
};

/// The surface of a shape; none for mesh files and unbounded shapes.
std::optional<Triangles> tessellate(const Shape& shape);

}  // namespace kansetsu::io
