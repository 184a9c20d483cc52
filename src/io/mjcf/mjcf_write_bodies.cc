#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>

#include "io/link_index.h"
#include "io/mjcf/mjcf_writer.h"
#include "io/shapes.h"
#include "io/text.h"
#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/quaternion.h"
#include "model/joint_motion.h"

/// A link becomes a body with the link's frame. Massless links with nothing attached, as between the joints of a body with several
/// joints, do not become bodies: MuJoCo refuses massless bodies, but allows several joints on one.
namespace kansetsu::io::mjcf {
namespace {

constexpr double kLeastMass = 1e-15;  // [kg, kg·m²] MuJoCo refuses less for moving bodies (mjMINVAL)
constexpr double kGivenMass = 1e-14;  // [kg, kg·m²] used for such bodies
constexpr double kImpossible = 1e-9;  // relative: beyond the rounding of text files
constexpr double kRounding = 1e-12;   // relative
constexpr int kDeepest = 400;         // nested bodies; XML readers, MuJoCo's too, allow 500 levels

// --- Shapes

std::vector<double> flat(const std::vector<Vec3<>>& points) {
  std::vector<double> out;
  for (const Vec3<>& v : points) out.insert(out.end(), {v.x, v.y, v.z});
  return out;
}

void fill_asset(Writer& w, Element& e, const Mesh& mesh) {
  w.set(e, "file", w.file_name(mesh.path));
  if (mesh.scale != Vec3<>{1, 1, 1}) w.set(e, "scale", mesh.scale);
  const std::string ending = std::filesystem::path(mesh.path).extension().string();
  if (ending != ".stl" && ending != ".STL" && ending != ".obj" && ending != ".msh")
    w.lose("meshes in other formats than STL, OBJ and MSH (MuJoCo will not read them)", mesh.uri);
}
void fill_asset(Writer& w, Element& e, const ConvexHull& hull) { w.set(e, "vertex", flat(hull.vertices)); }
void fill_asset(Writer& w, Element& e, const TriangleMesh& mesh) {
  w.set(e, "vertex", flat(mesh.data->vertices));
  std::string faces;
  for (const auto& t : mesh.data->triangles)
    faces += fmt::format("{}{} {} {}", faces.empty() ? "" : " ", t[0], t[1], t[2]);
  w.set(e, "face", faces);
}

/// The asset of a mesh, shared by equal shapes.
template <class S>
std::string mesh_asset(Writer& w, const S& shape, const std::string& stem) {
  for (const auto& [known, name] : w.assets) {
    if (const S* same = std::get_if<S>(&known); same && *same == shape) return name;
  }
  Element& e = w.add(w.section("asset"), "mesh");
  const std::string name = w.take_name("mesh", {}, stem);
  w.set(e, "name", name);
  w.set(e, "inertia", "shell");  // bodies have inertials; the surface need not be closed
  fill_asset(w, e, shape);
  w.assets.emplace_back(shape, name);
  return name;
}

/// Sets type, size and pose of a geom; false if MuJoCo has no such shape.
struct GeomSizes {
  Writer& w;
  Element& e;
  Transform<> X;
  bool moves;
  const std::string& stem;  ///< for names of meshes

