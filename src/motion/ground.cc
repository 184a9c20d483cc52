#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <limits>

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
        out.push_back({(*end)[k], time > 0 ? (1 / time) * ((*end)[b] - (*end)[a]) : Vec3<>{}});
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
  for (int round = 0; round < 20; ++round) {
    Vec3<> sum{};
    double count = 0;
    for (const Vec3<>& x : v)
      if (level_distance(x, mode) < kRadius) sum += x, ++count;
    if (count > 0) mode = (1 / count) * sum;
  }
  if (std::hypot(mode.x, mode.y) < kLeast || near(mode) < 2 * near({})) return {};
  const int b = model.base_coordinates().q;
  const auto q0 = clip.q.col(0), q1 = clip.q.col(clip.frames() - 1);
  const Vec3<> drift = (1 / clip.duration()) * Vec3<>{q1[b] - q0[b], q1[b + 1] - q0[b + 1], 0};
  // Who glides goes along with his feet.
  if (level_distance(drift, {}) > 0.5 * std::hypot(mode.x, mode.y)) return {};
  return mode;
}

/// The plane through points near a level, those beyond 25 mm not counted [Tukey]; level where they are too near to each other to tell.
Ground fit_floor(const std::vector<Vec3<>>& points, double level, double largest_tilt) {
  constexpr double kOutlier = 0.025, kReach = 0.3, kGood = 0.012;  // [m]
  Ground flat;
  double sum = 0, count = 0;
  for (const Vec3<>& p : points)
    if (std::abs(p.z - level) < 0.5 * kOutlier) sum += p.z, ++count;
  flat.height = count > 0 ? sum / count : level;
  Ground plane = flat;
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
  return good ? plane : flat;
}

}  // namespace

Ground find_ground(const Model& model, const Clip& clip, const std::vector<FootContacts>& feet, double largest_tilt) {
  const std::vector<Footing> all = footings(model, clip, feet);
  if (all.empty()) return {};
  const Vec3<> belt = find_belt(all, clip, model);
  constexpr double kSlow = 0.3;  // [m/s]
  std::vector<Vec3<>> slow, any;
  std::vector<double> heights;
  for (const Footing& f : all) {
    any.push_back(f.p);
    if (level_distance(f.v, belt) < kSlow && std::abs(f.v.z) < kSlow) slow.push_back(f.p);
  }
  std::vector<Vec3<>>& points = slow.size() > 10 ? slow : any;
  for (const Vec3<>& p : points) heights.push_back(p.z);
  Ground out = fit_floor(points, half_sample_mode(heights), largest_tilt);
  out.belt = belt;
  return out;
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
