#pragma once

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/model/capture.h"

/// Places that skeletons and figures have in common, and their names. Tables can be read from files (kansetsu/io/capture.h).
namespace kansetsu {

/// A joint centre, and the bone or link that begins there.
enum class Landmark {
  kPelvis,
  kChest,
  kNeck,
  kHead,
  kHipL,
  kKneeL,
  kAnkleL,
  kToeL,
  kHipR,
  kKneeR,
  kAnkleR,
  kToeR,
  kShoulderL,
  kElbowL,
  kWristL,
  kShoulderR,
  kElbowR,
  kWristR,
};
inline constexpr int kLandmarkCount = 18;
inline constexpr std::array<std::string_view, kLandmarkCount> kLandmarkNames{
    "pelvis", "chest",  "neck", "head",      "hipL",   "kneeL",  "ankleL",    "toeL",   "hipR",
    "kneeR",  "ankleR", "toeR", "shoulderL", "elbowL", "wristL", "shoulderR", "elbowR", "wristR"};
std::string_view to_string(Landmark landmark);
std::optional<Landmark> find_landmark(std::string_view name);

/// Names of landmarks: which bone of a skeleton, and which link of a model with a point on it.
struct LinkPoint {
  std::string link{};
  Vec3<> at{};  ///< in the link's frame [m]
  friend bool operator==(const LinkPoint&, const LinkPoint&) = default;
};
struct LandmarkTable {
  std::string name{};
  std::map<Landmark, std::string> bones{};  ///< "NAME.tip": the end of a bone
  std::map<Landmark, LinkPoint> links{};
};
/// Built in: cgspeed (CMU as BVH, MotionBuilder and Mixamo names), 3dsmax, asf (CMU's own names), daz, makehuman, smpl (AMASS).
const std::vector<LandmarkTable>& skeleton_tables();
/// The one that knows most of the skeleton's bones; one made from the words of their names, if that knows more.
LandmarkTable best_table(const Capture& capture);

/// The bone that the table names, and the point on it. Case and a prefix as in "mixamorig:Hips" do not matter.
struct BonePoint {
  int bone = 0;
  Vec3<> at{};  ///< [file units]
};
std::optional<BonePoint> find_bone_point(const Capture& capture, const LandmarkTable& table, Landmark landmark);

}  // namespace kansetsu
