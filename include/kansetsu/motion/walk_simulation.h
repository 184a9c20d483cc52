#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/base/owner.h"
#include "kansetsu/motion/track.h"
#include "kansetsu/sim/world.h"

/// A figure that walks in a world: contacts are found by the world, torques come from the walker, nothing else acts.
namespace kansetsu {

/// A horizontal push on the trunk at its centre of mass.
struct Push {
  double impulse = 10;                ///< [N·s]
  std::optional<double> time{};       ///< [s]; none: drawn
  std::optional<double> direction{};  ///< [rad] from the way ahead to the left; none: drawn
  double duration = 0.1;              ///< [s]
};

struct WalkSetup {
  WalkOptions walk{};
  TrackOptions track{};
  std::vector<Push> pushes{};
  std::uint64_t seed = 0;  ///< of what is drawn
  double time_step = 1e-3;
  SelfCollision self_collision = SelfCollision::kNotNeighbours;
  double duration = 120;  ///< [s] at most
};

/// Everything measured by the world, not by the walker.
struct WalkReport {
  bool fallen = false;
  std::string cause{};
  double seconds = 0;
  double distance = 0;        ///< [m] of the centre of mass, start to end
  double walked = 0;          ///< [m] along the way
  double turned = 0;          ///< [rad]
  int steps = 0;              ///< footholds
  double step_time = 0;       ///< [s] mean
  double capture_error = 0;   ///< [m] root mean square of the capture point from its plan
  double vertical_force = 0;  ///< mean over the run, in weights, impacts included
  double most_force = 0;      ///< [N] on one foot
  double most_torque = 0;     ///< [N·m]
  std::string most_torque_joint{};
  double most_power = 0;         ///< [W] of all joints together
  double cost_of_transport = 0;  ///< ∫Σ|τ·v| dt / (weight · distance)
  double root_wrench = 0;        ///< [N, N·m] largest wrench on the base other than contacts, without pushes
  double unbalanced =
      0;            ///< [weights] largest change of momentum that no known force explains: what a step's size costs
  double slip = 0;  ///< [m] farthest that a sole moved while it lay flat and was said to stick
  double limit_margin = 0;               ///< [rad] nearest that a joint came to its end; negative: beyond
  std::array<std::uint64_t, 4> modes{};  ///< contacts by ContactMode, one count per step
  std::uint64_t sliding = 0;             ///< of them
  // Of a clip that is tracked.
  double clip_seconds = 0;  ///< [s] of the part that was to be tracked
  double joint_error = 0;   ///< [rad] root mean square over all joints
  double path_error = 0;    ///< [m] root mean square distance of the base from its path in the clip
  double turn_error = 0;    ///< [rad] the same of its orientation
  double jerk_ratio = 0;    ///< root mean square jerk of the joints over that of the clip, sampled at 100 Hz
  std::vector<TrackCorrection> corrections{};  ///< with which it does not fall
  std::vector<TrackProp> props{};              ///< what was added to the world
  // Of both.
  double foot_slide = 0;    ///< [m] farthest that a foot slid during one contact
  double peak_weights = 0;  ///< [body weights] largest vertical ground force, mean of 10 ms
  double shift = 0;         ///< [m] of its steps from those of the clip
  int infeasible = 0;       ///< problems of whole-body control whose limits could not all be kept
};

class WalkSimulation {
 public:
  /// Throws Error with the reason if the model cannot walk.
  WalkSimulation(const Model& model, const WalkSetup& setup);
  /// Follows a clip instead of walking by itself: setup.track counts, setup.walk does not.
  WalkSimulation(const Model& model, const Clip& clip, const WalkSetup& setup);

  /// Of a clip: looks for corrections with which the figure does not fall, if there are to be any (TrackOptions::tries). The first step()
  /// does so otherwise. @param progress  called with the time that is reached [s]; ends the search by false
  void prepare(const std::function<bool(double)>& progress = {});
  bool tracks() const;  ///< a clip
  /// One time step. @return whether there is more to come
  bool step();

  World& world();
  const MotionController& controller() const;
  const SceneDescription& scene() const;    ///< figure and ground, for recordings
  const std::vector<Push>& pushes() const;  ///< with what was drawn
  WalkReport report() const;

 private:
  struct Impl;
  Owner<Impl> impl_;
};

/// The shapes of a terrain.
std::vector<EnvironmentShape> make_ground(const Terrain& terrain);

}  // namespace kansetsu
