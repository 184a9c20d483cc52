#include <algorithm>

#include "kansetsu/ik/task.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/motion/analysis.h"

namespace kansetsu {
namespace {

/// The way of a point of a link through a clip.
std::vector<Vec3<>> path_of(const Model& model, const Clip& clip, const ik::FrameOn& frame) {
  Workspace work(model);
  LinkPoses poses(model);
  std::vector<Vec3<>> path;
  for (int k = 0; k < clip.frames(); ++k) {
    fk(model, clip.q.col(k), work, poses);
    path.push_back((poses[frame.link] * frame.X_LF).p);
  }
  return path;
}

bool any_down(const std::vector<SupportHistory>& supports, std::size_t frame) {
  return std::any_of(supports.begin(), supports.end(), [&](const auto& s) { return s.touching[frame] != 0; });
}

/// Frames without any foot in which the point stays within `still` of where it is for at least `time`, all of that time.
std::vector<std::uint32_t> resting(const std::vector<Vec3<>>& path, const Clip& clip,
                                   const std::vector<SupportHistory>& feet, const SupportOptions& options) {
  std::vector<std::uint32_t> rests(path.size(), 0);
  for (std::size_t first = 0; first < path.size(); ++first) {
    if (any_down(feet, first)) continue;
    std::size_t last = first;
    while (last + 1 < path.size() && !any_down(feet, last + 1) &&
           norm(path[last + 1] - path[first]) < options.hand_still)
      ++last;
    if (clip.times[last] - clip.times[first] >= options.hand_time)
      std::fill(rests.begin() + long(first), rests.begin() + long(last) + 1, 1u);
  }
  return rests;
}

/// Captured floors are uneven and feet are no boards: an end of a foot that is down is down, too, while it is low and hardly moves, and
/// goes on being so when the other end lifts.
constexpr double kJoinHeight = 0.06, kJoinSpeed = 0.4;  // [m, m/s]

std::vector<std::uint8_t> still_and_low(const std::vector<Vec3<>>& path, const std::vector<double>& times) {
  std::vector<std::uint8_t> still(path.size(), 0);
  for (std::size_t k = 0; k < path.size(); ++k) {
    const std::size_t before = k > 1 ? k - 2 : 0, after = std::min(k + 2, path.size() - 1);
    const double speed = norm(path[after] - path[before]) / (times[after] - times[before]);
    still[k] = path[k].z < kJoinHeight && speed < kJoinSpeed;
  }
  return still;
}

/// Heel and toe as they are marked, and joined: one bit each per frame.
std::vector<std::uint8_t> joined_ends(const Model& model, const Clip& clip, const FootContacts& foot) {
  const auto still = [&](const Vec3<>& end) {
    return still_and_low(path_of(model, clip, {foot.link, {Mat3<>::identity(), end}}), clip.times);
  };
  const std::vector<std::uint8_t> heel = still(foot.heel), toe = still(foot.toe);
  std::vector<std::uint8_t> ends(foot.heel_down.size(), 0);
  for (std::size_t k = 0; k < ends.size(); ++k) {
    const bool stands = foot.heel_down[k] || foot.toe_down[k] || (k > 0 && ends[k - 1] != 0);
    if (foot.heel_down[k] || (stands && heel[k])) ends[k] |= 1;
    if (foot.toe_down[k] || (stands && toe[k])) ends[k] |= 2;
  }
  return ends;
}

/// Corners beside heel and toe.
SupportHistory to_support(const Model& model, const Clip& clip, const FootContacts& foot, double friction) {
  SupportHistory history;
  history.name = foot.name;
  history.support.link = foot.link;
  history.support.friction = friction;
  // Across the foot as it stands in the neutral configuration.
  const Vec3<> up = transpose_times(fk(model, neutral(model))[foot.link].R, Vec3<>{0, 0, 1});
  const Vec3<> side = cross(up, foot.toe - foot.heel);
  const Vec3<> half = (foot.width / 2 / std::max(norm(side), 1e-9)) * side;
  history.support.corners = {foot.heel + half, foot.heel - half, foot.toe + half, foot.toe - half};
  for (const std::uint8_t ends : joined_ends(model, clip, foot))
    history.touching.push_back((ends & 1 ? 0b0011u : 0) | (ends & 2 ? 0b1100u : 0));
  return history;
}

}  // namespace

std::vector<SupportHistory> find_supports(const Model& model, const Clip& clip, const SupportOptions& options) {
  return find_supports(model, clip, find_contacts(model, clip), options);
}

std::vector<SupportHistory> find_supports(const Model& model, const Clip& clip, const std::vector<FootContacts>& feet,
                                          const SupportOptions& options) {
  std::vector<SupportHistory> supports;
  for (const FootContacts& foot : feet) supports.push_back(to_support(model, clip, foot, options.friction));
  const std::vector<SupportHistory> soles = supports;
  for (const auto& [name, frame_name] : {std::pair{"left hand", "gripL"}, {"right hand", "gripR"}}) {
    if (!options.hands || !model.find_frame(frame_name)) continue;
    const ik::FrameOn grip = ik::frame_on(model, frame_name);
    SupportHistory history;
    history.name = name;
    history.support.link = grip.link;
    history.support.corners = {grip.X_LF.p};
    history.support.grips = true;
    history.touching = resting(path_of(model, clip, grip), clip, soles, options);
    if (std::count(history.touching.begin(), history.touching.end(), 0u) < clip.frames())
      supports.push_back(std::move(history));
  }
  return supports;
}

}  // namespace kansetsu
