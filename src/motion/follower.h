#pragma once

#include <memory>

#include "kansetsu/ik/solver.h"
#include "motion/body_targets.h"
#include "motion/feet.h"

namespace kansetsu::retargeting {

/// Inverse kinematics of a figure that follows targets frame by frame.
class Follower {
 public:
  Follower(const Model& model, const FigurePoints& figure, const std::vector<FootContacts>& feet, bool limits);

  /// The configuration nearest to the targets, from where the figure was before. With pinned paths, one per foot, the feet go
  /// there first.
  /// @param ahead  the step that is expected, nv; empty: none
  const Eigen::VectorXd& follow(const Targets& targets, const std::vector<PinnedPath>& pinned, int frame,
                                const Eigen::VectorXd& ahead);
  /// Forgets where it was; the base goes to the pelvis' target.
  void start(const Targets& targets);
  void start(const Eigen::VectorXd& q) { q_ = q, fresh_ = true; }

 private:
  ik::MarkerTask& markers();

  const Model& model_;
  FigurePoints figure_;
  std::vector<FootContacts> feet_;
  std::vector<Landmark> marked_{}, turned_{};  ///< landmarks of the markers, and of the orientation tasks
  std::unique_ptr<ik::Solver> solver_;
  ik::Report report_{};
  Eigen::VectorXd q_{};
  bool fresh_ = true;
};

}  // namespace kansetsu::retargeting
