#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/spatial/euler.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/spatial.h"

/// Captured motion: a skeleton of bones and how it moved, as motion files have it. It knows neither masses nor limits; a
/// figure that moves likewise comes from retarget() (kansetsu/motion/retarget.h). docs/formats/capture.md.
namespace kansetsu {

struct Bone {
  std::string name{};
  int parent = -1;                      ///< an earlier bone; −1: it is the root
  Vec3<> offset{};                      ///< from the parent's joint to its own, at rest [file units, file axes]
  std::optional<Vec3<>> tip{};          ///< its end, where no child bone gives it
  EulerOrder order = EulerOrder::kZYX;  ///< of its angles in files
  bool moves = false;                   ///< its joint changes place on the parent: position channels
  friend bool operator==(const Bone&, const Bone&) = default;
};

/// Of a bone on its parent. At rest the turn is the identity and p the bone's offset.
struct BonePose {
  Quaternion<> turn{};
  Vec3<> p{};  ///< [file units]
  friend bool operator==(const BonePose&, const BonePose&) = default;
};

struct Capture {
  std::string name{};
  std::string file{};                ///< where it was read; empty if nowhere
  std::vector<Bone> bones{};         ///< parents first
  double frame_time = 1. / 120;      ///< [s]
  double unit = 1;                   ///< of its lengths [m]
  Mat3<> axes = Mat3<>::identity();  ///< R_WC: world (x forward, y left, z up at rest) from file axes
  std::vector<BonePose> poses{};     ///< frame after frame, one per bone

  int frames() const { return bones.empty() ? 0 : static_cast<int>(poses.size() / bones.size()); }
  double duration() const { return frames() > 0 ? (frames() - 1) * frame_time : 0; }
  const BonePose& pose(int frame, int bone) const {
    return poses[static_cast<std::size_t>(frame) * bones.size() + static_cast<std::size_t>(bone)];
  }
  std::optional<int> find_bone(std::string_view name) const;
};

/// Poses of all bones in the world [m]: origins are joint centres.
std::vector<Transform<>> bone_poses(const Capture& capture, int frame);
void bone_poses(const Capture& capture, int frame, std::vector<Transform<>>& out);
/// The same at rest: all turns are the identity.
std::vector<Transform<>> rest_poses(const Capture& capture);

/// Whether the first frame is a rest pose put before the motion, as some converters do.
bool begins_at_rest(const Capture& capture);

/// R_WC of file axes in which the skeleton at rest has `up` upward; names of bones give the left side. Without such
/// names y is up and z forward, the usual convention.
enum class UpAxis { kX, kY, kZ };
Mat3<> guess_axes(const Capture& capture, std::optional<UpAxis> up = {});
/// The unit, of metre, decimetre, centimetre, millimetre, inch and CMU's inch/0.45, in which the skeleton has the height of a
/// person; 1 if it has no height.
double guess_unit(const Capture& capture);

}  // namespace kansetsu
