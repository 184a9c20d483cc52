#include <fmt/format.h>

#include <type_traits>

#include "kansetsu/base/error.h"
#include "kansetsu/model/edit.h"
#include "model/joint_motion.h"

/// Scaling is a change of the units of length and mass, at the same unit of time: torques grow like mass·length², forces
/// like mass·length, whatever they come from. Gravity belongs to the world and stays.
namespace kansetsu {
namespace {

struct Scale {
  double length, mass;

  double moment() const { return mass * length * length; }

  void apply(Pose& pose) const { pose.p = length * pose.p; }

  void apply(LinkShape& shape) const {
    apply(shape.origin);
    std::visit(
        [&](auto& s) {
          using S = std::decay_t<decltype(s)>;
          if constexpr (std::is_same_v<S, Box>) {
            s.size = length * s.size;
          } else if constexpr (std::is_same_v<S, Mesh>) {
            s.scale = length * s.scale;
          } else if constexpr (std::is_same_v<S, ConvexHull>) {
            for (Vec3<>& vertex : s.vertices) vertex = length * vertex;
          } else if constexpr (std::is_same_v<S, HeightField>) {
            s.size_x *= length;
            s.size_y *= length;
            for (double& height : s.heights) height *= length;
          } else if constexpr (std::is_same_v<S, TriangleMesh>) {
            if (!s.data) return;
            TriangleMeshData data = *s.data;
            for (Vec3<>& vertex : data.vertices) vertex = length * vertex;
            s.data = std::make_shared<const TriangleMeshData>(std::move(data));
          } else if constexpr (!std::is_same_v<S, Plane>) {
            s.radius *= length;
            if constexpr (!std::is_same_v<S, Sphere>) s.length *= length;
          }
        },
        shape.shape);
  }

  void apply(LinkDescription& link) const {
    if (link.inertial) {
      link.inertial->mass *= mass;
      link.inertial->inertia = moment() * link.inertial->inertia;
      apply(link.inertial->origin);
    }
    for (LinkShape& shape : link.visuals) apply(shape);
    for (LinkShape& shape : link.collisions) apply(shape);
  }

  void apply(DofDescription& dof, bool linear) const {
    const double position = linear ? length : 1, inertia = linear ? mass : moment(), effort = inertia * position;
    dof.lower *= position;
    dof.upper *= position;
    dof.velocity *= position;
    dof.rest *= position;
    dof.rotor_inertia *= inertia;
    dof.damping *= inertia;
    dof.stiffness *= inertia;
    dof.friction *= effort;
    dof.effort *= effort;
  }

  void apply(JointDescription& joint) const {
    apply(joint.socket);
    apply(joint.plug);
    joint.pitch *= length;
    for (int k = 0; k < int(joint.dofs.size()); ++k) apply(joint.dofs[std::size_t(k)], is_linear(joint.type, k));
  }
};

}  // namespace

Model scale(const Model& model, double length, double mass) {
  if (!(length > 0) || !(mass > 0)) {
    throw Error(fmt::format("scale: length and mass must be positive, not {} and {}", length, mass));
  }
  const Scale scale{length, mass};
  ModelDescription d = model.description();
  const auto linear = [&](const DofRef& dof) {
    return is_linear(model.joint(model.joint_id(dof.joint)).type, dof.index);
  };
  scale.apply(d.base_pose);
  for (LinkDescription& link : d.links) scale.apply(link);
  for (JointDescription& joint : d.joints) scale.apply(joint);
  for (FrameDescription& frame : d.frames) scale.apply(frame.origin);
  for (Coupling& c : d.couplings) {
    const double to = linear(c.dependent) ? length : 1;
    c.offset *= to;
    for (Coupling::Term& term : c.terms) term.ratio *= to / (linear(term.dof) ? length : 1);
  }
  for (Actuator& actuator : d.actuators) actuator.effort *= scale.moment() / (linear(actuator.dof) ? length : 1);
  return value_or_throw(Model::build(std::move(d)));
}

Model scale_links(const Model& model, const std::vector<double>& lengths, double mass) {
  if (int(lengths.size()) != model.link_count())
    throw Error(fmt::format("scale_links: {} lengths, the model has {} links", lengths.size(), model.link_count()));
  for (const double length : lengths)
    if (!(length > 0) || !(mass > 0))
      throw Error(fmt::format("scale_links: lengths and mass must be positive, not {} and {}", length, mass));
  if (!model.description().couplings.empty())
    throw Error(fmt::format("scale_links: coordinates of '{}' are geared to each other", model.name()));
  const auto of = [&](const std::string& link) {
    return Scale{lengths[std::size_t(model.link_id(link).value())], mass};
  };
  ModelDescription d = model.description();
  for (LinkDescription& link : d.links) of(link.name).apply(link);
  for (JointDescription& joint : d.joints) {
    const Pose plug = joint.plug;
    of(joint.parent).apply(joint);
    joint.plug = plug;
    of(joint.child).apply(joint.plug);
  }
  for (FrameDescription& frame : d.frames) of(frame.link).apply(frame.origin);
  return value_or_throw(Model::build(std::move(d)));
}

}  // namespace kansetsu
