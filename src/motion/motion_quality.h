#pragma once

#include <Eigen/Core>
#include <array>
#include <cstddef>
#include <vector>

#include "kansetsu/model/model.h"
#include "kansetsu/motion/track.h"

namespace kansetsu {

/// How well a motion is followed, and how it looks: deviations from the clip, sliding feet, peaks of force, jerk.
class MotionQuality {
 public:
  /// Every step. @param force  vertical, of the ground [N]
  void add_force(double dt, double force);
  /// Every step. @param way  that a foot slid in it [m]
  void add_slide(std::size_t foot, bool touches, double way);
  /// Every step; looks at one state every kFrame seconds.
  void add_frame(const Model& model, double time, const Eigen::VectorXd& q, const Tracker& tracker);

  double peak_force() const { return peak_; }  ///< [N] mean over kWindow
  double slide() const { return slide_; }      ///< [m] most in one contact
  double path_error() const;                   ///< [m] root mean square of the base
  double turn_error() const;                   ///< [rad] the same
  double jerk_ratio() const;                   ///< of the joints, over that of the clip; 0 where there is none

 private:
  /// Third differences of joint positions.
  struct Jerk {
    std::array<Eigen::VectorXd, 4> last;
    double squares = 0;
    void add(const Eigen::VectorXd& joints);
  };
  std::vector<double> window_;  ///< forces, a ring
  std::size_t next_ = 0;
  double sum_ = 0, peak_ = 0;
  std::array<double, 2> slid_{};
  double slide_ = 0;
  double path_squares_ = 0, turn_squares_ = 0;
  std::size_t frames_ = 0;
  double next_frame_ = 0;
  Jerk own_, clip_;
};

}  // namespace kansetsu
