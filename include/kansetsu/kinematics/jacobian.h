#pragma once

#include "kansetsu/kinematics/jacobian_axes.h"
#include "kansetsu/kinematics/kinematics.h"

namespace kansetsu {

/// J with V = J·v, rows [ω; v]; its rate, and the drift J̇·v: dV/dt = J·v̇ + J̇·v, component by component.
struct Jacobian {
  explicit Jacobian(const Model& model);
  Eigen::Matrix<double, 6, Eigen::Dynamic> J, J_dot;
  Eigen::Matrix<double, 6, 1> drift;
};

/// Jacobian of the frame at X_LF on a link.
void jacobian(const Model& model, const VectorRef& q, LinkId link, const Transform<>& X_LF, JacobianAxes axes,
              Workspace& work, Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> J);
/// Jacobian, rate and drift.
void jacobian(const Model& model, const State& state, LinkId link, const Transform<>& X_LF, JacobianAxes axes,
              Workspace& work, Jacobian& out);
/// Link frame, world-aligned; allocates.
Eigen::Matrix<double, 6, Eigen::Dynamic> jacobian(const Model& model, const VectorRef& q, LinkId link,
                                                  const Transform<>& X_LF = {},
                                                  JacobianAxes axes = JacobianAxes::kLocalWorldAligned);

/// The motion of the subtree of each coordinate per unit rate, in world axes at the world's origin: 6 × nv. The Jacobian
/// of a link consists of the columns of the coordinates on its path to the base.
void joint_axes(const Model& model, const VectorRef& q, Workspace& work,
                Eigen::Ref<Eigen::Matrix<double, 6, Eigen::Dynamic>> out);

}  // namespace kansetsu
