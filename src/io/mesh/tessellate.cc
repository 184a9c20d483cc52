#include "io/mesh/tessellate.h"

#include <cmath>
#include <numbers>

#include "io/bytes.h"

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

std::optional<Triangles> surface(const TriangleMesh& mesh) {
  if (!mesh.data) return std::nullopt;
  Triangles out;
  const auto corner = [&](int i) { return mesh.data->vertices[std::size_t(i)]; };
  for (const auto& [a, b, c] : mesh.data->triangles) add_flat(out, corner(a), corner(b), corner(c));
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

std::optional<Triangles> parse_stl(std::string_view bytes, const Vec3<>& scale) {
  ByteReader in(bytes);
  in.raw(80);
  const auto count = in.take<std::uint32_t>();
  if (in.failed || count == 0 || in.rest.size() != std::size_t{count} * 50) return std::nullopt;
  Triangles out;
  for (std::uint32_t i = 0; i < count; ++i) {
    in.raw(12);  // a normal that many programs leave zero
    Vec3<> p[3];
    for (Vec3<>& corner : p) {
      const double x = in.take<float>(), y = in.take<float>(), z = in.take<float>();
      corner = {scale.x * x, scale.y * y, scale.z * z};
    }
    in.raw(2);
    add_flat(out, p[0], p[1], p[2]);
  }
  if (out.indices.empty()) return std::nullopt;
  return out;
}

}  // namespace kansetsu::io
