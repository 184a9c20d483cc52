#pragma once

#include <Eigen/Core>
#include <vector>

#include "kansetsu/motion/analysis.h"

/// What a newton costs at each corner of a support in each frame: who is about to take a load, or to give it away.
namespace kansetsu {

using CornerCosts = Eigen::MatrixXd;  ///< corners × frames

/// Cost 1/(s²·u): s rises from nearly zero to one over `transfer` seconds after the support touches, and falls likewise before it
/// leaves; u does so over `roll` seconds for each corner by itself, times its ease, with the mean of the corners that touch being
/// one. So loads pass from foot to foot, and within a foot from heel to toe. Ends of the clip are no landings.
CornerCosts corner_costs(const SupportHistory& support, const std::vector<double>& times, double transfer, double roll);

}  // namespace kansetsu
