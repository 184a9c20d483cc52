#include "kansetsu/model/landmarks.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "model/landmark_words.h"

namespace kansetsu {
namespace {

/// The bones of a kind of skeleton, in the order of kMiddle and then of kLeft; those of a side have '<' in place of the side's mark.
struct BoneNames {
  const char *name, *left, *right, *bones;
};
constexpr BoneNames kSkeletons[] = {
    {"cgspeed", "Left", "Right", "Hips Spine1 Neck Head <UpLeg <Leg <Foot <ToeBase <Arm <ForeArm <Hand"},
    {"3dsmax", "Left", "Right", "Hips Chest2 Neck Head <Hip <Knee <Ankle <Toe <Shoulder <Elbow <Wrist"},
    {"asf", "l", "r", "root thorax lowerneck head <femur <tibia <foot <toes <humerus <radius <wrist"},
    {"daz", "l", "r", "hip chest neck head <Thigh <Shin <Foot <Foot.tip <Shldr <ForeArm <Hand"},
    {"makehuman", "_L", "_R", "Hips Spine3 Neck Head UpLeg< LoLeg< Foot< Toe< UpArm< LoArm< Hand<"},
    {"smpl", "L_", "R_", "Pelvis Spine3 Neck Head <Hip <Knee <Ankle <Foot <Shoulder <Elbow <Wrist"}};

LandmarkTable make_table(const BoneNames& names) {
  using enum Landmark;
  constexpr std::array kMiddle{kPelvis, kChest, kNeck, kHead};
  constexpr std::array kLeft{kHipL, kKneeL, kAnkleL, kToeL, kShoulderL, kElbowL, kWristL};
  constexpr std::array kRight{kHipR, kKneeR, kAnkleR, kToeR, kShoulderR, kElbowR, kWristR};
  const auto put_in = [](const std::string& text, const char* mark) {
    const std::size_t at = text.find('<');
    return text.substr(0, at) + mark + text.substr(at + 1);
  };
  LandmarkTable table{.name = names.name, .bones = {}, .links = {}};
  std::istringstream words(names.bones);
  for (const Landmark landmark : kMiddle) words >> table.bones[landmark];
  for (std::size_t i = 0; i < kLeft.size(); ++i) {
    std::string bone;
    words >> bone;
    table.bones[kLeft[i]] = put_in(bone, names.left);
    table.bones[kRight[i]] = put_in(bone, names.right);
  }
  return table;
}

constexpr std::string_view kTip = ".tip";

/// Lower case, without what comes before the last colon.
std::string plain(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  std::string out(colon == std::string_view::npos ? name : name.substr(colon + 1));
  std::transform(out.begin(), out.end(), out.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::optional<int> find_plain(const Capture& capture, std::string_view name) {
  if (const auto exact = capture.find_bone(name)) return exact;
  const std::string wanted = plain(name);
  for (std::size_t i = 0; i < capture.bones.size(); ++i)
    if (plain(capture.bones[i].name) == wanted) return static_cast<int>(i);
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Landmark landmark) { return kLandmarkNames[static_cast<std::size_t>(landmark)]; }

std::optional<Landmark> find_landmark(std::string_view name) {
  const auto found = std::ranges::find(kLandmarkNames, name);
  if (found == kLandmarkNames.end()) return std::nullopt;
  return static_cast<Landmark>(found - kLandmarkNames.begin());
}

const std::vector<LandmarkTable>& skeleton_tables() {
  static const std::vector<LandmarkTable> tables = [] {
    std::vector<LandmarkTable> out;
    for (const BoneNames& names : kSkeletons) out.push_back(make_table(names));
    return out;
  }();
  return tables;
}

std::optional<BonePoint> find_bone_point(const Capture& capture, const LandmarkTable& table, Landmark landmark) {
  const auto entry = table.bones.find(landmark);
  if (entry == table.bones.end()) return std::nullopt;
  const std::string& name = entry->second;
  if (const auto bone = find_plain(capture, name)) return BonePoint{*bone, {}};
  if (!name.ends_with(kTip)) return std::nullopt;
  const auto bone = find_plain(capture, std::string_view(name).substr(0, name.size() - kTip.size()));
  if (!bone || !capture.bones[static_cast<std::size_t>(*bone)].tip) return std::nullopt;
  return BonePoint{*bone, *capture.bones[static_cast<std::size_t>(*bone)].tip};
}

LandmarkTable best_table(const Capture& capture) {
  const LandmarkTable* best = nullptr;
  std::size_t most = 0;
  for (const LandmarkTable& table : skeleton_tables()) {
    std::size_t known = 0;
    for (const auto& [landmark, bone] : table.bones) known += find_bone_point(capture, table, landmark).has_value();
    if (!best || known > most) best = &table, most = known;
  }
  if (most == kLandmarkCount) return *best;
  // Ends of bones are no reason to leave a table that was made for such skeletons.
  LandmarkTable read = table_from_words(capture);
  const auto joints =
      std::ranges::count_if(read.bones, [](const auto& entry) { return !entry.second.ends_with(kTip); });
  return std::size_t(joints) > most ? read : *best;
}

}  // namespace kansetsu
