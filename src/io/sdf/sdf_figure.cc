#include <fmt/format.h>

#include <algorithm>

#include "io/sdf/sdf_numbers.h"
#include "io/sdf/sdf_reader.h"
#include "io/shapes.h"
#include "io/text.h"
#include "io/unique_names.h"

/// The links and joints of all models form a graph. Each of its spanning trees, fixed to the world or floating, becomes a figure.
/// Joints that close a loop within a figure become loop closures, joints between figures connections. Static models become the
/// environment.
namespace kansetsu::io::sdf {
namespace {

struct FlatLink {
  Model* model = nullptr;
  const Link* link = nullptr;
  Transform<> X_WL{};
  int figure = -1;
  std::string name{};  ///< in its figure
};
struct FlatJoint {
  Model* model = nullptr;
  const Joint* joint = nullptr;
  int parent = -1, child = -1;  ///< links; −1: the world
  Transform<> X_WJ{};
  bool in_tree = false;
  std::string name{};
};

JointType type_of(JointKind kind) { return kJointWords[std::size_t(kind)].type; }

class FigureMaker {
 public:
  explicit FigureMaker(Reader& reader) : reader_(reader) {}

  void make() {
    flatten(reader_.world);
    for (auto& model : reader_.world.nested) add_joints(*model);
    add_joints_of(reader_.world);
    grow_trees();
    for (FlatJoint& joint : joints_) {
      if (!joint.in_tree) close(joint);
      if (joint.in_tree) by_name_.emplace(std::pair(joint.model, std::string_view(joint.joint->name)), &joint);
      if (joint.in_tree) carrier_.emplace(joint.child, &joint);
    }
    for (FlatJoint& joint : joints_) add_couplings(joint);
  }

 private:
  XmlReport& report() { return reader_.report; }
  FigureDescription& figure(int i) { return reader_.scene.figures[std::size_t(i)]; }
  FlatLink& link(int i) { return links_[std::size_t(i)]; }

  /// "model::inner::name" without the outermost model.
  static std::string inner_name(const Model& model, const std::string& name) {
    if (!model.parent || !model.parent->parent) return name;
    return inner_name(*model.parent, model.name + "::" + name);
  }
  static const Model& top_of(const Model& model) {
    return !model.parent || !model.parent->parent ? model : top_of(*model.parent);
  }

  // --- The graph

  void flatten(Model& model) {
    for (std::size_t i = 0; i < model.links.size(); ++i) {
      const Link& link = model.links[i];
      const Frame& frame = model.frames.find(link.name)->second;
      const Transform<> X_WL = model.X_WM * frame.X_MF;
      if (model.is_static) {
        add_to_environment(model, link, X_WL);
        continue;
      }
      index_[{&model, int(i)}] = int(links_.size());
      links_.push_back({&model, &link, X_WL});
    }
    for (auto& inner : model.nested) flatten(*inner);
  }

  void add_joints(Model& model) {
    add_joints_of(model);
    for (auto& inner : model.nested) add_joints(*inner);
  }
  void add_joints_of(Model& model) {
    for (const Joint& joint : model.joints) {
      FlatJoint flat{&model, &joint};
      const auto parent = find_end(model, joint, joint.parent), child = find_end(model, joint, joint.child);
      if (!parent || !child) continue;
      flat.parent = *parent, flat.child = *child;
      flat.X_WJ = model.X_WM * model.frames.find(joint.name)->second.X_MF;
      if (flat.child < 0) {
        report().error(*joint.element, kBadJoint, "the child of a joint cannot be static", "name the world as parent");
        continue;
      }
      if (flat.parent == flat.child) {
        report().error(*joint.element, kBadJoint, "parent and child are on one link", "a joint is between two links");
        continue;
      }
      joints_.push_back(flat);
    }
  }
  /// The index of a link; −1: the world or a static model.
  std::optional<int> find_end(Model& model, const Joint& joint, const std::string& name) {
    if (name == "world") return -1;
    const auto found = find_link(reader_, model, name, *joint.element);
    if (!found) return std::nullopt;
    const int* number = find_in(index_, {found->model, found->link});
    return number ? *number : -1;
  }

  // --- Trees

