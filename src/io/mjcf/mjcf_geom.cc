#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>

#include "io/mjcf/mjcf_reader.h"
#include "io/shapes.h"
#include "io/text.h"
#include "kansetsu/spatial/eigen.h"

namespace kansetsu::io::mjcf {
namespace {

constexpr std::size_t kMostGeoms = 100000;  // of one body

/// A geom's shape, volume, and inertia of a unit mass.
struct Solid {
  std::optional<Shape> shape;
  double volume = 0;
  Sym3<> unit_inertia;
  Transform<> X_GS{};  ///< of the shape in the geom's frame
  std::optional<Skin> skin{};
  Vec3<> radii{};  ///< of the equivalent ellipsoid for fluid forces
};

struct RadiiOf {
  Vec3<> operator()(const Sphere& s) const { return {s.radius, s.radius, s.radius}; }
  Vec3<> operator()(const Capsule& s) const { return {s.radius, s.radius, 0.5 * s.length + s.radius}; }
  Vec3<> operator()(const Cylinder& s) const { return {s.radius, s.radius, 0.5 * s.length}; }
  Vec3<> operator()(const Box& s) const { return 0.5 * s.size; }
  template <class Other>
  Vec3<> operator()(const Other&) const {
    return {};
  }
};

Solid primitive(const Shape& shape) {
  return {.shape = shape,
          .volume = volume(shape).value_or(0),
          .unit_inertia = solid_inertia(shape, 1).value_or(Sym3<>{}),
          .skin = skin_of(shape),
          .radii = std::visit(RadiiOf{}, shape)};
}

Solid ellipsoid(const Vec3<>& r) {
  return {ellipsoid_hull(r), ellipsoid_volume(r), ellipsoid_inertia(r), {}, ellipsoid_skin(r), r};
}

Solid solid_of(GeomType type, const Vec3<>& size) {
  return type == GeomType::kEllipsoid ? ellipsoid(size) : primitive(primitive_shape(type, size));
}

/// The number of size parameters, in the order of GeomType.
constexpr int kGeomSizes[] = {0, 1, 2, 3, 2, 3, 0, 0, 0};

/// Reads size and fromto; X is set if fromto gives the pose.
bool read_size(Reader& reader, const Attributes& a, GeomType type, Vec3<>& size, std::optional<Transform<>>& X) {
  std::array<double, 3> s{};
  const int needed = kGeomSizes[int(type)];
  int count = a.numbers("size", s, 1);
  if (needed >= 2 && a.has("fromto")) {
    const auto ends = read_ends(reader, a);
    if (!ends) return false;
    X = ends->X;
    s[std::size_t(needed - 1)] = ends->half;
    if (needed == 3) s[1] = s[0];
    count = count > 0 ? needed : 0;
  }
  if (count < needed)
    return reader.report.fail(
        a.element(), kMissing, fmt::format("attribute size has {} numbers, {} are needed", count, needed),
        "sphere: radius; capsule and cylinder: radius, half length; box and ellipsoid: three half sizes");
  for (int i = 0; i < needed; ++i) {
    if (s[std::size_t(i)] > 0) continue;
    return reader.report.fail(a.element(), kRange,
                              fmt::format("size {} is {}", i + 1, format_number(s[std::size_t(i)])),
                              "sizes are positive [m]");
  }
  size = {s[0], s[1], s[2]};
  return true;
}

/// A primitive fitted to a mesh by its equivalent inertia box.
Solid fit_primitive(Reader& reader, const Attributes& a, GeomType type) {
  const auto box = fit_box(reader, a);
  if (reader.compiler_of(a.element()).fit_aabb || !box) {
    reader.report.missing(a.element(), kGeomShape,
                          reader.compiler_of(a.element()).fit_aabb
                              ? "primitives fitted to the bounds of a mesh are ignored"
                              : "primitives fitted to a missing mesh are ignored");
    return {};
  }
  double scale = 1;
  a.number("fitscale", scale);
  const Vec3<>& h = box->half;
  const double across = (h.x + h.y) / 2;
  Vec3<> size = h;
  if (type == GeomType::kSphere) size.x = (h.x + h.y + h.z) / 3;
  if (type == GeomType::kCapsule) size = {across, std::max(0.0, h.z - across / 2), 0};
  if (type == GeomType::kCylinder) size = {across, h.z, 0};
  Solid out = solid_of(type, scale * size);
  out.X_GS = box->X_GB;
  return out;
}

Solid read_solid(Reader& reader, const Attributes& a, GeomType type, std::optional<Transform<>>& X) {
  if (type == GeomType::kPlane) return {Plane{}, 0, {}, {}};
  if (type == GeomType::kMesh) {
    const auto mesh = mesh_shape(reader, a);
    return mesh ? Solid{mesh->shape, 0, {}, mesh->X_GS} : Solid{};
  }
  if (type == GeomType::kHeightField) return {hfield_shape(reader, a), 0, {}, {}};
  if (type == GeomType::kOther) {
    reader.report.missing(a.element(), kGeomShape, "signed distance fields are ignored");
    return {};
  }
  if (a.has("mesh")) return fit_primitive(reader, a, type);
  Vec3<> s;
  if (!read_size(reader, a, type, s, X)) return {};
  if (type == GeomType::kEllipsoid)
    reader.report.repeated_warning(a.element(), kEllipsoidHull,
                                   "ellipsoids collide as hulls of points on their surface");
  return solid_of(type, s);
}

void read_mass(Reader& reader, const Attributes& a, GeomType type, const Solid& solid, Geom& geom) {
  double mass = 0;
  a.number("density", geom.density);
  if (a.number("mass", mass)) geom.given_mass = mass;
  geom.shell = a.boolean("shellinertia").value_or(false);
  if (mass < 0 || geom.density < 0)
    return reader.report.error(a.element(), kRange, "mass or density is negative", "give zero or more");
  if (type == GeomType::kPlane || type == GeomType::kHeightField) return;
  if (geom.given_mass.value_or(geom.density) == 0) {
    geom.mass = Inertial{};
    return;
  }
  if (type == GeomType::kMesh) geom.mesh.emplace(a);
  if (type == GeomType::kMesh || solid.volume <= 0) return;  // unknown; set_mass() reports it if needed
  const Skin whole = geom.shell && solid.skin ? *solid.skin : Skin{solid.volume, solid.unit_inertia};
  mass = geom.given_mass.value_or(geom.density * whole.area);
  geom.mass = Inertial{mass, geom.shape.origin, mass * whole.inertia};
}

/// The mass of a geom; none, and a warning, if it is unknown.
std::optional<Inertial> mass_of(Reader& reader, const Geom& geom) {
  if (geom.mass) return geom.mass;
  if (geom.mesh) {
    if (const auto solid = mesh_mass(reader, *geom.mesh, geom.shell)) {
      const double mass = geom.given_mass.value_or(geom.density * solid->measure);
      const Transform<> X = geom.X_BG * Transform<>{Mat3<>::identity(), solid->centre};
      return Inertial{mass, to_pose(X), mass / solid->measure * solid->inertia};
    }
  }
  if ((!geom.has_shape && !geom.element->Attribute("hfield")) || geom.mesh) {
    reader.report.missing(*geom.element, kMeshMass, "the mass of this geom is unknown; it contributes none",
                          "give the body an <inertial>");
  }
  return std::nullopt;
}

void read_contact(Reader& reader, const Attributes& a, Geom& geom) {
  double contype = 1, conaffinity = 1;
  a.number("contype", contype);
  a.number("conaffinity", conaffinity);
  const auto mask = [&](double x) {
    if (x >= 0 && x <= 4294967295.0 && x == std::floor(x)) return std::uint32_t(x);
    reader.report.error(a.element(), kNumber, fmt::format("{} is not a bit mask", format_number(x)),
                        "give a whole number");
    return std::uint32_t(1);
  };
  geom.shape.contype = mask(contype);
  geom.shape.conaffinity = mask(conaffinity);
  a.integer("condim", geom.condim);
  a.integer("priority", geom.priority);
  a.integer("group", geom.group);
  geom.clearance = read_margin(reader, a);
  std::array<double, 3> friction{1, 0.005, 0.0001};
  a.numbers("friction", friction, 1);
  geom.friction = friction[0];
  if (geom.condim != 1 && geom.condim != 3 && geom.condim != 4 && geom.condim != 6) {
    reader.report.error(a.element(), kRange, fmt::format("condim is {}", geom.condim), "known: 1, 3, 4, 6");
    geom.condim = 3;
  }
  if (friction[0] < 0 || friction[1] < 0 || friction[2] < 0) {
    reader.report.error(a.element(), kRange, "friction is negative", "give zero or more");
    geom.friction = 1;
    return;
  }
  if (geom.condim >= 4) geom.spin = friction[1];
  if (geom.condim == 6) geom.rolling = friction[2];
}

/// Reads fluidshape and fluidcoef.
void read_drag(Reader& reader, const Attributes& a, const Solid& solid, Geom& geom) {
  if (a.keyword("fluidshape", {"none", "ellipsoid"}).value_or(0) == 0) return;
  EllipsoidDrag drag{.radii = solid.radii};
  if (!(drag.radii.x > 0 && drag.radii.y > 0 && drag.radii.z > 0))
    return reader.report.missing(a.element(), kGeomShape,
                                 "fluid forces on meshes and on geoms without volume are ignored");
  std::array<double, 5> c{drag.blunt_drag, drag.slender_drag, drag.angular_drag, drag.kutta_lift, drag.magnus_lift};
  a.numbers("fluidcoef", c, 1);
  if (std::ranges::any_of(c, [](double x) { return x < 0; }))
    return reader.report.error(a.element(), kRange, "fluidcoef has a negative number", "give zero or more");
  drag.blunt_drag = c[0], drag.slender_drag = c[1], drag.angular_drag = c[2];
  drag.kutta_lift = c[3], drag.magnus_lift = c[4];
  geom.drag = drag;
  geom.X_BD = geom.X_BG * solid.X_GS;
}

/// The texture file of a material, if it exists and may be read.
std::string texture_of(const Reader& reader, const std::string& material) {
  const std::string* named = find_in(reader.material_textures, material);
  const std::string* file = named ? find_in(reader.textures, *named) : nullptr;
  if (!file) return {};
  std::error_code ignored;
  const std::filesystem::path path = std::filesystem::absolute(*file, ignored);
  return std::filesystem::is_regular_file(path, ignored) && reader.gate.allows(path) ? path.string() : "";
}

void read_colour(Reader& reader, const Attributes& a, LinkShape& shape) {
  Material material;
  if (const auto name = a.text("material")) {
    material.name = *name;
    if (const auto* rgba = find_in(reader.colours, *name)) material.rgba = *rgba;
    material.texture = texture_of(reader, *name);
  }
  std::array<double, 4> rgba{0.5, 0.5, 0.5, 1};
  if (a.numbers("rgba", rgba, 3) > 0) material.rgba = std::vector<double>(rgba.begin(), rgba.end());
  if (!material.rgba && material.texture.empty()) return;
  if (material.rgba) {
    for (double& c : *material.rgba) c = std::clamp(c, 0.0, 1.0);
  }
  shape.material = material;
}

void apply_bounds(const Compiler& c, Inertial& inertial) {
  inertial.mass = std::max(inertial.mass, c.bound_mass);
  if (!(c.bound_inertia > 0) && !c.balance_inertia) return;
  const Eigen::Matrix3d m = to_eigen(inertial.inertia);
  if (!m.allFinite()) return;
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(m);
  Eigen::Vector3d J = solver.eigenvalues().cwiseMax(c.bound_inertia);
  if (c.balance_inertia && (J[0] + J[1] < J[2])) J.setConstant(J.mean());
  if (J == solver.eigenvalues()) return;
  const Eigen::Matrix3d out = solver.eigenvectors() * J.asDiagonal() * solver.eigenvectors().transpose();
  inertial.inertia = {out(0, 0), out(0, 1), out(0, 2), out(1, 1), out(1, 2), out(2, 2)};
}

void set_mass(Reader& reader, Body& body) {
  const Compiler& c = reader.compiler_of(*body.element);
  const bool from_geoms =
      c.inertia_from_geom == Compiler::kTrue || (c.inertia_from_geom == Compiler::kAuto && !body.inertial);
  if (from_geoms) {
    std::vector<Inertial> parts;
    for (const Geom& geom : body.geoms) {
      if (geom.group < c.group_lower || geom.group > c.group_upper) continue;
      if (const auto part = mass_of(reader, geom)) parts.push_back(*part);
    }
    body.inertial.reset();
    // A single part keeps its axes: fluid forces act along them.
    if (const Inertial whole = parts.size() == 1 ? parts[0] : combine(parts); whole.mass > 0) body.inertial = whole;
  }
  if (!body.inertial && (c.bound_mass > 0 || c.bound_inertia > 0)) body.inertial = Inertial{};
  if (body.inertial) apply_bounds(c, *body.inertial);
}

}  // namespace

Shape primitive_shape(GeomType type, const Vec3<>& s) {
  if (type == GeomType::kCapsule) return Capsule{s.x, 2 * s.y};
  if (type == GeomType::kCylinder) return Cylinder{s.x, 2 * s.y};
  if (type == GeomType::kBox) return Box{2.0 * s};
  return Sphere{s.x};
}

void read_geom(Reader& reader, const Element& element, const Place& place) {
  const Attributes a = attributes_of(reader, element, "geom", place.childclass);
  const std::size_t count = reader.body(place.body).geoms.size();
  if (count > kMostGeoms)
    return reader.report.error(element, kTooLargeModel, fmt::format("more than {} geoms on a body", kMostGeoms),
                               "make the model smaller");
  Geom geom;
  geom.element = &element;
  if (element.Attribute("name")) geom.shape.name = take_name(reader, element, "geom", "geom");
  const auto type = GeomType(
      a.keyword("type", {"plane", "sphere", "capsule", "ellipsoid", "cylinder", "box", "mesh", "hfield", "sdf"})
          .value_or(int(GeomType::kSphere)));
  std::optional<Transform<>> X;
  const Transform<> pose = read_pose(reader, a);
  const Solid solid = read_solid(reader, a, type, X);
  geom.X_BG = place.X_BF * X.value_or(pose);
  geom.shape.origin = to_pose(geom.X_BG * solid.X_GS);
  geom.has_shape = solid.shape.has_value();
  if (solid.shape) geom.shape.shape = *solid.shape;
  read_contact(reader, a, geom);
  read_mass(reader, a, type, solid, geom);
  read_drag(reader, a, solid, geom);
  read_colour(reader, a, geom.shape);
  reader.body(place.body).geoms.push_back(std::move(geom));
}

void set_masses(Reader& reader) {
  double total = 0;
  for (std::size_t i = 1; i < reader.bodies.size(); ++i) {
    set_mass(reader, reader.bodies[i]);
    if (reader.bodies[i].inertial) total += reader.bodies[i].inertial->mass;
  }
  const double wanted = reader.main.compiler.total_mass;
  if (!(wanted > 0) || !(total > 0)) return;
  for (Body& body : reader.bodies) {
    if (!body.inertial) continue;
    body.inertial->mass *= wanted / total;
    body.inertial->inertia = wanted / total * body.inertial->inertia;
  }
}

}  // namespace kansetsu::io::mjcf
