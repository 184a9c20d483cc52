#include "motion/bone_jumps.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/spatial/rotations.h"

namespace kansetsu::retargeting {
namespace {

/// [rad/s] From frame to frame a bone turns no faster: kicks and sprints stay below 40.
constexpr double kFastestTurn = 60;
/// [rad/s] Across frames that are left out it turns as limbs do that are in no hurry: so a bone that stays on the other side gets there
/// within 0.16 s.
constexpr double kTurnAcross = 20;
/// [frames] that take so long at 3 kHz, faster than cameras of people: at a rate beyond, which is wrong, everything jumps.
constexpr int kMostReach = 500;

/// Of n frames, the longest sequence in which each can follow the one before; any can across more than `reach` frames.
template <class Follows>
std::vector<int> longest_way(int n, int reach, const Follows& follows) {
  std::vector<int> length(std::size_t(n), 1), before(std::size_t(n), -1);
  int far = -1, last = 0;  // the best of what is out of reach, and the best of all
  for (int k = 0; k < n; ++k) {
    const auto come_from = [&](int i) {
      if (length[std::size_t(i)] < length[std::size_t(k)]) return;
      length[std::size_t(k)] = length[std::size_t(i)] + 1, before[std::size_t(k)] = i;
    };
    for (int i = k - 1; i >= std::max(0, k - reach); --i)
      if (follows(i, k)) come_from(i);
    if (const int i = k - reach - 1; i >= 0 && (far < 0 || length[std::size_t(i)] > length[std::size_t(far)])) far = i;
    if (far >= 0) come_from(far);
    if (length[std::size_t(k)] > length[std::size_t(last)]) last = k;
  }
  std::vector<int> way;
  for (int k = last; k >= 0; k = before[std::size_t(k)]) way.push_back(k);
  std::reverse(way.begin(), way.end());
  return way;
}

/// Turns between those of the frames in `way`, and at either end those of its first and last one. @return  the first that changed
template <class Turns>
int interpolate_turns(const std::vector<int>& way, int n, const Turns& turn) {
  int first = way.front() > 0 ? 0 : n;
  for (int k = 0; k < way.front(); ++k) turn(k) = turn(way.front());
  for (std::size_t i = 1; i < way.size(); ++i) {
    const int a = way[i - 1], b = way[i];
    if (b > a + 1) first = std::min(first, a + 1);
    for (int k = a + 1; k < b; ++k) turn(k) = slerp(turn(a), turn(b), double(k - a) / (b - a));
  }
  if (way.back() + 1 < n) first = std::min(first, way.back() + 1);
  for (int k = way.back() + 1; k < n; ++k) turn(k) = turn(way.back());
  return first;
}

}  // namespace

std::vector<BoneJump> bridge_jumps(Capture& capture, const std::vector<bool>& moving, int first) {
  std::vector<BoneJump> out;
  const int n = capture.frames() - first;
  const double step = capture.frame_time;
  const double slowest = std::ceil(std::numbers::pi / (kTurnAcross * step));  // [frames] for half a turn
  if (!(slowest <= kMostReach)) return out;
  const int reach = std::min(n, int(slowest));
  for (std::size_t b = 0; b < capture.bones.size(); ++b) {
    if (!moving[b]) continue;
    const auto turn = [&](int k) -> Quaternion<>& {
      return capture.poses[std::size_t(k + first) * capture.bones.size() + b].turn;
    };
    bool jumps = false;
    for (int k = 1; k < n; ++k) jumps |= angular_distance(turn(k - 1), turn(k)) > kFastestTurn * step;
    if (!jumps) continue;
    const std::vector<int> way = longest_way(n, reach, [&](int i, int k) {
      return angular_distance(turn(i), turn(k)) <= (k == i + 1 ? kFastestTurn : kTurnAcross * (k - i)) * step;
    });
    const int changed = interpolate_turns(way, n, turn);
    out.push_back({int(b), changed + first, n - int(way.size())});
  }
  return out;
}

}  // namespace kansetsu::retargeting
