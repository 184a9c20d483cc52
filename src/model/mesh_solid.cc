#include <cmath>

#include "geometry/hull.h"
#include "kansetsu/model/solid.h"

/// A triangle and a point span a tetrahedron. The second moment of one of volume V with a corner at the origin is
/// V/20·(Σ v vᵀ + s sᵀ), v its other corners and s their sum; of a triangle of area A it is A/12·(Σ v vᵀ + s sᵀ).
namespace kansetsu {
namespace {

struct Corners {
  Vec3<> a, b, c;

  Vec3<> normal() const { return 0.5 * cross(b - a, c - a); }  ///< as long as the area
  Vec3<> middle() const { return (1.0 / 3) * (a + b + c); }
};

double pyramid(const Corners& t, const Vec3<>& top, MeshMass mass) {
  const double volume = dot(t.middle() - top, t.normal()) / 3;
  return mass == MeshMass::kPyramids ? std::abs(volume) : volume;
}

struct Moments {
  double xx = 0, xy = 0, xz = 0, yy = 0, yz = 0, zz = 0;

  void add(double weight, const Vec3<>& v) {
    xx += weight * v.x * v.x, xy += weight * v.x * v.y, xz += weight * v.x * v.z;
    yy += weight * v.y * v.y, yz += weight * v.y * v.z, zz += weight * v.z * v.z;
  }
  Sym3<> inertia() const { return {yy + zz, -xy, -xz, xx + zz, -yz, xx + yy}; }
};

std::vector<Corners> corners_of(const TriangleMeshData& mesh, MeshMass mass) {
  std::vector<Corners> out;
  if (mass != MeshMass::kConvex) {
    const auto at = [&](int i) { return mesh.vertices[std::size_t(i)]; };
    for (const auto& t : mesh.triangles) out.push_back({at(t[0]), at(t[1]), at(t[2])});
    return out;
  }
  const HullData hull = make_hull(mesh.vertices);
  for (const HullData::Face& face : hull.faces) {
    const auto at = [&](int k) { return hull.vertices[std::size_t(hull.loop[std::size_t(face.first + k)])]; };
    for (int k = 2; k < face.count; ++k) out.push_back({at(0), at(k - 1), at(k)});
  }
  return out;
}

}  // namespace

MeshSolid mesh_solid(const TriangleMeshData& mesh, MeshMass mass) {
  const std::vector<Corners> triangles = corners_of(mesh, mass);
  MeshSolid solid;
  double area = 0;
  Vec3<> middle;
  for (const Corners& t : triangles) {
    const double A = norm(t.normal());
    area += A;
    middle += A * t.middle();
  }
  if (!(area > 0)) return solid;
  middle = (1 / area) * middle;
  solid.centre = middle;
  if (mass != MeshMass::kShell) {
    double volume = 0;
    Vec3<> moment;
    for (const Corners& t : triangles) {
      const double V = pyramid(t, middle, mass);
      volume += V;
      moment += V * (0.75 * t.middle() + 0.25 * middle);
    }
    if (volume == 0) return solid;
    solid.centre = (1 / volume) * moment;
  }
  Moments moments;
  for (const Corners& t : triangles) {
    const Vec3<> a = t.a - solid.centre, b = t.b - solid.centre, c = t.c - solid.centre;
    const bool shell = mass == MeshMass::kShell;
    const double part = shell ? norm(t.normal()) : pyramid(t, solid.centre, mass);
    solid.measure += part;
    for (const Vec3<>& v : {a, b, c, a + b + c}) moments.add(part / (shell ? 12 : 20), v);
  }
  solid.inertia = moments.inertia();
  return solid;
}

}  // namespace kansetsu
