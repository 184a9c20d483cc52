#include "dynamics/external.h"
#include "dynamics/kernel_table.h"
#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"

namespace kansetsu {

Reactions::Reactions(const Model& model) : wrench(size_t(model.link_count())) {
  int count = 0;
  for (const auto& coordinates : model.tree().joint_coordinates) {
    torque_start.push_back(count);
    count += int(coordinates.size());
  }
  torque = Eigen::VectorXd::Zero(count);
}

void reactions(const Model& model, const State& state, const VectorRef& vdot, Workspace& work, Reactions& out,
               const ExternalForces* external) {
  const WorkspaceUse use = use_workspace("reactions", model, state, work);
  check_size("reactions", "vdot", vdot.size(), model.nv());
  check_size("reactions", "wrenches of the result", long(out.wrench.size()), model.link_count());
  const Tree& tree = model.tree();
  const TreeView& view = tree.view();
  Carver<double> carver(work.data());
  const double* fext = body_wrenches(model, state.q, external, carver);
  double* tau_tree = carver.take<double>(tree.nu);
  kernel::dynamics().rnea(view, state.q.data(), state.v.data(), vdot.data(), fext, carver.rest(), nullptr, tau_tree);
  for (size_t j = 0; j < tree.joint_coordinates.size(); ++j) {
    for (size_t k = 0; k < tree.joint_coordinates[j].size(); ++k) {
      const Tree::JointCoordinate& c = tree.joint_coordinates[j][k];
      out.torque[out.torque_start[j] + int(k)] = c.sign * tau_tree[c.u];
    }
  }
  int* parents = carver.take_ints(model.link_count());
  parents[0] = -1;
  for (int l = 1; l < model.link_count(); ++l) parents[l] = model.parent_link(JointId(l - 1)).value();
  kernel::dynamics().reactions(view, tree.links.data(), parents, model.link_count(), state.q.data(), state.v.data(),
                               vdot.data(), external ? &external->wrenches()[0].t.x : nullptr, carver.rest(),
                               numbers(out.wrench.data()));
}

}  // namespace kansetsu
