#include "kansetsu/dynamics/derivatives.h"

#include "dynamics/external.h"
#include "dynamics/kernel_table.h"
#include "kansetsu/base/error.h"

namespace kansetsu {
namespace {

Eigen::MatrixXd square(const Model& model) { return Eigen::MatrixXd::Zero(model.nv(), model.nv()); }

}  // namespace

RneaDerivatives::RneaDerivatives(const Model& model) : dq(square(model)), dv(square(model)), da(square(model)) {}
AbaDerivatives::AbaDerivatives(const Model& model)
    : forward(model), dq(square(model)), dv(square(model)), dtau(square(model)) {}

void rnea_derivatives(const Model& model, const State& state, const VectorRef& vdot, Workspace& work,
                      RneaDerivatives& out, const ExternalForces* external) {
  const WorkspaceUse use = use_workspace("rnea_derivatives", model, state, work);
  check_size("rnea_derivatives", "vdot", vdot.size(), model.nv());
  check_size("rnea_derivatives", "the result", out.dq.rows(), model.nv());
  const TreeView& tree = model.tree().view();
  Carver<double> carver(work.data());
  const double* fext = world_wrenches(model, state.q, external, carver);
  kernel::dynamics().rnea_derivatives(tree, state.q.data(), state.v.data(), vdot.data(), fext, carver.rest(),
                                      out.dq.data(), out.dv.data(), out.da.data());
}

void aba_derivatives(const Model& model, const State& state, const VectorRef& tau, Workspace& work, AbaDerivatives& out,
                     const ExternalForces* external) {
  check_size("aba_derivatives", "the result", out.dq.rows(), model.nv());
  aba(model, state, tau, work, out.forward, external);
  Carver<double> carver(work.data());
  const double* fext = world_wrenches(model, state.q, external, carver);
  kernel::dynamics().aba_derivatives(model.tree().view(), state.q.data(), state.v.data(), out.forward.vdot.data(), fext,
                                     carver.rest(), out.dq.data(), out.dv.data(), out.dtau.data());
}

}  // namespace kansetsu
