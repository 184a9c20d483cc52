#pragma once

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "kansetsu/spatial/inertia.h"
#include "kansetsu/spatial/quaternion.h"

/// Between our small types and Eigen's, for the boundary and for tests; kernels never include this.
namespace kansetsu {

using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

inline Eigen::Vector3d to_eigen(const Vec3<>& a) { return {a.x, a.y, a.z}; }
inline Eigen::Matrix3d to_eigen(const Mat3<>& A) {
  Eigen::Matrix3d m;
  m << A.x.x, A.x.y, A.x.z, A.y.x, A.y.y, A.y.z, A.z.x, A.z.y, A.z.z;
  return m;
}
inline Eigen::Matrix3d to_eigen(const Sym3<>& A) { return to_eigen(to_mat3(A)); }
/// [ω; v]
inline Vector6d to_eigen(const Motion<>& V) { return (Vector6d() << to_eigen(V.w), to_eigen(V.v)).finished(); }
/// [τ; f]
inline Vector6d to_eigen(const Force<>& F) { return (Vector6d() << to_eigen(F.t), to_eigen(F.f)).finished(); }
inline Eigen::Quaterniond to_eigen(const Quaternion<>& q) { return {q.w, q.x, q.y, q.z}; }
inline Eigen::Isometry3d to_eigen(const Transform<>& X) {
  Eigen::Isometry3d m = Eigen::Isometry3d::Identity();
  m.linear() = to_eigen(X.R);
  m.translation() = to_eigen(X.p);
  return m;
}
/// [I h̃; h̃ᵀ m·1]
inline Matrix6d to_eigen(const Inertia<>& M) {
  const Eigen::Matrix3d h = to_eigen(skew(M.h));
  return (Matrix6d() << to_eigen(M.I), h, h.transpose(), M.m * Eigen::Matrix3d::Identity()).finished();
}
/// [A B; Bᵀ M]
inline Matrix6d to_eigen(const ArticulatedInertia<>& P) {
  const Eigen::Matrix3d B = to_eigen(P.B);
  return (Matrix6d() << to_eigen(P.A), B, B.transpose(), to_eigen(P.M)).finished();
}
/// The 6×6 matrix with V_A = m·V_B: [R 0; p̃R R].
inline Matrix6d motion_matrix(const Transform<>& X_AB) {
  const Eigen::Matrix3d R = to_eigen(X_AB.R);
  return (Matrix6d() << R, Eigen::Matrix3d::Zero(), to_eigen(skew(X_AB.p)) * R, R).finished();
}
/// The 6×6 matrix with F_A = m·F_B: [R p̃R; 0 R], the inverse transpose of motion_matrix.
inline Matrix6d force_matrix(const Transform<>& X_AB) {
  const Eigen::Matrix3d R = to_eigen(X_AB.R);
  return (Matrix6d() << R, to_eigen(skew(X_AB.p)) * R, Eigen::Matrix3d::Zero(), R).finished();
}

inline Vec3<> to_vec3(const Eigen::Ref<const Eigen::Vector3d>& a) { return {a(0), a(1), a(2)}; }
inline Mat3<> to_mat3(const Eigen::Ref<const Eigen::Matrix3d>& A) {
  return {{A(0, 0), A(0, 1), A(0, 2)}, {A(1, 0), A(1, 1), A(1, 2)}, {A(2, 0), A(2, 1), A(2, 2)}};
}
inline Motion<> to_motion(const Eigen::Ref<const Vector6d>& a) { return {to_vec3(a.head<3>()), to_vec3(a.tail<3>())}; }
inline Force<> to_force(const Eigen::Ref<const Vector6d>& a) { return {to_vec3(a.head<3>()), to_vec3(a.tail<3>())}; }
inline Quaternion<> to_quaternion(const Eigen::Quaterniond& q) { return {q.x(), q.y(), q.z(), q.w()}; }
inline Transform<> to_transform(const Eigen::Isometry3d& X) {
  return {to_mat3(Eigen::Matrix3d(X.linear())), to_vec3(Eigen::Vector3d(X.translation()))};
}

}  // namespace kansetsu
