#pragma once

#include <vector>

#include "ik/hierarchy.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/model/ball_joint.h"

/// The limits of a model as bounds and rows of inequalities on a step v from a configuration.
namespace kansetsu::ik {

class Limits {
 public:
  Limits(const Model& model, const Options& options);

  int rows() const { return int(balls_.size()) * 2 + int(combined_.size()); }

  /// Bounds on v; within ±most where there is no limit.
  void bounds(const VectorRef& q, double most, double* lower, double* upper) const;
  /// Linear rows: swing and twist of balls, coordinates that follow several others by gears.
  /// @param C  rows() rows of nv numbers, `stride` apart
  void rows(const VectorRef& q, double* C, int stride, double* lower, double* upper) const;

  /// Moves q within all limits: clamps, and scales swings back to their ellipse.
  void clamp(Eigen::Ref<Eigen::VectorXd> q) const;
  /// Whether coordinate v of a joint with one number, or of a ball, is at a limit.
  void active(const VectorRef& q, std::vector<int>& out) const;
  /// Narrows bounds on q to the limits that are of one coordinate each, those of its followers included. @param lower,upper  nq
  void box(Eigen::Ref<Eigen::VectorXd> lower, Eigen::Ref<Eigen::VectorXd> upper) const;
  /// Whether a limit is one of this coordinate of q and of others together.
  bool shares(int position) const;
  /// Largest violation; 0 if there is none.
  double violation(const VectorRef& q) const;

 private:
  struct Scalar {
    int q, v;
    double lower, upper;
  };
  struct Combined {  ///< Σ ratio·q + offset of a dependent coordinate
    std::vector<std::pair<int, double>> positions, columns;
    double offset, lower, upper;
    double value(const VectorRef& q) const {
      double sum = offset;
      for (const auto& [position, ratio] : positions) sum += ratio * q[position];
      return sum;
    }
  };
  struct Ball {
    BallJoint ball;
    BallLimit limit;
    int column;  ///< of v, the first that turns it
  };
  bool clamp_balls(Eigen::Ref<Eigen::VectorXd> q) const;  ///< whether one was beyond its limits
  void add_joint(const Model& model, JointId joint, const Options& options);
  void add_dependent(const Model& model, JointId joint);

  int nv_;
  std::vector<Scalar> scalars_;
  std::vector<Combined> combined_;
  std::vector<Ball> balls_;
  std::vector<int> position_of_column_;  ///< −1 inside balls and free joints
};

}  // namespace kansetsu::ik
