#pragma once

#include "kansetsu/base/owner.h"
#include "kansetsu/motion/retarget.h"
#include "kansetsu/motion/walk.h"

/// Following a clip with torques alone. docs/theory/walking.md §5.
namespace kansetsu {

struct TrackOptions {
  double friction = 0.6;      ///< that it relies on
  double from = 0, to = 1e9;  ///< [s] of the clip
  double cutoff = -1;         ///< [Hz] low pass of the clip; 0: as it is; negative: 6, or 12 where it flies
};

/// A clip as its footholds: where each foot stands when, and the capture point of a body that walks over them.
/// What the clip's own centre of mass does cannot be kept as it is; its steps can.
class Tracker final : public MotionController {
 public:
  /// Throws Error if the clip is not one of the model, or too short.
  Tracker(const Model& model, const Biped& biped, const Clip& clip, const TrackOptions& options = {});

  /// As the clip begins, in motion.
  State start() const override;
  const Eigen::VectorXd& control(double time, double dt, const State& state, const FootSensing& feet) override;
  const WalkStatus& status() const override;
  const WholeBodyResult& forces() const override;

  double duration() const;  ///< [s] of what is followed

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
