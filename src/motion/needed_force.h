#pragma once

#include <vector>

#include "kansetsu/model/clip.h"

namespace kansetsu {

/// What a motion asks of its surroundings, frame by frame.
struct NeededForce {
  std::vector<double> share{};  ///< of the weight, upward
  std::vector<Vec3<>> point{};  ///< where on z = 0 it acts; under the centre of mass where there is hardly any force
};
/// @param cutoff  of the filter before differentiating [Hz]
NeededForce needed_force(const Model& model, const Clip& clip, double cutoff);

/// A clip filtered as far as its rate allows; as it is if it is too short, or not even.
Clip smoothed(const Model& model, const Clip& clip, double cutoff);

}  // namespace kansetsu
