#include "motion/feet.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/geometry/geometry.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/solid.h"

namespace kansetsu::retargeting {
namespace {

/// The corners of a shape's box, in its own frame; none of one without size.
std::vector<Vec3<>> corners(const Shape& shape) {
  Vec3<> half{};
  if (const auto* s = std::get_if<Sphere>(&shape)) half = {s->radius, s->radius, s->radius};
  if (const auto* s = std::get_if<Box>(&shape)) half = 0.5 * s->size;
  if (const auto* s = std::get_if<Cylinder>(&shape)) half = {s->radius, s->radius, s->length / 2};
  if (const auto* s = std::get_if<Capsule>(&shape)) half = {s->radius, s->radius, s->length / 2 + s->radius};
  if (const auto* s = std::get_if<ConvexHull>(&shape)) return s->vertices;
  std::vector<Vec3<>> out;
  if (half == Vec3<>{}) return out;
  for (const double x : {-half.x, half.x})
    for (const double y : {-half.y, half.y})
      for (const double z : {-half.z, half.z}) out.push_back({x, y, z});
  return out;
}

struct Extent {
  Vec3<> low{INFINITY, INFINITY, INFINITY}, high{-INFINITY, -INFINITY, -INFINITY};
  void add(const Vec3<>& p) {
    low = {std::min(low.x, p.x), std::min(low.y, p.y), std::min(low.z, p.z)};
    high = {std::max(high.x, p.x), std::max(high.y, p.y), std::max(high.z, p.z)};
  }
  bool empty() const { return !(low.x <= high.x); }
};

FootContacts sole_of(const Model& model, const LinkPoses& poses, const LinkPoint& ankle, const LinkPoint* toe) {
  FootContacts foot;
  foot.link = model.link_id(ankle.link);
  const Transform<>& X_WL = poses[foot.link];
  Extent extent;
  // The foot and what hangs on it, such as toes.
  for (int i = foot.link.value(); i < model.link_count(); ++i) {
    bool below = i == foot.link.value();
    for (auto up = model.parent(LinkId(i)); up && !below; up = model.parent(*up)) below = *up == foot.link;
    if (!below) continue;
    for (const LinkShape& shape : model.link(LinkId(i)).collisions)
      for (const Vec3<>& c : corners(shape.shape)) extent.add(poses[LinkId(i)] * (to_transform(shape.origin) * c));
  }
  if (extent.empty()) {  // a stick: from under the ankle to the toe
    const Vec3<> p = X_WL * ankle.at,
                 tip = toe ? poses[model.link_id(toe->link)] * toe->at : p + Vec3<>{0.15, 0, -0.08};
    extent.add({p.x - 0.05, p.y - 0.04, tip.z});
    extent.add({tip.x, p.y + 0.04, p.z});
  }
  const double y = 0.5 * (extent.low.y + extent.high.y);
  const Transform<> X_LW = inverse(X_WL);
  foot.heel = X_LW * Vec3<>{extent.low.x, y, extent.low.z};
  foot.toe = X_LW * Vec3<>{extent.high.x, y, extent.low.z};
  foot.width = extent.high.y - extent.low.y;
  return foot;
}

std::vector<double> speeds(const std::vector<Vec3<>>& path, const std::vector<double>& times) {
  constexpr double kWindow = 0.025;  // [s] to either side: captures jitter from frame to frame
  const auto n = static_cast<int>(path.size());
  std::vector<double> out(path.size(), 0);
  for (int k = 0; k < n; ++k) {
    int a = k, b = k;
    const auto t = [&](int i) { return times[static_cast<std::size_t>(i)]; };
    while (a > 0 && t(k) - t(a) < kWindow) --a;
    while (b + 1 < n && t(b) - t(k) < kWindow) ++b;
    if (b > a)
      out[static_cast<std::size_t>(k)] =
          norm(path[static_cast<std::size_t>(b)] - path[static_cast<std::size_t>(a)]) / (t(b) - t(a));
  }
  return out;
}

/// Stretches of one value that are shorter than `shortest` take that of their surroundings.
void drop_short(std::vector<std::uint8_t>& flags, const std::vector<double>& times, double shortest,
                std::uint8_t value) {
  for (std::size_t k = 0; k < flags.size();) {
    std::size_t end = k;
    while (end < flags.size() && flags[end] == flags[k]) ++end;
    const bool inside = k > 0 && end < flags.size();
    if (inside && flags[k] == value && times[end] - times[k] < shortest)
      std::fill(flags.begin() + static_cast<long>(k), flags.begin() + static_cast<long>(end), std::uint8_t(!value));
    k = end;
  }
}

std::vector<std::uint8_t> mark(const std::vector<Vec3<>>& path, const std::vector<double>& speed,
                               const std::vector<double>& times, const ContactOptions& o) {
  constexpr double kStray = 0.08;  // [m] from where it landed: a foot that is dragged does not stand
  std::vector<std::uint8_t> down(path.size(), 0);
  bool on = false;
  Vec3<> place{};
  for (std::size_t k = 0; k < path.size(); ++k) {
    const bool strayed = on && std::hypot(path[k].x - place.x, path[k].y - place.y) > kStray;
    const bool release = path[k].z > o.release_height || speed[k] > o.release_speed || strayed;
    const bool engage = path[k].z < o.height && speed[k] < o.speed;
    if (on && release)
      on = false;
    else if (!on && engage)
      on = true, place = path[k];
    down[k] = on;
  }
  drop_short(down, times, o.shortest, 0);
  drop_short(down, times, o.shortest, 1);
  return down;
}

/// Where a foot stands from frame `begin` to `end`: flat on the floor, at the mean of its flat moments.
struct Stance {
  std::size_t begin = 0, end = 0;
  Vec3<> heel{}, toe{}, left{};  ///< left: unit vector across the sole
};

Stance stance_of(const SolePath& path, const FootContacts& foot, std::size_t begin, std::size_t end) {
  Stance s{begin, end};
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

/// 1 while down within the stance, falling smoothly to 0 over blend_time to both sides.
double nearness(const std::vector<std::uint8_t>& down, const std::vector<double>& times, const Stance& s, std::size_t k,
                double blend_time) {
  double gap = INFINITY;
  for (std::size_t i = s.begin; i < s.end; ++i)
    if (down[i]) gap = std::min(gap, std::abs(times[i] - times[k]));
  if (gap == 0) return 1;
  if (!(gap < blend_time)) return 0;
  const double x = 1 - gap / blend_time;
  return x * x * (3 - 2 * x);
}

}  // namespace

std::vector<FootContacts> find_soles(const Model& model, const std::map<Landmark, LinkPoint>& landmarks) {
  const LinkPoses poses = fk(model, neutral(model));
  std::vector<FootContacts> out;
  for (const auto& [name, ankle, toe] : {std::tuple{"left", Landmark::kAnkleL, Landmark::kToeL},
                                         std::tuple{"right", Landmark::kAnkleR, Landmark::kToeR}}) {
    const auto a = landmarks.find(ankle), t = landmarks.find(toe);
    if (a == landmarks.end()) continue;
    out.push_back(sole_of(model, poses, a->second, t == landmarks.end() ? nullptr : &t->second));
    out.back().name = name;
  }
  return out;
}

Vec3<> side_point(const Model& model, const FootContacts& foot) {
  const Transform<> X_WL = fk(model, neutral(model))[foot.link];
  return inverse(X_WL) * (X_WL * foot.toe + Vec3<>{0, foot.width / 2, 0});
}

SolePath sole_path(const Model& model, const Clip& clip, const FootContacts& foot) {
  SolePath path;
  Workspace work(model);
  LinkPoses poses(model);
  const Vec3<> side = side_point(model, foot);
  for (int k = 0; k < clip.frames(); ++k) {
    fk(model, clip.q.col(k), work, poses);
    const Transform<>& X = poses[foot.link];
    path.heel.push_back(X * foot.heel);
    path.toe.push_back(X * foot.toe);
    path.side.push_back(X * side);
  }
  path.heel_speed = speeds(path.heel, clip.times);
  path.toe_speed = speeds(path.toe, clip.times);
  return path;
}

double estimate_floor(const std::vector<SolePath>& paths, const ContactOptions& options) {
  std::vector<double> slow, any;
  for (const SolePath& path : paths) {
    for (std::size_t k = 0; k < path.heel.size(); ++k) {
      const bool heel_lower = path.heel[k].z < path.toe[k].z;
      const double z = heel_lower ? path.heel[k].z : path.toe[k].z;
      any.push_back(z);
      if ((heel_lower ? path.heel_speed[k] : path.toe_speed[k]) < options.speed) slow.push_back(z);
    }
  }
  std::vector<double>& heights = slow.size() > 10 ? slow : any;
  if (heights.empty()) return 0;
  // A fifth may lie lower: soles press into soft shoes, and markers slip.
  const auto rank = heights.begin() + static_cast<long>(heights.size() / 5);
  std::nth_element(heights.begin(), rank, heights.end());
  return *rank;
}

void mark_contacts(const SolePath& path, const std::vector<double>& times, const ContactOptions& options,
                   FootContacts& foot) {
  foot.heel_down = mark(path.heel, path.heel_speed, times, options);
  foot.toe_down = mark(path.toe, path.toe_speed, times, options);
}

PinnedPath pin(const SolePath& path, const FootContacts& foot, const std::vector<double>& times, double blend_time) {
  const std::size_t n = path.heel.size();
  PinnedPath out{path.heel, path.toe, path.side, std::vector<double>(n, 0), std::vector<double>(n, 0)};
  std::vector<Vec3<>> heel_sum(n), toe_sum(n), side_sum(n);
  std::vector<double> heel_total(n, 0), toe_total(n, 0);
  for (std::size_t k = 0; k < n;) {
    if (!foot.down(static_cast<int>(k))) {
      ++k;
      continue;
    }
    std::size_t end = k;
    while (end < n && foot.down(static_cast<int>(end))) ++end;
    const Stance s = stance_of(path, foot, k, end);
    const Vec3<> side = s.toe + (norm(path.side[k] - path.toe[k])) * s.left;
    for (std::size_t i = 0; i < n; ++i) {
      if (times[i] < times[k] - blend_time || times[i] > times[end - 1] + blend_time) continue;
      const double h = nearness(foot.heel_down, times, s, i, blend_time),
                   t = nearness(foot.toe_down, times, s, i, blend_time);
      heel_sum[i] += h * (s.heel - path.heel[i]), heel_total[i] += h;
      toe_sum[i] += t * (s.toe - path.toe[i]), toe_total[i] += t;
      side_sum[i] += t * (side - path.side[i]);
    }
    k = end;
  }
  for (std::size_t i = 0; i < n; ++i) {
    const double h = std::max(1.0, heel_total[i]), t = std::max(1.0, toe_total[i]);
    out.heel[i] += (1 / h) * heel_sum[i];
    out.toe[i] += (1 / t) * toe_sum[i];
    out.side[i] += (1 / t) * side_sum[i];
    for (auto* p : {&out.heel[i], &out.toe[i], &out.side[i]}) p->z = std::max(p->z, 0.0);
    out.heel_weight[i] = std::min(1.0, heel_total[i]);
    out.toe_weight[i] = std::min(1.0, toe_total[i]);
  }
  return out;
}

}  // namespace kansetsu::retargeting
