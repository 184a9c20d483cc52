#include "kansetsu/geometry/geometry.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "geometry/bounds.h"
#include "geometry/hull.h"
#include "geometry/terrain.h"
#include "kansetsu/base/error.h"
#include "kansetsu/geometry/surface.h"

namespace kansetsu {
namespace {

void check_length(const char* shape, const char* name, double value) {
  if (!(value >= 0) || !std::isfinite(value))
    throw Error(fmt::format("Geometry: {} of the {} is {}, expected a finite number, at least 0", name, shape, value));
}

bool is_finite(const Vec3<>& p) { return std::isfinite(p.x) && std::isfinite(p.y) && std::isfinite(p.z); }

void check_points(const char* shape, const std::vector<Vec3<>>& points) {
  if (points.empty()) throw Error(fmt::format("Geometry: the {} has no vertices", shape));
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (!is_finite(points[i])) {
      throw Error(fmt::format("Geometry: vertex {} of the {} is ({}, {}, {})", i, shape, points[i].x, points[i].y,
                              points[i].z));
    }
  }
}

Aabb around(const std::vector<Vec3<>>& points) {
  Aabb box = detail::kNoBox;
  for (const Vec3<>& p : points) detail::include(box, p);
  return box;
}

std::string grid_problem(const HeightField& s) {
  if (s.columns >= 2 && s.rows >= 2 && s.heights.size() == std::size_t(s.columns) * std::size_t(s.rows)) return {};
  return fmt::format(
      "the height field has {} columns, {} rows and {} heights; expected at least two of each, and columns × rows "
      "heights",
      s.columns, s.rows, s.heights.size());
}

std::string index_problem(const TriangleMeshData& data) {
  for (std::size_t i = 0; i < data.triangles.size(); ++i) {
    for (const int v : data.triangles[i]) {
      if (v < 0 || std::size_t(v) >= data.vertices.size())
        return fmt::format("triangle {} names vertex {}, but there are {}", i, v, data.vertices.size());
    }
  }
  return {};
}

void check_surface(const Shape& shape) {
  if (const std::string problem = surface_problem(shape); !problem.empty()) throw Error("Geometry: " + problem);
}

void check_field(const HeightField& s) {
  check_length("height field", "size_x", s.size_x);
  check_length("height field", "size_y", s.size_y);
  check_surface(s);
  if (!(s.size_x > 0) || !(s.size_y > 0)) throw Error("Geometry: the height field has no area");
  for (std::size_t i = 0; i < s.heights.size(); ++i) {
    if (!std::isfinite(s.heights[i]))
      throw Error(fmt::format("Geometry: height {} of the field is {}", i, s.heights[i]));
  }
}

void check_mesh(const TriangleMesh& s) {
  if (!s.data || s.data->triangles.empty()) throw Error("Geometry: the mesh has no triangles");
  check_points("mesh", s.data->vertices);
  check_surface(s);
}

struct Maker {
  ShapeKind& kind;
  double& radius;
  Vec3<>& half;
  Aabb& bounds;
  std::shared_ptr<const HullData>& hull;
  std::shared_ptr<const HeightFieldData>& height_field;
  std::shared_ptr<const MeshData>& mesh;

  void operator()(const Sphere& s) {
    kind = ShapeKind::kSphere;
    check_length("sphere", "radius", radius = s.radius);
    symmetric({s.radius, s.radius, s.radius});
  }
  void operator()(const Box& s) {
    kind = ShapeKind::kBox;
    check_length("box", "size.x", s.size.x);
    check_length("box", "size.y", s.size.y);
    check_length("box", "size.z", s.size.z);
    half = 0.5 * s.size;
    symmetric(half);
  }
  void operator()(const Cylinder& s) {
    kind = ShapeKind::kCylinder;
    set_round("cylinder", s.radius, s.length);
    symmetric({s.radius, s.radius, half.z});
  }
  void operator()(const Capsule& s) {
    kind = ShapeKind::kCapsule;
    set_round("capsule", s.radius, s.length);
    symmetric({s.radius, s.radius, half.z + s.radius});
  }
  void operator()(const Mesh& s) {
    throw Error(fmt::format("Geometry: mesh '{}' is a reference to a file; load it with io::load_mesh", s.uri));
  }
  void operator()(const Plane&) {
    kind = ShapeKind::kPlane;
    bounds = {{-kInfinity, -kInfinity, -kInfinity}, {kInfinity, kInfinity, 0}};
  }
  void operator()(const ConvexHull& s) {
    kind = ShapeKind::kConvexHull;
    check_points("convex hull", s.vertices);
    hull = std::make_shared<const HullData>(make_hull(s.vertices));
    bounds = around(hull->vertices);
  }
  void operator()(const HeightField& s) {
    kind = ShapeKind::kHeightField;
    check_field(s);
    height_field = std::make_shared<const HeightFieldData>(make_height_field(s));
    const auto [low, high] = std::minmax_element(s.heights.begin(), s.heights.end());
    bounds = {{-0.5 * s.size_x, -0.5 * s.size_y, -kInfinity}, {0.5 * s.size_x, 0.5 * s.size_y, *high}};
  }
  void operator()(const TriangleMesh& s) {
    kind = ShapeKind::kTriangleMesh;
    check_mesh(s);
    mesh = std::make_shared<const MeshData>(make_mesh(s));
    bounds = around(s.data->vertices);
  }

