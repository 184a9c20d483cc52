#pragma once

#include <optional>
#include <string>

#include "kansetsu/model/configuration.h"
#include "kansetsu/motion/whole_body.h"

namespace kansetsu {

/// What walking needs to know of a figure: two soles, the trunk above them, and how it stands at ease.
struct Biped {
  Sole left, right;  ///< x forward, z up when it stands
  LinkId pelvis{0}, trunk{0};
  Eigen::VectorXd posture{};  ///< configuration with bent knees, soles flat on z = 0
  double pelvis_height = 0;   ///< [m] above the soles in it

  const Sole& sole(bool is_left) const { return is_left ? left : right; }
};

/// A configuration with the soles at the poses given, the pelvis upright at a height above their mean, the centre of mass above their
/// middle (x, y), near to `start`. None if it cannot be had.
std::optional<Eigen::VectorXd> stand_on(const Model& model, const Biped& biped, const Transform<>& X_WLeft,
                                        const Transform<>& X_WRight, double pelvis_height, const VectorRef& start);

/// Finds the soles by the frames soleL and soleR (or left_sole, l_sole, l_foot_sole, left_foot_sole and their like), their size by the collision
/// shapes of their links; knees bent so that the hips sink by `crouch` [m]. The reason if it is not a biped.
struct FoundBiped {
  std::optional<Biped> biped;
  std::string problem;
};
FoundBiped find_biped(const Model& model, double crouch = 0.05);
/// The same; throws Error with the reason.
Biped biped_of(const Model& model);

}  // namespace kansetsu