  /// The parent joint of a link is the first of the file that has it as child and does not close a cycle.
  void choose_tree() {
    std::vector<int> group(links_.size());
    for (std::size_t i = 0; i < group.size(); ++i) group[i] = int(i);
    const auto find = [&](int i) {
      while (group[std::size_t(i)] != i) i = group[std::size_t(i)] = group[std::size_t(group[std::size_t(i)])];
      return i;
    };
    carried_.assign(links_.size(), false);
    for (std::size_t k = 0; k < joints_.size(); ++k) {
      FlatJoint& joint = joints_[k];
      if (joint.joint->kind == JointKind::kGearbox || carried_[std::size_t(joint.child)]) continue;
      if (joint.parent >= 0 && find(joint.parent) == find(joint.child)) continue;
      if (joint.parent >= 0) group[std::size_t(find(joint.child))] = find(joint.parent);
      carried_[std::size_t(joint.child)] = true;
      joint.in_tree = true;
      below_[joint.parent].push_back(int(k));
    }
  }

  /// Grows trees from the world, one per model, then from links without a parent joint.
  void grow_trees() {
    choose_tree();
    std::map<const Model*, std::vector<int>> on_world;
    std::vector<const Model*> order;
    for (const int k : below_[-1]) {
      auto& joints = on_world[&top_of(*link(joints_[std::size_t(k)].child).model)];
      if (joints.empty()) order.push_back(&top_of(*link(joints_[std::size_t(k)].child).model));
      joints.push_back(k);
    }
    for (const Model* model : order) start_on_world(on_world[model]);
    for (int i = 0; i < int(links_.size()); ++i) {
      if (!carried_[std::size_t(i)]) start(i, Base::kFree);
    }
  }

  void start_on_world(const std::vector<int>& joints) {
    const FlatJoint& first = joints_[std::size_t(joints.front())];
    if (joints.size() == 1 && first.joint->kind == JointKind::kFixed) return start(first.child, Base::kFixed);
    const int f = new_figure(first.child, Base::kFixed);
    names_.take("world");
    figure(f).model.links.push_back({.name = "world"});
    for (const int k : joints) {
      add_joint(f, k, "world", {});
      add_below(f, joints_[std::size_t(k)].child);
    }
  }

  void start(int root, Base base) {
    const int f = new_figure(root, base);
    figure(f).initial.base = to_pose(link(root).X_WL);
    if (base == Base::kFixed) figure(f).model.base_pose = figure(f).initial.base;
    place_link(f, root);
    add_below(f, root);
  }

  int new_figure(int root, Base base) {
    FigureDescription out;
    const Model& top = top_of(*link(root).model);
    out.name = top.name;
    if (figures_.contains(out.name)) out.name = top.name + "::" + inner_name(*link(root).model, link(root).link->name);
    out.name = figures_.take(out.name, top.name);
    out.model.name = out.name;
    out.model.file = reader_.file;
    out.model.gravity = reader_.scene.gravity;
    out.model.base = base;
    out.self_collision = SelfCollision::kNone;
    out.line = top.element->GetLineNum();
    names_.clear(), joint_names_.clear();
    top_ = &top;
    reader_.scene.figures.push_back(std::move(out));
    return int(reader_.scene.figures.size()) - 1;
  }

  /// The name of a part, with the names of its nested models.
  std::string name_of(const Model& model, const std::string& name, UniqueNames& taken) const {
    std::string out = inner_name(model, name);
    if (&top_of(model) != top_) out = top_of(model).name + "::" + out;
    return taken.take(out);
  }

  /// Iterative: chains may be long.
  void add_below(int f, int root) {
    std::vector<int> open{root};
    while (!open.empty()) {
      const int i = open.back();
      open.pop_back();
      for (const int k : below_[i]) {
        add_joint(f, k, link(i).name, link(i).X_WL);
        open.push_back(joints_[std::size_t(k)].child);
      }
    }
  }
  /// Adds a joint and its child link.
  void add_joint(int f, int k, const std::string& parent, const Transform<>& X_WP) {
    FlatJoint& joint = joints_[std::size_t(k)];
    place_link(f, joint.child);
    JointDescription out = describe(joint);
    out.parent = parent;
    out.child = link(joint.child).name;
    out.socket = to_pose(inverse(X_WP) * joint.X_WJ);
    out.plug = to_pose(inverse(link(joint.child).X_WL) * joint.X_WJ);
    joint.name = out.name = name_of(*joint.model, joint.joint->name, joint_names_);
    figure(f).model.joints.push_back(std::move(out));
  }

