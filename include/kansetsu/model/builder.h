#pragma once

#include "kansetsu/model/model.h"

namespace kansetsu {

/// Writes a ModelDescription step by step. Nothing is checked until build(), which reports every problem at once.
///
///   Model pendulum = ModelBuilder("pendulum")
///       .link("ground").link("rod", {.mass = 1, .origin = {.p = {0, 0, -0.5}}, .inertia = {…}})
///       .joint({.name = "pivot", .type = JointType::kRevolute, .parent = "ground", .child = "rod", .axis = {0, 1, 0}})
///       .build();
class ModelBuilder {
 public:
  explicit ModelBuilder(std::string name);
  explicit ModelBuilder(ModelDescription description);

  ModelBuilder& base(Base base);
  ModelBuilder& base_pose(const Pose& pose);
  ModelBuilder& gravity(const Vec3<>& gravity);
  ModelBuilder& link(std::string name);
  ModelBuilder& link(std::string name, const Inertial& inertial);
  ModelBuilder& link(LinkDescription link);
  ModelBuilder& joint(JointDescription joint);
  ModelBuilder& couple(Coupling coupling);
  /// q[joint] = ratio·q[other] + offset, for every coordinate of the joint.
  ModelBuilder& gear(const std::string& joint, const std::string& other, double ratio, double offset = 0);
  ModelBuilder& frame(FrameDescription frame);
  ModelBuilder& actuator(Actuator actuator);
  ModelBuilder& no_collision(std::string a, std::string b);

  const ModelDescription& description() const { return description_; }
  /// Throws Error with all problems.
  Model build() const;
  Loaded<Model> try_build() const;

 private:
  ModelDescription description_;
};

}  // namespace kansetsu
