#pragma once

#include <Eigen/Dense>
#include <bit>

#include "kansetsu/constraint/constrained.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/spatial/quaternion.h"
#include "random_models.h"

/// The dense form of what constrained.h computes, from mass matrix, bias and Jacobians alone.
namespace kansetsu::test {

inline Eigen::Vector3d vec(const Vec3<>& v) { return {v.x, v.y, v.z}; }
inline Eigen::Matrix3d mat(const Mat3<>& R) {
  Eigen::Matrix3d out;
  out << R.x.x, R.x.y, R.x.z, R.y.x, R.y.y, R.y.z, R.z.x, R.z.y, R.z.z;
  return out;
}

/// J, J·v and J̇·v from Jacobians and accelerations of links.
inline ConstraintRows dense_rows(const Model& model, const State& state, const Constraints& constraints) {
  ConstraintRows out(model, constraints);
  const LinkMotions motions = link_motions(model, state, Eigen::VectorXd::Zero(model.nv()));
  int row = 0;
  for (const FrameConstraint& c : constraints.frames) {
    const FrameMotion B = frame_motion(motions, c.b, {Mat3<>::identity(), c.point});
    Eigen::MatrixXd J = jacobian(model, state.q, c.b, {Mat3<>::identity(), c.point});
    Eigen::Matrix3d E = mat(c.axes);
    Eigen::VectorXd drift(6);
    drift << vec(B.A.w), vec(B.A.v);
    if (c.a) {
      const Transform<> X = motions.poses[*c.a];
      const Transform<> X_AF{Mat3<>::identity(), transpose_times(X.R, B.X_WF.p - X.p)};
      const FrameMotion A = frame_motion(motions, *c.a, X_AF);
      J -= jacobian(model, state.q, *c.a, X_AF);
      E = mat(X.R) * E;
      drift.head(3) -= vec(A.A.w) + vec(A.V.w).cross(vec(B.V.w - A.V.w));
      drift.tail(3) -= vec(A.A.v) + 2 * vec(A.V.w).cross(vec(B.V.v - A.V.v));
    }
    Eigen::MatrixXd EE = Eigen::MatrixXd::Zero(6, 6);
    EE.topLeftCorner(3, 3) = EE.bottomRightCorner(3, 3) = E.transpose();
    for (int k = 0; k < 6; ++k) {
      if (!(c.mask >> k & 1)) continue;
      out.J.row(row) = EE.row(k) * J;
      out.drift[row++] = EE.row(k).dot(drift);
    }
  }
  for (const CoordinateConstraint& c : constraints.coordinates) {
    for (const CoordinateConstraint::Term& t : c.terms) out.J(row, t.column) += t.ratio;
    ++row;
  }
  out.velocity = out.J * state.v;
  return out;
}

inline Eigen::VectorXd wanted_accelerations(const Constraints& constraints) {
  Eigen::VectorXd out(constraints.rows());
  int row = 0;
  for (const FrameConstraint& c : constraints.frames) {
    for (size_t k = 0; k < 6; ++k) {
      if (c.mask >> k & 1) out[row++] = c.acceleration[k];
    }
  }
  for (const CoordinateConstraint& c : constraints.coordinates) out[row++] = c.acceleration;
  return out;
}

inline Mat3<> random_axes(std::mt19937_64& rng) {
  const Eigen::VectorXd x = random_vector(4, rng).normalized();
  return to_mat3(Quaternion<>{x[0], x[1], x[2], x[3]});
}

/// Some frames, to the world or between links, in some directions, and a gear by a row.
inline Constraints random_constraints(const Model& model, int frames, std::mt19937_64& rng) {
  Constraints out;
  std::uniform_int_distribution<int> link(0, model.link_count() - 1), mask(1, kWeldMask), coin(0, 1);
  for (int i = 0; i < frames; ++i) {
    FrameConstraint& c = out.frames.emplace_back();
    c.b = LinkId(link(rng));
    if (coin(rng)) c.a = LinkId(link(rng));
    c.mask = ConstraintMask(mask(rng));
    c.axes = random_axes(rng);
    const Eigen::VectorXd x = random_vector(9, rng);
    c.point = {0.3 * x[0], 0.3 * x[1], 0.3 * x[2]};
    for (size_t k = 0; k < 6; ++k) c.acceleration[k] = x[3 + long(k)];
  }
  if (model.nv() > 1 && coin(rng))
    out.coordinates.push_back({.terms = {{model.nv() - 1, 1.5}, {model.nv() - 2, -0.5}}, .acceleration = 0.2});
  return out;
}

/// human28 with a frame on either sole.
inline Constraints two_soles(const Model& model, ConstraintMask mask = kWeldMask) {
  Constraints out;
  for (const char* name : {"FootL", "FootR"})
    out.frames.push_back({.b = model.link_id(name), .point = {0.05, 0, -0.08}, .mask = mask});
  return out;
}

}  // namespace kansetsu::test
