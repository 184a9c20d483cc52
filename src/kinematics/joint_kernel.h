#pragma once

#include "kansetsu/spatial/inertia.h"
#include "kansetsu/spatial/pack.h"
#include "kansetsu/spatial/sincos.h"
#include "model/tree.h"

/// Joints for kernels: the posture of a tree, and for each body the maps between its frame B and its parent's, P.
/// Kernels are compiled once per instruction set, in a namespace of that name.
#ifndef KANSETSU_ISA
#define KANSETSU_ISA generic
#endif

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// The configuration, unpacked once per call: cos and sin for aligned hinges, the pose X_PB for all other primitives.
template <class T>
struct Posture {
  T* c;
  T* s;
  Transform<T>* X_PB;
};

/// Turn about coordinate axis AX: the vector of the turned frame, in the unturned one.
template <int AX, class T>
KANSETSU_HD Vec3<T> turn(const T& c, const T& s, const Vec3<T>& a) {
  if constexpr (AX == 0) return {a.x, msub(s, a.z, c * a.y), madd(s, a.y, c * a.z)};
  if constexpr (AX == 1) return {madd(s, a.z, c * a.x), a.y, msub(s, a.x, c * a.z)};
  if constexpr (AX == 2) return {msub(s, a.y, c * a.x), madd(s, a.x, c * a.y), a.z};
}
/// The inverse of turn().
template <int AX, class T>
KANSETSU_HD Vec3<T> turn_back(const T& c, const T& s, const Vec3<T>& a) {
  if constexpr (AX == 0) return {a.x, madd(s, a.z, c * a.y), msub(s, a.y, c * a.z)};
  if constexpr (AX == 1) return {msub(s, a.z, c * a.x), a.y, madd(s, a.x, c * a.z)};
  if constexpr (AX == 2) return {madd(s, a.y, c * a.x), msub(s, a.x, c * a.y), a.z};
}
/// Component AX, and the vector with only that component.
template <int AX, class T>
KANSETSU_HD T& along(Vec3<T>& a) {
  if constexpr (AX == 0)
    return a.x;
  else if constexpr (AX == 1)
    return a.y;
  else
    return a.z;
}
template <int AX, class T>
KANSETSU_HD const T& along(const Vec3<T>& a) {
  return along<AX>(const_cast<Vec3<T>&>(a));
}
/// a × (e_AX·r)
template <int AX, class T>
KANSETSU_HD Vec3<T> cross_axis(const Vec3<T>& a, const T& r) {
  if constexpr (AX == 0) return {T(0), a.z * r, -(a.y * r)};
  if constexpr (AX == 1) return {-(a.z * r), T(0), a.x * r};
  if constexpr (AX == 2) return {a.y * r, -(a.x * r), T(0)};
}

/// b + a × (e_AX·r)
template <int AX, class T>
KANSETSU_HD void add_cross_axis(const Vec3<T>& a, const T& r, Vec3<T>& b) {
  if constexpr (AX == 0) b = {b.x, madd(a.z, r, b.y), msub(a.y, r, b.z)};
  if constexpr (AX == 1) b = {msub(a.z, r, b.x), b.y, madd(a.x, r, b.z)};
  if constexpr (AX == 2) b = {madd(a.y, r, b.x), msub(a.x, r, b.y), b.z};
}

/// Renaming of axes so that AX becomes z (cyclic, costs nothing), and back. Number by number even where nothing is renamed:
/// gcc copies whole structs through the stack.
template <int AX, class T>
KANSETSU_HD Vec3<T> to_z(const Vec3<T>& a) {
  if constexpr (AX == 0) return {a.y, a.z, a.x};
  if constexpr (AX == 1) return {a.z, a.x, a.y};
  if constexpr (AX == 2) return {a.x, a.y, a.z};
}
template <int AX, class T>
KANSETSU_HD Sym3<T> to_z(const Sym3<T>& a) {
  if constexpr (AX == 0) return {a.yy, a.yz, a.xy, a.zz, a.xz, a.xx};
  if constexpr (AX == 1) return {a.zz, a.xz, a.yz, a.xx, a.xy, a.yy};
  if constexpr (AX == 2) return {a.xx, a.xy, a.xz, a.yy, a.yz, a.zz};
}
template <int AX, class T>
KANSETSU_HD Mat3<T> to_z(const Mat3<T>& a) {
  if constexpr (AX == 0) return {to_z<0>(a.y), to_z<0>(a.z), to_z<0>(a.x)};
  if constexpr (AX == 1) return {to_z<1>(a.z), to_z<1>(a.x), to_z<1>(a.y)};
  if constexpr (AX == 2) return {to_z<2>(a.x), to_z<2>(a.y), to_z<2>(a.z)};
}
template <int AX, class T>
KANSETSU_HD ArticulatedInertia<T> to_z(const ArticulatedInertia<T>& P) {
  return {to_z<AX>(P.A), to_z<AX>(P.B), to_z<AX>(P.M)};
}
template <int AX, class Any>
KANSETSU_HD Any from_z(const Any& a) {
  return to_z < AX == 2 ? 2 : 1 - AX > (a);
}

