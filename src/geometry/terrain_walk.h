#pragma once

#include <algorithm>
#include <cmath>

#include "geometry/terrain.h"

/// Visits the triangles of a surface that may meet a box.
namespace kansetsu::detail {

/// Calls visit(triangle) for those whose boxes, and the boxes around these, `enters` says to look into.
template <class Enters, class Visit>
inline void walk_mesh(const MeshData& mesh, Enters&& enters, Visit&& visit) {
  int stack[64], depth = 0;
  stack[depth++] = 0;
  while (depth > 0) {
    const int index = stack[--depth];
    const MeshData::Node& node = mesh.nodes[std::size_t(index)];
    if (!enters(node.box)) continue;
    if (node.count > 0) {
      for (int i = 0; i < node.count; ++i) visit(mesh.order[std::size_t(node.first + i)]);
    } else {
      stack[depth++] = node.first;  // halves are even: 64 levels are more than memory holds
      stack[depth++] = index + 1;
    }
  }
}

/// Those whose box meets `box`.
template <class Visit>
inline void visit_mesh(const MeshData& mesh, const Aabb& box, Visit&& visit) {
  walk_mesh(mesh, [&](const Aabb& node) { return overlap(node, box); }, std::forward<Visit>(visit));
}

/// The same for the cells of a height field whose highest corner reaches the box.
template <class Visit>
inline void visit_field(const HeightFieldData& d, const Aabb& box, Visit&& visit) {
  const int cells_x = d.field.columns - 1, cells_y = d.field.rows - 1;
  const auto cell = [](double x, double size, double step, int cells) {
    return int(std::clamp(std::floor((x + 0.5 * size) / step), 0.0, double(cells - 1)));
  };
  if (box.upper.x < -0.5 * d.field.size_x || box.lower.x > 0.5 * d.field.size_x ||
      box.upper.y < -0.5 * d.field.size_y || box.lower.y > 0.5 * d.field.size_y)
    return;
  const int column_0 = cell(box.lower.x, d.field.size_x, d.step_x, cells_x),
            column_1 = cell(box.upper.x, d.field.size_x, d.step_x, cells_x),
            row_0 = cell(box.lower.y, d.field.size_y, d.step_y, cells_y),
            row_1 = cell(box.upper.y, d.field.size_y, d.step_y, cells_y);
  for (int row = row_0; row <= row_1; ++row) {
    for (int column = column_0; column <= column_1; ++column) {
      const double* h = &d.field.heights[std::size_t(row) * std::size_t(d.field.columns) + std::size_t(column)];
      if (std::max({h[0], h[1], h[d.field.columns], h[d.field.columns + 1]}) < box.lower.z) continue;
      const int index = 2 * (row * cells_x + column);
      visit(index);
      visit(index + 1);
    }
  }
}

}  // namespace kansetsu::detail
