#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <map>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"
#include "io/unique_names.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

/// A body with several joints becomes a chain of joints with massless links between them. Each joint rotates the body's frame about
/// an axis through the point `pos` of that frame: X ↦ X·T(pos)·R(q − ref)·T(−pos). Socket and plug are chosen such that the coordinate
/// equals MuJoCo's q.
namespace kansetsu::io::mjcf {
bool can_touch(const Reader& reader, const Geom& geom) {
  if (!geom.has_shape) return false;
  if (geom.shape.contype != 0 || geom.shape.conaffinity != 0) return true;
  return !geom.shape.name.empty() && reader.paired_geoms.contains(geom.shape.name);
}

namespace {

/// A missing mesh file: the model is partial if the mesh may touch; for visuals it is a warning.
void report_absent_mesh(Reader& reader, const Geom& geom) {
  const auto* mesh = std::get_if<Mesh>(&geom.shape.shape);
  if (!mesh || !mesh->path.empty()) return;
  const std::string first = fmt::format("the first is {}", quote(mesh->uri));
  if (can_touch(reader, geom))
    reader.report.missing(*geom.element, kMeshNotFound, "mesh files of collision shapes are not found", first);
  else
    reader.report.repeated_warning(*geom.element, kMeshNotFound, "mesh files of visual shapes are not found", first);
}

}  // namespace

int end_of(const Reader& reader, int body) {
  while (!reader.body(body).children.empty()) body = reader.body(body).children.back();
  return body + 1;
}

bool moves(const Reader& reader, int root) {
  bool out = reader.body(root).mocap;
  for (int i = root; i < end_of(reader, root); ++i) out = out || !reader.body(i).joints.empty();
  return out;
}

namespace {

/// The joint frame on the child: at the joint's anchor, displaced by the reference value.
Transform<> plug_of(const Joint& joint) {
  Transform<> X{Mat3<>::identity(), joint.p};
  if (joint.kind == JointKind::kHinge) X.R = exp_rotation(joint.reference * joint.axis);
  if (joint.kind == JointKind::kSlide) X.p = X.p + joint.reference * joint.axis;
  return X;
}

/// Limits act from their margin on, where MuJoCo's soft limit is in equilibrium.
DofDescription inside_margin(const Joint& joint) {
  DofDescription dof = joint.dof;
  dof.lower += joint.margin, dof.upper -= joint.margin;
  if (dof.lower > dof.upper) dof.lower = dof.upper = 0.5 * (dof.lower + dof.upper);
  return dof;
}

JointDescription describe(const Joint& joint, const Transform<>& X_PB, std::string parent, std::string child) {
  JointDescription out;
  out.name = joint.name;
  out.line = joint.element->GetLineNum();
  out.parent = std::move(parent);
  out.child = std::move(child);
  out.socket = to_pose(X_PB * Transform<>{Mat3<>::identity(), joint.p});
  out.plug = to_pose(plug_of(joint));
  out.axis = joint.axis;
  out.swing_twist = joint.swing_twist;
  const DofDescription dof = inside_margin(joint);
  switch (joint.kind) {
    case JointKind::kBall:
      out.type = JointType::kBall;
      out.dofs.assign(3, dof);
      return out;
    case JointKind::kSlide:
      out.type = JointType::kPrismatic;
      break;
    default:
      out.type = JointType::kRevolute;
      out.continuous = joint.dof.lower == -kInfinity && joint.dof.upper == kInfinity;
  }
  out.dofs.assign(1, dof);
  return out;
}

class FigureMaker {
 public:
  /// @param roots  children of the world
  FigureMaker(Reader& reader, std::vector<int> roots) : reader_(reader), roots_(std::move(roots)) {}

  FigureDescription make() {
    const Body& root = body(roots_.front());
    figure_.name = root.name;
    figure_.line = root.element->GetLineNum();
    figure_.switches = reader_.switches;
    figure_.model.name = root.name;
    figure_.model.file = reader_.file;
    figure_.model.gravity = reader_.scene.gravity;
    start_base(root);
    for (const int first : roots_) {
      for (int i = first; i < end_of(reader_, first); ++i) add_body(i);
    }
    add_filters();
    return std::move(figure_);
  }

 private:
  Body& body(int i) { return reader_.body(i); }
  ModelDescription& model() { return figure_.model; }

  void start_base(const Body& root) {
    const bool free = !root.joints.empty() && root.joints[0].kind == JointKind::kFree;
    model().base = free ? Base::kFree : Base::kFixed;
    hangs_ = roots_.size() > 1 || (!free && !root.joints.empty());
    if (!hangs_) {
      figure_.initial.base = to_pose(root.X_WB);
      if (!free) model().base_pose = figure_.initial.base;
      if (root.mocap) figure_.base_motion.emplace();  // at rest until it is moved
    } else {
      model().links.push_back({.name = "world"});
    }
  }