/// R·A·Rᵀ for the turn R about z: two shared products of c and s instead of a full congruence.
template <class T>
struct TurnZ {
  T c, s, ss, cs;
  KANSETSU_HD TurnZ(const T& c_, const T& s_) : c(c_), s(s_), ss(s_ * s_), cs(c_ * s_) {}

  KANSETSU_HD Vec3<T> operator()(const Vec3<T>& a) const { return turn<2>(c, s, a); }
  KANSETSU_HD Sym3<T> operator()(const Sym3<T>& a) const {
    const T e = a.xx - a.yy, g = a.xy + a.xy;
    const T t = madd(ss, e, cs * g);
    return {a.xx - t, msub(ss, g, madd(cs, e, a.xy)), msub(s, a.yz, c * a.xz), a.yy + t, madd(s, a.xz, c * a.yz), a.zz};
  }
  KANSETSU_HD Mat3<T> operator()(const Mat3<T>& a) const {
    const T e = a.x.x - a.y.y, g = a.x.y + a.y.x;
    const T t = madd(ss, e, cs * g), d = msub(ss, g, cs * e);
    return {{a.x.x - t, a.x.y + d, msub(s, a.y.z, c * a.x.z)},
            {a.y.x + d, a.y.y + t, madd(s, a.x.z, c * a.y.z)},
            {msub(s, a.z.y, c * a.z.x), madd(s, a.z.x, c * a.z.y), a.z.z}};
  }
};

/// A hinge about coordinate axis AX of two frames that are parallel at q = 0.
template <class T, int AX>
struct AlignedHinge {
  static constexpr int kAxis = AX;
  T c, s;
  Vec3<T> p;  ///< p_PB

  KANSETSU_HD Motion<T> to_child(const Motion<T>& V_P) const { return to_axes({V_P.w, add_cross(V_P.v, V_P.w, p)}); }
  /// A motion at B's origin, from the parent's axes to B's.
  KANSETSU_HD Motion<T> to_axes(const Motion<T>& V) const {
    return {turn_back<AX>(c, s, V.w), turn_back<AX>(c, s, V.v)};
  }
  KANSETSU_HD Vec3<T> to_axes(const Vec3<T>& a) const { return turn_back<AX>(c, s, a); }
  KANSETSU_HD Force<T> to_parent(const Force<T>& F_B) const {
    const Force<T> F = to_parent_axes(F_B);
    return {add_cross(F.t, p, F.f), F.f};
  }
  /// A wrench at B's origin, from B's axes to the parent's.
  KANSETSU_HD Force<T> to_parent_axes(const Force<T>& F) const { return {turn<AX>(c, s, F.t), turn<AX>(c, s, F.f)}; }
  KANSETSU_HD Vec3<T> to_parent_axes(const Vec3<T>& a) const { return turn<AX>(c, s, a); }
  KANSETSU_HD Transform<T> compose(const Transform<T>& X_WP) const {
    return {{turn_back<AX>(c, s, X_WP.R.x), turn_back<AX>(c, s, X_WP.R.y), turn_back<AX>(c, s, X_WP.R.z)}, X_WP * p};
  }
  /// The same where p = 0.
  KANSETSU_HD Transform<T> compose_in_place(const Transform<T>& X_WP) const {
    return {{turn_back<AX>(c, s, X_WP.R.x), turn_back<AX>(c, s, X_WP.R.y), turn_back<AX>(c, s, X_WP.R.z)}, X_WP.p};
  }
  KANSETSU_HD Inertia<T> to_parent(const Inertia<T>& M) const {
    const Vec3<T> h = turn<AX>(c, s, M.h);
    const Vec3<T> h_P = madd(M.m, p, h);
    const Sym3<T> I = from_z<AX>(TurnZ<T>(c, s)(to_z<AX>(M.I)));
    return {M.m, h_P, I + parallel_axis(h + h_P, p)};
  }
  /// V + S·u; of its angular part the same
  KANSETSU_HD void add_rate(const T* u, Motion<T>& V) const { along<AX>(V.w) += u[0]; }
  KANSETSU_HD void add_rate(const T* u, Vec3<T>& w) const { along<AX>(w) += u[0]; }
  /// A + V × S·u
  KANSETSU_HD void add_bias(const Motion<T>& V, const T* u, Motion<T>& A) const {
    A.w += cross_axis<AX>(V.w, u[0]);
    A.v += cross_axis<AX>(V.v, u[0]);
  }
  KANSETSU_HD void add_bias(const Vec3<T>& w, const T* u, Vec3<T>& e) const { add_cross_axis<AX>(w, u[0], e); }
  /// Sᵀ·F
  KANSETSU_HD void project(const Force<T>& F, T* out) const { out[0] = along<AX>(F.t); }
};

