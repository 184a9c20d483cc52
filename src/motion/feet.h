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
  std::vector<Vec3<>> heel{}, toe{}, side{};      ///< world; side: the sole's left edge beside the toe
  std::vector<double> heel_speed{}, toe_speed{};  ///< [m/s], over a few frames
};
SolePath sole_path(const Model& model, const Clip& clip, const FootContacts& foot);
/// The point beside the toe, in the link's frame.
Vec3<> side_point(const Model& model, const FootContacts& foot);

/// The plane z = height + slope·(x, y) on which soles rest: level where they are too near to each other to tell.
struct Floor {
  double height = 0;
  Vec3<> slope{};  ///< z is zero
};
Floor estimate_floor(const std::vector<SolePath>& paths, const FootContactOptions& options, double largest_tilt);

/// Fills heel_down and toe_down.
void mark_contacts(const SolePath& path, const std::vector<double>& times, const FootContactOptions& options,
                   FootContacts& foot);

/// Where heel, toe and side shall be in each frame, and how much it matters (0 … 1): places on the floor while they are down,
/// their own way otherwise, and something between for a while before and after.
struct PinnedPath {
  std::vector<Vec3<>> heel{}, toe{}, side{};
  std::vector<double> heel_weight{}, toe_weight{};
};
PinnedPath pin(const SolePath& path, const FootContacts& foot, const std::vector<double>& times, double blend_time);

}  // namespace kansetsu::retargeting
