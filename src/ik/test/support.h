#pragma once

#include <doctest/doctest.h>

#include <Eigen/Core>
#include <random>

#include "kansetsu/ik/arm.h"
#include "kansetsu/ik/differential.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/euler.h"
#include "kansetsu/spatial/rotations.h"
#include "model/random.h"

namespace kansetsu::ik::test {

/// Seven hinges in the manner of lightweight arms: shoulder, elbow and wrist with offsets, limits on all.
inline Model arm7() {
  ModelBuilder b("arm7");
  b.link("base");
  const Vec3<> axes[7] = {{0, 0, 1}, {0, 1, 0}, {0, 0, 1}, {0, -1, 0}, {0, 0, 1}, {0, 1, 0}, {0, 0, 1}};
  const Vec3<> offsets[7] = {{0, 0, 0.3},     {0, 0, 0}, {0, 0, 0.3}, {0.08, 0, 0},
                             {-0.08, 0, 0.4}, {0, 0, 0}, {0.09, 0, 0}};
  const double limits[7] = {2.9, 1.8, 2.9, 2.4, 2.9, 2.1, 2.9};
  for (int i = 0; i < 7; ++i) {
    const std::string link = "link" + std::to_string(i + 1), parent = i ? "link" + std::to_string(i) : "base";
    b.link(link, {.mass = 1, .inertia = {0.01, 0, 0, 0.01, 0, 0.01}});
    b.joint({.name = "joint" + std::to_string(i + 1),
             .type = JointType::kRevolute,
             .parent = parent,
             .child = link,
             .socket = {.p = offsets[i]},
             .axis = axes[i],
             .dofs = {{.lower = -limits[i], .upper = limits[i], .velocity = 2}}});
  }
  b.frame({.name = "tool", .link = "link7", .origin = {.p = {0, 0, 0.15}, .rpy = {0, 0, 0.4}}});
  return b.build();
}

/// Errors of a frame against a pose, by forward kinematics alone.
inline double pose_error(const Model& model, const Eigen::VectorXd& q, const FrameOn& frame,
                         const Transform<>& target) {
  const Transform<> X = fk(model, q)[frame.link] * frame.X_LF;
  return std::max(norm(X.p - target.p), angular_distance(X.R, target.R));
}
inline Transform<> pose_of(const Model& model, const Eigen::VectorXd& q, const FrameOn& frame) {
  return fk(model, q)[frame.link] * frame.X_LF;
}
inline bool within_limits(const Model& model, const Eigen::VectorXd& q) {
  return (q.array() >= model.lower_position().array()).all() && (q.array() <= model.upper_position().array()).all();
}

}  // namespace kansetsu::ik::test
