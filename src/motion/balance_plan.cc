#include "motion/balance_plan.h"

namespace kansetsu {
namespace {

/// The foothold of `foot` is chosen: of least cost, given what the rest of the clip costs from a state on. @return  its row of the state
BalanceState choose_foothold(std::size_t foot, double reach, Eigen::Matrix4d& rest) {
  const long i = 2 + long(foot);
  const double price = 1 / (reach * reach), both = price + rest(i, i);
  BalanceState chosen = -rest.row(i) / both;
  chosen[0] += price / both;
  chosen[i] = 0;
  Eigen::Matrix4d jump = Eigen::Matrix4d::Identity();
  jump.row(i) = chosen;
  BalanceState off = chosen;
  off[0] -= 1;
  rest = (jump.transpose() * rest * jump + price * off.transpose() * off).eval();
  return chosen;
}

}  // namespace

/// Backwards through the clip: what its rest costs is a quadratic form of the state.
std::vector<BalanceFrame> plan_balance(const std::vector<BalanceMoment>& moments, double dt,
                                       const BalanceCosts& costs) {
  std::vector<BalanceFrame> out(moments.size());
  const double price = costs.rate * dt / (costs.sole * costs.sole);
  const BalanceState end(1, 1 / costs.rate, -0.5, -0.5);
  Eigen::Matrix4d rest = end.transpose() * end / (costs.sole * costs.sole);
  std::array<BalanceState, 2> land{BalanceState::Zero(), BalanceState::Zero()};
  for (std::size_t k = moments.size(); k-- > 0;) {
    const BalanceMoment& m = moments[k];
    // ė' = ė + dt·λ·(e − Σ share·s − u), e' = e + dt·ė'
    BalanceState push(1, 0, -m.share[0], -m.share[1]);
    push *= dt * m.stiffness;
    Eigen::Matrix4d step = Eigen::Matrix4d::Identity();
    step.row(1) += push;
    step.row(0) += dt * step.row(1);
    const Eigen::Vector4d by(-dt * dt * m.stiffness, -dt * m.stiffness, 0, 0);
    const BalanceState gain = -(by.transpose() * rest * step) / (price + by.dot(rest * by));
    step += by * gain;
    rest = (step.transpose() * rest * step + price * gain.transpose() * gain).eval();
    for (BalanceState& row : land) row = (row * step).eval();
    for (std::size_t foot = 0; foot < 2; ++foot) {
      if (k == 0 || !m.down[foot] || moments[k - 1].down[foot]) continue;
      const BalanceState chosen = choose_foothold(foot, costs.reach, rest);
      // The other one, if it lands later, sees this one where it was put.
      for (BalanceState& row : land)
        row = (row + row[2 + long(foot)] * (chosen - BalanceState::Unit(2 + long(foot)))).eval();
      land[foot] = chosen;
    }
    out[k] = {m.stiffness, m.share, gain, land};
  }
  return out;
}

}  // namespace kansetsu
