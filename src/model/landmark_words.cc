#include "model/landmark_words.h"

#include <algorithm>
#include <cctype>
#include <span>

namespace kansetsu {
namespace {

using Names = std::span<const std::string_view>;
constexpr std::string_view kThighWords[]{"thigh", "femur", "upleg", "upperleg", "hip"},
    kKneeWords[]{"knee", "shin", "calf", "tibia", "shank", "lowerleg", "lowleg", "loleg"},
    kAnkleWords[]{"ankle", "foot"}, kToeWords[]{"toe", "ball", "foot"},
    kElbowWords[]{"elbow", "forearm", "farm", "lowerarm", "lowarm", "loarm", "radius", "ulna"},
    kUpperArmWords[]{"humerus", "uparm", "upperarm", "shoulder"}, kWristWords[]{"wrist", "hand", "palm"},
    kNeckWords[]{"neck"}, kHeadWords[]{"head"}, kTrunkWords[]{"chest", "thorax", "torso"},
    kHelperWords[]{"twist", "roll", "pole", "target", "control", "end", "nub", "site"};

bool has_any(std::string_view part, Names names) {
  return std::any_of(names.begin(), names.end(), [&](auto name) { return part.find(name) != std::string_view::npos; });
}
bool begins_with_any(std::string_view part, Names names) {
  return std::any_of(names.begin(), names.end(), [&](auto name) { return part.starts_with(name); });
}

enum class BodySide { kMiddle, kLeft, kRight };

/// What a name says: "mixamorig:LeftUpLeg", "Bip01 L Thigh", "UpperLeg_L" and "lthigh" are all a side and a part.
struct BoneWords {
  BodySide side = BodySide::kMiddle;
  std::string part{};  ///< lower case letters, without marks between words
};

/// "LeftUpLeg" is Left, Up, Leg; "LUArm" is L, U, Arm; digits and marks part words, too.
std::vector<std::string> split(std::string_view name) {
  const std::size_t colon = name.rfind(':');
  if (colon != std::string_view::npos) name.remove_prefix(colon + 1);
  const auto is = [&](std::size_t i, int (*kind)(int)) {
    return i < name.size() && kind(static_cast<unsigned char>(name[i])) != 0;
  };
  std::vector<std::string> words(1);
  for (std::size_t i = 0; i < name.size(); ++i) {
    const bool after_side = i == 1 && (name[0] == 'L' || name[0] == 'R');
    const bool begins =
        is(i, std::isupper) && i > 0 &&
        (is(i - 1, std::islower) || (is(i - 1, std::isupper) && (after_side || is(i + 1, std::islower))));
    if (!words.back().empty() && (begins || !is(i, std::isalpha))) words.emplace_back();
    if (is(i, std::isalpha)) words.back() += char(std::tolower(static_cast<unsigned char>(name[i])));
  }
  return words;
}

/// The side that a word names, which is taken off it: "left", "l", "leftfoot", "footleft", "lthigh".
BodySide take_side(std::string& word) {
  struct Mark {
    std::string_view word;
    BodySide side;
  };
  for (const auto& [mark, side] : {Mark{"left", BodySide::kLeft}, {"right", BodySide::kRight}}) {
    if (word.starts_with(mark))
      word.erase(0, mark.size());
    else if (word.ends_with(mark))
      word.erase(word.size() - mark.size());
    else
      continue;
    return side;
  }
  for (const auto& [mark, side] : {Mark{"l", BodySide::kLeft}, {"r", BodySide::kRight}}) {
    if (!word.starts_with(mark)) continue;
    const std::string_view rest = std::string_view(word).substr(mark.size());
    const bool bone = begins_with_any(rest, kThighWords) || begins_with_any(rest, kKneeWords) ||
                      begins_with_any(rest, kAnkleWords) || begins_with_any(rest, kToeWords) ||
                      begins_with_any(rest, kElbowWords) || begins_with_any(rest, kUpperArmWords) ||
                      begins_with_any(rest, kWristWords);
    if (!rest.empty() && !bone) continue;
    word.erase(0, mark.size());
    return side;
  }
  return BodySide::kMiddle;
}

BoneWords words_of(std::string_view name) {
  BoneWords out;
  for (std::string& word : split(name)) {
    if (out.side == BodySide::kMiddle) out.side = take_side(word);
    out.part += word;
  }
  return out;
}

class WordReader {
 public:
  explicit WordReader(const Capture& capture) : capture_(capture) {
    for (const Bone& bone : capture.bones) words_.push_back(words_of(bone.name));
  }

