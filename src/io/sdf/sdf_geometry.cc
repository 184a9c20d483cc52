#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/sdf/sdf_numbers.h"
#include "io/sdf/sdf_reader.h"
#include "io/shapes.h"
#include "io/text.h"
#include "kansetsu/model/solid.h"

namespace kansetsu::io::sdf {
namespace {

constexpr double kDensity = 1000;  // [kg/m³] SDF's default: water

double read_length(Reader& reader, const Element& element, const char* tag, double usual) {
  double x = usual;
  child_number(reader, element, tag, x);
  if (x >= 0 && std::isfinite(x)) return x;
  reader.report.error(element, kRange, fmt::format("<{}> is {}", tag, format_number(x)),
                      "sizes are zero or positive [m]");
  return usual;
}

Vec3<> read_lengths(Reader& reader, const Element& element, const char* tag) {
  Vec3<> v{1, 1, 1};
  child_vec3(reader, element, tag, v);
  if (v.x >= 0 && v.y >= 0 && v.z >= 0) return v;
  reader.report.error(element, kRange, fmt::format("<{}> is negative", tag), "sizes are zero or positive [m]");
  return {1, 1, 1};
}

/// A missing collision mesh makes the model partial; a missing visual mesh is a warning.
Shape read_mesh(Reader& reader, const Element& element, bool touches) {
  Mesh mesh;
  mesh.uri = child_text(reader, element, "uri").value_or("");
  if (mesh.uri.empty()) report_missing(reader.report, element, "<uri>", "name the file of the mesh");
  child_vec3(reader, element, "scale", mesh.scale);
  const MeshPath found = reader.meshes.find(mesh.uri);
  if (found.status == MeshPath::Status::kFound) {
    mesh.path = found.path;
  } else if (!mesh.uri.empty()) {
    const bool outside = found.status == MeshPath::Status::kOutside;
    const auto how = touches ? &XmlReport::missing : &XmlReport::repeated_warning;
    (reader.report.*how)(element, kMesh,
                         outside   ? "mesh files outside of the file's package are ignored"
                         : touches ? "mesh files of collision shapes are not found"
                                   : "mesh files of visual shapes are not found",
                         outside ? reader.meshes.hint(found) : fmt::format("the first is {}", quote(mesh.uri)));
  }
  return mesh;
}

struct PlacedGeometry {
  Shape shape;
  Mat3<> R = Mat3<>::identity();  ///< in the frame of the collision or visual
};

std::optional<PlacedGeometry> read_geometry(Reader& reader, const Element& geometry, bool touches) {
  const Element* e = geometry.FirstChildElement();
  if (!e) return report_missing(reader.report, geometry, "shape", "give a <box>, <sphere>, …"), std::nullopt;
  const std::string_view tag = e->Name();
  if (tag == "box") return PlacedGeometry{Box{read_lengths(reader, *e, "size")}};
  if (tag == "sphere") return PlacedGeometry{Sphere{read_length(reader, *e, "radius", 1)}};
  if (tag == "cylinder")
    return PlacedGeometry{Cylinder{read_length(reader, *e, "radius", 1), read_length(reader, *e, "length", 1)}};
  if (tag == "capsule")
    return PlacedGeometry{Capsule{read_length(reader, *e, "radius", 0.5), read_length(reader, *e, "length", 1)}};
  if (tag == "ellipsoid") {
    if (touches)
      reader.report.repeated_warning(*e, kGeometry, "ellipsoids collide as hulls of points on their surface");
    return PlacedGeometry{ellipsoid_hull(read_lengths(reader, *e, "radii"))};
  }
  if (tag == "plane") {
    Vec3<> normal{0, 0, 1};
    child_vec3(reader, *e, "normal", normal);
    if (!(norm(normal) > kShortestVector))
      return reader.report.refuse(*e, kRange, "the normal has no direction", "0 0 1 is up");
    return PlacedGeometry{Plane{}, rotation_to(normal)};
  }
  if (tag == "mesh") return PlacedGeometry{read_mesh(reader, *e, touches)};
  return std::nullopt;  // <empty>, or reported by check_schema()
}

/// Reads friction, restitution and torsional friction; returns the name of the surface.
std::string read_surface(Reader& reader, const Element& surface) {
  ContactMaterial m{.mu_s = 1, .mu_d = 1};
  const Element* friction = find_child(surface, "friction");
  if (const Element* ode = friction ? find_child(*friction, "ode") : nullptr) {
    child_number(reader, *ode, "mu", m.mu_s);
    double second = m.mu_s;
    if (child_number(reader, *ode, "mu2", second) && second != m.mu_s)
      reader.report.missing(*ode, kUnsupportedElement, "friction that differs by direction is read as <mu>");
  } else if (const Element* bullet = friction ? find_child(*friction, "bullet") : nullptr) {
    child_number(reader, *bullet, "friction", m.mu_s);
  }
  if (const Element* spin = friction ? find_child(*friction, "torsional") : nullptr) {
    double coefficient = 1, patch = 0;
    child_number(reader, *spin, "coefficient", coefficient);
    child_number(reader, *spin, "patch_radius", patch);
    if (m.mu_s > 0 && patch > 0) m.spin_radius = kPatchToSpin * patch * coefficient / m.mu_s;
  }
  if (const Element* bounce = find_child(surface, "bounce"))
    child_number(reader, *bounce, "restitution_coefficient", m.restitution);
  const bool sound =
      m.mu_s >= 0 && m.restitution >= 0 && m.restitution <= 1 && std::isfinite(m.spin_radius) && m.spin_radius >= 0;
  if (!sound) {
    reader.report.error(surface, kRange, "friction or restitution is out of range",
                        "friction is 0 or more, restitution within 0 and 1");
    return {};
  }
  m.mu_s = std::min(m.mu_s, 1e6);  // "infinite" friction is common in files
  m.mu_d = m.mu_s;
  std::string name = fmt::format("friction_{}", format_number(m.mu_s));
  if (m.restitution > 0) name += fmt::format("_restitution_{}", format_number(m.restitution));
  if (m.spin_radius > 0) name += fmt::format("_spin_{}", format_number(m.spin_radius));
  reader.surfaces.emplace(name, Surface{name, m});
  return name;
}

void read_contact(Reader& reader, const Element& contact, LinkShape& shape) {
  double bits = kAllBits;
  child_number(reader, contact, "collide_bitmask", bits);
  if (bits >= 0 && bits <= kAllBits && bits == std::floor(bits))
    shape.contype = shape.conaffinity = std::uint32_t(bits);
  else
    reader.report.error(contact, kRange, "collide_bitmask is not a 16-bit mask", "give a whole number up to 65535");
  if (child_bool(reader, contact, "collide_without_contact").value_or(false)) shape.contype = shape.conaffinity = 0;
}

}  // namespace

std::optional<LinkShape> read_shape(Reader& reader, const Element& element, bool touches) {
  const Element* geometry = find_child(element, "geometry");
  if (!geometry) return report_missing(reader.report, element, "<geometry>", "give it a shape"), std::nullopt;
  auto read = read_geometry(reader, *geometry, touches);
  if (!read) return std::nullopt;
  LinkShape shape;
  shape.name = read_text(reader.report, element, "name").value_or("");
  shape.shape = std::move(read->shape);
  const WrittenPose pose = read_pose(reader, element);
  shape.origin = to_pose(pose.X * Transform<>{read->R, {}});
  if (touches) {
    const Element* surface = find_child(element, "surface");
    shape.contype = shape.conaffinity = kAllBits;
    if (surface) shape.surface = read_surface(reader, *surface);
    if (const Element* contact = surface ? find_child(*surface, "contact") : nullptr)
      read_contact(reader, *contact, shape);
  } else if (const Element* material = find_child(element, "material")) {
    std::array<double, 4> rgba{0, 0, 0, 1};
    const Element* diffuse = find_child(*material, "diffuse");
    const bool three = diffuse && diffuse->GetText() && count_words(diffuse->GetText()) == 3;
    if (child_numbers(reader, *material, "diffuse", std::span(rgba).first(three ? 3 : 4))) {
      for (double& c : rgba) c = std::clamp(c, 0.0, 1.0);
      shape.material = Material{.rgba = std::vector<double>(rgba.begin(), rgba.end())};
    }
  }
  return shape;
}

std::optional<Inertial> automatic_inertial(Reader& reader, const Element& link,
                                           const std::vector<PlacedShape>& shapes) {
  double usual = kDensity;
  if (const Element* inertial = find_child(link, "inertial")) child_number(reader, *inertial, "density", usual);
  std::vector<Inertial> parts;
  for (const PlacedShape& placed : shapes) {
    double density = usual;
    child_number(reader, *placed.element, "density", density);
    const Shape& shape = placed.shape.shape;
    const auto V = volume(shape);
    if (!V) {
      reader.report.missing(*placed.element, kGeometry,
                            "the mass of meshes, planes and ellipsoids is unknown; they contribute none",
                            "give the link an <inertial>");
      continue;
    }
    const double mass = density * *V;
    parts.push_back({mass, placed.shape.origin, solid_inertia(shape, mass).value_or(Sym3<>{})});
  }
  if (parts.empty()) return std::nullopt;
  return combine(parts);
}

}  // namespace kansetsu::io::sdf
