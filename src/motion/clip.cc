#include "kansetsu/motion/clip.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/rotations.h"
#include "motion/clip_check.h"

namespace kansetsu {

void check_clip(const char* function, const Model& model, const Clip& clip) {
  if (const auto problem = clip_problem(model, clip)) throw Error(fmt::format("{}(): {}", function, *problem));
}

Eigen::VectorXd sample(const Model& model, const Clip& clip, double time) {
  if (clip.frames() == 0) throw Error("sample(): the clip has no frames");
  if (std::isnan(time)) throw Error("sample(): the time is nan");
  const auto after = std::upper_bound(clip.times.begin(), clip.times.end(), time);
  if (after == clip.times.begin()) return clip.q.col(0);
  if (after == clip.times.end()) return clip.q.col(clip.frames() - 1);
  const auto k = after - clip.times.begin();
  const double s = (time - after[-1]) / (after[0] - after[-1]);
  return interpolate(model, clip.q.col(k - 1), clip.q.col(k), s);
}

Clip resample(const Model& model, const Clip& clip, double rate) {
  check_clip("resample", model, clip);
  constexpr double kMostFrames = 1e8;
  if (!(rate > 0) || !(clip.duration() * rate < kMostFrames))
    throw Error(fmt::format("resample(): rate {} Hz of a clip of {} s", rate, clip.duration()));
  const int frames = static_cast<int>(std::floor(clip.duration() * rate * (1 + 1e-12) + 1e-9)) + 1;
  Clip out{.name = clip.name, .q = Eigen::MatrixXd(model.nq(), frames)};
  for (int k = 0; k < frames; ++k) {
    out.times.push_back(clip.times.front() + k / rate);
    out.q.col(k) = sample(model, clip, out.times.back());
  }
  return out;
}

Clip cut(const Model& model, const Clip& clip, double from, double to) {
  check_clip("cut", model, clip);
  if (!(from < to) || from < clip.times.front() || to > clip.times.back())
    throw Error(fmt::format("cut(): {} s to {} s of a clip from {} s to {} s", from, to, clip.times.front(),
                            clip.times.back()));
  Clip out{.name = clip.name};
  std::vector<double> times{from};
  for (const double t : clip.times)
    if (t > from && t < to) times.push_back(t);
  times.push_back(to);
  out.q.resize(model.nq(), static_cast<long>(times.size()));
  for (std::size_t k = 0; k < times.size(); ++k) {
    out.q.col(static_cast<long>(k)) = sample(model, clip, times[k]);
    out.times.push_back(times[k] - from);
  }
  return out;
}

ClipDerivatives derivatives(const Model& model, const Clip& clip) {
  check_clip("derivatives", model, clip);
  const int n = clip.frames();
  if (n < 3) throw Error(fmt::format("derivatives(): a clip of {} frames, three are needed", n));
  ClipDerivatives out{Eigen::MatrixXd(model.nv(), n), Eigen::MatrixXd(model.nv(), n)};
  Eigen::VectorXd a(model.nv()), b(model.nv());
  for (int k = 0; k < n; ++k) {
    // Two other frames as seen from frame k: local coordinates ξ with ξ(k) = 0, where v = dξ/dt and dv/dt = d²ξ/dt².
    const int i = k == 0 ? 2 : k - 1, j = k == n - 1 ? n - 3 : k + 1;
    const auto t = [&](int f) {
      return clip.times[static_cast<std::size_t>(f)] - clip.times[static_cast<std::size_t>(k)];
    };
    difference(model, clip.q.col(k), clip.q.col(i), a);
    difference(model, clip.q.col(k), clip.q.col(j), b);
    const double ta = t(i), tb = t(j), d = ta * tb * (tb - ta);
    out.v.col(k) = (tb * tb / d) * a - (ta * ta / d) * b;
    out.vdot.col(k) = (2 * ta / d) * b - (2 * tb / d) * a;
  }
  out.vdot.col(0) = out.vdot.col(1);
  out.vdot.col(n - 1) = out.vdot.col(n - 2);
  return out;
}

namespace {

double heading_of(const Eigen::VectorXd& q, int base) {
  const Mat3<> R = to_mat3(Quaternion<>{q[base + 3], q[base + 4], q[base + 5], q[base + 6]});
  return std::atan2(R.y.x, R.x.x);
}

/// Turned about z and moved on the ground so that `from` becomes `to` in place and heading.
class GroundMove {
 public:
  GroundMove(int base, const Eigen::VectorXd& from, const Eigen::VectorXd& to)
      : base_(base),
        turn_(heading_of(to, base) - heading_of(from, base)),
        from_(from[base], from[base + 1]),
        to_(to[base], to[base + 1]) {}

  void apply(Eigen::Ref<Eigen::VectorXd> q) const {
    const Eigen::Vector2d d = q.segment<2>(base_) - from_;
    const double c = std::cos(turn_), s = std::sin(turn_);
    q.segment<2>(base_) = to_ + Eigen::Vector2d(c * d.x() - s * d.y(), s * d.x() + c * d.y());
    const Quaternion<> r =
        exp_quaternion(Vec3<>{0, 0, turn_}) * Quaternion<>{q[base_ + 3], q[base_ + 4], q[base_ + 5], q[base_ + 6]};
    q.segment<4>(base_ + 3) << r.x, r.y, r.z, r.w;
  }

 private:
  int base_;
  double turn_;
  Eigen::Vector2d from_, to_;
};

}  // namespace

Clip blend(const Model& model, const Clip& first, const Clip& second, const BlendOptions& options) {
  check_clip("blend", model, first);
  check_clip("blend", model, second);
  if (first.frames() < 2) throw Error("blend(): the first clip has one frame only");
  if (!(options.time >= 0) || options.time > first.duration() || options.time > second.duration())
    throw Error(
        fmt::format("blend(): {} s of clips of {} s and {} s", options.time, first.duration(), second.duration()));
  const double start = first.times.back() - options.time;  // of the second, in the first's time
  Clip moved = second;
  if (const CoordinateRange base = model.base_coordinates(); options.move_second && base.nq == 7) {
    const GroundMove move(base.q, second.q.col(0), sample(model, first, start));
    for (int k = 0; k < moved.frames(); ++k) move.apply(moved.q.col(k));
  }
  const double step = first.duration() / (first.frames() - 1);
  const double end = start + moved.duration();
  Clip out{.name = first.name};
  const int frames = static_cast<int>(std::floor((end - first.times.front()) / step + 1e-9)) + 1;
  out.q.resize(model.nq(), frames);
  for (int k = 0; k < frames; ++k) {
    const double t = first.times.front() + k * step, s = t - start;
    const double x = options.time > 0 ? std::clamp(s / options.time, 0.0, 1.0) : s >= 0 ? 1.0 : 0.0;
    const double w = x * x * (3 - 2 * x);
    out.times.push_back(t);
    if (w == 0)
      out.q.col(k) = sample(model, first, t);
    else if (w == 1)
      out.q.col(k) = sample(model, moved, moved.times.front() + s);
    else
      out.q.col(k) = interpolate(model, sample(model, first, t), sample(model, moved, moved.times.front() + s), w);
  }
  return out;
}

}  // namespace kansetsu
