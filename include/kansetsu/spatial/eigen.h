#pragma once

#include <Eigen/Core>

#include "kansetsu/spatial/eigen_abi.h"
#include "kansetsu/spatial/inertia.h"
#include "kansetsu/spatial/quaternion.h"

/// Conversions between our small types and Eigen's; kernels never include this. Public headers include only
/// <Eigen/Core>, so poses are 4×4 matrices and quaternions their coefficients x y z w; with <Eigen/Geometry> write
/// Eigen::Isometry3d(to_eigen(X)), to_transform(T.matrix()), Eigen::Quaterniond(to_eigen(q)), to_quaternion(q.coeffs()).
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
/// x y z w
inline Eigen::Vector4d to_eigen(const Quaternion<>& q) { return {q.x, q.y, q.z, q.w}; }
/// [R p; 0 1]
inline Eigen::Matrix4d to_eigen(const Transform<>& X) {
  Eigen::Matrix4d m = Eigen::Matrix4d::Identity();
  m.topLeftCorner<3, 3>() = to_eigen(X.R);
  m.topRightCorner<3, 1>() = to_eigen(X.p);
  return m;
}

/// [top; bottom]
inline Vector6d stack(const Vec3<>& top, const Vec3<>& bottom) {
  Vector6d m;
  m << top.x, top.y, top.z, bottom.x, bottom.y, bottom.z;
  return m;
}
/// [ω; v]
inline Vector6d to_eigen(const Motion<>& V) { return stack(V.w, V.v); }
/// [τ; f]
inline Vector6d to_eigen(const Force<>& F) { return stack(F.t, F.f); }

/// [A B; C D]
inline Matrix6d blocks(const Mat3<>& A, const Mat3<>& B, const Mat3<>& C, const Mat3<>& D) {
  Matrix6d m;
  m.topLeftCorner<3, 3>() = to_eigen(A);
  m.topRightCorner<3, 3>() = to_eigen(B);
  m.bottomLeftCorner<3, 3>() = to_eigen(C);
  m.bottomRightCorner<3, 3>() = to_eigen(D);
  return m;
}
/// [A B; Bᵀ M]
inline Matrix6d to_eigen(const ArticulatedInertia<>& P) {
  return blocks(to_mat3(P.A), P.B, transpose(P.B), to_mat3(P.M));
}
/// [I h̃; h̃ᵀ m·1]
inline Matrix6d to_eigen(const Inertia<>& M) { return to_eigen(to_articulated(M)); }
/// The 6×6 matrix with V_A = m·V_B: [R 0; p̃R R].
inline Matrix6d motion_matrix(const Transform<>& X_AB) {
  return blocks(X_AB.R, Mat3<>{}, skew(X_AB.p) * X_AB.R, X_AB.R);
}
/// The 6×6 matrix with F_A = m·F_B: [R p̃R; 0 R], the inverse transpose of motion_matrix.
inline Matrix6d force_matrix(const Transform<>& X_AB) {
  return blocks(X_AB.R, skew(X_AB.p) * X_AB.R, Mat3<>{}, X_AB.R);
}

inline Vec3<> to_vec3(const Eigen::Ref<const Eigen::Vector3d>& a) { return {a(0), a(1), a(2)}; }
inline Mat3<> to_mat3(const Eigen::Ref<const Eigen::Matrix3d>& A) {
  return {{A(0, 0), A(0, 1), A(0, 2)}, {A(1, 0), A(1, 1), A(1, 2)}, {A(2, 0), A(2, 1), A(2, 2)}};
}
inline Motion<> to_motion(const Eigen::Ref<const Vector6d>& a) { return {to_vec3(a.head<3>()), to_vec3(a.tail<3>())}; }
inline Force<> to_force(const Eigen::Ref<const Vector6d>& a) { return {to_vec3(a.head<3>()), to_vec3(a.tail<3>())}; }
/// From x y z w.
inline Quaternion<> to_quaternion(const Eigen::Ref<const Eigen::Vector4d>& q) { return {q(0), q(1), q(2), q(3)}; }
/// From [R p; 0 1].
inline Transform<> to_transform(const Eigen::Ref<const Eigen::Matrix4d>& X) {
  return {to_mat3(X.topLeftCorner<3, 3>()), to_vec3(X.topRightCorner<3, 1>())};
}

}  // namespace kansetsu
