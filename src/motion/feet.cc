#include "motion/feet.h"

#include <Eigen/Cholesky>
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

/// Stretches of one value that are shorter than `shortest` take that of their surroundings; gaps only if the point is back at
/// its place.
void drop_short(std::vector<std::uint8_t>& flags, const std::vector<Vec3<>>& path, const std::vector<double>& times,
                double shortest, std::uint8_t value) {
  constexpr double kSamePlace = 0.02;  // [m]
  for (std::size_t k = 0; k < flags.size();) {
    std::size_t end = k;
    while (end < flags.size() && flags[end] == flags[k]) ++end;
    const bool inside = k > 0 && end < flags.size();
    const bool back = inside && std::hypot(path[end].x - path[k - 1].x, path[end].y - path[k - 1].y) < kSamePlace;
    if (inside && flags[k] == value && times[end] - times[k] < shortest && (value == 1 || back))
      std::fill(flags.begin() + static_cast<long>(k), flags.begin() + static_cast<long>(end), std::uint8_t(!value));
    k = end;
  }
}

/// When one end of a sole is down. A foot that is dragged away from where it landed does not stand: it lands anew.
std::vector<std::uint8_t> mark(const std::vector<Vec3<>>& path, const std::vector<double>& speed,
                               const std::vector<double>& times, const FootContactOptions& o) {
  constexpr double kStray = 0.05;  // [m]
  std::vector<std::uint8_t> down(path.size(), 0);
  bool on = false;
  Vec3<> place{};
  for (std::size_t k = 0; k < path.size(); ++k) {
    const bool strayed = on && std::hypot(path[k].x - place.x, path[k].y - place.y) > kStray;
    const bool release = path[k].z > o.release_height || speed[k] > o.release_speed || strayed;
    const bool engage = path[k].z < o.height && speed[k] < o.speed;
    if (on && release) {
      on = false;
    } else if (!on && engage) {
      on = true;
      place = path[k];
    }
    down[k] = on;
  }
  drop_short(down, path, times, o.shortest, 0);
  drop_short(down, path, times, o.shortest, 1);
  return down;
}

/// Where an end landed anew within a stance, the whole foot did.
void split_stances(FootContacts& foot, const std::vector<std::uint8_t>& heel, const std::vector<std::uint8_t>& toe) {
  for (std::size_t k = 1; k + 1 < heel.size(); ++k)
    for (const auto* end : {&heel, &toe})
      if ((*end)[k - 1] && !(*end)[k] && (*end)[k + 1]) foot.heel_down[k] = foot.toe_down[k] = 0;
}

/// A robust fit to the points near a level floor, along the direction in which they spread most; none if they do not tell.
std::optional<Floor> fit_plane(const std::vector<Vec3<>>& points, const Floor& level, double largest_tilt) {
  constexpr double kReach = 1;       // [m] that the points must spread
  constexpr double kOutlier = 0.02;  // [m] from where on points count less
  constexpr double kGood = 0.012;    // [m] rms of a floor
  if (points.size() < 20) return std::nullopt;
  Floor floor = level;
  double rms = 0, spread = 0;
  for (int round = 0; round < 30; ++round) {
    // Weighted least squares over (1, x, y), with a ridge that keeps the slope zero where nothing tells it.
    Eigen::Matrix3d A = Eigen::Vector3d(1e-12, 0.02 * double(points.size()), 0.02 * double(points.size())).asDiagonal();
    Eigen::Vector3d b = Eigen::Vector3d::Zero(), mean = Eigen::Vector3d::Zero();
    double total = 0, squares = 0;
    for (const Vec3<>& p : points) {
      const double reach = largest_tilt * std::hypot(p.x - points[0].x, p.y - points[0].y);
      const double e = p.z - floor.height - dot(floor.slope, p);
      if (round == 0 ? e > 0.05 + reach : e > 3 * kOutlier) continue;
      const double w = kOutlier / std::max(kOutlier, std::abs(e));
      const Eigen::Vector3d row(1, p.x, p.y);
      A += w * row * row.transpose();
      b += w * p.z * row;
      mean += w * row;
      total += w;
      squares += w * e * e;
    }
    if (!(total > 0.2 * double(points.size()))) return std::nullopt;
    rms = std::sqrt(squares / total);
    const Eigen::Vector2d centre = mean.tail<2>() / total;
    const Eigen::Matrix2d cov = A.bottomRightCorner<2, 2>() / total - centre * centre.transpose();
    spread = std::sqrt(cov.trace());
    const Eigen::Vector3d x = A.ldlt().solve(b);
    floor = {x[0], {x[1], x[2], 0}};
  }
  if (spread < 0.3 * kReach || rms > kGood || norm(floor.slope) > largest_tilt) return std::nullopt;
  return floor;
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

/// How much of a correction holds in frame k, and in which frame it was found: all of its own while the end of the sole is
/// down, falling smoothly to none over blend_time to both sides.
struct Share {
  double weight = 0;
  std::size_t frame = 0;
};
Share share_of(const std::vector<std::uint8_t>& down, const std::vector<double>& times, const Stance& s, std::size_t k,
               double blend_time) {
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

Floor estimate_floor(const std::vector<SolePath>& paths, const FootContactOptions& options, double largest_tilt) {
  std::vector<Vec3<>> slow, any;  // lowest ends of soles
  for (const SolePath& path : paths) {
    for (std::size_t k = 0; k < path.heel.size(); ++k) {
      const bool heel = path.heel[k].z < path.toe[k].z;
      any.push_back(heel ? path.heel[k] : path.toe[k]);
      if ((heel ? path.heel_speed[k] : path.toe_speed[k]) < options.speed) slow.push_back(any.back());
    }
  }
  std::vector<Vec3<>>& points = slow.size() > 10 ? slow : any;
  if (points.empty()) return {};
  // A fifth may lie lower: soles press into soft shoes, and markers slip.
  const auto rank = points.begin() + static_cast<long>(points.size() / 5);
  std::nth_element(points.begin(), rank, points.end(), [](const Vec3<>& a, const Vec3<>& b) { return a.z < b.z; });
  const Floor level{rank->z, {}};
  const std::optional<Floor> plane = fit_plane(slow, level, largest_tilt);
  return plane ? *plane : level;
}

void mark_contacts(const SolePath& path, const std::vector<double>& times, const FootContactOptions& options,
                   FootContacts& foot) {
  foot.heel_down = mark(path.heel, path.heel_speed, times, options);
  foot.toe_down = mark(path.toe, path.toe_speed, times, options);
  split_stances(foot, std::vector(foot.heel_down), std::vector(foot.toe_down));
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
    const Stance s = stance_of(path, foot, k, end);
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