  void add_body(int i) {
    Body& b = body(i);
    b.figure = int(reader_.scene.figures.size());
    std::vector<Joint> joints;
    for (const Joint& joint : b.joints) {
      if (joint.kind != JointKind::kFree) joints.push_back(joint);
    }
    std::string parent = body(b.parent).name;
    Transform<> X_PB = b.X_PB;
    if (b.carried) start_carried(b, joints, X_PB);
    for (std::size_t k = 0; k < joints.size(); ++k) {
      const bool last = k + 1 == joints.size();
      const std::string child =
          last ? b.name : unique_name(reader_.names["body"], fmt::format("{}/{}", b.name, joints[k].name));
      model().joints.push_back(describe(joints[k], X_PB, parent, child));
      if (joints[k].reference != 0) figure_.initial.q[joints[k].name] = {joints[k].reference};
      if (!last) model().links.push_back({.name = child, .line = joints[k].element->GetLineNum()});
      parent = child;
      X_PB = {};
    }
    if (joints.empty() && (hangs_ || b.parent != 0)) {
      model().joints.push_back({.name = unique_name(reader_.names["joint"], b.name + "_fixed"),
                                .parent = parent,
                                .child = b.name,
                                .socket = to_pose(X_PB),
                                .line = b.element->GetLineNum()});
    }
    add_link(b);
  }

  /// The coordinates of a carried body are its pose in the world.
  void start_carried(const Body& b, std::vector<Joint>& joints, Transform<>& X_PB) {
    X_PB = {};
    const std::array<double, 3> p{b.X_WB.p.x, b.X_WB.p.y, b.X_WB.p.z};
    for (std::size_t k = 0; k < 3; ++k) {
      joints[k].axis = b.X_WB.R * joints[k].axis;
      figure_.initial.q[joints[k].name] = {p[k]};
    }
    const Quaternion<> q = to_quaternion(b.X_WB.R);
    figure_.initial.q[joints[3].name] = {q.x, q.y, q.z, q.w};
  }

  /// Whether a geom only has fluid forces: invisible and without contacts, as the writer creates it.
  bool is_for_medium(const Geom& geom) const {
    const auto& material = geom.shape.material;
    const bool unseen = material && material->rgba && material->rgba->size() == 4 && material->rgba->back() == 0;
    return geom.drag && unseen && !can_touch(reader_, geom);
  }

  void add_link(const Body& b) {
    LinkDescription link;
    link.name = b.name;
    link.inertial = b.inertial;
    link.line = b.element->GetLineNum();
    for (const Geom& geom : b.geoms) {
      if (geom.drag) figure_.ellipsoids.push_back({b.name, to_pose(geom.X_BD), *geom.drag, geom.element->GetLineNum()});
      if (!geom.has_shape || is_for_medium(geom)) continue;
      if (std::holds_alternative<Plane>(geom.shape.shape)) {
        reader_.report.missing(*geom.element, kGeomShape, "planes on moving bodies are ignored",
                               "planes belong to the world");
        continue;
      }
      if (std::holds_alternative<HeightField>(geom.shape.shape)) {
        reader_.report.missing(*geom.element, kGeomShape, "height fields on moving bodies are ignored");
        continue;
      }
      report_absent_mesh(reader_, geom);
      LinkShape shape = geom.shape;
      const bool touches = can_touch(reader_, geom);
      const auto* surface = std::get_if<TriangleMesh>(&shape.shape);
      if (touches && surface) shape.shape = ConvexHull{surface->data->vertices};  // collide as hulls, like mesh files
      (touches ? link.collisions : link.visuals).push_back(std::move(shape));
    }
    if (b.gravity_compensation != 0) figure_.gravity_compensation[b.name] = b.gravity_compensation;
    for (const Site& site : b.sites) model().frames.push_back({site.frame, b.name, to_pose(site.X_BS)});
    model().links.push_back(std::move(link));
  }

  /// Bodies that are welded together.
  struct Group {
    int first;          ///< the body with the joints
    int parent = -1;    ///< index of the parent group; −1: the world
    int touching = -1;  ///< a body with a shape that can touch; −1: none
    bool still = false;
  };

  std::vector<Group> find_groups() const {
    std::vector<Group> groups;
    std::map<int, int> place;  // index of a body's group
    for (const int root : roots_) {
      for (int i = root; i < end_of(reader_, root); ++i) {
        const Body& b = reader_.body(i);
        const bool own = i == root || !b.joints.empty();
        if (own)
          groups.push_back({.first = i, .parent = i == root ? -1 : place.at(b.parent), .still = b.joints.empty()});
        const int g = place[i] = own ? int(groups.size()) - 1 : place.at(b.parent);
        const auto touches = [&](const Geom& geom) { return can_touch(reader_, geom); };
        if (groups[std::size_t(g)].touching < 0 && std::ranges::any_of(b.geoms, touches))
          groups[std::size_t(g)].touching = i;
      }
    }
    return groups;
  }

