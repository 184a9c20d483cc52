#include "motion/motion_quality.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/spatial/quaternion.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
namespace {

/// [s] Force plates are low-passed at 50 to 100 Hz; a rigid landing is a force of one step.
constexpr double kWindow = 0.01;
constexpr double kFrame = 0.01;  // [s]

}  // namespace

void MotionQuality::add_force(double dt, double force) {
  if (window_.empty()) window_.assign(std::max<std::size_t>(std::size_t(std::lround(kWindow / dt)), 1), 0.0);
  sum_ += force - window_[next_];
  window_[next_] = force;
  next_ = (next_ + 1) % window_.size();
  peak_ = std::max(peak_, sum_ / double(window_.size()));
}

void MotionQuality::add_slide(std::size_t foot, bool touches, double way) {
  slid_[foot] = touches ? slid_[foot] + way : 0;
  slide_ = std::max(slide_, slid_[foot]);
}

void MotionQuality::Jerk::add(const Eigen::VectorXd& joints) {
  std::rotate(last.begin(), last.begin() + 1, last.end());
  last[3] = joints;
  if (last[0].size() == 0) return;
  squares += (last[3] - 3 * last[2] + 3 * last[1] - last[0]).squaredNorm();
}

void MotionQuality::add_frame(const Model& model, double time, const Eigen::VectorXd& q, const Tracker& tracker) {
  if (time < next_frame_) return;
  next_frame_ += kFrame;
  ++frames_;
  const State& wanted = tracker.reference();
  path_squares_ += (q.head<3>() - wanted.q.head<3>()).squaredNorm();
  const auto turn = [](const Eigen::VectorXd& x) { return Quaternion<>{x[3], x[4], x[5], x[6]}; };
  const double dot = std::abs(turn(q).x * turn(wanted.q).x + turn(q).y * turn(wanted.q).y +
                              turn(q).z * turn(wanted.q).z + turn(q).w * turn(wanted.q).w);
  const double angle = 2 * std::acos(std::min(dot, 1.0));
  turn_squares_ += angle * angle;
  own_.add(q.tail(model.nq() - 7)), clip_.add(wanted.q.tail(model.nq() - 7));
}

double MotionQuality::path_error() const { return frames_ > 0 ? std::sqrt(path_squares_ / double(frames_)) : 0; }
double MotionQuality::turn_error() const { return frames_ > 0 ? std::sqrt(turn_squares_ / double(frames_)) : 0; }
double MotionQuality::jerk_ratio() const { return clip_.squares > 0 ? std::sqrt(own_.squares / clip_.squares) : 0; }

}  // namespace kansetsu
