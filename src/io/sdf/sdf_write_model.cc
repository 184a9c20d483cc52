#include <fmt/format.h>

#include <Eigen/Eigenvalues>
#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <set>
#include <utility>
#include <vector>

#include "io/link_index.h"
#include "io/sdf/sdf_numbers.h"
#include "io/sdf/sdf_writer.h"
#include "kansetsu/spatial/eigen.h"
#include "kansetsu/spatial/rotations.h"
#include "model/joint_motion.h"

/// A massless link on a fixed joint becomes a frame: SDF has no massless links. Joint types that SDF does not have become chains of
/// hinges and slides, with links of negligible mass between them.
namespace kansetsu::io::sdf {
namespace {

constexpr double kLittleMass = 1e-14;  // [kg, kg·m²] of links that need a mass
constexpr double kClosed = 1e-9;       // [m, 1] of loops: beyond the digits of files

void put_limit(Writer& w, Element& limit, const char* tag, double x) {
  w.put(limit, tag, std::clamp(x, -kNoLimit, kNoLimit));
}

/// Writes the direction and data of a coordinate.
Element& write_axis(Writer& w, Element& joint, const char* tag, const Vec3<>& xyz, const DofDescription& dof,
                    const JointSwitches& on) {
  Element& axis = w.add(joint, tag);
  w.put(axis, "xyz", xyz);
  const bool bounded = on.limits && (dof.lower > -kInfinity || dof.upper < kInfinity);
  const bool effort = on.effort_limits && dof.effort < kInfinity, speed = dof.velocity < kInfinity;
  if (bounded || effort || speed) {
    Element& limit = w.add(axis, "limit");
    if (bounded) put_limit(w, limit, "lower", dof.lower), put_limit(w, limit, "upper", dof.upper);
    if (effort) w.put(limit, "effort", dof.effort);
    if (speed) w.put(limit, "velocity", dof.velocity);
  }
  const double damping = on.damping ? dof.damping : 0, friction = on.friction ? dof.friction : 0;
  const double stiffness = on.springs ? dof.stiffness : 0;
  if (damping == 0 && friction == 0 && stiffness == 0) return axis;
  Element& dynamics = w.add(axis, "dynamics");
  if (damping != 0) w.put(dynamics, "damping", damping);
  if (friction != 0) w.put(dynamics, "friction", friction);
  if (stiffness == 0) return axis;
  w.put(dynamics, "spring_reference", dof.rest);
  w.put(dynamics, "spring_stiffness", stiffness);
  return axis;
}

/// Whether the principal moments are positive and satisfy the triangle inequality.
bool is_possible(const Sym3<>& I) {
  constexpr double kRounding = 1e-9;  // relative: rounding of text files for discs and rods
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> solver(to_eigen(I), Eigen::EigenvaluesOnly);
  const Eigen::Vector3d& J = solver.eigenvalues();
  return J[0] > 0 && J[0] + J[1] >= J[2] * (1 - kRounding);
}

class FigureWriter {
 public:
  FigureWriter(Writer& w, const FigureDescription& figure) : w_(w), f_(figure), index_(figure.model) {}

  void write() {
    const LinkDescription& root = index_.root();
    const Transform<> base = to_transform(f_.initial.base);
    const bool on_world =
        f_.model.base == Base::kFixed && is_bare(root) && !index_.children(root.name).empty() && !frames_on(root.name);
    choose_model(on_world ? Transform<>{} : base);
    if (on_world)
      w_.parts[{f_.name, root.name}] = {{}, "world", base};
    else
      write_root(root, base);
    if (!on_world) w_.parts[{f_.name, ""}] = w_.parts.at({f_.name, root.name});
    write_below(root);
    if (on_world) w_.parts[{f_.name, ""}] = {{}, "world", base};
    for (const FrameDescription& frame : f_.model.frames)
      write_frame(frame.name, frame.link, to_transform(frame.origin));
    for (const LoopClosure& loop : f_.loops)
      write_holding_joint(w_, &model_->scope,
                          {loop.name, w_.parts.at({f_.name, loop.link_a}), w_.parts.at({f_.name, loop.link_b}),
                           loop.pose_a, loop.pose_b, loop.mask});
    for (const Coupling& coupling : f_.model.couplings) write_mimic(coupling);
    tell_rest();
  }

 private:
  bool frames_on(const std::string& link) const {
    return std::ranges::any_of(f_.model.frames, [&](const auto& frame) { return frame.link == link; });
  }

