#include "motion/feet.h"

#include <algorithm>
#include <cmath>

namespace kansetsu::retargeting {
namespace {

/// When one end of a sole is held.
std::vector<std::uint8_t> held(const std::vector<std::uint8_t>& down, const std::vector<Vec3<>>& path,
                               const std::vector<double>& times) {
  constexpr double kHeight = 0.03, kSpeed = 0.5, kStray = 0.05, kWindow = 0.025;  // [m, m/s, m, s]
  std::vector<std::uint8_t> out(down.size(), 0);
  Vec3<> place{};
  for (std::size_t k = 0; k < down.size(); ++k) {
    if (!down[k] || path[k].z > kHeight) continue;
    std::size_t a = k, b = k;
    while (a > 0 && times[k] - times[a] < kWindow) --a;
    while (b + 1 < path.size() && times[b] - times[k] < kWindow) ++b;
    if (!(norm(path[b] - path[a]) < kSpeed * (times[b] - times[a]))) continue;
    const bool before = k > 0 && out[k - 1];
    if (before && std::hypot(path[k].x - place.x, path[k].y - place.y) > kStray) continue;
    if (!before) place = path[k];
    out[k] = 1;
  }
  return out;
}

/// Where a foot stands from frame `begin` to `end`: flat on the floor, at the mean of its flat moments.
struct FootStance {
  std::size_t begin = 0, end = 0;
  Vec3<> heel{}, toe{}, left{};  ///< left: unit vector across the sole
};

FootStance stance_of(const SolePath& path, const FootContacts& foot, std::size_t begin, std::size_t end) {
  FootStance s{begin, end};
  const auto gather = [&](auto&& wanted) {
    Vec3<> middle{}, along{};
    double count = 0;
    for (std::size_t k = begin; k < end; ++k) {
      if (!wanted(k)) continue;
      middle += 0.5 * (path.heel[k] + path.toe[k]);
      along += path.toe[k] - path.heel[k];
      ++count;
    }
    if (count == 0) return false;
    const double level = std::hypot(along.x, along.y), length = norm(path.toe[begin] - path.heel[begin]);
    const Vec3<> direction = level > 0 ? Vec3<>{along.x / level, along.y / level, 0} : Vec3<>{1, 0, 0};
    middle = (1 / count) * middle;
    middle.z = 0;
    s.heel = middle - 0.5 * length * direction;
    s.toe = middle + 0.5 * length * direction;
    s.left = {-direction.y, direction.x, 0};
    return true;
  };
  if (gather([&](std::size_t k) { return foot.heel_down[k] && foot.toe_down[k]; })) return s;
  gather([](std::size_t) { return true; });
  // Never flat: what was down stays where it was.
  Vec3<> p{};
  double count = 0;
  const bool by_toe = std::any_of(foot.toe_down.begin() + static_cast<long>(begin),
                                  foot.toe_down.begin() + static_cast<long>(end), [](auto d) { return d != 0; });
  for (std::size_t k = begin; k < end; ++k) {
    if (by_toe ? !foot.toe_down[k] : !foot.heel_down[k]) continue;
    p += by_toe ? path.toe[k] : path.heel[k];
    ++count;
  }
  p = (1 / count) * p;
  const Vec3<> shift = Vec3<>{p.x, p.y, 0} - (by_toe ? s.toe : s.heel);
  s.heel += shift;
  s.toe += shift;
  return s;
}

/// How much of a correction holds in frame k, and in which frame it was found: all of its own while the end of the sole is
/// down, falling smoothly to none over blend_time to both sides.
struct Share {
  double weight = 0;
  std::size_t frame = 0;
};
Share share_of(const std::vector<std::uint8_t>& down, const std::vector<double>& times, const FootStance& s,
               std::size_t k, double blend_time) {
  if (k >= s.begin && k < s.end && down[k]) return {1, k};
  Share share;
  double gap = INFINITY;
  const auto look = [&](std::size_t i) {
    if (!down[i] || std::abs(times[i] - times[k]) >= gap) return;
    gap = std::abs(times[i] - times[k]);
    share.frame = i;
  };
  for (std::size_t i = s.begin; i < s.end; ++i) look(i);
  if (!(gap < blend_time)) return {};
  const double x = 1 - gap / blend_time;
  share.weight = x * x * (3 - 2 * x);
  return share;
}

/// Heel, toe and side at their distances again; what is pinned most moves least.
void make_rigid(const SolePath& path, std::size_t i, PinnedPath& out) {
  const double length = norm(path.toe[i] - path.heel[i]), half_width = norm(path.side[i] - path.toe[i]);
  const Vec3<> span = out.toe[i] - out.heel[i], across = out.side[i] - out.toe[i];
  if (!(norm(span) > 0.1 * length)) return;
  const Vec3<> along = (1 / norm(span)) * span, square = across - dot(across, along) * along;
  const double weights = out.heel_weight[i] + out.toe_weight[i], s = weights > 0 ? out.toe_weight[i] / weights : 0.5;
  const Vec3<> pivot = out.heel[i] + s * span;
  out.heel[i] = pivot - s * length * along;
  out.toe[i] = pivot + (1 - s) * length * along;
  if (norm(square) > 0) out.side[i] = out.toe[i] + (half_width / norm(square)) * square;
}

}  // namespace

FootContacts steady(const FootContacts& foot, const SolePath& path, const std::vector<double>& times) {
  FootContacts out = foot;
  out.heel_down = held(foot.heel_down, path.heel, times), out.toe_down = held(foot.toe_down, path.toe, times);
  const std::vector<std::uint8_t> heel = out.heel_down, toe = out.toe_down;
  // Where an end landed again within a stance, the whole foot did.
  for (std::size_t k = 1; k + 1 < heel.size(); ++k)
    for (const auto* end : {&heel, &toe})
      if ((*end)[k - 1] && !(*end)[k] && (*end)[k + 1]) out.heel_down[k] = out.toe_down[k] = 0;
  return out;
}

PinnedPath pin(const SolePath& path, const FootContacts& foot, const std::vector<double>& times, double blend_time) {
  const std::size_t n = path.heel.size();
  PinnedPath out{path.heel, path.toe, path.side, std::vector<double>(n, 0), std::vector<double>(n, 0)};
  std::vector<Vec3<>> heel(n), toe(n), side(n);  // corrections, weighted
  for (std::size_t k = 0; k < n;) {
    if (!foot.down(static_cast<int>(k))) {
      ++k;
      continue;
    }
    std::size_t end = k;
    while (end < n && foot.down(static_cast<int>(end))) ++end;
    const FootStance s = stance_of(path, foot, k, end);
    const Vec3<> edge = s.toe + norm(path.side[k] - path.toe[k]) * s.left;
    for (std::size_t i = 0; i < n; ++i) {
      if (times[i] < times[k] - blend_time || times[i] > times[end - 1] + blend_time) continue;
      const Share h = share_of(foot.heel_down, times, s, i, blend_time),
                  t = share_of(foot.toe_down, times, s, i, blend_time);
      heel[i] += h.weight * (s.heel - path.heel[h.frame]);
      toe[i] += t.weight * (s.toe - path.toe[t.frame]);
      side[i] += t.weight * (edge - path.side[t.frame]);
      out.heel_weight[i] += h.weight;
      out.toe_weight[i] += t.weight;
    }
    k = end;
  }
  for (std::size_t i = 0; i < n; ++i) {
    // Between two stances that follow closely, the mean of both.
    const double h = std::max(1.0, out.heel_weight[i]), t = std::max(1.0, out.toe_weight[i]);
    out.heel[i] += (1 / h) * heel[i];
    out.toe[i] += (1 / t) * toe[i];
    out.side[i] += (1 / t) * side[i];
    for (auto* p : {&out.heel[i], &out.toe[i], &out.side[i]}) p->z = std::max(p->z, 0.0);
    out.heel_weight[i] /= h;
    out.toe_weight[i] /= t;
    make_rigid(path, i, out);
  }
  return out;
}

}  // namespace kansetsu::retargeting
