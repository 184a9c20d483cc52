#include "kansetsu/model/builder.h"

#include <algorithm>
#include <utility>

namespace kansetsu {

ModelBuilder::ModelBuilder(std::string name) { description_.name = std::move(name); }
ModelBuilder::ModelBuilder(ModelDescription description) : description_(std::move(description)) {}

ModelBuilder& ModelBuilder::base(Base base) {
  description_.base = base;
  return *this;
}
ModelBuilder& ModelBuilder::base_pose(const Pose& pose) {
  description_.base_pose = pose;
  return *this;
}
ModelBuilder& ModelBuilder::gravity(const Vec3<>& gravity) {
  description_.gravity = gravity;
  return *this;
}
ModelBuilder& ModelBuilder::link(std::string name) { return link(LinkDescription{.name = std::move(name)}); }
ModelBuilder& ModelBuilder::link(std::string name, const Inertial& inertial) {
  return link(LinkDescription{.name = std::move(name), .inertial = inertial});
}
ModelBuilder& ModelBuilder::link(LinkDescription link) {
  description_.links.push_back(std::move(link));
  return *this;
}
ModelBuilder& ModelBuilder::joint(JointDescription joint) {
  description_.joints.push_back(std::move(joint));
  return *this;
}
ModelBuilder& ModelBuilder::couple(Coupling coupling) {
  description_.couplings.push_back(std::move(coupling));
  return *this;
}
ModelBuilder& ModelBuilder::gear(const std::string& joint, const std::string& other, double ratio, double offset) {
  const auto it = std::ranges::find(description_.joints, joint, &JointDescription::name);
  // A joint that is not there (yet) gets one coupling, about which build() complains.
  const int nv = it == description_.joints.end() ? 1 : std::max(1, info(it->type).nv);
  for (int k = 0; k < nv; ++k) {
    couple({.dependent = {joint, k}, .terms = {{.dof = {other, k}, .ratio = ratio}}, .offset = offset});
  }
  return *this;
}
ModelBuilder& ModelBuilder::frame(FrameDescription frame) {
  description_.frames.push_back(std::move(frame));
  return *this;
}
ModelBuilder& ModelBuilder::actuator(Actuator actuator) {
  description_.actuators.push_back(std::move(actuator));
  return *this;
}
ModelBuilder& ModelBuilder::no_collision(std::string a, std::string b) {
  description_.collision_filters.push_back({std::move(a), std::move(b)});
  return *this;
}

Model ModelBuilder::build() const { return value_or_throw(try_build()); }
Loaded<Model> ModelBuilder::try_build() const { return Model::build(description_); }

}  // namespace kansetsu
