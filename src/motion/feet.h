#pragma once

#include <array>
#include <vector>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/motion/retarget.h"

/// Soles of figures, when they stand, and where they should.
namespace kansetsu::retargeting {

/// Heel, toe and width of the foot links' soles, from their collision shapes; of links without shapes the ankle and the toe.
std::vector<FootContacts> find_soles(const Model& model, const std::map<Landmark, LinkPoint>& landmarks);

/// The way of the ends of a sole through a clip.
struct SolePath {
  std::vector<Vec3<>> heel{}, toe{}, side{};  ///< world; side: the sole's left edge beside the toe
};
SolePath sole_path(const Model& model, const Clip& clip, const FootContacts& foot);
/// The point beside the toe, in the link's frame.
Vec3<> side_point(const Model& model, const FootContacts& foot);

/// The contacts in which a sole's ends stay where they are: slower than 0.5 m/s, lower than 3 cm, and within 5 cm of where they
/// landed; one that is dragged farther lands anew. What slides on purpose, or is about to leave, shall not be held.
FootContacts steady(const FootContacts& foot, const SolePath& path, const std::vector<double>& times);

/// Where heel, toe and side shall be in each frame, and how much it matters (0 … 1): places on the floor while they are down,
/// their own way otherwise, and something between for a while before and after.
struct PinnedPath {
  std::vector<Vec3<>> heel{}, toe{}, side{};
  std::vector<double> heel_weight{}, toe_weight{};
};
PinnedPath pin(const SolePath& path, const FootContacts& foot, const std::vector<double>& times, double blend_time);

}  // namespace kansetsu::retargeting
