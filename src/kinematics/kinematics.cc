#include "kansetsu/kinematics/kinematics.h"

#include "kansetsu/base/error.h"
#include "kinematics/kernel_table.h"
#include "kinematics/link_frames.h"
#include "model/workspace_use.h"

namespace kansetsu {

LinkPoses::LinkPoses(const Model& model) : X_WL(size_t(model.link_count())) {}
LinkMotions::LinkMotions(const Model& model) : poses(model), V(size_t(model.link_count())), A(V.size()) {}

void fk(const Model& model, const VectorRef& q, Workspace& work, LinkPoses& out) {
  const WorkspaceUse use = use_workspace("fk", model, q, work);
  check_size("fk", "poses of the result", long(out.X_WL.size()), model.link_count());
  const Tree& tree = model.tree();
  kernel::kinematics().fk(tree.view(), tree.links.data(), int(tree.links.size()), q.data(), work.data(),
                          numbers(out.X_WL.data()));
}

LinkPoses fk(const Model& model, const VectorRef& q) {
  LinkPoses out(model);
  Workspace work(model);
  fk(model, q, work, out);
  return out;
}

Transform<> frame_pose(const Model& model, const LinkPoses& poses, FrameId frame) {
  return poses[model.frame_link(frame)] * to_transform(model.frame(frame).origin);
}

void link_motions(const Model& model, const State& state, const VectorRef& vdot, Workspace& work, LinkMotions& out) {
  const WorkspaceUse use = use_workspace("link_motions", model, state, work);
  check_size("link_motions", "velocities of the result", long(out.V.size()), model.link_count());
  check_size("link_motions", "vdot", vdot.size(), model.nv());
  const Tree& tree = model.tree();
  Carver<double> carver(work.data());
  Transform<>* X_WB = carver.take<Transform<>>(tree.body_count());
  Motion<>* V_B = carver.take<Motion<>>(tree.body_count());
  Motion<>* A_B = carver.take<Motion<>>(tree.body_count());
  kernel::kinematics().motions(tree.view(), state.q.data(), state.v.data(), vdot.data(), carver.rest(), numbers(X_WB),
                               numbers(V_B), numbers(A_B));
  for (size_t i = 0; i < tree.links.size(); ++i) {
    const LinkPlacement& link = tree.links[i];
    const Transform<>& X = out.poses.X_WL[i] = link_pose(link, X_WB);
    const Motion<> V = link_motion(link, V_B), A = link_motion(link, A_B);
    out.V[i] = {X.R * V.w, X.R * V.v};
    out.A[i] = {X.R * A.w, X.R * (A.v + cross(V.w, V.v))};  // spatial to classical
  }
}

LinkMotions link_motions(const Model& model, const State& state, const VectorRef& vdot) {
  LinkMotions out(model);
  Workspace work(model);
  link_motions(model, state, vdot, work, out);
  return out;
}

FrameMotion frame_motion(const LinkMotions& motions, LinkId link, const Transform<>& X_LF) {
  const Transform<>& X_WL = motions.poses[link];
  const Motion<>&V = motions.V[size_t(link.value())], &A = motions.A[size_t(link.value())];
  const Vec3<> r = X_WL.R * X_LF.p;
  return {X_WL * X_LF, {V.w, V.v + cross(V.w, r)}, {A.w, A.v + cross(A.w, r) + cross(V.w, cross(V.w, r))}};
}

}  // namespace kansetsu
