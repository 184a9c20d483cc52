#include "kansetsu/model/solid.h"

#include <numbers>

#include "kansetsu/spatial/euler.h"
#include "kansetsu/spatial/inertia.h"

namespace kansetsu {
namespace {

constexpr double kPi = std::numbers::pi;

struct VolumeOf {
  std::optional<double> operator()(const Sphere& s) const { return 4.0 / 3 * kPi * s.radius * s.radius * s.radius; }
  std::optional<double> operator()(const Box& s) const { return s.size.x * s.size.y * s.size.z; }
  std::optional<double> operator()(const Cylinder& s) const { return kPi * s.radius * s.radius * s.length; }
  std::optional<double> operator()(const Capsule& s) const {
    return *(*this)(Cylinder{s.radius, s.length}) + *(*this)(Sphere{s.radius});
  }
  template <class Other>
  std::optional<double> operator()(const Other&) const {
    return std::nullopt;
  }
};

struct InertiaOf {
  double mass;

  std::optional<Sym3<>> operator()(const Sphere& s) const {
    const double I = 0.4 * mass * s.radius * s.radius;
    return Sym3<>::diagonal(I, I, I);
  }
  std::optional<Sym3<>> operator()(const Box& s) const {
    const double x = s.size.x * s.size.x, y = s.size.y * s.size.y, z = s.size.z * s.size.z, k = mass / 12;
    return Sym3<>::diagonal(k * (y + z), k * (x + z), k * (x + y));
  }
  std::optional<Sym3<>> operator()(const Cylinder& s) const {
    const double rr = s.radius * s.radius, across = mass * (3 * rr + s.length * s.length) / 12;
    return Sym3<>::diagonal(across, across, 0.5 * mass * rr);
  }
  std::optional<Sym3<>> operator()(const Capsule& s) const {
    const double round = *VolumeOf{}(Sphere{s.radius}), straight = *VolumeOf{}(Cylinder{s.radius, s.length});
    if (!(round + straight > 0)) return Sym3<>{};
    const double caps = mass * round / (round + straight), rod = mass - caps;
    const Sym3<> I = *InertiaOf{rod}(Cylinder{s.radius, s.length});
    // Two half balls, whose centres are 3r/8 from their flat sides.
    const double ball = 0.4 * caps * s.radius * s.radius;
    const double across = I.xx + ball + caps * s.length * (2 * s.length + 3 * s.radius) / 8;
    return Sym3<>::diagonal(across, across, I.zz + ball);
  }
  template <class Other>
  std::optional<Sym3<>> operator()(const Other&) const {
    return std::nullopt;
  }
};

}  // namespace

std::optional<double> volume(const Shape& shape) { return std::visit(VolumeOf{}, shape); }

std::optional<Sym3<>> solid_inertia(const Shape& shape, double mass) { return std::visit(InertiaOf{mass}, shape); }

std::optional<MeshSolid> solid(const Shape& shape) {
  MeshSolid out;
  if (const auto V = volume(shape)) {
    out = {*V, {}, *solid_inertia(shape, *V)};
  } else if (const auto* hull = std::get_if<ConvexHull>(&shape)) {
    if (!hull->vertices.empty()) out = mesh_solid({hull->vertices, {}}, MeshMass::kConvex);
  } else if (const auto* mesh = std::get_if<TriangleMesh>(&shape)) {
    if (mesh->data) out = mesh_solid(*mesh->data, MeshMass::kExact);
  }
  if (!(out.measure > 0)) return std::nullopt;
  return out;
}

std::optional<Inertial> solid_inertial(const Shape& shape, double mass) {
  const auto body = solid(shape);
  if (!body) return std::nullopt;
  return Inertial{mass, {.p = body->centre}, (mass / body->measure) * body->inertia};
}

Inertial combine(const std::vector<Inertial>& parts) {
  Inertial whole;
  Vec3<> moment;
  for (const Inertial& part : parts) {
    whole.mass += part.mass;
    moment = moment + part.mass * part.origin.p;
  }
  if (!(whole.mass > 0)) return whole;
  whole.origin.p = (1 / whole.mass) * moment;
  for (const Inertial& part : parts) {
    const Transform<> X{from_rpy(part.origin.rpy), part.origin.p - whole.origin.p};
    whole.inertia = whole.inertia + (X * make_inertia(part.mass, Vec3<>{}, part.inertia)).I;
  }
  return whole;
}

}  // namespace kansetsu