  /// Figures named "model::link" belong to one model.
  void choose_model(const Transform<>& X_WM) {
    const bool collides = f_.self_collision != SelfCollision::kNone;
    const std::size_t end = f_.name.find("::");
    const std::string top = f_.name.substr(0, end);
    if (const auto found = w_.models.find(top); end != std::string::npos && found != w_.models.end()) {
      model_ = &found->second, model_name_ = top;
      return;
    }
    std::tie(model_name_, model_) = w_.add_model(f_.name);
    model_->X_WM = X_WM;
    model_->self_collides = collides;
    Element& e = *model_->scope.element;
    w_.put_pose(e, X_WM);
    if (collides) w_.put(e, "self_collide", "true");
  }

  void write_root(const LinkDescription& root, const Transform<>& X_W) {
    write_link(root, X_W);
    if (f_.model.base == Base::kFree) return;
    start_joint(root.name + "_to_world", "fixed", {{}, "world", {}}, w_.parts.at({f_.name, root.name}), {});
  }

  /// Iterative: chains may be long.
  void write_below(const LinkDescription& root) {
    std::vector<std::string> open{root.name};
    while (!open.empty()) {
      const std::string parent = open.back();
      open.pop_back();
      const auto& joints = index_.children(parent);
      for (const JointDescription* joint : joints) write_child(parent, *joint);
      for (auto joint = joints.rbegin(); joint != joints.rend(); ++joint) open.push_back((*joint)->child);
    }
  }

  void write_child(const std::string& parent, const JointDescription& joint) {
    const LinkDescription& child = index_.link(joint.child);
    const WrittenPart carrier = w_.parts.at({f_.name, parent});
    const Transform<> X_WJ = carrier.X_W * to_transform(joint.socket), X_PL = inverse(to_transform(joint.plug));
    if (joint.type == JointType::kFixed && is_bare(child) && carrier.name != "world")
      return write_frame(child.name, parent, to_transform(joint.socket) * X_PL);
    write_link(child, X_WJ * X_PL);
    if (joint.type != JointType::kFree) return write_joint(joint, carrier, X_WJ);
    if (carrier.name != "world") w_.fail_free(joint);
  }

  // --- Links

  Element& add_link(const std::string& wanted, const std::string& own, const Transform<>& X_W) {
    const NamedPart part = name_part(w_, model_->scope, wanted, PartKind::kLink);
    Element& e = w_.add(*part.scope->element, "link");
    w_.set(e, "name", part.name);
    w_.put_pose(e, inverse(model_->X_WM) * X_W);
    w_.parts[{f_.name, own}] = {model_name_, part.scope->path + part.name, X_W};
    return e;
  }

  void write_link(const LinkDescription& link, const Transform<>& X_W) {
    Element& e = add_link(link.name, link.name, X_W);
    write_inertial(e, link.inertial.value_or(Inertial{}), link.name);
    const double* share = find_in(f_.gravity_compensation, link.name);
    if (share && *share == 1) w_.put(e, "gravity", "false");
    if (share && *share != 1 && *share != 0) w_.lose("partial gravity compensation", link.name);
    const bool collides = f_.self_collision != SelfCollision::kNone;
    if (collides != model_->self_collides) w_.put(e, "self_collide", collides ? "true" : "false");
    ShapeNames names;
    for (const LinkShape& shape : link.collisions) {
      if (std::holds_alternative<Plane>(shape.shape))
        w_.lose("planes on moving links", link.name);
      else
        write_shape(w_, e, names, shape, to_transform(shape.origin), shape.surface.empty() ? f_.surface : shape.surface,
                    ShapeUse::kCollision);
    }
    for (const LinkShape& shape : link.visuals)
      write_shape(w_, e, names, shape, to_transform(shape.origin), {}, ShapeUse::kVisual);
  }

  void write_inertial(Element& link, Inertial inertial, const std::string& name) {
    if (inertial.mass == 0) {
      w_.lose("massless links; they get 1e-14 kg, kg·m²", name);
      inertial.mass = kLittleMass;
      inertial.inertia = inertial.inertia + kLittleMass * Sym3<>::diagonal(1, 1, 1);
    }
    if (!is_possible(inertial.inertia)) w_.lose("physically impossible inertias, which other programs refuse", name);
    Element& e = w_.add(link, "inertial");
    w_.put_pose(e, to_transform(inertial.origin));
    w_.put(e, "mass", inertial.mass);
    Element& out = w_.add(e, "inertia");
    const Sym3<>& I = inertial.inertia;
    w_.put(out, "ixx", I.xx), w_.put(out, "ixy", I.xy), w_.put(out, "ixz", I.xz);
    w_.put(out, "iyy", I.yy), w_.put(out, "iyz", I.yz), w_.put(out, "izz", I.zz);
  }

