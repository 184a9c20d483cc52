#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>

#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/motion/contacts.h"
#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"
#include "motion/body_targets.h"
#include "motion/feet.h"

/// The floor that soles rest on, and whether it moves.
namespace kansetsu {
namespace {

using namespace retargeting;

/// A low end of a sole in one frame.
struct Footing {
  Vec3<> p{}, v{};
  double time = 0;  ///< since the clip's first frame
};

/// The middle of the narrowest half, again and again: the mode of numbers, whatever else is among them [Robertson and Cryer 1974].
double half_sample_mode(std::vector<double> x) {
  std::sort(x.begin(), x.end());
  std::size_t begin = 0, size = x.size();
  while (size > 3) {
    const std::size_t half = (size + 1) / 2;
    std::size_t best = begin;
    for (std::size_t i = begin; i + half <= begin + size; ++i)
      if (x[i + half - 1] - x[i] < x[best + half - 1] - x[best]) best = i;
    begin = best, size = half;
  }
  double sum = 0;
  for (std::size_t i = begin; i < begin + size; ++i) sum += x[i];
  return sum / double(size);
}

/// Where the lower sole is in each frame, and how fast: over 25 ms to either side, as captures jitter.
std::vector<Footing> footings(const Model& model, const Clip& clip, const std::vector<FootContacts>& feet) {
  std::vector<SolePath> paths;
  for (const FootContacts& foot : feet) paths.push_back(sole_path(model, clip, foot));
  std::vector<Footing> out;
  for (const SolePath& path : paths)
    for (std::size_t k = 0; k < path.heel.size(); ++k)
      for (const auto* end : {&path.heel, &path.toe}) {
        const bool low = (*end)[k].z <= path.heel[k].z && (*end)[k].z <= path.toe[k].z;
        if (!low) continue;
        constexpr double kWindow = 0.025;
        std::size_t a = k, b = k;
        while (a > 0 && clip.times[k] - clip.times[a] < kWindow) --a;
        while (b + 1 < end->size() && clip.times[b] - clip.times[k] < kWindow) ++b;
        const double time = clip.times[b] - clip.times[a];
        out.push_back({(*end)[k], time > 0 ? (1 / time) * ((*end)[b] - (*end)[a]) : Vec3<>{},
                       clip.times[k] - clip.times.front()});
        break;
      }
  return out;
}

double level_distance(const Vec3<>& a, const Vec3<>& b) { return std::hypot(a.x - b.x, a.y - b.y); }

/// The velocity that low soles have most often, if it is that of a belt: the figure stays where it is while its soles go.
Vec3<> find_belt(const std::vector<Footing>& all, const Clip& clip, const Model& model) {
  constexpr double kLow = 0.03, kRadius = 0.15, kLeast = 0.3;  // [m, m/s, m/s]
  if (model.base() != Base::kFree || !(clip.duration() > 0.8)) return {};
  std::vector<double> heights;
  for (const Footing& f : all) heights.push_back(f.p.z);
  const double level = half_sample_mode(heights);
  std::vector<Vec3<>> v;
  for (const Footing& f : all)
    if (f.p.z < level + kLow) v.push_back({f.v.x, f.v.y, 0});
  if (v.size() < 20) return {};
  const auto near = [&](const Vec3<>& c) {
    return std::count_if(v.begin(), v.end(), [&](const Vec3<>& x) { return level_distance(x, c) < kRadius; });
  };
  Vec3<> mode{};
  long most = 0;
  for (std::size_t i = 0; i < v.size(); i += std::max<std::size_t>(1, v.size() / 200))
    if (const long count = near(v[i]); count > most) most = count, mode = v[i];
  // Soles that roll are a little slower or faster; those that stand flat are many at one velocity, which a smaller circle finds.
  for (const double radius : {kRadius, 0.5 * kRadius, 0.25 * kRadius}) {
    for (int round = 0; round < 10; ++round) {
      Vec3<> sum{};
      double count = 0;
      for (const Vec3<>& x : v)
        if (level_distance(x, mode) < radius) sum += x, ++count;
      if (count > 0) mode = (1 / count) * sum;
    }
  }
  if (std::hypot(mode.x, mode.y) < kLeast || near(mode) < 2 * near({})) return {};
  const int b = model.base_coordinates().q;
  const auto q0 = clip.q.col(0), q1 = clip.q.col(clip.frames() - 1);
  const Vec3<> drift = (1 / clip.duration()) * Vec3<>{q1[b] - q0[b], q1[b + 1] - q0[b + 1], 0};
  // Who glides goes along with his feet.
  if (level_distance(drift, {}) > 0.5 * std::hypot(mode.x, mode.y)) return {};
  return mode;
}

constexpr double kOutlier = 0.025;  ///< [m] from the floor at which a sole is not on it

/// What a distance from the floor speaks against it: 0 … 1, the same beyond kOutlier [Tukey].
double tukey_loss(double e) {
  const double u = e / kOutlier, rest = 1 - u * u;
  return std::abs(u) < 1 ? 1 - rest * rest * rest : 1;
}

struct Floor {
  Ground ground{};
  double loss = 1;  ///< mean of all points
};

double mean_loss(const std::vector<Vec3<>>& points, const Ground& ground) {
  double sum = 0;
  for (const Vec3<>& p : points) sum += tukey_loss(p.z - ground.height - dot(ground.slope, p));
  return sum / std::max(1.0, double(points.size()));
}

/// The plane through points near their mode, those beyond kOutlier not counted; level where they are too near to each other to tell.
Floor fit_floor(const std::vector<Vec3<>>& points, double largest_tilt) {
  constexpr double kReach = 0.3, kGood = 0.012;  // [m]
  std::vector<double> heights;
  for (const Vec3<>& p : points) heights.push_back(p.z);
  Floor flat;
  flat.ground.height = half_sample_mode(heights);
  double sum = 0, count = 0;
  for (const Vec3<>& p : points)
    if (std::abs(p.z - flat.ground.height) < 0.5 * kOutlier) sum += p.z, ++count;
  if (count > 0) flat.ground.height = sum / count;
  flat.loss = mean_loss(points, flat.ground);
  Ground plane = flat.ground;
  double rms = 0, spread = 0;
  for (int round = 0; round < 30; ++round) {
    const double n = double(points.size()), width = round < 10 ? 2.5 * kOutlier : kOutlier;
    // A ridge keeps the slope zero where nothing tells it.
    Eigen::Matrix3d A = Eigen::Vector3d(1e-9, 0.01 * n, 0.01 * n).asDiagonal();
    Eigen::Vector3d b = Eigen::Vector3d::Zero(), mean = Eigen::Vector3d::Zero();
    double total = 0, squares = 0;
    for (const Vec3<>& p : points) {
      const double e = p.z - plane.height - dot(plane.slope, p), u = e / width;
      if (std::abs(u) >= 1) continue;
      const double w = (1 - u * u) * (1 - u * u);
      const Eigen::Vector3d row(1, p.x, p.y);
      A += w * row * row.transpose();
      b += w * p.z * row;
      mean += w * row;
      total += w, squares += w * e * e;
    }
    if (total < 10) return flat;
    rms = std::sqrt(squares / total);
    const Eigen::Vector2d centre = mean.tail<2>() / total;
    spread = std::sqrt((A.bottomRightCorner<2, 2>() / total - centre * centre.transpose()).trace());
    const Eigen::Vector3d x = A.ldlt().solve(b);
    plane.height = x[0], plane.slope = {x[1], x[2], 0};
  }
  const bool good = spread > kReach && rms < kGood && norm(plane.slope) <= largest_tilt;
  return good ? Floor{plane, mean_loss(points, plane)} : flat;
}

/// [m/s] upward
double median_rise(const std::vector<Footing>& soles) {
  std::vector<double> rises;
  for (const Footing& f : soles) rises.push_back(f.v.z);
  const auto middle = rises.begin() + long(rises.size() / 2);
  std::nth_element(rises.begin(), middle, rises.end());
  return *middle;
}

/// A floor that stands still, or a belt. A walk over ground of which only the velocity was taken away lies on a plane where the
/// belt is still, over metres; a treadmill that climbs lies on one in the room, along which the belt runs.
Ground fit_ground(const std::vector<Footing>& soles, const Vec3<>& belt, double largest_tilt) {
  constexpr double kBetter = 0.8;  // of the loss: the plane in the room is the shorter one, and must speak clearly
  std::vector<Vec3<>> room, along;
  for (const Footing& f : soles) room.push_back(f.p), along.push_back(f.p - f.time * belt);
  Floor still = fit_floor(along, largest_tilt);
  still.ground.belt = belt;
  if (norm(belt) == 0) return still.ground;
  Floor climbing = fit_floor(room, largest_tilt);
  climbing.ground.belt = {belt.x, belt.y, dot(climbing.ground.slope, belt)};
  // On a belt that climbs soles sink or rise with it; those of a walk over ground do not, whatever plane fits where they were.
  const double rise = climbing.ground.belt.z;
  const bool climbs = rise * median_rise(soles) > 0.5 * rise * rise;
  return (climbs && climbing.loss < kBetter * still.loss ? climbing : still).ground;
}

}  // namespace

Ground find_ground(const Model& model, const Clip& clip, const std::vector<FootContacts>& feet, double largest_tilt,
                   const std::optional<Vec3<>>& known) {
  const std::vector<Footing> all = footings(model, clip, feet);
  if (all.empty()) return {.belt = known.value_or(Vec3<>{})};
  const Vec3<> belt = known ? *known : find_belt(all, clip, model);
  constexpr double kSlow = 0.3;  // [m/s]
  std::vector<Footing> slow;
  for (const Footing& f : all)
    if (level_distance(f.v, belt) < kSlow && std::abs(f.v.z) < kSlow) slow.push_back(f);
  return fit_ground(slow.size() > 10 ? slow : all, belt, largest_tilt);
}

Clip on_ground(const Model& model, const Clip& clip, const Ground& ground) {
  Clip out = clip;
  const Mat3<> R = swing({-ground.slope.x, -ground.slope.y, 1}, {0, 0, 1});
  const int base = model.base_coordinates().q;
  for (int k = 0; k < clip.frames(); ++k) {
    auto q = out.q.col(k);
    const double time = clip.times[std::size_t(k)] - clip.times.front();
    const Vec3<> p = R * (Vec3<>{q[base], q[base + 1], q[base + 2] - ground.height} - time * ground.belt);
    const Quaternion<> turn = to_quaternion(R) * Quaternion<>{q[base + 3], q[base + 4], q[base + 5], q[base + 6]};
    q.segment<7>(base) << p.x, p.y, p.z, turn.x, turn.y, turn.z, turn.w;
  }
  return out;
}

}  // namespace kansetsu
