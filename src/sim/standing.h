#pragma once

#include <memory>

#include "sim/lane_worlds.h"

namespace kansetsu {

/// Steps of a world whose only figure stands on soles that hold: in a lane by itself (lanes.h). What touches is known, so that
/// nothing is looked for, and nothing is listed or copied but the report. docs/theory/contact.md, "Eight worlds in lanes".
class StandingStep {
 public:
  /// One step. False: it is not such a step, and nothing has happened.
  bool step(World::Impl& world);
  /// Whether the world stands must be checked again.
  void forget() { known_ = false; }

 private:
  void look_at(const World::Impl& world);
  int stance_of(const World::Impl& world);

  bool known_ = false;
  int stance_ = -1;  ///< −1: it does not stand, or has what lanes do not know
  std::unique_ptr<LanePlan> plan_;
  std::unique_ptr<LaneWorlds> lane_;
  StanceKey refused_{};  ///< there are no tables for it
  Eigen::VectorXd scratch_;
};

}  // namespace kansetsu