  void write_frame(const std::string& name, const std::string& link, const Transform<>& X_LF) {
    const WrittenPart carrier = w_.parts.at({f_.name, link});
    const NamedPart part = name_part(w_, model_->scope, name, PartKind::kFrame, {carrier.name});
    Element& e = w_.add(*part.scope->element, "frame");
    w_.set(e, "name", part.name);
    w_.set(e, "attached_to", name_within(*part.scope, carrier.name));
    w_.put_pose(e, X_LF);
    w_.parts[{f_.name, name}] = {model_name_, part.scope->path + part.name, carrier.X_W * X_LF};
  }

  // --- Joints

  std::pair<Element*, NamedPart> start_joint(const std::string& wanted, const char* type, const WrittenPart& parent,
                                             const WrittenPart& child, const Transform<>& X_CJ) {
    return add_joint(w_, &model_->scope, wanted, type, parent.name, child.name, X_CJ);
  }

  void write_joint(const JointDescription& joint, const WrittenPart& parent, const Transform<>& X_WJ) {
    const WrittenPart child = w_.parts.at({f_.name, joint.child});
    if (joint.swing_twist && f_.switches.limits) w_.lose("swing and twist limits", joint.name);
    if (const char* type = sdf_type(joint.type)) {
      const auto [e, part] = start_joint(joint.name, type, parent, child, to_transform(joint.plug));
      return write_axes(joint, *e, part);
    }
    // A chain of hinges and slides; their frames coincide at zero.
    WrittenPart below = parent;
    const auto chain = info(joint.type).chain;
    for (const Primitive& primitive : chain) {
      const std::string name = joint.name + std::string(info(joint.type).dof_suffix[std::size_t(primitive.coordinate)]);
      const bool last = &primitive == &chain.back();
      if (!last) write_inertial(add_link(name + "_link", name + "_link", X_WJ), {}, name);
      const WrittenPart next = last ? child : w_.parts.at({f_.name, name + "_link"});
      const auto [e, part] = start_joint(name, primitive.kind == PrimitiveKind::kSlide ? "prismatic" : "revolute",
                                         below, next, last ? to_transform(joint.plug) : Transform<>{});
      add_axis(joint, *e, part, "axis", primitive_axis(joint, primitive.axis), primitive.coordinate, 0);
      below = next;
    }
  }

  /// Null if SDF has no such joint.
  static const char* sdf_type(JointType type) {
    const auto* row = std::ranges::find(kJointWords, type, &JointWord::type);
    return row == std::end(kJointWords) ? nullptr : row->word.data();
  }

  void write_axes(const JointDescription& joint, Element& e, const NamedPart& part) {
    if (joint.type == JointType::kFixed) return;
    if (joint.type == JointType::kBall) {
      const DofDescription dof = w_.ball_data(joint);
      if (dof != DofDescription{}) write_axis(w_, e, "axis", {0, 0, 1}, dof, f_.switches);
      return put_rotor(e, dof, joint.name);
    }
    add_axis(joint, e, part, "axis", normalised(joint.axis), 0, 0);
    if (joint.type == JointType::kUniversal) add_axis(joint, e, part, "axis2", normalised(joint.second_axis), 1, 1);
    if (joint.type != JointType::kHelical) return;
    w_.put(e, "screw_thread_pitch", 2 * std::numbers::pi * joint.pitch);
    w_.needs_newest = true;
  }

  void add_axis(const JointDescription& joint, Element& e, const NamedPart& part, const char* tag, const Vec3<>& xyz,
                int coordinate, int index) {
    const DofDescription& dof = dof_of(joint, coordinate);
    Element& axis = write_axis(w_, e, tag, xyz, dof, f_.switches);
    axes_[{joint.name, coordinate}] = {&axis, part.scope, part.name, index};
    put_rotor(e, dof, joint.name);
  }

  /// Drake's extension: one number per joint.
  void put_rotor(Element& e, const DofDescription& dof, const std::string& joint) {
    if (dof.rotor_inertia == 0 || !f_.switches.rotor_inertia) return;
    const Element* known = e.FirstChildElement("drake:rotor_inertia");
    if (known) return w_.lose("rotor inertias about second axes", joint);
    w_.put(e, "drake:rotor_inertia", dof.rotor_inertia);
  }

  void write_mimic(const Coupling& coupling) {
    const auto dependent = axes_.find({coupling.dependent.joint, coupling.dependent.index});
    const auto leader = coupling.terms.size() == 1
                            ? axes_.find({coupling.terms[0].dof.joint, coupling.terms[0].dof.index})
                            : axes_.end();
    if (dependent == axes_.end() || leader == axes_.end() || dependent->second.scope != leader->second.scope)
      return w_.lose("gears of several coordinates, of balls, and between nested models", coupling.dependent.joint);
    Element& mimic = w_.add(*dependent->second.axis, "mimic");
    w_.set(mimic, "joint", leader->second.joint);
    w_.set(mimic, "axis", leader->second.index == 0 ? "axis" : "axis2");
    w_.put(mimic, "multiplier", coupling.terms[0].ratio);
    w_.put(mimic, "offset", coupling.offset);
    w_.put(mimic, "reference", 0.0);
    w_.needs_newest = true;
  }

