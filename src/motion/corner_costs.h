#pragma once

#include <Eigen/Core>
#include <span>
#include <vector>

#include "kansetsu/motion/analysis.h"

/// What a newton costs at each corner of a support in each frame: who is about to take a load, or to give it away.
namespace kansetsu {

using CornerCosts = Eigen::MatrixXd;  ///< corners × frames

/// Per support and frame, the share s of its full readiness to carry: it rises in proportion to time from nearly zero when the support
/// touches to one when another that it takes over from leaves, and falls likewise before it leaves itself. Where nothing is taken over
/// within kLongestTransfer it takes `transfer` seconds. Ends of the clip are no landings.
std::vector<std::vector<double>> readiness(std::span<const SupportHistory> supports, const std::vector<double>& times,
                                           double transfer);

/// Cost Σu/(n·s·u) of a corner, n the number of the support's corners and Σ over those that touch: loads are in proportion to s where
/// nothing else decides. u rises over `roll` seconds after the corner touches, and falls likewise, times its ease: within a foot loads
/// pass from heel to toe.
CornerCosts corner_costs(const SupportHistory& support, const std::vector<double>& times,
                         const std::vector<double>& readiness, double roll);

/// [s] Double supports of people who walk are shorter; who stands longer on both feet does not hand over.
inline constexpr double kLongestTransfer = 0.4;

}  // namespace kansetsu
