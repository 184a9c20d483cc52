#pragma once

#include <string>
#include <vector>

#include "kansetsu/motion/analysis.h"

/// Steps of an analysed motion: when feet land and leave, how long strides are, and curves over the cycle.
namespace kansetsu {

struct GaitEvent {
  double time = 0;  ///< [s], between the frames before and after
  int support = 0;  ///< of Analysis::supports
  bool lands = true;
};
/// Of feet, in the order of time. What is down in the first or last frame has landed before, or leaves after, the clip.
std::vector<GaitEvent> gait_events(const Analysis& analysis);

/// From one landing of a foot to its next.
struct Stride {
  int support = 0;
  double start = 0, end = 0;  ///< [s]
  double leaves = 0;          ///< [s]
  double length = 0;          ///< [m] between the places where the foot stands
  double stance() const { return (leaves - start) / (end - start); }
};
/// Strides with one stance each; other landings within (a hop, a shuffle) are none.
std::vector<Stride> strides_of(const Model& model, const Analysis& analysis,
                               const std::vector<SupportHistory>& supports);

/// Values over the cycle of a foot, 0 to 100 %: means and standard deviations over its strides.
struct CycleCurve {
  std::vector<double> mean{}, deviation{};  ///< 101 each; empty without strides
  int strides = 0;
};
CycleCurve over_cycle(const std::vector<double>& times, const std::vector<double>& values,
                      const std::vector<Stride>& strides, int support);

/// Hips, knees and ankles: the coordinate that turns most about the lateral axis where the figure stands upright.
struct GaitJoint {
  std::string name{};  ///< "hip", …
  int support = 0;
  int v = 0;  ///< row of Analysis::tau
};
std::vector<GaitJoint> gait_joints(const Model& model, const Analysis& analysis);

}  // namespace kansetsu
