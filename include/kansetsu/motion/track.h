#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/base/owner.h"
#include "kansetsu/geometry/shape.h"
#include "kansetsu/motion/retarget.h"
#include "kansetsu/motion/walk.h"

/// Tracking a clip with joint torques alone. docs/theory/walking.md §5.
namespace kansetsu {

struct TrackOptions {
  double friction = 0.6;      ///< that it relies on
  double from = 0, to = 1e9;  ///< [s] of the clip
  double cutoff = -1;         ///< [Hz] low pass of the clip; 0: as it is; negative: 6, or 12 where it flies
  int tries = 8;              ///< simulations per round of the search after a fall; 0: no search
};

/// A change of the tracker's reference over a short time. It grows and fades as sin².
struct TrackCorrection {
  double start = 0, end = 0;         ///< [s]
  Vec3<> push{};                     ///< [m/s²] added to the acceleration of the centre of mass
  Vec3<> turn{};                     ///< [N·m] added to the rate of angular momentum about it
  std::array<Vec3<>, 2> foothold{};  ///< [m] left and right, of feet that land within it
};

/// What a clip leans on besides the floor, found from its motion: a seat, or something that a hand holds on to.
struct TrackProp {
  std::string name{};         ///< "seat", "right hand"
  double start = 0, end = 0;  ///< [s] of the clip
  Transform<> X_WP{};         ///< the middle of the seat; where the hand holds
  std::optional<Box> seat{};  ///< none: the hand is held by the world in a point
  LinkId link{0};
  Vec3<> point{};  ///< of the link
};

/// [s] between the moments from which a tracked run can be repeated to the bit.
inline constexpr double kTrackMoment = 0.1;

/// Follows a clip by its footholds: the feet land where they do in the clip as far as balance allows, and the centre of mass takes the
/// path near the clip's that forces at these footholds can produce.
class Tracker final : public MotionController {
 public:
  /// Throws Error if the clip does not fit the model, or is too short.
  Tracker(const Model& model, const Biped& biped, const Clip& clip, const TrackOptions& options = {});

  /// The first frame of the clip, in motion.
  State start() const override;
  const Eigen::VectorXd& control(double time, double dt, const State& state, const FootSensing& feet) override;
  const WalkStatus& status() const override;
  const WholeBodyResult& forces() const override;

  double duration() const;         ///< [s] of the part of the clip that is tracked
  const State& reference() const;  ///< the filtered clip at the last control(), base included

  const std::vector<TrackProp>& props() const;
  double clip_time(double time) const;  ///< [s] of the clip; it waits for landings, and skips flights that end early

  void correct(std::vector<TrackCorrection> corrections);
  const std::vector<TrackCorrection>& corrections() const;
  /// How far the last state was from the reference; a fall is likely above 1.
  double strain() const;

  /// What it remembers from step to step. A run that is continued from a multiple of kTrackMoment gives the same bits.
  class Memory;
  std::shared_ptr<const Memory> save() const;
  void restore(const Memory& memory);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
