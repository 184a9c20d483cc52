#include "kansetsu/model/edit.h"

#include <algorithm>
#include <unordered_set>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/inertia.h"
#include "model/tree.h"

namespace kansetsu {
namespace {

Model build(ModelDescription description) { return value_or_throw(Model::build(std::move(description))); }

void add_prefix(ModelDescription& d, const std::string& prefix) {
  for (LinkDescription& link : d.links) link.name = prefix + link.name;
  for (JointDescription& joint : d.joints) {
    joint.name = prefix + joint.name;
    joint.parent = prefix + joint.parent;
    joint.child = prefix + joint.child;
  }
  for (Coupling& coupling : d.couplings) {
    coupling.dependent.joint = prefix + coupling.dependent.joint;
    for (Coupling::Term& term : coupling.terms) term.dof.joint = prefix + term.dof.joint;
  }
  for (FrameDescription& frame : d.frames) {
    frame.name = prefix + frame.name;
    frame.link = prefix + frame.link;
  }
  for (Actuator& actuator : d.actuators) {
    actuator.name = prefix + actuator.name;
    actuator.dof.joint = prefix + actuator.dof.joint;
  }
  for (CollisionFilter& pair : d.collision_filters) pair = {prefix + pair.a, prefix + pair.b};
}

template <class T>
void append(std::vector<T>& to, const std::vector<T>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

Model attach(const Model& model, const std::string& link, const Model& tool, const Pose& pose,
             const std::string& prefix) {
  ModelDescription d = model.description(), t = tool.description();
  add_prefix(t, prefix);
  d.joints.push_back({.name = prefix + "attachment",
                      .type = JointType::kFixed,
                      .parent = model.link(model.link_id(link)).name,
                      .child = t.links.front().name,
                      .socket = pose});
  append(d.links, t.links);
  append(d.joints, t.joints);
  append(d.couplings, t.couplings);
  append(d.frames, t.frames);
  append(d.actuators, t.actuators);
  append(d.collision_filters, t.collision_filters);
  for (const Material& material : t.materials) {  // shared by name, as within one file
    const bool known = std::ranges::any_of(d.materials, [&](const Material& m) { return m.name == material.name; });
    if (!known) d.materials.push_back(material);
  }
  return build(std::move(d));
}

Model extract_subtree(const Model& model, const std::string& link, Base base) {
  std::unordered_set<std::string> links{model.link(model.link_id(link)).name}, joints;
  ModelDescription d = model.description();
  for (const JointDescription& joint : d.joints) {  // parents come before children
    if (!links.contains(joint.parent)) continue;
    links.insert(joint.child);
    joints.insert(joint.name);
  }
  const auto outside = [&](const DofRef& dof) { return !joints.contains(dof.joint); };
  std::erase_if(d.links, [&](const LinkDescription& l) { return !links.contains(l.name); });
  std::erase_if(d.joints, [&](const JointDescription& j) { return !joints.contains(j.name); });
  std::erase_if(d.couplings, [&](const Coupling& c) {
    return outside(c.dependent) || std::ranges::any_of(c.terms, [&](const auto& t) { return outside(t.dof); });
  });
  std::erase_if(d.frames, [&](const FrameDescription& f) { return !links.contains(f.link); });
  std::erase_if(d.actuators, [&](const Actuator& a) { return outside(a.dof); });
  std::erase_if(d.collision_filters,
                [&](const CollisionFilter& p) { return !links.contains(p.a) || !links.contains(p.b); });
  d.name = link;
  d.base = base;
  d.base_pose = {};
  return build(std::move(d));
}

Model with_gravity(const Model& model, const Vec3<>& gravity) {
  if (model.gravity() == gravity) return model;
  ModelDescription d = model.description();
  d.gravity = gravity;
  return build(std::move(d));
}

Model with_inertial_parameters(const Model& model, const Eigen::Ref<const Eigen::VectorXd>& parameters) {
  check_size("with_inertial_parameters", "parameters", parameters.size(), 10 * model.link_count());
  ModelDescription d = model.description();
  for (LinkDescription& link : d.links) {
    const int i = model.link_id(link.name).value();
    const auto p = parameters.segment<10>(10 * i);
    const bool has_inertia = (p.array() != 0).any();  // NaN counts, and is found by the checks
    if (has_inertia != (model.tree().links[size_t(i)].M_L != Inertia<>{})) {
      throw Error("with_inertial_parameters: link '" + link.name + "' " +
                  (has_inertia ? "has no inertia in this model, and must keep none" : "must keep some inertia"));
    }
    if (!has_inertia) continue;
    const Vec3<> com = p[0] > 0 ? (1 / p[0]) * Vec3<>{p[1], p[2], p[3]} : Vec3<>{};
    const Sym3<> about_origin{p[4], p[5], p[7], p[6], p[8], p[9]};
    link.inertial = Inertial{p[0], {.p = com}, about_origin - p[0] * parallel_axis(com, com)};
  }
  return build(std::move(d));
}

Model with_base(const Model& model, Base base, const Pose& pose) {
  ModelDescription d = model.description();
  d.base = base;
  d.base_pose = pose;
  return build(std::move(d));
}

}  // namespace kansetsu
