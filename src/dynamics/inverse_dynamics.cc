#include "dynamics/external.h"
#include "dynamics/kernel_table.h"
#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "model/workspace_use.h"

/// rnea, bias, gravity_torque, coriolis_matrix, regressor: the public forms of inverse dynamics.
namespace kansetsu {
namespace {

void check_square(const char* function, const Model& model, const Eigen::Ref<Eigen::MatrixXd>& M) {
  check_size(function, "rows of the result", M.rows(), model.nv());
  check_size(function, "columns of the result", M.cols(), model.nv());
  if (M.outerStride() != M.rows()) throw Error(std::string(function) + ": the result must be contiguous");
}

}  // namespace

void rnea(const Model& model, const State& state, const VectorRef& vdot, Workspace& work,
          Eigen::Ref<Eigen::VectorXd> tau, const ExternalForces* external) {
  const WorkspaceUse use = use_workspace("rnea", model, state, work);
  check_size("rnea", "vdot", vdot.size(), model.nv());
  check_size("rnea", "tau", tau.size(), model.nv());
  Carver<double> carver(work.data());
  const double* fext = body_wrenches(model, state.q, external, carver);
  kernel::dynamics().rnea(model.tree().view(), state.q.data(), state.v.data(), vdot.data(), fext, carver.rest(),
                          tau.data(), nullptr);
}

Eigen::VectorXd rnea(const Model& model, const State& state, const VectorRef& vdot, const ExternalForces* external) {
  Eigen::VectorXd tau(model.nv());
  Workspace work(model);
  rnea(model, state, vdot, work, tau, external);
  return tau;
}

void bias(const Model& model, const State& state, Workspace& work, Eigen::Ref<Eigen::VectorXd> out) {
  const WorkspaceUse use = use_workspace("bias", model, state, work);
  check_size("bias", "out", out.size(), model.nv());
  kernel::dynamics().rnea(model.tree().view(), state.q.data(), state.v.data(), nullptr, nullptr, work.data(),
                          out.data(), nullptr);
}

void gravity_torque(const Model& model, const VectorRef& q, Workspace& work, Eigen::Ref<Eigen::VectorXd> out) {
  const WorkspaceUse use = use_workspace("gravity_torque", model, q, work);
  check_size("gravity_torque", "out", out.size(), model.nv());
  kernel::dynamics().rnea(model.tree().view(), q.data(), nullptr, nullptr, nullptr, work.data(), out.data(), nullptr);
}

Eigen::VectorXd bias(const Model& model, const State& state) {
  Workspace work(model);
  Eigen::VectorXd out(model.nv());
  bias(model, state, work, out);
  return out;
}

Eigen::VectorXd gravity_torque(const Model& model, const VectorRef& q) {
  Workspace work(model);
  Eigen::VectorXd out(model.nv());
  gravity_torque(model, q, work, out);
  return out;
}

void coriolis_matrix(const Model& model, const State& state, Workspace& work, Eigen::Ref<Eigen::MatrixXd> C) {
  const WorkspaceUse use = use_workspace("coriolis_matrix", model, state, work);
  check_square("coriolis_matrix", model, C);
  kernel::dynamics().coriolis(model.tree().view(), state.q.data(), state.v.data(), work.data(), C.data());
}

void regressor(const Model& model, const State& state, const VectorRef& vdot, Workspace& work,
               Eigen::Ref<Eigen::MatrixXd> Y) {
  const WorkspaceUse use = use_workspace("regressor", model, state, work);
  check_size("regressor", "vdot", vdot.size(), model.nv());
  check_size("regressor", "rows of the result", Y.rows(), model.nv());
  check_size("regressor", "columns of the result", Y.cols(), 10 * model.link_count());
  if (Y.outerStride() != Y.rows()) throw Error("regressor: the result must be contiguous");
  const Tree& tree = model.tree();
  kernel::dynamics().regressor(tree.view(), tree.links.data(), int(tree.links.size()), state.q.data(), state.v.data(),
                               vdot.data(), work.data(), Y.data());
}

Eigen::VectorXd inertial_parameters(const Model& model) {
  Eigen::VectorXd out(10 * model.link_count());
  for (int i = 0; i < model.link_count(); ++i) {
    const Inertia<>& M = model.tree().links[size_t(i)].M_L;
    out.segment<10>(10 * i) << M.m, M.h.x, M.h.y, M.h.z, M.I.xx, M.I.xy, M.I.yy, M.I.xz, M.I.yz, M.I.zz;
  }
  return out;
}

}  // namespace kansetsu
