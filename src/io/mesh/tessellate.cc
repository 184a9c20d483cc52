#include "io/mesh/tessellate.h"

#include <cmath>
#include <numbers>
#include <utility>

namespace kansetsu::io {
namespace {

constexpr int kAround = 24, kRings = 8;  // of a turn, of a quarter from pole to equator

/// A surface of revolution about z: one point of the outline per ring.
struct Outline {
  double radius, z;
  double normal_radius, normal_z;
};

Triangles revolve(const std::vector<Outline>& outline) {
  Triangles out;
  for (const Outline& o : outline) {
    for (int i = 0; i <= kAround; ++i) {
      const double angle = 2 * std::numbers::pi * (i % kAround) / kAround, c = std::cos(angle), s = std::sin(angle);
      out.add({o.radius * c, o.radius * s, o.z}, {o.normal_radius * c, o.normal_radius * s, o.normal_z});
    }
  }
  constexpr std::uint32_t kRow = kAround + 1;
  for (std::uint32_t ring = 0; ring + 1 < outline.size(); ++ring) {
    const Outline &from = outline[ring], &to = outline[ring + 1];
    if (from.radius == to.radius && from.z == to.z) continue;  // an edge, or the equator of a sphere
    for (std::uint32_t i = 0; i < kAround; ++i) {
      const std::uint32_t a = ring * kRow + i, b = a + kRow;
      if (from.radius > 0) out.indices.insert(out.indices.end(), {a, a + 1, b + 1});
      if (to.radius > 0) out.indices.insert(out.indices.end(), {a, b + 1, b});
    }
  }
  return out;
}

/// From the lower pole to the upper one; the two halves are `length` apart.
Triangles round(double radius, double length) {
  std::vector<Outline> outline;
  for (int half = 0; half < 2; ++half) {
    for (int k = 0; k <= kRings; ++k) {
      const double angle = std::numbers::pi / 2 * (half == 0 ? double(k) / kRings - 1 : double(k) / kRings);
      const bool pole = (half == 0 && k == 0) || (half == 1 && k == kRings);
      const double c = pole ? 0 : std::cos(angle), s = std::sin(angle), z = half == 0 ? -length / 2 : length / 2;
      outline.push_back({radius * c, z + radius * s, c, s});
    }
  }
  return revolve(outline);
}

Triangles tube(double radius, double length) {
  const double h = length / 2;
  return revolve(
      {{0, -h, 0, -1}, {radius, -h, 0, -1}, {radius, -h, 1, 0}, {radius, h, 1, 0}, {radius, h, 0, 1}, {0, h, 0, 1}});
}

Triangles block(const Vec3<>& size) {
  Triangles out;
  const Vec3<> h = 0.5 * size, axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (std::size_t k = 0; k < 3; ++k) {
    for (const double side : {-1.0, 1.0}) {
      const Vec3<> n = side * axes[k], u = axes[(k + 1) % 3], w = cross(n, u);
      const auto first = static_cast<std::uint32_t>(out.positions.size() / 3);
      for (const auto& [a, b] : {std::pair{-1.0, -1.0}, {1.0, -1.0}, {1.0, 1.0}, {-1.0, 1.0}}) {
        const Vec3<> d = n + a * u + b * w;
        out.add({d.x * h.x, d.y * h.y, d.z * h.z}, n);
      }
      out.indices.insert(out.indices.end(), {first, first + 1, first + 2, first, first + 2, first + 3});
    }
  }
  return out;
}

/// Flat triangles; those without an area are left out.
void add_flat(Triangles& out, const Vec3<>& a, const Vec3<>& b, const Vec3<>& c) {
  const Vec3<> n = cross(b - a, c - a);
  const double size = norm(n);
  if (!(size > 0) || !std::isfinite(size)) return;
  for (const Vec3<>& corner : {a, b, c}) {
    out.indices.push_back(static_cast<std::uint32_t>(out.positions.size() / 3));
    out.add(corner, (1 / size) * n);
  }
}

Triangles surface(const HeightField& field) {
  Triangles out;
  const auto at = [&](int column, int row) {
    return Vec3<>{field.size_x * (double(column) / (field.columns - 1) - 0.5),
                  field.size_y * (double(row) / (field.rows - 1) - 0.5),
                  field.heights[std::size_t(row) * std::size_t(field.columns) + std::size_t(column)]};
  };
  for (int row = 0; row + 1 < field.rows; ++row) {
    for (int column = 0; column + 1 < field.columns; ++column) {
      const Vec3<> low = at(column, row), high = at(column + 1, row + 1);
      add_flat(out, low, at(column + 1, row), high);
      add_flat(out, low, high, at(column, row + 1));
    }
  }
  return out;
}

/// Vertices are shared where the surface is smooth: the normal of a corner is the mean over those triangles around its vertex that
/// are not across a crease, weighted by area.
class SmoothSurface {
 public:
  explicit SmoothSurface(const TriangleMeshData& mesh) : mesh_(mesh), around_(mesh.vertices.size()) {
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
      const auto& [a, b, c] = mesh.triangles[t];
      const Vec3<>& p = vertex(a);
      areas_.push_back(cross(vertex(b) - p, vertex(c) - p));
      for (const int v : mesh.triangles[t]) around_[std::size_t(v)].push_back(t);
    }
  }

