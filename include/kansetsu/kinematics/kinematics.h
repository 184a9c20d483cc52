#pragma once

#include <Eigen/Core>
#include <vector>

#include "kansetsu/model/model.h"
#include "kansetsu/spatial/spatial.h"

/// Poses and motions of links. The forms with a Workspace never allocate; those that return by value do.
namespace kansetsu {

using VectorRef = Eigen::Ref<const Eigen::VectorXd>;

/// Pose of every link in the world.
struct LinkPoses {
  explicit LinkPoses(const Model& model);
  std::vector<Transform<>> X_WL;

  const Transform<>& operator[](LinkId id) const { return X_WL[size_t(id.value())]; }
};

/// Poses of all links (forward kinematics). @param q  size model.nq()
void fk(const Model& model, const VectorRef& q, Workspace& work, LinkPoses& out);
LinkPoses fk(const Model& model, const VectorRef& q);

/// Pose of a named frame, from the poses of the links.
Transform<> frame_pose(const Model& model, const LinkPoses& poses, FrameId frame);

/// Pose, velocity and acceleration of every link, at the link's origin and in world axes. The acceleration is the classical
/// one, the reading of an accelerometer at the origin plus gravity: [ω̇; dv/dt].
struct LinkMotions {
  explicit LinkMotions(const Model& model);
  LinkPoses poses;
  std::vector<Motion<>> V, A;
};

/// Velocities and accelerations of all links. @param vdot  size model.nv(); dv/dt of the stored v
void link_motions(const Model& model, const State& state, const VectorRef& vdot, Workspace& work, LinkMotions& out);
LinkMotions link_motions(const Model& model, const State& state, const VectorRef& vdot);

/// The same for a frame at X_LF on a link.
struct FrameMotion {
  Transform<> X_WF;
  Motion<> V, A;
};
FrameMotion frame_motion(const LinkMotions& motions, LinkId link, const Transform<>& X_LF);

}  // namespace kansetsu