  bool sized(const char* type, std::span<const double> size) {
    if (std::ranges::min(size) <= 0) return w.lose("shapes without a size", stem), false;
    w.set(e, "type", type);
    w.set(e, "size", size);
    return true;
  }
  bool operator()(const Sphere& s) { return sized("sphere", std::array{s.radius}); }
  bool operator()(const Box& s) { return sized("box", std::array{0.5 * s.size.x, 0.5 * s.size.y, 0.5 * s.size.z}); }
  bool operator()(const Cylinder& s) { return sized("cylinder", std::array{s.radius, 0.5 * s.length}); }
  bool operator()(const Capsule& s) { return sized("capsule", std::array{s.radius, 0.5 * s.length}); }
  bool operator()(const Plane&) {
    if (moves) return w.lose("planes on moving bodies", stem), false;
    w.set(e, "type", "plane");
    w.set(e, "size", std::array{0.0, 0.0, 1.0});
    return true;
  }
  bool operator()(const Mesh& s) {
    if (s.path.empty()) return w.lose("meshes whose files are not found", s.uri), false;
    return mesh(mesh_asset(w, s, std::filesystem::path(s.path).stem().string()));
  }
  bool operator()(const ConvexHull& s) {
    if (const auto r = ellipsoid_radii(s)) return sized("ellipsoid", std::array{r->x, r->y, r->z});
    return mesh(mesh_asset(w, s, stem));
  }
  bool operator()(const TriangleMesh& s) { return s.data && mesh(mesh_asset(w, s, stem)); }
  bool operator()(const HeightField& s) {
    if (moves) return w.lose("height fields on moving bodies", stem), false;
    const auto [low, high] = std::ranges::minmax(s.heights);
    Element& asset = w.add(w.section("asset"), "hfield");
    const std::string name = w.take_name("hfield", {}, stem);
    w.set(asset, "name", name);
    w.set(asset, "nrow", std::to_string(s.rows));
    w.set(asset, "ncol", std::to_string(s.columns));
    w.set(asset, "size", std::array{0.5 * s.size_x, 0.5 * s.size_y, high > low ? high - low : 1.0, 1.0});
    std::vector<double> elevation;
    for (int row = s.rows - 1; row >= 0; --row)
      elevation.insert(elevation.end(), s.heights.begin() + row * s.columns, s.heights.begin() + (row + 1) * s.columns);
    w.set(asset, "elevation", elevation);
    w.set(e, "type", "hfield");
    w.set(e, "hfield", name);
    X = X * Transform<>{Mat3<>::identity(), {0, 0, low}};
    return true;
  }
  bool mesh(const std::string& name) {
    w.set(e, "type", "mesh");
    w.set(e, "mesh", name);
    return true;
  }
};

void set_contact(Writer& w, Element& e, const LinkShape& shape, const std::string& surface) {
  const SurfaceKey& key = w.surfaces.of(surface);
  if (shape.contype != 1) w.set(e, "contype", std::to_string(shape.contype));
  if (shape.conaffinity != 1) w.set(e, "conaffinity", std::to_string(shape.conaffinity));
  if (key.condim() != 3) w.set(e, "condim", std::to_string(key.condim()));
  w.set(e, "friction", std::array{key.friction, key.spin, key.rolling});
  if (key.priority != 0) w.set(e, "priority", std::to_string(key.priority));
  w.set_unless(e, "margin", key.clearance, 0);
}

// --- Figures

class FigureWriter {
 public:
  FigureWriter(Writer& w, const FigureDescription& figure) : w_(w), f_(figure), index_(figure.model) { find_named(); }

  void write() {
    const LinkDescription& root = index_.root();
    const Transform<> X = to_transform(f_.initial.base);
    const auto& joints = index_.children(root.name);
    const bool elided = f_.model.base == Base::kFixed && !f_.base_motion && is_elidable(root) && joints.size() == 1 &&
                        joints[0]->type != JointType::kFixed && joints[0]->type != JointType::kFree;
    const Chain chain{X, X, {}};
    if (elided) {
      w_.links[{f_.name, root.name}] = {-1, X};
      follow(root, -1, chain, 1);
    } else {
      write_link(root, -1, chain, 1);
    }
    for (const FrameDescription& frame : f_.model.frames) write_frame(frame);
  }

 private:
  /// The joints between a body and the next one, and the pose of the latter.
  struct Chain {
    Transform<> X, X0;  ///< in the body's frame: in the reference configuration, and in the initial state
    std::vector<std::pair<const JointDescription*, Transform<>>> joints;  ///< with their sockets in that frame
  };

