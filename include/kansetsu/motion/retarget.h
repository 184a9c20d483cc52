#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/clip.h"
#include "kansetsu/model/landmarks.h"

/// A captured skeleton's motion as that of a figure: lengths are the figure's, directions the capture's, feet stand still while
/// they are on the floor, and the floor is z = 0. docs/guide/motion.md; MAPnnn codes: docs/formats/capture.md.
///
///     const Capture capture = value_or_throw(io::read_bvh("walk.bvh"));
///     const Retargeted walk = value_or_throw(retarget(human28(), capture));
///     // walk.clip, walk.feet[0].down(frame), walk.residuals
namespace kansetsu {

/// When the foot counts as being on the floor, by its heel and by its toe: below a height and slower than a speed, and until
/// both, a little larger, are passed.
struct FootContactOptions {
  double height = 0.02, release_height = 0.03;  ///< [m]
  double speed = 0.3, release_speed = 0.5;      ///< [m/s]
  double shortest = 0.05;                       ///< [s] contacts and gaps that are shorter are noise
};

struct RetargetOptions {
  std::optional<LandmarkTable> table{};  ///< none: the built-in one that fits best
  std::optional<double> scale{};         ///< figure/capture; none: by the lengths of the legs
  std::optional<double> floor{};         ///< height of the floor in the capture [m]; none: estimated, with its tilt
  double largest_tilt = 0.05;            ///< [rad] cameras may look askew; a floor that is steeper is one
  bool move_to_origin = true;            ///< the clip begins above the origin, heading along x
  bool pin_feet = true;                  ///< no skating
  double blend_time = 0.15;              ///< [s] before and after a contact, over which the pinned foot is let go
  std::optional<bool> skip_first{};      ///< leave out the first frame; none: if begins_at_rest()
  bool limits = true;                    ///< keep the figure's joint limits
  FootContactOptions contact{};
};

/// A foot of the figure: its sole, and when it is on the floor.
struct FootContacts {
  std::string name{};  ///< "left", "right"
  LinkId link{0};
  Vec3<> heel{}, toe{};                               ///< ends of the sole's middle line, in the link's frame
  double width = 0;                                   ///< of the sole [m]
  std::vector<std::uint8_t> heel_down{}, toe_down{};  ///< one per frame of the clip

  bool down(int frame) const {
    return heel_down[static_cast<std::size_t>(frame)] || toe_down[static_cast<std::size_t>(frame)];
  }
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
  std::vector<JointResidual> residuals{};  ///< one per landmark that was followed
  std::string table{};                     ///< name of the table used
  double scale = 1, floor = 0;             ///< as used: figure/capture, height in the capture where the clip begins [m]
  double floor_tilt = 0;                   ///< [rad] of the capture's floor, which has been levelled
  double skate = 0;                        ///< farthest that a heel or toe strays from its place while it is down [m]
  int first_frame = 0;                     ///< of the capture, that is frame 0 of the clip
};

/// Refuses (MAP…) a skeleton or a figure whose landmarks are not found: pelvis, hips, knees and ankles must be there, all else is
/// followed where it is. The figure needs a free base, and stands upright, looking along x, in its neutral configuration.
Loaded<Retargeted> retarget(const Model& model, const Capture& capture, const RetargetOptions& options = {});

/// Where the landmarks of a figure are: those of the table, else those that its links' names tell (human28's and those of the
/// skeleton tables).
std::map<Landmark, LinkPoint> find_landmarks(const Model& model, const LandmarkTable& table = {});

/// Heels and toes on the floor (z = 0) in a clip.
std::vector<FootContacts> find_contacts(const Model& model, const Clip& clip, const FootContactOptions& options = {});

}  // namespace kansetsu
