#pragma once

#include <vector>

#include "kansetsu/kinematics/kinematics.h"
#include "model/tree.h"

/// A configuration for tasks: poses of all bodies and the motion of every tree coordinate, each computed once.
namespace kansetsu::ik {

class Figure {
 public:
  explicit Figure(const Model& model);

  void set(const VectorRef& q);
  const Model& model() const { return model_; }
  const Eigen::VectorXd& q() const { return q_; }
  int nv() const { return nv_; }

  Transform<> pose(LinkId link, const Transform<>& X_LF) const;

  /// Jacobian of a point of the link, world axes: rows ω x, y, z, then v x, y, z of nv numbers each.
  void jacobian(LinkId link, const Vec3<>& point_W, double* rows) const;

  /// Centre of mass of what moves; its Jacobian, 3 × nv row by row. Computed once per configuration.
  const Vec3<>& com();
  const double* com_jacobian();

 private:
  void find_com();

  Model model_;
  int nv_;
  Workspace work_;
  Eigen::VectorXd q_;
  std::vector<Transform<>> X_WB_;
  std::vector<Motion<>> columns_;  ///< per tree coordinate, world axes, at its body's origin
  Vec3<> com_;
  std::vector<double> com_rows_, momentum_;
  bool has_com_ = false;
};

}  // namespace kansetsu::ik
