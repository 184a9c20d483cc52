// A typical user's file: script/bench measures its compile time.
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/figures.h"

double user() {
  const kansetsu::Model model = kansetsu::human28();
  const kansetsu::State state(model);
  const Eigen::VectorXd zero = Eigen::VectorXd::Zero(model.nv());
  const Eigen::VectorXd tau = kansetsu::rnea(model, state, zero);
  const Eigen::MatrixXd M = kansetsu::crba(model, state.q);
  const kansetsu::AbaResult forward = kansetsu::aba(model, state, tau);
  return forward.vdot.norm() + M.trace();
}
