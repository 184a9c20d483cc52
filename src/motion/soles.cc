#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "kansetsu/model/configuration.h"
#include "motion/feet.h"

/// Where soles are and go, and the floor they rest on.
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

}  // namespace kansetsu::retargeting