 private:
  void set_round(const char* name, double r, double length) {
    check_length(name, "radius", radius = r);
    check_length(name, "length", length);
    half = {0, 0, 0.5 * length};
  }
  void symmetric(const Vec3<>& reach) { bounds = {-reach, reach}; }
};

Vec3<> absolute(const Vec3<>& a) { return {std::abs(a.x), std::abs(a.y), std::abs(a.z)}; }

Aabb around_centre(const Vec3<>& p, const Vec3<>& reach) { return {p - reach, p + reach}; }

Aabb plane_bounds(const Transform<>& X) {
  const Vec3<> n = X.R.column_z();
  Aabb box{{-kInfinity, -kInfinity, -kInfinity}, {kInfinity, kInfinity, kInfinity}};
  const auto limit = [](double along, double across_1, double across_2, double p, double& lower, double& upper) {
    if (across_1 != 0 || across_2 != 0) return;
    (along > 0 ? upper : lower) = p;
  };
  limit(n.x, n.y, n.z, X.p.x, box.lower.x, box.upper.x);
  limit(n.y, n.x, n.z, X.p.y, box.lower.y, box.upper.y);
  limit(n.z, n.x, n.y, X.p.z, box.lower.z, box.upper.z);
  return box;
}

Aabb hull_bounds(const HullData& hull, const Transform<>& X) {
  Aabb box = detail::kNoBox;
  for (const Vec3<>& v : hull.vertices) detail::include(box, X * v);
  return box;
}

}  // namespace

Aabb detail::turned_bounds(const Aabb& local, const Transform<>& X) {
  const auto side = [&](const Vec3<>& row, double p, bool upper) {
    const auto part = [&](double r, double low, double high) {
      return r == 0 ? 0 : r * ((r > 0) == upper ? high : low);  // 0 times infinity would be no number
    };
    return p + part(row.x, local.lower.x, local.upper.x) + part(row.y, local.lower.y, local.upper.y) +
           part(row.z, local.lower.z, local.upper.z);
  };
  return {{side(X.R.x, X.p.x, false), side(X.R.y, X.p.y, false), side(X.R.z, X.p.z, false)},
          {side(X.R.x, X.p.x, true), side(X.R.y, X.p.y, true), side(X.R.z, X.p.z, true)}};
}

const char* to_string(ShapeKind kind) {
  static constexpr const char* kNames[] = {"plane",    "sphere",      "capsule",      "box",
                                           "cylinder", "convex hull", "height field", "triangle mesh"};
  return kNames[int(kind)];
}

std::string surface_problem(const Shape& shape) {
  if (const auto* field = std::get_if<HeightField>(&shape)) return grid_problem(*field);
  const auto* mesh = std::get_if<TriangleMesh>(&shape);
  return mesh && mesh->data ? index_problem(*mesh->data) : std::string();
}

Geometry::Geometry(const Shape& shape) {
  std::visit(Maker{kind_, radius_, half_, bounds_, hull_, height_field_, mesh_}, shape);
}

Aabb bounds(const Geometry& geometry, const Transform<>& X) {
  const double r = geometry.radius();
  const Vec3<>& h = geometry.half();
  switch (geometry.kind()) {
    case ShapeKind::kPlane:
      return plane_bounds(X);
    case ShapeKind::kSphere:
      return around_centre(X.p, {r, r, r});
    case ShapeKind::kCapsule:
      return around_centre(X.p, h.z * absolute(X.R.column_z()) + Vec3<>{r, r, r});
    case ShapeKind::kBox:
      return around_centre(X.p, {dot(absolute(X.R.x), h), dot(absolute(X.R.y), h), dot(absolute(X.R.z), h)});
    case ShapeKind::kCylinder: {
      const Vec3<> z = X.R.column_z();
      const auto reach = [&](double c) { return h.z * std::abs(c) + r * std::sqrt(std::max(0.0, 1 - c * c)); };
      return around_centre(X.p, {reach(z.x), reach(z.y), reach(z.z)});
    }
    case ShapeKind::kConvexHull:
      return hull_bounds(*geometry.hull_data(), X);
    default:
      return detail::turned_bounds(geometry.local_bounds(), X);
  }
}

}  // namespace kansetsu