  void place_link(int f, int i) {
    FlatLink& flat = link(i);
    flat.figure = f;
    flat.name = name_of(*flat.model, flat.link->name, names_);
    const Transform<> X_ML = inverse(flat.model->X_WM) * flat.X_WL;
    LinkDescription out;
    out.name = flat.name;
    out.line = flat.link->element->GetLineNum();
    out.inertial = flat.link->inertial;
    out.inertial->origin =
        moved(*flat.model, X_ML, flat.link->inertial.origin, flat.link->inertial_frame, *flat.link->element);
    for (const PlacedShape& shape : flat.link->collisions) {
      if (std::holds_alternative<Plane>(shape.shape.shape))
        report().missing(*shape.element, kGeometry, "planes on moving links are ignored",
                         "planes belong to static models");
      else
        out.collisions.push_back(placed(*flat.model, X_ML, shape));
    }
    for (const PlacedShape& shape : flat.link->visuals) {
      if (!std::holds_alternative<Plane>(shape.shape.shape)) out.visuals.push_back(placed(*flat.model, X_ML, shape));
    }
    if (!flat.link->has_gravity) figure(f).gravity_compensation[out.name] = 1;
    if (flat.link->self_collide) figure(f).self_collision = SelfCollision::kNotNeighbours;
    figure(f).model.links.push_back(std::move(out));
    for (const std::string& name : frames_on(flat)) {
      const Frame& frame = flat.model->frames.find(name)->second;
      figure(f).model.frames.push_back(
          {name_of(*flat.model, name, names_), flat.name, to_pose(inverse(X_ML) * frame.X_MF)});
    }
  }

  /// The frames attached to a link.
  const std::vector<std::string>& frames_on(const FlatLink& flat) {
    const auto [of_model, fresh] = frames_.try_emplace(flat.model);
    if (fresh) {
      for (const auto& [name, frame] : flat.model->frames) {
        if (frame.kind != Frame::Kind::kFrame) continue;
        const auto on = find_link(reader_, *flat.model, name, *frame.element);
        if (on && on->model == flat.model) of_model->second[&flat.model->links[std::size_t(on->link)]].push_back(name);
      }
    }
    return of_model->second[flat.link];
  }

  /// A pose given in another frame, in the link's frame.
  Pose moved(Model& model, const Transform<>& X_ML, const Pose& pose, const std::string& frame, const Element& at) {
    if (frame.empty()) return pose;
    const auto X_MF = find_frame(reader_, model, frame, at);
    return X_MF ? to_pose(inverse(X_ML) * *X_MF * to_transform(pose)) : pose;
  }
  LinkShape placed(Model& model, const Transform<>& X_ML, const PlacedShape& shape) {
    LinkShape out = shape.shape;
    out.origin = moved(model, X_ML, out.origin, shape.frame, *shape.element);
    return out;
  }

  void add_to_environment(Model& model, const Link& link, const Transform<>& X_WL) {
    const Transform<> X_ML = inverse(model.X_WM) * X_WL;
    for (const bool visual : {false, true}) {
      for (const PlacedShape& shape : visual ? link.visuals : link.collisions) {
        EnvironmentShape out;
        out.shape = placed(model, X_ML, shape);
        out.shape.origin = to_pose(X_WL * to_transform(out.shape.origin));
        out.shape.name = environment_.take(
            fmt::format("{}::{}::{}", top_of(model).name, inner_name(model, link.name), out.shape.name));
        if (visual) out.shape.contype = out.shape.conaffinity = 0;
        out.line = shape.element->GetLineNum();
        reader_.scene.environment.push_back(std::move(out));
      }
    }
  }

  // --- Joints

  /// An axis in the joint's frame.
  Vec3<> axis_of(const FlatJoint& joint, int which) {
    const Axis& axis = joint.joint->axes[which];
    Transform<> X_WE = joint.X_WJ;
    if (!axis.expressed_in.empty()) {
      const auto X_ME = find_frame(reader_, *joint.model, axis.expressed_in, *axis.element);
      if (X_ME) X_WE = joint.model->X_WM * *X_ME;
    } else if (axis.in_parent_model) {
      X_WE = joint.model->X_WM;
    }
    return transpose_times(joint.X_WJ.R, X_WE.R * axis.xyz);
  }

