#pragma once

#include <Eigen/Core>
#include <string>
#include <vector>

#include "kansetsu/model/builder.h"
#include "kansetsu/model/joint_values.h"
#include "kansetsu/model/model.h"
#include "kansetsu/spatial/rotations.h"
#include "model/joint_motion.h"

namespace kansetsu::test {

/// A solid box of unit size and mass.
inline Inertial box_inertial(double mass = 1) { return {mass, {}, Sym3<>::diagonal(mass / 6, mass / 6, mass / 6)}; }

/// ground —(joint J of the given type)— arm, everything else default.
inline ModelDescription one_joint(JointType type) {
  return ModelBuilder("one_joint")
      .link("ground")
      .link("arm", box_inertial())
      .joint({.name = "J", .type = type, .parent = "ground", .child = "arm"})
      .description();
}

/// Poses of all links by the definition of the joints, link by link. Independent of compiled models.
inline std::vector<Transform<>> link_poses(const Model& model, const Eigen::VectorXd& q) {
  const auto values = joint_values(model, q);
  std::vector<Transform<>> X_WL(std::size_t(model.link_count()));
  if (model.base() == Base::kFree) {
    X_WL[0] = {to_mat3(Quaternion<>{q[3], q[4], q[5], q[6]}), {q[0], q[1], q[2]}};
  } else {
    X_WL[0] = to_transform(model.description().base_pose);
  }
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    const Transform<> X_PC =
        to_transform(joint.socket) * joint_pose(joint, values[std::size_t(j)]) * inverse(to_transform(joint.plug));
    X_WL[std::size_t(model.child_link(JointId(j)).value())] =
        X_WL[std::size_t(model.parent_link(JointId(j)).value())] * X_PC;
  }
  return X_WL;
}

/// Largest difference of the matrix elements [1, m].
inline double distance(const Transform<>& a, const Transform<>& b) {
  const auto largest = [](const Vec3<>& x) { return std::max({std::abs(x.x), std::abs(x.y), std::abs(x.z)}); };
  return std::max({largest(a.p - b.p), largest(a.R.x - b.R.x), largest(a.R.y - b.R.y), largest(a.R.z - b.R.z)});
}

/// Whether one of the diagnostics has the code.
inline bool has_code(const std::vector<Diagnostic>& diagnostics, std::string_view code) {
  for (const Diagnostic& d : diagnostics) {
    if (d.code == code) return true;
  }
  return false;
}

}  // namespace kansetsu::test
