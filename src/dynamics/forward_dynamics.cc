#include "dynamics/external.h"
#include "dynamics/kernel_table.h"
#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "model/workspace_use.h"

namespace kansetsu {
namespace {

Status status_of(const AbaResult& result) {
  if (result.singular.sum() > 0) return Status::kSingular;
  return (0.0 * result.vdot).sum() == 0 ? Status::kOk : Status::kNotFinite;  // 0·∞ and 0·NaN are NaN
}

}  // namespace

AbaResult::AbaResult(const Model& model)
    : vdot(Eigen::VectorXd::Zero(model.nv())), singular(Eigen::VectorXd::Zero(model.nv())) {}

void aba(const Model& model, const State& state, const VectorRef& tau, Workspace& work, AbaResult& out,
         const ExternalForces* external) {
  const WorkspaceUse use = use_workspace("aba", model, state, work);
  check_size("aba", "tau", tau.size(), model.nv());
  check_size("aba", "the result", out.vdot.size(), model.nv());
  Carver<double> carver(work.data());
  const double* fext = body_wrenches(model, state.q, external, carver);
  kernel::dynamics().aba(model.tree().view(), state.q.data(), state.v.data(), tau.data(), fext, carver.rest(),
                         out.vdot.data(), out.singular.data());
  out.status = status_of(out);
}

AbaResult aba(const Model& model, const State& state, const VectorRef& tau, const ExternalForces* external) {
  AbaResult out(model);
  Workspace work(model);
  aba(model, state, tau, work, out, external);
  return out;
}

std::vector<std::string> singular_joints(const Model& model, const Eigen::VectorXd& singular) {
  std::vector<std::string> names;
  const auto any = [&](const CoordinateRange& range) {
    return range.nv > 0 && !singular.segment(range.v, range.nv).isZero(0);
  };
  if (any(model.base_coordinates())) names.push_back("base");
  for (int j = 0; j < model.joint_count(); ++j) {
    if (any(model.coordinates(JointId(j)))) names.push_back(model.joint(JointId(j)).name);
  }
  return names;
}

void solve_mass_matrix(const Model& model, const VectorRef& q, const VectorRef& x, Workspace& work, AbaResult& out) {
  const WorkspaceUse use = use_workspace("solve_mass_matrix", model, q, work);
  check_size("solve_mass_matrix", "x", x.size(), model.nv());
  check_size("solve_mass_matrix", "the result", out.vdot.size(), model.nv());
  kernel::dynamics().solve(model.tree().view(), q.data(), x.data(), work.data(), out.vdot.data(), out.singular.data());
  out.status = status_of(out);
}

}  // namespace kansetsu