  LandmarkTable run() {
    using enum Landmark;
    table_.name = "names";
    const int hips[] = {leg(BodySide::kLeft, kHipL), leg(BodySide::kRight, kHipR)};
    const int shoulders[] = {arm(BodySide::kLeft, kShoulderL), arm(BodySide::kRight, kShoulderR)};
    const int pelvis = meeting(hips[0], hips[1]);
    if (pelvis >= 0) put(kPelvis, pelvis);
    const int meet = meeting(shoulders[0], shoulders[1]),
              chest = meet >= 0 ? meet : first(BodySide::kMiddle, kTrunkWords, {});
    if (chest >= 0 && chest != pelvis) put(kChest, chest);
    if (const int neck = first(BodySide::kMiddle, kNeckWords, {}); neck >= 0) put(kNeck, neck);
    if (const int head = first(BodySide::kMiddle, kHeadWords, {}); head >= 0) put(kHead, head);
    return std::move(table_);
  }

 private:
  const BoneWords& words(int bone) const { return words_[std::size_t(bone)]; }
  int parent(int bone) const { return capture_.bones[std::size_t(bone)].parent; }
  void put(Landmark landmark, int bone) { table_.bones[landmark] = capture_.bones[std::size_t(bone)].name; }

  bool below(int bone, int above) const {
    for (int b = parent(bone); b >= 0; b = parent(b))
      if (b == above) return true;
    return false;
  }
  /// Of a side and a name, below a bone; parents come first. Helpers of riggers carry nothing. -1: none
  int first(BodySide side, Names names, std::optional<int> above) const {
    for (int b = 0; b < int(words_.size()); ++b)
      if (words(b).side == side && has_any(words(b).part, names) && !has_any(words(b).part, kHelperWords) &&
          (!above || below(b, *above)))
        return b;
    return -1;
  }
  /// The bone of the same side next above.
  int next_above(int bone) const {
    for (int b = parent(bone); b >= 0 && words(b).side == words(bone).side; b = parent(b))
      if (!has_any(words(b).part, kHelperWords)) return b;
    return -1;
  }
  int meeting(int a, int b) const {
    if (a < 0 || b < 0) return -1;
    for (int up = parent(a); up >= 0; up = parent(up))
      if (below(b, up)) return up;
    return -1;
  }

  /// From the middle joint of a limb, whose names are least mistaken: up to its first joint, down to its last. @return  the first
  int limb(int middle, Names ends, Landmark start) {
    if (middle < 0) return -1;
    const int top = next_above(middle), end = first(words(middle).side, ends, middle);
    if (top < 0 || end < 0) return -1;
    put(start, top), put(Landmark(int(start) + 1), middle), put(Landmark(int(start) + 2), end);
    return top;
  }
  /// Where knees have no name of their own, a leg below a leg: "UpLeg" and "Leg".
  int leg(BodySide side, Landmark hip) {
    int knee = first(side, kKneeWords, {});
    for (int b = 0; knee < 0 && b < int(words_.size()); ++b)
      if (words(b).side == side && words(b).part == "leg" && next_above(b) >= 0) knee = b;
    const int top = limb(knee, kAnkleWords, hip);
    if (top < 0) return -1;
    const Landmark ankle = Landmark(int(hip) + 2), toe = Landmark(int(hip) + 3);
    const int foot = *capture_.find_bone(table_.bones.at(ankle));
    if (const int tip = first(side, kToeWords, foot); tip >= 0)
      put(toe, tip);
    else if (capture_.bones[std::size_t(foot)].tip)
      table_.bones[toe] = capture_.bones[std::size_t(foot)].name + ".tip";
    return top;
  }
  int arm(BodySide side, Landmark shoulder) { return limb(first(side, kElbowWords, {}), kWristWords, shoulder); }

  const Capture& capture_;
  std::vector<BoneWords> words_;
  LandmarkTable table_;
};

}  // namespace

LandmarkTable table_from_words(const Capture& capture) { return WordReader(capture).run(); }

}  // namespace kansetsu