  /// Collects links that are referred to; they must become bodies.
  void find_named() {
    for (const FrameDescription& frame : f_.model.frames) named_.insert(frame.link);
    for (const auto& [link, share] : f_.gravity_compensation) named_.insert(link);
    for (const FluidEllipsoid& ellipsoid : f_.ellipsoids) named_.insert(ellipsoid.link);
    for (const LoopClosure& loop : f_.loops) named_.insert({loop.link_a, loop.link_b});
    for (const ActuatorDescription& a : f_.actuation.actuators) named_.insert(a.target);
    for (const TendonDescription& t : f_.actuation.tendons) {
      for (const TendonPart& part : t.path) named_.insert({part.at.link, part.side ? part.side->link : ""});
    }
    const auto name = [&](const Anchor& anchor) {
      if (anchor.figure == f_.name) named_.insert(anchor.link);
    };
    for (const ConnectionDescription& c : w_.scene.connections) name(c.a), name(c.b);
    for (const SpringDescription& s : w_.scene.springs) name(s.a), name(s.b);
    for (const SensorDescription& s : w_.scene.sensors) {
      name(s.at);
      if (s.reference) name(*s.reference);
    }
  }
  bool is_elidable(const LinkDescription& link) const { return is_bare(link) && !named_.contains(link.name); }

  void follow(const LinkDescription& link, int parent, const Chain& before, int depth) {
    for (const JointDescription* joint : index_.children(link.name)) {
      Chain chain = before;
      const LinkDescription& child = index_.link(joint->child);
      const Transform<> socket = to_transform(joint->socket), unplug = inverse(to_transform(joint->plug));
      chain.joints.emplace_back(joint, chain.X * socket);
      const std::vector<double> reference = reference_of(f_, *joint);
      chain.X = chain.X * socket * joint_pose(*joint, reference) * unplug;
      const std::vector<double>* given = find_in(f_.initial.q, joint->name);
      const bool known = given && given->size() == reference.size();
      chain.X0 = chain.X0 * socket * joint_pose(*joint, known ? *given : reference) * unplug;
      const auto& next = index_.children(child.name);
      // MuJoCo allows no ball together with hinges on one body; slides may precede it.
      const bool ball = has_quaternion(joint->type);
      const auto is_slide = [](const auto& j) { return j.first->type == JointType::kPrismatic; };
      const bool fits =
          next.size() == 1 && (next[0]->type == JointType::kBall ? std::ranges::all_of(chain.joints, is_slide)
                                                                 : !has_quaternion(next[0]->type));
      if (is_elidable(child) && fits && !ball)
        follow(child, parent, chain, depth);
      else
        write_link(child, parent, chain, depth);
    }
  }

  void write_link(const LinkDescription& link, int parent, const Chain& chain, int depth) {
    if (depth > kDeepest) {
      if (depth == kDeepest + 1)
        w_.fail(fmt::format("more than {} nested bodies", kDeepest), "XML readers do not accept more");
      return;
    }
    const int index = int(w_.bodies.size());
    const bool at_root = parent < 0 && chain.joints.empty();
    const bool free = at_root && f_.model.base == Base::kFree;
    const bool moves = std::ranges::any_of(chain.joints, [](const auto& j) { return info(j.first->type).nv > 0; });
    WrittenBody body;
    body.element = &w_.add(w_.element_of(parent), "body");
    body.name = w_.take_name("body", f_.name, link.name);
    body.figure = f_.name;
    body.parent = parent;
    body.group = free || moves ? index : parent < 0 ? -1 : w_.bodies[std::size_t(parent)].group;
    body.X_W = (parent < 0 ? Transform<>{} : w_.bodies[std::size_t(parent)].X_W) * chain.X;
    body.X_W0 = (parent < 0 ? Transform<>{} : w_.bodies[std::size_t(parent)].X_W0) * chain.X0;
    Element& e = *body.element;
    w_.bodies.push_back(body);
    w_.links[{f_.name, link.name}] = {index, {}};
    w_.set(e, "name", body.name);
    w_.set_pose(e, chain.X);
    if (const double* share = find_in(f_.gravity_compensation, link.name)) w_.set(e, "gravcomp", *share);
    if (at_root && f_.base_motion) w_.set(e, "mocap", "true");
    if (free) write_free_joint(e);
    for (const auto& [joint, X_PS] : chain.joints) write_joint(w_, f_, *joint, index, inverse(chain.X) * X_PS);
    write_inertial(e, link, free || moves, body.group >= 0);
    for (const LinkShape& shape : link.collisions) write_geom(w_, index, shape, f_.name, true);
    for (const LinkShape& shape : link.visuals) write_geom(w_, index, shape, f_.name, false);
    for (const FluidEllipsoid& ellipsoid : f_.ellipsoids) {
      if (ellipsoid.link == link.name) write_ellipsoid(e, ellipsoid);
    }
    follow(link, index, {{}, {}, {}}, depth + 1);
  }