  /// MuJoCo excludes contacts within a group of welded bodies, and between a group and its parent group unless the parent is welded to
  /// the world. A collision filter applies to the whole groups of its two links.
  void add_filters() {
    const std::vector<Group> groups = find_groups();
    // SelfCollision::kNotNeighbours excludes the nearest ancestor with shapes; MuJoCo the parent, whether it has shapes or not.
    const auto differs = [&](const Group& g) {
      int nearest = g.parent;
      while (nearest >= 0 && groups[std::size_t(nearest)].touching < 0) nearest = groups[std::size_t(nearest)].parent;
      return g.parent < 0 ? g.still : g.touching >= 0 && nearest >= 0 && nearest != g.parent;
    };
    const bool all = std::ranges::any_of(groups, differs);
    if (all) figure_.self_collision = SelfCollision::kAll;
    for (const Group& g : groups) {
      if (g.parent < 0 || g.touching < 0) continue;
      const Group& carrier = groups[std::size_t(g.parent)];
      if (carrier.still || carrier.touching < 0) continue;
      // Bodies connected by one joint need no filter if neighbours never touch.
      if (all || body(g.first).joints.size() > 1)
        model().collision_filters.push_back({body(g.touching).name, body(carrier.touching).name});
    }
  }

  Reader& reader_;
  std::vector<int> roots_;  ///< children of the world
  bool hangs_ = false;      ///< from a link `world`
  FigureDescription figure_;
};

void add_to_environment(Reader& reader, const Body& body) {
  for (const Geom& geom : body.geoms) {
    if (!geom.has_shape) continue;
    report_absent_mesh(reader, geom);
    EnvironmentShape shape;
    shape.shape = geom.shape;
    shape.shape.origin = to_pose(body.X_WB * to_transform(geom.shape.origin));
    shape.line = geom.element->GetLineNum();
    if (shape.shape.name.empty())
      shape.shape.name = unique_name(reader.names["geom"], fmt::format("geom{}", reader.scene.environment.size() + 1));
    reader.scene.environment.push_back(std::move(shape));
  }
}

}  // namespace

void index_parts(Reader& reader) {
  PartIndex& index = reader.index;
  for (std::size_t i = 0; i < reader.bodies.size(); ++i) {
    const Body& body = reader.bodies[i];
    const auto add = [&](PartIndex::Places& places, const std::string& name, std::size_t k) {
      if (!name.empty()) places.emplace(name, std::pair(int(i), int(k)));
    };
    add(index.bodies, body.name, 0);
    for (std::size_t k = 0; k < body.joints.size(); ++k) add(index.joints, body.joints[k].name, k);
    for (std::size_t k = 0; k < body.sites.size(); ++k) add(index.sites, body.sites[k].name, k);
    for (std::size_t k = 0; k < body.geoms.size(); ++k) add(index.geoms, body.geoms[k].shape.name, k);
    index.X_WB.push_back(body.X_WB);
  }
  index.X_WB_rest = poses_at_rest(reader);
}

std::optional<int> find_body(const Reader& reader, std::string_view name) {
  const auto* place = find_in(reader.index.bodies, name);
  return place ? std::optional(place->first) : std::nullopt;
}

Anchor anchor_on(const Reader& reader, int index, const Transform<>& X_BA) {
  const Body& body = reader.body(index);
  if (body.figure < 0) return {{}, {}, to_pose(body.X_WB * X_BA)};
  return {reader.figure(body.figure).name, body.name, to_pose(X_BA)};
}

void set_surfaces(Reader& reader) {
  constexpr std::size_t kMostSurfaces = 100;  // pairs are listed
  std::set<SurfaceKey> keys;
  for (Body& body : reader.bodies) {
    for (Geom& geom : body.geoms) {
      if (!can_touch(reader, geom)) continue;
      const SurfaceKey key{geom.friction, geom.spin, geom.rolling, geom.condim == 1, geom.priority, geom.clearance};
      if (keys.size() < kMostSurfaces) keys.insert(key);
      if (keys.contains(key)) geom.shape.surface = surface_name(key);
    }
  }
  add_surfaces({keys.begin(), keys.end()}, reader.scene);
}

void make_figures(Reader& reader) {
  add_to_environment(reader, reader.bodies[0]);
  const std::vector<int> roots = reader.bodies[0].children;
  std::map<int, std::vector<int>> joined;  // in one pass: a file may have 100 000 roots
  for (const int root : roots) joined[reader.body(root).joined].push_back(root);
  for (const int root : roots) {
    if (reader.body(root).joined != root) continue;  // part of another root's figure
    std::vector<int>& together = joined[root];
    if (moves(reader, root)) {
      reader.scene.figures.push_back(FigureMaker(reader, std::move(together)).make());
    } else {
      for (int i = root; i < end_of(reader, root); ++i) add_to_environment(reader, reader.body(i));
    }
  }
}

}  // namespace kansetsu::io::mjcf
