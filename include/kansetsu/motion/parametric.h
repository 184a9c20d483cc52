#pragma once

#include <string>

#include "kansetsu/model/clip.h"

/// Motions made from a few numbers, as clips. Figures need frames with the names of human28's: soleL, soleR, gripL, gripR; others
/// throw Error, as do numbers that make no motion. docs/guide/analysis.md.
namespace kansetsu {

/// Down and up again on both feet. The pelvis follows a minimum-jerk path, the zero moment point stays near the soles' middle.
struct SquatOptions {
  double depth = 0.3;  ///< of the pelvis below its height at the start [m]
  double period = 2;   ///< of one squat [s]
  int count = 2;
  double pause = 0.25;  ///< before, between and after squats [s]
  double rate = 100;    ///< frames per second
};
Clip squat(const Model& model, const SquatOptions& options = {});

/// A hand goes to a point and back, along a straight line; feet and balance as in a squat.
struct ReachOptions {
  std::string hand = "gripR";      ///< a frame of the model
  Vec3<> target{0.45, -0.2, 1.2};  ///< in the world; the figure stands at the origin, looking along x
  double period = 2;               ///< there and back [s]
  double pause = 0.25;             ///< before, at the target and after [s]
  double rate = 100;
};
Clip reach(const Model& model, const ReachOptions& options = {});

/// Both hands on a bar; the body swings by gravity and by pumping with the hips. The hands apply no torque about the bar:
/// generate() gives the motion at every frame, and no residual force is left.
struct BarSwingOptions {
  double angle = 0.6;   ///< of the body from the vertical at the start, at rest [rad]
  double pump = 0.35;   ///< flexion of the hips while swinging forward [rad]
  double height = 2.4;  ///< of the bar [m]
  double duration = 4;  ///< [s]
  double rate = 100;
};
Clip bar_swing(const Model& model, const BarSwingOptions& options = {});

}  // namespace kansetsu
