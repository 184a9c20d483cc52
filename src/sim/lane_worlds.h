#pragma once

#include <vector>

#include "sim/lane_plan.h"

namespace kansetsu {

/// The state of worlds in lanes, `width` worlds to a block, and its conversion from and to a World.
class LaneWorlds {
 public:
  LaneWorlds(const LanePlan& plan, int count, const kernel::LaneKernels& kernels = kernel::lanes());

  int width() const { return width_; }
  int blocks() const { return blocks_; }
  kernel::LaneBlock block(int b) const;

  /// Copies a world with this stance: state, torques, gains, memories of contacts.
  void load(const World::Impl& world, int stance, int i);
  /// Writes it back, with time and totals after `steps` steps.
  void store(World::Impl& world, int stance, int i, int steps, double time);
  /// The same but for q, v, v̇ and efforts.
  void store_account(World::Impl& world, int stance, int i, int steps, double time);
  double torque(int i, int k) const { return at(parts_.torque, i, k); }
  void set_torque(int i, const double* tau);  ///< nv numbers
  /// Of all worlds of a block, their rows `stride` numbers apart.
  void set_torques(int b, const double* tau, long stride);
  double q(int i, int k) const { return at(parts_.q, i, k); }
  double v(int i, int k) const { return at(parts_.v, i, k); }

 private:
  double& at(const double* part, int i, int k) const {
    return const_cast<double*>(part)[long(i / width_) * stride_ + long(k) * width_ + i % width_];
  }
  void load_contacts(const World::Impl& world, int stance, int i);
  void store_contacts(World::Impl& world, int stance, int i, int steps);

  const LanePlan& plan_;
  int width_, blocks_;
  long stride_ = 0;  ///< numbers of a block
  Eigen::VectorXd memory_;
  kernel::LaneBlock parts_{};  ///< of block 0
};

}  // namespace kansetsu
