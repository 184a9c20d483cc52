#include "kansetsu/model/landmarks.h"

#include <algorithm>
#include <cctype>

namespace kansetsu {
namespace {

using L = Landmark;

/// Both sides at once: names with '<' in place of the side's mark.
struct Sided {
  Landmark left, right;
  const char* bone;
};

LandmarkTable make_table(const char* name, std::map<Landmark, std::string> middle, const char* left, const char* right,
                         std::initializer_list<Sided> sided) {
  LandmarkTable table{.name = name, .bones = std::move(middle), .links = {}};
  const auto put_in = [](const std::string& text, const char* mark) {
    const std::size_t at = text.find('<');
    return text.substr(0, at) + mark + text.substr(at + 1);
  };
  for (const Sided& s : sided) {
    table.bones[s.left] = put_in(s.bone, left);
    table.bones[s.right] = put_in(s.bone, right);
  }
  return table;
}

std::vector<LandmarkTable> make_tables() {
  std::vector<LandmarkTable> t;
  t.push_back(make_table(
      "cgspeed", {{L::kPelvis, "Hips"}, {L::kChest, "Spine1"}, {L::kNeck, "Neck"}, {L::kHead, "Head"}}, "Left", "Right",
      {{L::kHipL, L::kHipR, "<UpLeg"},
       {L::kKneeL, L::kKneeR, "<Leg"},
       {L::kAnkleL, L::kAnkleR, "<Foot"},
       {L::kToeL, L::kToeR, "<ToeBase"},
       {L::kShoulderL, L::kShoulderR, "<Arm"},
       {L::kElbowL, L::kElbowR, "<ForeArm"},
       {L::kWristL, L::kWristR, "<Hand"}}));
  t.push_back(make_table(
      "3dsmax", {{L::kPelvis, "Hips"}, {L::kChest, "Chest2"}, {L::kNeck, "Neck"}, {L::kHead, "Head"}}, "Left", "Right",
      {{L::kHipL, L::kHipR, "<Hip"},
       {L::kKneeL, L::kKneeR, "<Knee"},
       {L::kAnkleL, L::kAnkleR, "<Ankle"},
       {L::kToeL, L::kToeR, "<Toe"},
       {L::kShoulderL, L::kShoulderR, "<Shoulder"},
       {L::kElbowL, L::kElbowR, "<Elbow"},
       {L::kWristL, L::kWristR, "<Wrist"}}));
  t.push_back(make_table(
      "asf", {{L::kPelvis, "root"}, {L::kChest, "thorax"}, {L::kNeck, "lowerneck"}, {L::kHead, "head"}}, "l", "r",
      {{L::kHipL, L::kHipR, "<femur"},
       {L::kKneeL, L::kKneeR, "<tibia"},
       {L::kAnkleL, L::kAnkleR, "<foot"},
       {L::kToeL, L::kToeR, "<toes"},
       {L::kShoulderL, L::kShoulderR, "<humerus"},
       {L::kElbowL, L::kElbowR, "<radius"},
       {L::kWristL, L::kWristR, "<wrist"}}));
  t.push_back(make_table("daz", {{L::kPelvis, "hip"}, {L::kChest, "chest"}, {L::kNeck, "neck"}, {L::kHead, "head"}},
                         "l", "r",
                         {{L::kHipL, L::kHipR, "<Thigh"},
                          {L::kKneeL, L::kKneeR, "<Shin"},
                          {L::kAnkleL, L::kAnkleR, "<Foot"},
                          {L::kToeL, L::kToeR, "<Foot.tip"},
                          {L::kShoulderL, L::kShoulderR, "<Shldr"},
                          {L::kElbowL, L::kElbowR, "<ForeArm"},
                          {L::kWristL, L::kWristR, "<Hand"}}));
  t.push_back(make_table(
      "makehuman", {{L::kPelvis, "Hips"}, {L::kChest, "Spine3"}, {L::kNeck, "Neck"}, {L::kHead, "Head"}}, "_L", "_R",
      {{L::kHipL, L::kHipR, "UpLeg<"},
       {L::kKneeL, L::kKneeR, "LoLeg<"},
       {L::kAnkleL, L::kAnkleR, "Foot<"},
       {L::kToeL, L::kToeR, "Toe<"},
       {L::kShoulderL, L::kShoulderR, "UpArm<"},
       {L::kElbowL, L::kElbowR, "LoArm<"},
       {L::kWristL, L::kWristR, "Hand<"}}));
  return t;
}

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
  const auto found = std::find(kLandmarkNames.begin(), kLandmarkNames.end(), name);
  if (found == kLandmarkNames.end()) return std::nullopt;
  return static_cast<Landmark>(found - kLandmarkNames.begin());
}

const std::vector<LandmarkTable>& skeleton_tables() {
  static const std::vector<LandmarkTable> tables = make_tables();
  return tables;
}

std::optional<BonePoint> find_bone_point(const Capture& capture, const LandmarkTable& table, Landmark landmark) {
  const auto entry = table.bones.find(landmark);
  if (entry == table.bones.end()) return std::nullopt;
  const std::string& name = entry->second;
  if (const auto bone = find_plain(capture, name)) return BonePoint{*bone, {}};
  constexpr std::string_view kTip = ".tip";
  if (!name.ends_with(kTip)) return std::nullopt;
  const auto bone = find_plain(capture, std::string_view(name).substr(0, name.size() - kTip.size()));
  if (!bone || !capture.bones[static_cast<std::size_t>(*bone)].tip) return std::nullopt;
  return BonePoint{*bone, *capture.bones[static_cast<std::size_t>(*bone)].tip};
}

const LandmarkTable& best_table(const Capture& capture) {
  const LandmarkTable* best = nullptr;
  int most = -1;
  for (const LandmarkTable& table : skeleton_tables()) {
    int known = 0;
    for (const auto& [landmark, bone] : table.bones) known += find_bone_point(capture, table, landmark).has_value();
    if (known > most) best = &table, most = known;
  }
  return *best;
}

}  // namespace kansetsu
