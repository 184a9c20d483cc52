#pragma once

#include <limits>
#include <span>

#include "kansetsu/base/owner.h"
#include "kansetsu/model/clip.h"
#include "kansetsu/motion/biped.h"

/// Walking: footholds by the capture point, torques by whole-body control. docs/theory/walking.md.
namespace kansetsu {

/// Level ground, a plane that rises along x, or a stair along x.
struct Terrain {
  double slope = 0;          ///< [rad]
  double stair_rise = 0;     ///< [m] of each step up, negative: down; 0: no stair
  double stair_run = 0.4;    ///< [m] depth of a step
  double stair_start = 1.5;  ///< [m] where the first one begins
  int stair_count = 8;

  double height(double x) const;
  Vec3<> normal() const;
  /// Height for the body, which goes evenly where the feet climb steps.
  double even_height(double x) const;
  double even_grade(double x) const;  ///< its slope
  /// Moves the middle of a sole of this half length so that all of it is on one step.
  double foothold(double x, double half_length) const;
};

struct WalkOptions {
  double speed = 0.8;                                           ///< [m/s]
  double turn = 0;                                              ///< [rad/s], to the left
  double distance = std::numeric_limits<double>::infinity();    ///< [m] along the way; then it stops and stands
  double turn_until = std::numeric_limits<double>::infinity();  ///< [rad] of heading at which it goes straight on
  double step_time = 0;                                         ///< [s]; 0: by the speed
  double step_width = 0;    ///< [m] between the middles of the soles; 0: as it stands
  double clearance = 0.05;  ///< [m] of a swinging foot
  double friction = 0.6;    ///< that it relies on
  Terrain terrain{};
};

/// A link other than a foot that touches something, or is held by it.
struct BodyTouch {
  LinkId link{0};
  Vec3<> p{}, normal{0, 0, 1};  ///< world; out of what it touches
  bool holds = false;           ///< it can pull, too
};

/// What touches: the controller's only input besides its own state.
struct FootSensing {
  bool left = false, right = false;  ///< the foot touches something
  std::span<const BodyTouch> others{};
};

enum class WalkPhase { kStanding, kSingle, kShared, kStopping };
const char* to_string(WalkPhase phase);

/// State of the walker.
struct WalkStatus {
  WalkPhase phase = WalkPhase::kStanding;
  bool stance_left = true;
  int steps = 0;             ///< footholds taken
  double heading = 0;        ///< [rad]
  double walked = 0;         ///< [m] of strides
  Vec3<> com{}, capture{};   ///< capture point on the ground
  Vec3<> pressure{};         ///< the wanted centre of pressure
  Vec3<> foothold{};         ///< middle of the next sole
  double capture_error = 0;  ///< [m] of the capture point from its plan
  double joint_error = 0;    ///< [rad] of a clip that is followed: root mean square of all joints so far
  double shift = 0;          ///< [m] and how far its steps have been moved
  bool done = false;         ///< the distance is walked, it stands
  bool fallen = false;
  std::string cause{};  ///< of the fall
  int infeasible = 0;   ///< problems of whole-body control that could not be met
};

/// A controller of a figure on its feet.
class MotionController {
 public:
  virtual ~MotionController() = default;
  /// Torques for the next `dt` seconds. @return size nv, the base's entries zero
  virtual const Eigen::VectorXd& control(double time, double dt, const State& state, const FootSensing& feet) = 0;
  virtual State start() const = 0;  ///< how it wants to begin
  virtual const WalkStatus& status() const = 0;
  virtual const WholeBodyResult& forces() const = 0;  ///< of the last call
};

class Walker final : public MotionController {
 public:
  Walker(const Model& model, const Biped& biped, const WalkOptions& options = {});

  /// How it stands before the first step, with its soles on the ground around (0, 0).
  State start() const override;

  const Eigen::VectorXd& control(double time, double dt, const State& state, const FootSensing& feet) override;
  const WalkStatus& status() const override;
  const WholeBodyResult& forces() const override;

 private:
  struct Impl;
  Owner<Impl> impl_;
};

/// A walk as a clip: what the walker would do on ground that holds its feet exactly.
/// @param rate  frames per second; the walk itself is computed at 1 kHz
Clip walk_clip(const Model& model, const WalkOptions& options, double rate = 100);

}  // namespace kansetsu