  void tell_rest() {
    const auto moved = [](const auto& values) {
      return std::ranges::any_of(
          values, [](const auto& entry) { return std::ranges::any_of(entry.second, [](double x) { return x != 0; }); });
    };
    std::map<std::string, std::vector<double>> turned = f_.initial.q;
    for (const JointDescription& joint : f_.model.joints) {
      if (!has_quaternion(joint.type)) continue;
      const auto q = turned.find(joint.name);
      if (q != turned.end() && !q->second.empty()) q->second.pop_back();  // the real part is redundant
    }
    if (moved(turned)) w_.lose("initial joint positions", f_.name);
    if (moved(f_.initial.v) || f_.initial.velocity.w != Vec3<>{} || f_.initial.velocity.v != Vec3<>{})
      w_.lose("initial velocities", f_.name);
    for (const PolynomialCoupling& c : f_.couplings) w_.lose("couplings that are not gears", c.name);
    for (const ActuatorDescription& a : f_.actuation.actuators) w_.lose("actuators", a.name);
    for (const Actuator& a : f_.model.actuators) w_.lose("actuators", a.name);
    for (const TendonDescription& t : f_.actuation.tendons) w_.lose("tendons", t.name);
    for (const FluidEllipsoid& e : f_.ellipsoids) w_.lose("fluid forces on ellipsoids", e.link);
    tell_filters();
  }

  /// In SDF rigidly connected links and neighbours never collide; all others do with self_collide.
  void tell_filters() {
    std::map<std::string, int> body{{index_.root().name, 0}};  // links connected by fixed joints are one body
    std::set<int> touching;
    std::set<std::pair<int, int>> joined;
    for (std::vector<std::string> open{index_.root().name}; !open.empty();) {
      const std::string link = std::move(open.back());
      open.pop_back();
      const int own = body.at(link);
      if (!index_.link(link).collisions.empty()) touching.insert(own);
      for (const JointDescription* joint : index_.children(link)) {
        const bool rigid = joint->type == JointType::kFixed;
        const int next = body[joint->child] = rigid ? own : int(body.size());
        if (!rigid) joined.emplace(own, next);
        open.push_back(joint->child);
      }
    }
    const bool all = f_.self_collision == SelfCollision::kAll;
    for (const CollisionFilter& c : f_.model.collision_filters) {
      const std::pair<int, int> pair = std::minmax(body.at(c.a), body.at(c.b));
      if (joined.erase(pair) == 0 && pair.first != pair.second) w_.lose("pairs that never collide", c.a + " " + c.b);
    }
    const auto meet = [&](const auto& pair) { return touching.contains(pair.first) && touching.contains(pair.second); };
    if (all && std::ranges::any_of(joined, meet)) w_.lose("contacts between neighbours", f_.name);
  }

  Writer& w_;
  const FigureDescription& f_;
  WrittenModel* model_ = nullptr;
  std::string model_name_;
  LinkIndex index_;
  std::map<std::pair<std::string, int>, WrittenAxis> axes_;
};

const char* holding_type(ConstraintMask mask) {
  switch (mask) {
    case kWeldMask:
      return "fixed";
    case kPointMask:
      return "ball";
    case kHingeMask:
      return "revolute";
    case kSliderMask:
      return "prismatic";
    default:
      return nullptr;
  }
}

}  // namespace

void write_figure(Writer& w, const FigureDescription& figure) { FigureWriter(w, figure).write(); }

void write_holding_joint(Writer& w, Scope* scope, const HeldPair& pair) {
  const char* type = holding_type(pair.mask);
  if (!type) return w.lose("loops and connections that are not fixed, ball, revolute or prismatic joints", pair.name);
  const Transform<> X_WB = pair.b.X_W * to_transform(pair.pose_b);
  const Transform<> D = inverse(pair.a.X_W * to_transform(pair.pose_a)) * X_WB;
  const Vec3<> turn = log_rotation(D.R);
  const double gap[6] = {turn.x, turn.y, turn.z, D.p.x, D.p.y, D.p.z};
  for (int k = 0; k < 6; ++k) {
    if ((pair.mask >> k & 1) && std::abs(gap[k]) > kClosed)
      return w.lose("loops and connections that are open where all coordinates are zero", pair.name);
  }
  Element& e = *add_joint(w, scope, pair.name, type, pair.a.name, pair.b.name, to_transform(pair.pose_b)).first;
  if (pair.mask == kHingeMask || pair.mask == kSliderMask) w.put(w.add(e, "axis"), "xyz", Vec3<>{0, 0, 1});
}

}  // namespace kansetsu::io::sdf
