#include "kansetsu/kinematics/jacobian.h"

#include "kansetsu/base/error.h"
#include "kinematics/kernel_table.h"
#include "kinematics/link_frames.h"
#include "model/workspace_use.h"

namespace kansetsu {

namespace {

using Columns = Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>>;

void check_columns(const char* function, const Model& model, const Columns& J) {
  check_size(function, "columns of the result", J.cols(), model.nv());
  if (J.outerStride() != 6) throw Error(std::string(function) + ": the result must be contiguous");
}

}  // namespace

Jacobian::Jacobian(const Model& model) : J(6, model.nv()), J_dot(6, model.nv()) {}

void jacobian(const Model& model, const VectorRef& q, LinkId link, const Transform<>& X_LF, JacobianAxes axes,
              Workspace& work, Columns J) {
  const WorkspaceUse use = use_workspace("jacobian", model, q, work);
  check_columns("jacobian", model, J);
  const LinkPlacement& placement = model.tree().links.at(size_t(link.value()));
  kernel::kinematics().jacobian(model.tree().view(), q.data(), nullptr, placement.body, placement.X_BL * X_LF, axes,
                                work.data(), J.data(), nullptr);
}

void jacobian(const Model& model, const State& state, LinkId link, const Transform<>& X_LF, JacobianAxes axes,
              Workspace& work, Jacobian& out) {
  const WorkspaceUse use = use_workspace("jacobian", model, state, work);
  check_size("jacobian", "columns of the result", out.J.cols(), model.nv());
  const LinkPlacement& placement = model.tree().links.at(size_t(link.value()));
  kernel::kinematics().jacobian(model.tree().view(), state.q.data(), state.v.data(), placement.body,
                                placement.X_BL * X_LF, axes, work.data(), out.J.data(), out.J_dot.data());
  out.drift.noalias() = out.J_dot.lazyProduct(state.v);
}

Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian(const Model& model, const VectorRef& q, LinkId link,
                                                  const Transform<>& X_LF, JacobianAxes axes) {
  Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, model.nv());
  Workspace work(model);
  jacobian(model, q, link, X_LF, axes, work, J);
  return J;
}

void joint_axes(const Model& model, const VectorRef& q, Workspace& work, Columns out) {
  const WorkspaceUse use = use_workspace("joint_axes", model, q, work);
  check_columns("joint_axes", model, out);
  kernel::kinematics().subspaces(model.tree().view(), q.data(), work.data(), out.data());
}

}  // namespace kansetsu
