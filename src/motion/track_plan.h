#pragma once

#include <vector>

#include "kansetsu/motion/biped.h"
#include "kansetsu/motion/retarget.h"

namespace kansetsu {

/// What the feet of a clip do, at even times.
struct FootPlan {
  struct Foot {
    std::vector<std::uint8_t> heel, toe;  ///< down
    std::vector<double> until_down;       ///< [s] of a foot in the air, until it lands; 0 of one that is down
    std::vector<double> in_air;           ///< [s] since it left the ground
    bool down(int k) const { return heel[size_t(k)] || toe[size_t(k)]; }
  };
  double dt = 0;
  Foot left, right;
  std::vector<Vec3<>> pressure;  ///< where the ground shall push, on z = 0
  std::vector<Vec3<>> capture;   ///< the capture point that goes with it
  const Foot& foot(bool is_left) const { return is_left ? left : right; }
};

/// @param clip  evenly spaced
FootPlan plan_feet(const Model& model, const Biped& biped, const Clip& clip, double omega);

}  // namespace kansetsu