  /// A geom without mass and contacts.
  void write_ellipsoid(Element& e, const FluidEllipsoid& ellipsoid) {
    const EllipsoidDrag& d = ellipsoid.drag;
    Element& geom = w_.add(e, "geom");
    w_.set(geom, "type", "ellipsoid");
    w_.set(geom, "size", d.radii);
    w_.set_pose(geom, to_transform(ellipsoid.pose));
    w_.set(geom, "mass", 0.0);
    w_.set(geom, "contype", 0.0), w_.set(geom, "conaffinity", 0.0);
    w_.set(geom, "rgba", std::array{0.0, 0.0, 0.0, 0.0});
    w_.set(geom, "fluidshape", "ellipsoid");
    w_.set(geom, "fluidcoef", std::array{d.blunt_drag, d.slender_drag, d.angular_drag, d.kutta_lift, d.magnus_lift});
  }

  void write_free_joint(Element& e) {
    Element& joint = w_.add(e, "freejoint");
    const std::string name = w_.take_name("joint", f_.name, f_.name + "_free");
    w_.set(joint, "name", name);
    w_.joints[{f_.name, ""}] = name;
    w_.coordinates.push_back({f_.name, "", 0, PrimitiveKind::kFree, 0, Mat3<>::identity()});
  }

  /// Whether a massless body carries mass by fixed joints, which MuJoCo accepts.
  bool has_welded_mass(const LinkDescription& link) {
    for (const JointDescription* joint : index_.children(link.name)) {
      if (joint->type != JointType::kFixed) continue;
      const LinkDescription& child = index_.link(joint->child);
      if ((child.inertial && child.inertial->mass > 0) || has_welded_mass(child)) return true;
    }
    return false;
  }

  void write_inertial(Element& e, const LinkDescription& link, bool has_joints, bool moves) {
    if (!link.inertial && (!has_joints || has_welded_mass(link))) return;
    Inertial inertial = link.inertial.value_or(Inertial{});
    Sym3<>& I = inertial.inertia;
    const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(to_eigen(I), Eigen::EigenvaluesOnly);
    const Eigen::Vector3d principal = solver.eigenvalues();
    double smallest = principal[0];
    const double excess = principal[2] - principal[0] -
                          principal[1];  // positive: violates the triangle inequality, and MuJoCo refuses it
    if (excess > kImpossible * principal[2] || smallest < -kImpossible * principal[2]) {
      w_.lose("physically impossible inertias; replaced by those of spheres with the same trace", link.name);
      smallest = std::max(principal.mean(), 0.0);
      I = smallest * Sym3<>::diagonal(1, 1, 1);
    } else if (excess > -kRounding * principal[2]) {  // a rod or disc, on the boundary up to rounding
      I = I + kRounding * principal[2] * Sym3<>::diagonal(1, 1, 1);
    }
    const bool is_diagonal = I.xy == 0 && I.xz == 0 && I.yz == 0;
    if ((has_joints && inertial.mass < kLeastMass) || ((has_joints || !is_diagonal) && smallest < kLeastMass)) {
      w_.lose("moving bodies without mass or inertia; they get 1e-14 kg, kg·m²", link.name);
      inertial.mass = std::max(inertial.mass, kGivenMass);
      I = I + Sym3<>::diagonal(kGivenMass, kGivenMass, kGivenMass);
    }
    if (!moves && inertial.mass == 0) return;
    Element& out = w_.add(e, "inertial");
    w_.set(out, "pos", inertial.origin.p);
    w_.set(out, "mass", inertial.mass);
    const Mat3<> R = to_transform(inertial.origin).R;
    if (is_diagonal) {
      const Quaternion<> q = to_quaternion(R);
      if (q.w != 1) w_.set(out, "quat", std::array{q.w, q.x, q.y, q.z});
      w_.set(out, "diaginertia", Vec3<>{I.xx, I.yy, I.zz});
    } else {
      const Sym3<> J = congruence(R, I);
      w_.set(out, "fullinertia", std::array{J.xx, J.yy, J.zz, J.xy, J.xz, J.yz});
    }
  }