  JointDescription describe(const FlatJoint& flat) {
    const Joint& joint = *flat.joint;
    JointDescription out;
    out.type = type_of(joint.kind);
    out.line = joint.element->GetLineNum();
    const int nv = info(out.type).nv;
    if (nv > 0 && joint.kind != JointKind::kBall) {
      out.axis = axis_of(flat, 0);
      if (out.type == JointType::kUniversal) out.second_axis = axis_of(flat, 1);
    }
    out.pitch = joint.pitch;
    for (int k = 0; k < nv; ++k)
      out.dofs.push_back(joint.kind == JointKind::kBall ? DofDescription{} : joint.axes[k].dof);
    if (joint.kind == JointKind::kBall && joint.axes[0].element) {
      DofDescription free = joint.axes[0].dof;
      free.lower = -kInfinity, free.upper = kInfinity, free.rest = 0;
      out.dofs.assign(3, free);
    }
    const bool turns = out.type == JointType::kRevolute;
    out.continuous = turns && out.dofs[0].lower == -kInfinity && out.dofs[0].upper == kInfinity;
    return out;
  }

  /// Adds a joint that closes a loop, or connects two figures.
  void close(FlatJoint& joint) {
    const Joint& j = *joint.joint;
    if (j.kind == JointKind::kGearbox) return;
    ConstraintMask mask = kWeldMask;
    Mat3<> R = Mat3<>::identity();
    switch (j.kind) {
      case JointKind::kFixed:
        break;
      case JointKind::kBall:
        mask = kPointMask;
        break;
      case JointKind::kRevolute:
      case JointKind::kContinuous:
      case JointKind::kPrismatic:
        mask = j.kind == JointKind::kPrismatic ? kSliderMask : kHingeMask;
        R = rotation_to(axis_of(joint, 0));
        if (j.axes[0].dof != DofDescription{})
          report().repeated_warning(*j.element, kLoop, "limits and dynamics of joints that close a loop are ignored");
        break;
      default:
        return report().missing(
            *j.element, kLoop, "loops closed by universal, screw and double joints are ignored",
            "let another joint of the loop close it: the last one of the file that leads to a link does");
    }
    const Transform<> X_WA = joint.X_WJ * Transform<>{R, {}};
    const auto anchor = [&](int i) {
      if (i < 0) return Anchor{{}, {}, to_pose(X_WA)};
      return Anchor{figure(link(i).figure).name, link(i).name, to_pose(inverse(link(i).X_WL) * X_WA)};
    };
    const Anchor a = anchor(joint.parent), b = anchor(joint.child);
    const int line = j.element->GetLineNum();
    if (joint.parent >= 0 && link(joint.parent).figure == link(joint.child).figure) {
      figure(link(joint.child).figure)
          .loops.push_back({inner_name(*joint.model, j.name), a.link, b.link, a.pose, b.pose, mask, line});
      return;
    }
    ConnectionDescription connection;
    connection.name = top_of(*joint.model).name.empty()
                          ? j.name
                          : top_of(*joint.model).name + "::" + inner_name(*joint.model, j.name);
    connection.a = a, connection.b = b;
    connection.mask = mask;
    connection.hold = Hold::kTogether;
    connection.line = line;
    reader_.scene.connections.push_back(std::move(connection));
  }

  // --- Gears

  FlatJoint* find_joint(const Model& model, const std::string& name) {
    FlatJoint* const* found = find_in(by_name_, {&model, name});
    return found ? *found : nullptr;
  }
  int figure_of(const FlatJoint& joint) { return link(joint.child).figure; }

  void add_couplings(FlatJoint& joint) {
    if (joint.joint->kind == JointKind::kGearbox) return add_gearbox(joint);
    for (int k = 0; k < 2; ++k) {
      const auto& mimic = joint.joint->axes[k].mimic;
      if (!mimic) continue;
      const FlatJoint* leader = find_joint(*joint.model, mimic->joint);
      if (!leader || !joint.in_tree || figure_of(*leader) != figure_of(joint)) {
        report().missing(*joint.joint->axes[k].element, kGear,
                         "a mimic of a joint that is not in the same tree is ignored");
        continue;
      }
      Coupling out;
      out.dependent = {joint.name, k};
      out.terms.push_back({{leader->name, mimic->axis}, mimic->multiplier});
      out.offset = mimic->offset - mimic->multiplier * mimic->reference;
      out.line = joint.joint->element->GetLineNum();
      figure(figure_of(joint)).model.couplings.push_back(std::move(out));
    }
  }

