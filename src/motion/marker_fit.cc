#include "kansetsu/motion/marker_fit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <thread>

#include "base/thread_pool.h"
#include "kansetsu/base/error.h"
#include "motion/marker_solver.h"

namespace kansetsu {
namespace {

/// Frames that follow each other from one start; stretches do not wait for each other.
constexpr int kMarkerStretch = 256;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Throws if there are too few markers.
std::vector<int> match(const MarkerFigure& figure, const Markers& seen) {
  std::vector<int> out = columns_of(figure, seen);
  if (out.size() < 3)
    throw Error(
        fmt::format("{} of the markers of '{}' were measured, three are needed", out.size(), figure.model.name()));
  return out;
}

std::vector<Vec3<>> points_of(const Markers& seen, const std::vector<int>& columns, int frame) {
  std::vector<Vec3<>> out;
  for (const int c : columns) out.push_back(seen.point(frame, c));
  return out;
}

void measure(const MarkerFigure& figure, const Markers& seen, const std::vector<int>& columns, MarkerMotion& out) {
  for (const ModelMarker& m : figure.markers) out.markers.push_back({.name = m.name});
  Workspace work(figure.model);
  LinkPoses poses(figure.model);
  double sum = 0, count = 0;
  for (int k = 0; k < seen.frames(); ++k) {
    fk(figure.model, out.clip.q.col(k), work, poses);
    double frame_sum = 0, frame_count = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      const Vec3<>& p = seen.point(k, columns[i]);
      if (!Markers::seen(p)) continue;
      const double e = norm(poses[figure.markers[i].link] * figure.markers[i].p_L - p);
      MarkerError& error = out.markers[i];
      error.rms += e * e, ++error.frames;
      if (e > error.largest) error.largest = e, error.worst_frame = k;
      frame_sum += e * e, ++frame_count;
    }
    out.frame_rms.push_back(frame_count > 0 ? std::sqrt(frame_sum / frame_count) : 0);
    sum += frame_sum, count += frame_count;
  }
  for (MarkerError& e : out.markers) e.rms = e.frames > 0 ? std::sqrt(e.rms / e.frames) : 0;
  out.rms = count > 0 ? std::sqrt(sum / count) : 0;
}

}  // namespace

std::vector<std::string> place_markers(MarkerFigure& figure, const std::vector<std::string>& seen) {
  std::vector<std::string> unknown;
  figure.markers.clear();
  for (const std::string& name : seen) {
    const std::optional<FrameId> frame = figure.model.find_frame(name);
    if (!frame) {
      unknown.push_back(name);
      continue;
    }
    figure.markers.push_back({name, figure.model.frame_link(*frame), figure.model.frame(*frame).origin.p});
  }
  return unknown;
}

CleanMarkers clean_markers(const Markers& seen, const Mat3<>& axes, double fastest) {
  CleanMarkers out{.markers = seen};
  const int count = int(seen.names.size());
  const auto at = [&](int k, int m) -> Vec3<>& {
    return out.markers.points[std::size_t(k) * seen.names.size() + std::size_t(m)];
  };
  for (Vec3<>& p : out.markers.points) p = axes * p;
  for (int m = 0; m < count; ++m) {
    // The place that the marker was last seen at. What is too far from it waits for what comes next: a jump that stays for longer
    // than half a second is where the marker is from then on.
    constexpr double kLongest = 0.5;  // [s]
    int last = -1;
    for (int k = 0; k < seen.frames(); ++k) {
      if (!Markers::seen(at(k, m))) continue;
      if (last < 0) {
        last = k;
        continue;
      }
      // Nobody keeps that speed: what comes later may be a little farther only.
      constexpr double kSteady = 3;  // [m/s]
      const auto far = [&](int a, int b) {
        const double step = seen.times[std::size_t(a + 1)] - seen.times[std::size_t(a)];
        return norm(at(b, m) - at(a, m)) >
               fastest * step + kSteady * (seen.times[std::size_t(b)] - seen.times[std::size_t(a)] - step);
      };
      if (!far(last, k)) {
        last = k;
        continue;
      }
      int back = k;
      while (back < seen.frames() && (!Markers::seen(at(back, m)) || far(last, back)) &&
             seen.times[std::size_t(back)] - seen.times[std::size_t(k)] < kLongest)
        ++back;
      const bool returns =
          back < seen.frames() && seen.times[std::size_t(back)] - seen.times[std::size_t(k)] < kLongest;
      const int end = returns || back == seen.frames() ? back : k + 1;
      out.jumps.push_back({m, k, end - 1});
      if (returns || back == seen.frames()) {
        for (int j = k; j < end; ++j) at(j, m) = {kNaN, kNaN, kNaN};
        k = end - 1;
      } else {
        last = k;
      }
    }
  }
  return out;
}

