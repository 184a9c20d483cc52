#include "motion/capture_doubts.h"

#include <fmt/format.h>

#include <map>

#include "motion/retarget_codes.h"

namespace kansetsu::retargeting {
namespace {

using L = Landmark;

constexpr double kFastestBone = 20;  // [m/s] from frame to frame; hands of pitchers reach 15
constexpr double kLying = 0.3;       // cosine of trunk and upward on average: below, it does not stand
/// Cosine on average of hips and shoulders, and of hips and feet, by where they face: those of people who turn their waist, or stand on
/// their toes, are positive.
constexpr double kOpposite = -0.3;
/// [m] from hip to ankle, of an infant who begins to walk, and beyond the tallest people.
constexpr double kShortestLeg = 0.3, kLongestLeg = 1.4;

/// The mean of cosines.
struct MeanCosine {
  double sum = 0;
  int count = 0;
  void add(const Vec3<>& a, const Vec3<>& b) {
    const double size = norm(a) * norm(b);
    if (size > 0) sum += dot(a, b) / size, ++count;
  }
  bool opposite() const { return count > 0 && sum < kOpposite * count; }
};

class DoubtFinder {
 public:
  DoubtFinder(const Capture& capture, const BonePoints& bones, int first)
      : capture_(capture), bones_(bones), first_(first) {}

  std::vector<CaptureDoubt> run(double leg) {
    for (int k = first_; k < capture_.frames(); ++k) {
      bone_poses(capture_, k, now_);
      note_jumps(k);
      note_posture();
      before_ = now_;
    }
    tell_jumps();
    tell_posture();
    tell_size(leg);
    return std::move(out_);
  }

 private:
  bool known(L l) const { return at(bones_, l).has_value(); }
  Vec3<> point(L l) const {
    const auto& p = *at(bones_, l);
    return now_[std::size_t(p.bone)] * (capture_.unit * p.at);
  }

  void note_jumps(int k) {
    for (std::size_t i = 0; i < before_.size(); ++i) {
      if (!(norm(now_[i].p - before_[i].p) > kFastestBone * capture_.frame_time)) continue;
      auto& [first, count] = jumps_.try_emplace(int(i), k, 0).first->second;
      ++count;
    }
  }

  void note_posture() {
    if (!known(L::kHead) || !known(L::kPelvis)) return;
    const Vec3<> trunk =
        now_[std::size_t(at(bones_, L::kHead)->bone)].p - now_[std::size_t(at(bones_, L::kPelvis)->bone)].p;
    along_ += trunk, longest_ += norm(trunk);
    const Vec3<> left = point(L::kHipL) - point(L::kHipR), ahead = cross(left, trunk);
    if (known(L::kShoulderL) && known(L::kShoulderR)) shoulders_.add(left, point(L::kShoulderL) - point(L::kShoulderR));
    for (const auto& [ankle, toe] : {std::pair{L::kAnkleL, L::kToeL}, {L::kAnkleR, L::kToeR}})
      if (known(toe)) feet_.add(ahead, point(toe) - point(ankle));
  }

  void tell_jumps() {
    for (const auto& [bone, jump] : jumps_) {
      const int parent = capture_.bones[std::size_t(bone)].parent;
      if (parent >= 0 && jumps_.contains(parent)) continue;  // it was carried along
      out_.push_back({mapping::kJump,
                      fmt::format("bone '{}' moves faster than {:g} m/s in {} frames, first in frame {}",
                                  capture_.bones[std::size_t(bone)].name, kFastestBone, jump.second, jump.first),
                      "markers were exchanged, or the unit or the frame rate is wrong: forces there are meaningless"});
    }
  }

  void tell_posture() {
    if (longest_ > 0 && norm(along_) > 0.5 * longest_ && along_.z < kLying * norm(along_)) {
      out_.push_back(
          {mapping::kUp,
           fmt::format("the trunk points {} on average", along_.z < -kLying * norm(along_) ? "downward" : "sideways"),
           "if the person stands, rest pose and motion have different vertical axes: --up x|y|z"});
    }
    const bool arms = shoulders_.opposite(), feet = feet_.opposite();
    if (!arms && !feet) return;
    // Who has legs and arms exchanged walks backward on feet that point backward; with one of them, hips and shoulders disagree.
    const char* what = arms && feet ? "the legs are" : arms ? "the arms are" : "arms and legs are";
    out_.push_back({mapping::kSides,
                    fmt::format("left and right of {} exchanged: {}", what,
                                arms ? "hips and shoulders face opposite ways" : "the feet point backward"),
                    "correct the names of the bones, or write a table of landmarks: --landmarks FILE"});
  }

  void tell_size(double leg) {
    if (leg >= kShortestLeg && leg <= kLongestLeg) return;
    out_.push_back({mapping::kSize,
                    fmt::format("the legs are {:.3g} m long, with a unit of {:.3g} m", leg, capture_.unit),
                    "the unit is wrong: give its length with --unit"});
  }

  const Capture& capture_;
  const BonePoints& bones_;
  int first_;
  std::vector<Transform<>> now_, before_;
  std::map<int, std::pair<int, int>> jumps_;  ///< bone, its first jump and how many there are
  Vec3<> along_{};
  double longest_ = 0;
  MeanCosine shoulders_, feet_;
  std::vector<CaptureDoubt> out_;
};

}  // namespace

std::vector<CaptureDoubt> find_doubts(const Capture& capture, const BonePoints& bones, int first, double leg) {
  return DoubtFinder(capture, bones, first).run(leg);
}

}  // namespace kansetsu::retargeting