  Triangles build() {
    made_.resize(mesh_.vertices.size());
    for (std::size_t t = 0; t < mesh_.triangles.size(); ++t) {
      if (const double size = norm(areas_[t]); !(size > 0) || !std::isfinite(size)) continue;
      for (const int v : mesh_.triangles[t]) out_.indices.push_back(corner(v, t));
    }
    return std::move(out_);
  }

 private:
  struct Made {
    Vec3<> normal;
    std::uint32_t index;
  };
  const Vec3<>& vertex(int v) const { return mesh_.vertices[std::size_t(v)]; }

  Vec3<> normal(int v, std::size_t triangle) const {
    const Vec3<> own = (1 / norm(areas_[triangle])) * areas_[triangle];
    const std::vector<std::size_t>& others = around_[std::size_t(v)];
    if (others.size() > kMostAround) return own;
    Vec3<> sum{};
    for (const std::size_t t : others) {
      if (dot(areas_[t], own) > kCrease * norm(areas_[t])) sum = sum + areas_[t];
    }
    const double size = norm(sum);
    return size > 0 && std::isfinite(size) ? (1 / size) * sum : own;
  }

  /// The index of a corner: one that was made of this vertex with this normal, or a new one.
  std::uint32_t corner(int v, std::size_t triangle) {
    const Vec3<> n = normal(v, triangle);
    std::vector<Made>& made = made_[std::size_t(v)];
    if (made.size() <= kMostAround) {
      for (const Made& m : made) {
        if (dot(m.normal, n) > kSameNormal) return m.index;
      }
    }
    const auto index = static_cast<std::uint32_t>(out_.positions.size() / 3);
    made.push_back({n, index});
    out_.add(vertex(v), n);
    return index;
  }

  static constexpr double kCrease = 0.8;           // cosine of 37°: steeper edges stay sharp
  static constexpr double kSameNormal = 0.999999;  // cosine of 0.08°
  static constexpr std::size_t kMostAround = 64;   // triangles around a vertex; the apex of a larger fan is flat

  const TriangleMeshData& mesh_;
  std::vector<Vec3<>> areas_;                     ///< normals of triangles, twice their areas long
  std::vector<std::vector<std::size_t>> around_;  ///< triangles, by vertex
  std::vector<std::vector<Made>> made_;           ///< by vertex
  Triangles out_;
};

std::optional<Triangles> surface(const TriangleMesh& mesh) {
  if (!mesh.data) return std::nullopt;
  Triangles out = SmoothSurface(*mesh.data).build();
  if (out.indices.empty()) return std::nullopt;
  return out;
}

struct Tessellate {
  std::optional<Triangles> operator()(const Sphere& s) const { return round(s.radius, 0); }
  std::optional<Triangles> operator()(const Box& s) const { return block(s.size); }
  std::optional<Triangles> operator()(const Cylinder& s) const { return tube(s.radius, s.length); }
  std::optional<Triangles> operator()(const Capsule& s) const { return round(s.radius, s.length); }
  std::optional<Triangles> operator()(const HeightField& s) const { return surface(s); }
  std::optional<Triangles> operator()(const TriangleMesh& s) const { return surface(s); }
  template <class Other>
  std::optional<Triangles> operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

void Triangles::add(const Vec3<>& p, const Vec3<>& n) {
  for (const double x : {p.x, p.y, p.z}) positions.push_back(static_cast<float>(x));
  for (const double x : {n.x, n.y, n.z}) normals.push_back(static_cast<float>(x));
}

std::optional<Triangles> tessellate(const Shape& shape) { return std::visit(Tessellate{}, shape); }

}  // namespace kansetsu::io