MarkerMotion fit_motion(const MarkerFigure& figure, const Markers& seen, int threads) {
  const std::vector<int> columns = match(figure, seen);
  if (seen.frames() == 0) throw Error("markers: there are no frames");
  MarkerMotion out;
  out.clip.times = seen.times;
  out.clip.q.resize(figure.model.nq(), seen.frames());
  MarkerSolver first(figure);
  const long rows = figure.map ? long(figure.map->coordinates.size()) : figure.model.nq();
  Eigen::MatrixXd x(rows, seen.frames());
  // Starts of stretches, one from the other; the first from anywhere, where enough is seen.
  const int stretches = (seen.frames() + kMarkerStretch - 1) / kMarkerStretch;
  int clear = 0;
  std::size_t most = 0;
  for (int k = 0; k < std::min(seen.frames(), kMarkerStretch); ++k) {
    const std::vector<Vec3<>> points = points_of(seen, columns, k);
    const auto count =
        std::size_t(std::count_if(points.begin(), points.end(), [](const Vec3<>& p) { return Markers::seen(p); }));
    if (count > most) most = count, clear = k;
  }
  if (most < 3) throw Error("markers: no frame has three of the figure's markers");
  Eigen::VectorXd posture = first.begin(points_of(seen, columns, clear));
  constexpr int kStride = 32;  // frames from help to help: a limb turns by less than a radian
  for (int k = clear; k > 0; k = std::max(0, k - kStride))
    first.solve(points_of(seen, columns, std::max(0, k - kStride)), posture, 50);
  std::vector<Eigen::VectorXd> starts;
  for (int s = 0; s < stretches; ++s) {
    for (int k = s == 0 ? 0 : (s - 1) * kMarkerStretch + kStride; k <= s * kMarkerStretch; k += kStride)
      first.solve(points_of(seen, columns, k), posture, 50);
    starts.push_back(posture);
  }
  const int workers =
      std::clamp(threads > 0 ? threads : int(std::thread::hardware_concurrency()), 1, std::max(1, stretches));
  std::vector<MarkerSolver> solvers;
  solvers.reserve(std::size_t(workers));
  for (int w = 0; w < workers; ++w) solvers.emplace_back(figure);
  ThreadPool pool(workers);
  pool.run(workers, [&](int w) {
    MarkerSolver& solver = solvers[std::size_t(w)];
    std::vector<Vec3<>> points(columns.size());
    for (int s = w; s < stretches; s += workers) {
      Eigen::VectorXd now = starts[std::size_t(s)];
      for (int k = s * kMarkerStretch; k < std::min((s + 1) * kMarkerStretch, seen.frames()); ++k) {
        for (std::size_t i = 0; i < columns.size(); ++i) points[i] = seen.point(k, columns[i]);
        solver.follow(points, now);
        x.col(k) = now;
        out.clip.q.col(k) = solver.configure(now);
      }
    }
  });
  if (!x.allFinite()) throw Error("markers: no posture fits the measured markers");
  if (figure.map) {
    out.coordinates.times = seen.times;
    out.coordinates.values = x;
    for (const MapCoordinate& c : figure.map->coordinates) out.coordinates.columns.push_back(c.name);
    for (std::size_t i = 0; i < figure.map->coordinates.size(); ++i) {
      const MapCoordinate& c = figure.map->coordinates[i];
      if (c.follows < 0) continue;
      for (long k = 0; k < x.cols(); ++k) out.coordinates.values(long(i), k) = c.function(x(c.follows, k));
    }
  }
  measure(figure, seen, columns, out);
  return out;
}

}  // namespace kansetsu
