#pragma once

#include <optional>
#include <string>

#include "kansetsu/motion/whole_body.h"

namespace kansetsu {

/// What walking needs to know of a figure: two soles, the trunk above them, and how it stands at ease.
struct Biped {
  Sole left, right;  ///< x forward, z up when it stands
  LinkId pelvis{0}, trunk{0};
  Eigen::VectorXd posture;  ///< configuration with bent knees, soles flat on z = 0

  const Sole& sole(bool is_left) const { return is_left ? left : right; }
};

/// Finds the soles by the frames soleL and soleR (or left_sole, right_sole, l_sole, r_sole), their size by the collision
/// shapes of their links; knees bent so that the hips sink by `crouch` [m]. The reason if it is not a biped.
struct FoundBiped {
  std::optional<Biped> biped;
  std::string problem;
};
FoundBiped find_biped(const Model& model, double crouch = 0.05);

}  // namespace kansetsu
