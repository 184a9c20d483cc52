#pragma once

#include "kansetsu/spatial/vec3.h"

/// Spatial (Plücker) vectors, angular part first, and the maps between them. Only meaningful products exist:
/// a motion times a force is a power, an inertia times a motion is a force, motion times motion does not compile.
/// Frames: X_AB is the pose of B in A, and adjacent letters cancel: V_A = X_AB * V_B, X_AC = X_AB * X_BC.
namespace kansetsu {

/// Twist [rad/s; m/s] or spatial acceleration [rad/s²; m/s²]: v belongs to the frame's origin.
template <class T = double>
struct Motion {
  Vec3<T> w, v;

  KANSETSU_HD friend Motion operator+(const Motion& a, const Motion& b) { return {a.w + b.w, a.v + b.v}; }
  KANSETSU_HD friend Motion operator-(const Motion& a, const Motion& b) { return {a.w - b.w, a.v - b.v}; }
  KANSETSU_HD friend Motion operator-(const Motion& a) { return {-a.w, -a.v}; }
  KANSETSU_HD friend Motion operator*(const T& s, const Motion& a) { return {s * a.w, s * a.v}; }
  KANSETSU_HD Motion& operator+=(const Motion& b) { return *this = *this + b; }
  friend bool operator==(const Motion&, const Motion&) = default;
};

/// Wrench [N·m; N] or momentum [N·m·s; N·s]: t is the moment about the frame's origin.
template <class T = double>
struct Force {
  Vec3<T> t, f;

  KANSETSU_HD friend Force operator+(const Force& a, const Force& b) { return {a.t + b.t, a.f + b.f}; }
  KANSETSU_HD friend Force operator-(const Force& a, const Force& b) { return {a.t - b.t, a.f - b.f}; }
  KANSETSU_HD friend Force operator-(const Force& a) { return {-a.t, -a.f}; }
  KANSETSU_HD friend Force operator*(const T& s, const Force& a) { return {s * a.t, s * a.f}; }
  KANSETSU_HD Force& operator+=(const Force& b) { return *this = *this + b; }
  KANSETSU_HD Force& operator-=(const Force& b) { return *this = *this - b; }
  friend bool operator==(const Force&, const Force&) = default;
};

/// Power of F along V.
template <class T>
KANSETSU_HD T dot(const Motion<T>& V, const Force<T>& F) {
  return dot(V.w, F.t) + dot(V.v, F.f);
}
/// Rate of a motion vector b carried along by V: V × b.
template <class T>
KANSETSU_HD Motion<T> cross(const Motion<T>& V, const Motion<T>& b) {
  return {cross(V.w, b.w), add_cross(cross(V.w, b.v), V.v, b.w)};
}
/// Rate of a force vector F carried along by V: V ×* F.
template <class T>
KANSETSU_HD Force<T> cross(const Motion<T>& V, const Force<T>& F) {
  return {add_cross(cross(V.w, F.t), V.v, F.f), cross(V.w, F.f)};
}
/// s·a + b
template <class T>
KANSETSU_HD Motion<T> madd(const T& s, const Motion<T>& a, const Motion<T>& b) {
  return {madd(s, a.w, b.w), madd(s, a.v, b.v)};
}
template <class T>
KANSETSU_HD Force<T> madd(const T& s, const Force<T>& a, const Force<T>& b) {
  return {madd(s, a.t, b.t), madd(s, a.f, b.f)};
}

/// Pose of B in A: R = R_AB (columns are the axes of B in A), p = p_AB (from Ao to Bo, in A).
template <class T = double>
struct Transform {
  Mat3<T> R = Mat3<T>::identity();
  Vec3<T> p;

  friend bool operator==(const Transform&, const Transform&) = default;
};

/// A pose with the axes of A, at a point of it.
KANSETSU_HD Transform<double> translation(double x, double y, double z) { return {.p = {x, y, z}}; }

template <class T>
KANSETSU_HD Transform<T> operator*(const Transform<T>& X_AB, const Transform<T>& X_BC) {
  return {X_AB.R * X_BC.R, X_AB.p + X_AB.R * X_BC.p};
}
template <class T>
KANSETSU_HD Transform<T> inverse(const Transform<T>& X_AB) {
  return {transpose(X_AB.R), -transpose_times(X_AB.R, X_AB.p)};
}
/// A point given in B, in A.
template <class T>
KANSETSU_HD Vec3<T> operator*(const Transform<T>& X_AB, const Vec3<T>& p_B) {
  return X_AB.p + X_AB.R * p_B;
}
/// V_A = X_AB * V_B
template <class T>
KANSETSU_HD Motion<T> operator*(const Transform<T>& X_AB, const Motion<T>& V_B) {
  const Vec3<T> w_A = X_AB.R * V_B.w;
  return {w_A, add_cross(X_AB.R * V_B.v, X_AB.p, w_A)};
}
/// V_B = X_AB⁻¹ * V_A
template <class T>
KANSETSU_HD Motion<T> inverse_times(const Transform<T>& X_AB, const Motion<T>& V_A) {
  return {transpose_times(X_AB.R, V_A.w), transpose_times(X_AB.R, add_cross(V_A.v, V_A.w, X_AB.p))};
}
/// F_A = X_AB * F_B
template <class T>
KANSETSU_HD Force<T> operator*(const Transform<T>& X_AB, const Force<T>& F_B) {
  const Vec3<T> f_A = X_AB.R * F_B.f;
  return {add_cross(X_AB.R * F_B.t, X_AB.p, f_A), f_A};
}
/// F_B = X_AB⁻¹ * F_A
template <class T>
KANSETSU_HD Force<T> inverse_times(const Transform<T>& X_AB, const Force<T>& F_A) {
  return {transpose_times(X_AB.R, add_cross(F_A.t, F_A.f, X_AB.p)), transpose_times(X_AB.R, F_A.f)};
}

template <class T, class S>
KANSETSU_HD Transform<T> lift(const Transform<S>& X) {
  return {lift<T>(X.R), lift<T>(X.p)};
}

template <class T, class S>
KANSETSU_HD Motion<T> lift(const Motion<S>& V) {
  return {lift<T>(V.w), lift<T>(V.v)};
}
template <class T, class S>
KANSETSU_HD Force<T> lift(const Force<S>& F) {
  return {lift<T>(F.t), lift<T>(F.f)};
}

}  // namespace kansetsu
