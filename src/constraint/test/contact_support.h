#pragma once

#include <cmath>
#include <vector>

#include <Eigen/Dense>

#include "kansetsu/constraint/contact_solver.h"

/// Rigid bodies written down by hand, so that the solver is tested without the rest of the engine.
namespace kansetsu::test {

inline constexpr double kG = 9.80665;

using Vector = Eigen::VectorXd;
using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using Vector3 = Eigen::Vector3d;
using Matrix3 = Eigen::Matrix3d;

inline Matrix3 skew(const Vector3& a) {
  Matrix3 s;
  s << 0, -a.z(), a.y(), a.z(), 0, -a.x(), -a.y(), a.x(), 0;
  return s;
}

/// One rigid body, state in world axes at its centre of mass: v = [linear; angular].
struct Body {
  double mass = 1;
  Matrix3 I = Matrix3::Identity();  ///< in body axes
  Vector3 p = Vector3::Zero();
  Matrix3 R = Matrix3::Identity();
  Eigen::Matrix<double, 6, 1> v = Eigen::Matrix<double, 6, 1>::Zero();

  static Body box(double mass, double a, double b, double c) {
    Body s;
    s.mass = mass;
    s.I = Vector3(b * b + c * c, a * a + c * c, a * a + b * b).asDiagonal() * (mass / 12);
    return s;
  }
  Eigen::Matrix<double, 6, 6> inverse_mass() const {
    Eigen::Matrix<double, 6, 6> M = Eigen::Matrix<double, 6, 6>::Zero();
    M.topLeftCorner<3, 3>() = Matrix3::Identity() / mass;
    M.bottomRightCorner<3, 3>() = (R * I * R.transpose()).inverse();
    return M;
  }
  /// Acceleration under gravity and a wrench [f; n] at the centre of mass.
  Eigen::Matrix<double, 6, 1> acceleration(const Vector3& g, const Eigen::Matrix<double, 6, 1>& wrench) const {
    Eigen::Matrix<double, 6, 1> f = wrench;
    f.head<3>() += mass * g;
    const Vector3 w = v.tail<3>();
    f.tail<3>() -= w.cross(R * I * R.transpose() * w);
    return inverse_mass() * f;
  }
  void advance(double h) {
    p += h * v.head<3>();
    const Vector3 w = h * v.tail<3>();
    const double angle = w.norm();
    if (angle > 0) R = Eigen::AngleAxisd(angle, w / angle).toRotationMatrix() * R;
    Eigen::Quaterniond q(R);
    R = q.normalized().toRotationMatrix();
  }
};

/// J (6 × 6) of a patch whose frame has world axes E and its origin at o; rows [v; ω].
inline Eigen::Matrix<double, 6, 6> patch_jacobian(const Body& b, const Vector3& o,
                                                  const Matrix3& E = Matrix3::Identity()) {
  Eigen::Matrix<double, 6, 6> J = Eigen::Matrix<double, 6, 6>::Zero();
  J.topLeftCorner<3, 3>() = E.transpose();
  J.topRightCorner<3, 3>() = -E.transpose() * skew(o - b.p);
  J.bottomRightCorner<3, 3>() = E.transpose();
  return J;
}

/// A problem with its numbers.
struct Case {
  Matrix G;
  Vector a, u;
  std::vector<ContactPatch> patches;
  std::vector<BoundedRow> bounded;
  std::vector<ContactMemory> memory;
  double h = 1e-3;
  double gravity = kG;

  ContactProblem problem() const {
    ContactProblem q;
    q.rows = int(a.size());
    q.G = G.data();
    q.stride = int(G.cols());
    q.a = a.data(), q.u = u.data();
    q.h = h, q.gravity = gravity;
    q.patches = patches, q.bounded = bounded;
    return q;
  }
  ContactResult contact(ContactSolver& solver) {
    ContactResult r;
    memory.resize(patches.size());
    solver.solve_contact(problem(), memory, r);
    return r;
  }
  ContactResult impact(ContactSolver& solver) const {
    ContactResult r;
    solver.solve_impact(problem(), r);
    return r;
  }
  /// Outcome of the rows: a + G·f.
  Vector outcome(const ContactResult& r) const { return a + G * Eigen::Map<const Vector>(r.force.data(), a.size()); }
};

inline ContactPatch rectangle(double a, double b, double mu_s, double mu_d) {
  ContactPatch p;
  p.vertex_count = 4;
  p.vertices[0] = {a / 2, b / 2, 0};
  p.vertices[1] = {-a / 2, b / 2, 0};
  p.vertices[2] = {-a / 2, -b / 2, 0};
  p.vertices[3] = {a / 2, -b / 2, 0};
  p.mu_static = mu_s, p.mu_dynamic = mu_d;
  p.arm = friction_arm_rectangle(a, b);
  return p;
}

inline ContactPatch point(double mu_s, double mu_d, int rows = 3) {
  ContactPatch p;
  p.vertex_count = 1;
  p.row_count = rows;
  p.mu_static = mu_s, p.mu_dynamic = mu_d;
  return p;
}

/// A box on the ground z = 0 with its whole bottom face as the patch. The box must stand flat.
inline Case box_on_floor(const Body& body, double a, double b, double c, double mu_s, double mu_d,
                         const Vector3& g = {0, 0, -kG},
                         const Eigen::Matrix<double, 6, 1>& wrench = Eigen::Matrix<double, 6, 1>::Zero()) {
  Case k;
  const auto J = patch_jacobian(body, body.p - Vector3(0, 0, c / 2));
  k.G = J * body.inverse_mass() * J.transpose();
  k.a = J * body.acceleration(g, wrench);
  k.u = J * body.v;
  k.patches = {rectangle(a, b, mu_s, mu_d)};
  return k;
}

/// Options of the acceleration level: exact comparisons with the paper's equations.
inline ContactOptions acceleration_level() {
  ContactOptions o;
  o.end_of_step = false;
  return o;
}

}  // namespace kansetsu::test
