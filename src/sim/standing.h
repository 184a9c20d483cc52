#pragma once

#include <memory>

#include "sim/lane_worlds.h"

namespace kansetsu {

/// Steps of a world whose only figure stands on soles that hold, by the kernels of lanes (lanes.h) with one lane. The contacts are
/// known, so there is no search, and only the report is written. docs/theory/contact.md, "Eight worlds in lanes".
class StandingStep {
 public:
  /// One step. False: the figure does not stand so, and nothing has happened.
  bool step(World::Impl& world);
  /// The next step checks again whether the figure stands.
  void forget() { known_ = false; }

 private:
  void look_at(const World::Impl& world);
  int stance_of(const World::Impl& world);

  bool known_ = false;
  int stance_ = -1;  ///< −1: it does not stand, or lanes do not support it
  std::unique_ptr<LanePlan> plan_;
  std::unique_ptr<LaneWorlds> lane_;
  StanceKey refused_{};  ///< a stance for which no tables can be made
  Eigen::VectorXd scratch_;
};

}  // namespace kansetsu