/// A hinge about z of a frame that is turned by a constant R0 against its parent's.
template <class T>
struct TurnedHinge {
  static constexpr int kAxis = 2;
  T c, s;
  Mat3<T> R0;
  Vec3<T> p;

  KANSETSU_HD Motion<T> to_child(const Motion<T>& V_P) const { return to_axes({V_P.w, add_cross(V_P.v, V_P.w, p)}); }
  KANSETSU_HD Motion<T> to_axes(const Motion<T>& V) const { return {to_axes(V.w), to_axes(V.v)}; }
  KANSETSU_HD Vec3<T> to_axes(const Vec3<T>& a) const { return turn_back<2>(c, s, transpose_times(R0, a)); }
  KANSETSU_HD Force<T> to_parent_axes(const Force<T>& F) const { return {to_parent_axes(F.t), to_parent_axes(F.f)}; }
  KANSETSU_HD Vec3<T> to_parent_axes(const Vec3<T>& a) const { return R0 * turn<2>(c, s, a); }
  KANSETSU_HD Force<T> to_parent(const Force<T>& F_B) const {
    const Force<T> F = to_parent_axes(F_B);
    return {add_cross(F.t, p, F.f), F.f};
  }
  KANSETSU_HD void add_rate(const T* u, Motion<T>& V) const { V.w.z += u[0]; }
  KANSETSU_HD void add_rate(const T* u, Vec3<T>& w) const { w.z += u[0]; }
  KANSETSU_HD void add_bias(const Motion<T>& V, const T* u, Motion<T>& A) const {
    A.w += cross_axis<2>(V.w, u[0]);
    A.v += cross_axis<2>(V.v, u[0]);
  }
  KANSETSU_HD void add_bias(const Vec3<T>& w, const T* u, Vec3<T>& e) const { add_cross_axis<2>(w, u[0], e); }
  KANSETSU_HD void project(const Force<T>& F, T* out) const { out[0] = F.t.z; }
};

/// A ball, by its rotation.
template <class T>
struct BallJoint {
  const Mat3<T>& R;
  Vec3<T> p;

  KANSETSU_HD Motion<T> to_child(const Motion<T>& V_P) const { return to_axes({V_P.w, add_cross(V_P.v, V_P.w, p)}); }
  KANSETSU_HD Motion<T> to_axes(const Motion<T>& V) const { return {to_axes(V.w), to_axes(V.v)}; }
  KANSETSU_HD Vec3<T> to_axes(const Vec3<T>& a) const { return transpose_times(R, a); }
  KANSETSU_HD Force<T> to_parent_axes(const Force<T>& F) const { return {R * F.t, R * F.f}; }
  KANSETSU_HD Force<T> to_parent(const Force<T>& F_B) const {
    const Force<T> F = to_parent_axes(F_B);
    return {add_cross(F.t, p, F.f), F.f};
  }
  KANSETSU_HD void add_rate(const T* u, Motion<T>& V) const { add_rate(u, V.w); }
  KANSETSU_HD void add_rate(const T* u, Vec3<T>& w) const { w += Vec3<T>{u[0], u[1], u[2]}; }
  KANSETSU_HD void add_bias(const Vec3<T>& w, const T* u, Vec3<T>& e) const {
    e = add_cross(e, w, Vec3<T>{u[0], u[1], u[2]});
  }
  KANSETSU_HD void project(const Force<T>& F, T* out) const {
    out[0] = F.t.x;
    out[1] = F.t.y;
    out[2] = F.t.z;
  }
};

