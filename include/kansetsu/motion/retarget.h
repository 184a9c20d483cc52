#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/clip.h"
#include "kansetsu/model/landmarks.h"
#include "kansetsu/motion/contacts.h"

/// A captured skeleton's motion as that of a figure: lengths are the figure's, directions the capture's, feet stand still while
/// they are on the floor, and the floor is z = 0. docs/guide/motion.md; MAPnnn codes: docs/formats/capture.md.
///
///     const Capture capture = value_or_throw(io::read_bvh("walk.bvh"));
///     const Retargeted walk = value_or_throw(retarget(human28(), capture));
///     // walk.clip, walk.feet[0].down(frame), walk.residuals
namespace kansetsu {

struct RetargetOptions {
  std::optional<LandmarkTable> table{};  ///< none: the built-in one that fits best
  std::optional<double> scale{};         ///< figure/capture; none: by the lengths of the legs
  std::optional<double> floor{};         ///< height of the floor in the capture [m]; none: estimated, with its tilt
  double largest_tilt = 0.05;  ///< [rad] a smaller tilt is levelled as an error of cameras; a larger one is a slope
  bool move_to_origin = true;  ///< the clip begins above the origin, heading along x
  bool pin_feet = true;        ///< no skating
  double blend_time = 0.15;    ///< [s] before and after a contact, over which the pinned foot is let go
  std::optional<bool> skip_first{};  ///< leave out the first frame; none: if begins_at_rest()
  bool limits = true;                ///< keep the figure's joint limits; without, three hinges are a ball
  std::optional<Vec3<>> belt{};      ///< velocity of the floor in the capture [m/s]; none: found from the feet
  ContactCosts contact{};
};

struct JointResidual {
  Landmark landmark{};
  std::string bone{}, link{};
  double rms = 0, largest = 0;  ///< from where the capture's directions and the figure's lengths put it [m]
  int worst_frame = 0;          ///< of the clip
  double from_capture = 0;      ///< rms distance from the capture's scaled joint centre: differing proportions [m]
};

struct Retargeted {
  Clip clip{};
  std::vector<FootContacts> feet{};        ///< left, right; none of a figure without feet
  std::vector<BodyContact> others{};       ///< other supports than the feet
  std::vector<JointResidual> residuals{};  ///< one per landmark that was followed
  std::string table{};                     ///< name of the table used
  double scale = 1, floor = 0;             ///< as used: figure/capture, height in the capture where the clip begins [m]
  double floor_tilt = 0;                   ///< [rad] of the capture's floor, which has been levelled
  Vec3<> belt{};                           ///< velocity of the floor [m/s]; it has been removed from the clip
  double skate = 0;                        ///< farthest that a heel or toe strays from its place while it is down [m]
  int first_frame = 0;                     ///< of the capture, that is frame 0 of the clip
};

/// Refuses (MAP…) a skeleton or a figure whose landmarks are not found: pelvis, hips, knees and ankles must be there, all else is
/// followed where it is. The figure needs a free base, and stands upright, looking along x, in its neutral configuration.
Loaded<Retargeted> retarget(const Model& model, const Capture& capture, const RetargetOptions& options = {});

/// Where the landmarks of a figure are: those of the table, else those that its links' names tell (human28's and those of the
/// skeleton tables).
std::map<Landmark, LinkPoint> find_landmarks(const Model& model, const LandmarkTable& table = {});

}  // namespace kansetsu
