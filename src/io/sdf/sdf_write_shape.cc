#include <fmt/format.h>

#include "io/sdf/sdf_numbers.h"
#include "io/sdf/sdf_writer.h"
#include "io/shapes.h"
#include "io/unique_names.h"

namespace kansetsu::io::sdf {
namespace {

/// Writes the geometry of a shape; false if SDF has no such shape.
struct GeometryWriter {
  Writer& w;
  Element& e;
  const std::string& name;

  bool operator()(const Sphere& s) { return w.put(w.add(e, "sphere"), "radius", s.radius), true; }
  bool operator()(const Box& s) { return w.put(w.add(e, "box"), "size", s.size), true; }
  bool operator()(const Cylinder& s) { return round("cylinder", s.radius, s.length); }
  bool operator()(const Capsule& s) { return round("capsule", s.radius, s.length); }
  bool operator()(const Plane&) {
    Element& plane = w.add(e, "plane");
    w.put(plane, "normal", Vec3<>{0, 0, 1});
    w.put(plane, "size", std::array{100.0, 100.0});  // size for display; the plane is infinite
    return true;
  }
  bool operator()(const Mesh& s) {
    Element& mesh = w.add(e, "mesh");
    w.put(mesh, "uri", s.path.empty() ? s.uri : w.file_name(s.path));
    if (s.scale != Vec3<>{1, 1, 1}) w.put(mesh, "scale", s.scale);
    return true;
  }
  bool operator()(const ConvexHull& s) {
    if (const auto radii = ellipsoid_radii(s)) return w.put(w.add(e, "ellipsoid"), "radii", *radii), true;
    return lost("hulls without a file");
  }
  bool operator()(const TriangleMesh&) { return lost("meshes without a file"); }
  bool operator()(const HeightField&) { return lost("height fields without an image file"); }

  bool round(const char* tag, double radius, double length) {
    Element& shape = w.add(e, tag);
    w.put(shape, "radius", radius);
    w.put(shape, "length", length);
    return true;
  }
  bool lost(const char* what) { return w.lose(what, name), false; }
};

void write_surface(Writer& w, Element& collision, const LinkShape& shape, const std::string& name) {
  const ContactMaterial& m = surface_material(w.scene, name);
  const bool usual = name.empty() && m == ContactMaterial{.mu_s = 1, .mu_d = 1};
  const std::uint32_t bits = shape.contype;
  if (shape.contype != shape.conaffinity) w.lose("different masks for the two sides", shape.name);
  if (bits > kAllBits) w.lose("masks of more than 16 bits", shape.name);
  const bool masked = bits != kAllBits && !(w.plain_masks && bits == 1);
  if (usual && !masked) return;
  Element& surface = w.add(collision, "surface");
  if (!usual) {
    Element& friction = w.add(surface, "friction");
    Element& ode = w.add(friction, "ode");
    w.put(ode, "mu", m.mu_s), w.put(ode, "mu2", m.mu_s);
    if (m.spin_radius > 0) {
      Element& spin = w.add(friction, "torsional");
      w.put(spin, "coefficient", m.mu_s);
      w.put(spin, "use_patch_radius", "true");
      w.put(spin, "patch_radius", m.spin_radius / kPatchToSpin);
    }
    if (m.restitution > 0) w.put(w.add(surface, "bounce"), "restitution_coefficient", m.restitution);
  }
  if (masked) w.put(w.add(surface, "contact"), "collide_bitmask", double(bits & kAllBits));
}

}  // namespace

void write_shape(Writer& w, Element& link, ShapeNames& names, const LinkShape& shape, const Transform<>& X_LS,
                 const std::string& surface, ShapeUse use) {
  const bool touches = use == ShapeUse::kCollision;
  const char* tag = touches ? "collision" : "visual";
  const std::string stem = shape.name.empty() ? tag : shape.name;
  const std::string name = unique_name(touches ? names.collisions : names.visuals, stem);
  Element& e = w.add(link, tag);
  w.set(e, "name", name);
  w.put_pose(e, X_LS);
  if (!std::visit(GeometryWriter{w, w.add(e, "geometry"), name}, shape.shape)) return link.DeleteChild(&e);
  if (touches) return write_surface(w, e, shape, surface);
  if (!shape.material || !shape.material->rgba) return;
  Element& material = w.add(e, "material");
  w.put(material, "ambient", *shape.material->rgba);
  w.put(material, "diffuse", *shape.material->rgba);
}

}  // namespace kansetsu::io::sdf