/// Column k of the motion subspace S of a primitive, in its own body frame (constant there).
template <class T, class Const>
KANSETSU_HD Motion<T> subspace(const BodyOf<Const>& b, int k) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  const auto unit = [](int i) { return Vec3<T>{T(i == 0), T(i == 1), T(i == 2)}; };
  switch (b.kind) {
    case PrimitiveKind::kHinge:
      return {unit(b.aligned_axis < 0 ? 2 : b.aligned_axis), zero};
    case PrimitiveKind::kSlide:
      return {zero, unit(2)};
    case PrimitiveKind::kScrew:
      return {unit(2), {T(0), T(0), T(b.pitch)}};
    case PrimitiveKind::kBall:
      return {unit(k), zero};
    case PrimitiveKind::kFree:
      return k < 3 ? Motion<T>{unit(k), zero} : Motion<T>{zero, unit(k - 3)};
  }
  return {zero, zero};
}

/// S·u for any primitive.
template <class T, class Const>
KANSETSU_HD Motion<T> joint_rate(const BodyOf<Const>& b, const T* u) {
  const T o = T(0);
  switch (b.kind) {
    case PrimitiveKind::kHinge:
      if (b.aligned_axis == 0) return {{u[0], o, o}, {o, o, o}};
      if (b.aligned_axis == 1) return {{o, u[0], o}, {o, o, o}};
      return {{o, o, u[0]}, {o, o, o}};
    case PrimitiveKind::kSlide:
      return {{o, o, o}, {o, o, u[0]}};
    case PrimitiveKind::kScrew:
      return {{o, o, u[0]}, {o, o, T(b.pitch) * u[0]}};
    case PrimitiveKind::kBall:
      return {{u[0], u[1], u[2]}, {o, o, o}};
    case PrimitiveKind::kFree:
      return {{u[0], u[1], u[2]}, {u[3], u[4], u[5]}};
  }
  return {{o, o, o}, {o, o, o}};
}

/// Any primitive, by its pose.
template <class T, class Const>
struct GeneralJoint {
  const BodyOf<Const>& b;
  const Transform<T>& X_PB;

  KANSETSU_HD Motion<T> to_child(const Motion<T>& V_P) const { return inverse_times(X_PB, V_P); }
  KANSETSU_HD Force<T> to_parent(const Force<T>& F_B) const { return X_PB * F_B; }
  KANSETSU_HD Transform<T> compose(const Transform<T>& X_WP) const { return X_WP * X_PB; }
  KANSETSU_HD Transform<T> compose_in_place(const Transform<T>& X_WP) const { return X_WP * X_PB; }
  KANSETSU_HD Inertia<T> to_parent(const Inertia<T>& M) const { return X_PB * M; }
  KANSETSU_HD void add_rate(const T* u, Motion<T>& V) const { V += joint_rate(b, u); }
  KANSETSU_HD void add_bias(const Motion<T>& V, const T* u, Motion<T>& A) const { A += cross(V, joint_rate(b, u)); }
  KANSETSU_HD void project(const Force<T>& F, T* out) const {
    switch (b.kind) {
      case PrimitiveKind::kHinge:
        out[0] = F.t.z;
        break;
      case PrimitiveKind::kSlide:
        out[0] = F.f.z;
        break;
      case PrimitiveKind::kScrew:
        out[0] = madd(T(b.pitch), F.f.z, F.t.z);
        break;
      case PrimitiveKind::kFree:
        out[3] = F.f.x;
        out[4] = F.f.y;
        out[5] = F.f.z;
        [[fallthrough]];
      case PrimitiveKind::kBall:
        out[0] = F.t.x;
        out[1] = F.t.y;
        out[2] = F.t.z;
        break;
    }
  }
};

/// Calls visit with the joint of body i as the most specialised type that fits: the one place that distinguishes joint types.
template <class T, class Visit, class Const>
KANSETSU_HD void with_joint(const BodyOf<Const>& b, const Posture<T>& posture, int i, Visit&& visit) {
  switch (b.aligned_axis) {
    case 0:
      visit(AlignedHinge<T, 0>{posture.c[i], posture.s[i], lift<T>(b.X_PJ.p)});
      break;
    case 1:
      visit(AlignedHinge<T, 1>{posture.c[i], posture.s[i], lift<T>(b.X_PJ.p)});
      break;
    case 2:
      visit(AlignedHinge<T, 2>{posture.c[i], posture.s[i], lift<T>(b.X_PJ.p)});
      break;
    default:
      visit(GeneralJoint<T, Const>{b, posture.X_PB[i]});
      break;
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