  void write_frame(const FrameDescription& frame) {
    const LinkPlace place = w_.links.at({f_.name, frame.link});
    const Transform<> X = place.X_BL * to_transform(frame.origin);
    w_.frames[{f_.name, frame.name}] = w_.add_site(place.body, X, f_.name, frame.name).name;
  }

  Writer& w_;
  const FigureDescription& f_;
  LinkIndex index_;
  std::set<std::string> named_;
};

/// Environment shapes with exclusions get a body each: MJCF excludes pairs of bodies.
void write_environment(Writer& w) {
  std::set<std::string> alone;
  for (const ContactExclusion& e : w.scene.exclusions) {
    for (const ShapeRef& ref : {e.a, e.b}) {
      if (ref.figure.empty()) alone.insert(ref.shape);
    }
  }
  for (const EnvironmentShape& shape : w.scene.environment) {
    int body = -1;
    if (alone.contains(shape.shape.name)) {
      body = int(w.bodies.size());
      WrittenBody own;
      own.element = &w.add(w.section("worldbody"), "body");
      own.name = w.take_name("body", {}, shape.shape.name);
      own.group = -1;
      w.set(*own.element, "name", own.name);
      w.shape_bodies[shape.shape.name] = own.name;
      w.bodies.push_back(std::move(own));
    }
    write_geom(w, body, shape.shape, {}, shape.shape.contype != 0 || shape.shape.conaffinity != 0);
    const bool surface =
        std::holds_alternative<Mesh>(shape.shape.shape) || std::holds_alternative<TriangleMesh>(shape.shape.shape);
    if (surface && shape.shape.contype != 0)
      w.lose("concave meshes of the environment; MuJoCo uses their convex hulls", shape.shape.name);
  }
}

}  // namespace

void write_geom(Writer& w, int body, const LinkShape& shape, const std::string& figure, bool touches) {
  Element& parent = w.element_of(body);
  Element& e = w.add(parent, "geom");
  if (!shape.name.empty()) w.set(e, "name", w.take_name("geom", figure, shape.name));
  const bool moves = body >= 0 && w.bodies[std::size_t(body)].group >= 0;
  const std::string stem = !shape.name.empty() ? shape.name : w.body_name(body) + "_mesh";
  GeomSizes sizes{w, e, to_transform(shape.origin), moves, stem};
  if (!std::visit(sizes, shape.shape)) return parent.DeleteChild(&e);
  w.set_pose(e, sizes.X);
  const FigureDescription* f = find_named(w.scene.figures, figure);
  if (touches)
    set_contact(w, e, shape, !shape.surface.empty() || !f ? shape.surface : f->surface);
  else
    w.set(e, "contype", "0"), w.set(e, "conaffinity", "0"), w.set(e, "group", "2");
  if (shape.material && shape.material->rgba) w.set(e, "rgba", *shape.material->rgba);
  if (touches && body >= 0) w.bodies[std::size_t(body)].touches = true;
  w.geoms.push_back({&e, body, figure, &shape, touches});
}

std::string name_geom(Writer& w, WrittenGeom& geom, const std::string& wanted) {
  if (const char* name = geom.element->Attribute("name")) return name;
  const std::string name = w.take_name("geom", geom.figure, wanted);
  w.set(*geom.element, "name", name);
  return name;
}

void write_bodies(Writer& w) {
  w.section("worldbody");
  write_environment(w);
  for (const FigureDescription& figure : w.scene.figures) FigureWriter(w, figure).write();
}

}  // namespace kansetsu::io::mjcf