  /// The hinge between the reference body and a link, and its sign relative to an axis; null if there is none.
  std::pair<FlatJoint*, double> hinge_to(int reference, int end, const Vec3<>& axis_W) {
    constexpr double kParallel = 1e-6;  // of unit vectors: rounding of text files
    for (const bool forward : {true, false}) {
      FlatJoint* const* found = find_in(carrier_, forward ? end : reference);
      if (!found || (*found)->parent != (forward ? reference : end)) continue;
      FlatJoint& joint = **found;
      if (type_of(joint.joint->kind) != JointType::kRevolute) continue;
      const Vec3<> own = joint.X_WJ.R * axis_of(joint, 0);
      if (norm(cross(own, axis_W)) > kParallel) continue;
      return {&joint, (dot(own, axis_W) > 0 ? 1.0 : -1.0) * (forward ? 1 : -1)};
    }
    return {nullptr, 0};
  }
  /// θ₂ = −ratio·θ₁, with the angles of parent and child relative to the reference body.
  void add_gearbox(FlatJoint& box) {
    const Joint& j = *box.joint;
    const auto reference = j.gear_reference.empty() ? std::nullopt : find_end(*box.model, j, j.gear_reference);
    if (!reference)
      return report().missing(*j.element, kGear, "a gearbox without a reference body is ignored",
                              "give <gearbox_reference_body>");
    const auto [first, sign1] = hinge_to(*reference, box.parent, box.X_WJ.R * axis_of(box, 0));
    const auto [second, sign2] = hinge_to(*reference, box.child, box.X_WJ.R * axis_of(box, 1));
    if (!first || !second || figure_of(*first) != figure_of(*second))
      return report().missing(*j.element, kGear, "a gearbox whose links do not turn on its reference body is ignored",
                              "both links need hinges along its axes");
    Coupling out;
    out.dependent = {second->name, 0};
    out.terms.push_back({{first->name, 0}, -j.gear_ratio * sign1 * sign2});
    out.line = j.element->GetLineNum();
    figure(figure_of(*second)).model.couplings.push_back(std::move(out));
  }

  Reader& reader_;
  std::vector<FlatLink> links_;
  std::vector<FlatJoint> joints_;
  std::map<std::pair<const Model*, int>, int> index_;
  std::vector<bool> carried_;                                                ///< links with a parent joint in a tree
  std::map<int, std::vector<int>> below_;                                    ///< joints of trees, by parent link
  std::map<std::pair<const Model*, std::string_view>, FlatJoint*> by_name_;  ///< joints of trees
  std::map<int, FlatJoint*> carrier_;                                        ///< the parent joint of a link
  std::map<Model*, std::map<const Link*, std::vector<std::string>>> frames_;
  UniqueNames names_, joint_names_, environment_, figures_;
  const Model* top_ = nullptr;
};

/// Replaces the mask of all bits by 1 if no shape has other masks.
void simplify_masks(SceneDescription& scene) {
  std::vector<LinkShape*> shapes;
  for (EnvironmentShape& e : scene.environment) shapes.push_back(&e.shape);
  for (FigureDescription& f : scene.figures) {
    for (LinkDescription& link : f.model.links) {
      for (LinkShape& shape : link.collisions) shapes.push_back(&shape);
    }
  }
  const auto plain = [](const LinkShape* s) { return s->contype == kAllBits || s->contype == 0; };
  if (!std::ranges::all_of(shapes, plain)) return;
  for (LinkShape* s : shapes) s->contype = s->conaffinity = s->contype == 0 ? 0 : 1;
}

}  // namespace

void make_figures(Reader& reader) {
  SceneDescription& scene = reader.scene;
  FigureMaker(reader).make();
  simplify_masks(scene);
  scene.default_surface = {.mu_s = 1, .mu_d = 1};
  constexpr CombineRule kSmaller = CombineRule::kMinimum;
  scene.surface_rules = {kSmaller, kSmaller, CombineRule::kMaximum, CombineRule::kMaximum};
  for (const auto& [name, surface] : reader.surfaces) scene.surfaces.push_back(surface);
}

}  // namespace kansetsu::io::sdf
