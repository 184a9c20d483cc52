#pragma once

#include "dynamics/dense/lanes.h"
#include "kinematics/posture_kernel.h"
#include "model/scratch.h"

/// Kinematics of one state in O (world axes, at the free base's present position), a 3-vector per register. Signs of
/// coordinates are part of S, so that V of a body is the sum of S·v over its ancestors.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A 3-vector in one register; the fourth lane is zero.
template <class T>
using Quad = Pack<T, 4>;

template <class T>
KANSETSU_HD Quad<T> to_quad(const Vec3<T>& a) {
  Quad<T> out(T(0));
  out.set(0, a.x), out.set(1, a.y), out.set(2, a.z);
  return out;
}
/// Components in the order y, z, x.
template <class T>
KANSETSU_HD Quad<T> turned(const Quad<T>& a) {
  return Quad<T>(__builtin_shufflevector(a.v, a.v, 1, 2, 0, 3));
}
template <class T>
KANSETSU_HD Quad<T> cross(const Quad<T>& a, const Quad<T>& b) {
  return turned(msub(turned(a), b, a * turned(b)));
}

/// Numbers of a pose record: the axes of B and its origin, four each; and of a motion record: [w, 0, v, 0].
inline constexpr int kPoseRecord = 16, kMotionRecord = 8;

/// A pose by the columns of its matrix.
template <class T>
struct QuadPose {
  Quad<T> x, y, z, p;

  KANSETSU_HD static QuadPose identity() {
    const T o = T(0), e = T(1);
    return {to_quad<T>({e, o, o}), to_quad<T>({o, e, o}), to_quad<T>({o, o, e}), Quad<T>(o)};
  }
  KANSETSU_HD static QuadPose load_from(const T* at) {
    return {load<Quad<T>>(at), load<Quad<T>>(at + 4), load<Quad<T>>(at + 8), load<Quad<T>>(at + 12)};
  }
  KANSETSU_HD void store_to(T* at) const { store(x, at), store(y, at + 4), store(z, at + 8), store(p, at + 12); }

  KANSETSU_HD Quad<T> turn(const T& a, const T& b, const T& c) const {
    return madd(z, Quad<T>(c), madd(y, Quad<T>(b), x * Quad<T>(a)));
  }
  KANSETSU_HD Quad<T> point(const Vec3<T>& a) const {
    return madd(z, Quad<T>(a.z), madd(y, Quad<T>(a.y), madd(x, Quad<T>(a.x), p)));
  }
  template <int AX>
  KANSETSU_HD QuadPose operator*(const AlignedHinge<T, AX>& joint) const {
    const Quad<T> c(joint.c), s(joint.s), o = point(joint.p);
    if constexpr (AX == 0) return {x, madd(s, z, c * y), msub(s, y, c * z), o};
    if constexpr (AX == 1) return {msub(s, z, c * x), y, madd(s, x, c * z), o};
    if constexpr (AX == 2) return {madd(s, y, c * x), msub(s, x, c * y), z, o};
  }
  template <class Const>
  KANSETSU_HD QuadPose operator*(const GeneralJoint<T, Const>& joint) const {
    const Mat3<T>& R = joint.X_PB.R;
    return {turn(R.x.x, R.y.x, R.z.x), turn(R.x.y, R.y.y, R.z.y), turn(R.x.z, R.y.z, R.z.z), point(joint.X_PB.p)};
  }
};

/// The motion records of a body at X: the columns of X·S.
template <class T, int AX, class Const>
KANSETSU_HD void store_subspace(const AlignedHinge<T, AX>&, const BodyOf<Const>& b, const QuadPose<T>& X,
                                const double* sign, T* S) {
  const Quad<T> axis = Quad<T>(T(sign[b.u])) * (AX == 0 ? X.x : AX == 1 ? X.y : X.z);
  store(axis, S + b.u * kMotionRecord);
  store(cross(X.p, axis), S + b.u * kMotionRecord + 4);
}
template <class T, class Const>
KANSETSU_HD void store_subspace(const GeneralJoint<T, Const>&, const BodyOf<Const>& b, const QuadPose<T>& X,
                                const double* sign, T* S) {
  for (int k = 0; k < b.nu; ++k) {
    const Motion<T> s = subspace<T>(b, k);
    const Quad<T> plus{T(sign[b.u + k])};
    const Quad<T> w = plus * X.turn(s.w.x, s.w.y, s.w.z), v = plus * X.turn(s.v.x, s.v.y, s.v.z);
    store(w, S + (b.u + k) * kMotionRecord);
    store(v + cross(X.p, w), S + (b.u + k) * kMotionRecord + 4);
  }
}

/// Pose and columns of a free base in O, where it stands at the origin: its axes.
template <class T, class Const>
KANSETSU_HD QuadPose<T> store_base(const Posture<T>& posture, const BodyOf<Const>& b, const double* sign, T* S) {
  const Mat3<T>& R = posture.X_PB[0].R;
  const Quad<T> zero(T(0)), axes[3] = {to_quad(R.column_x()), to_quad(R.column_y()), to_quad(R.column_z())};
  for (int k = 0; k < 6; ++k) {
    const Quad<T> axis = Quad<T>(T(sign[b.u + k])) * axes[k % 3];
    T* to = S + (b.u + k) * kMotionRecord;
    store(k < 3 ? axis : zero, to);
    store(k < 3 ? zero : axis, to + 4);
  }
  return {axes[0], axes[1], axes[2], zero};
}

/// Poses of all bodies and motion subspaces of all columns, as records.
template <class T, class Const>
KANSETSU_HD void world_records(const TreeViewOf<Const>& tree, const Posture<T>& posture, T* X_all, T* S) {
  const QuadPose<T> ground = QuadPose<T>::identity();
  QuadPose<T> X = ground;  // of the body before
  int i = 0;
  if (tree.free_base) {
    X = store_base(posture, tree.bodies[0], tree.columns.sign, S);
    X.store_to(X_all + kPoseRecord * i++);
  }
  for (; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    if (b.parent != i - 1) X = b.parent < 0 ? ground : QuadPose<T>::load_from(X_all + b.parent * kPoseRecord);
    with_joint(b, posture, i, [&](const auto& joint) __attribute__((always_inline)) {
      X = X * joint;
      store_subspace(joint, b, X, tree.columns.sign, S);
    });
    X.store_to(X_all + i * kPoseRecord);
  }
  for (int k = tree.nu * kMotionRecord; k < tree.columns.columns * kMotionRecord; ++k) S[k] = T(0);
}

/// Poses, or motions, of P::width items from their records.
template <class P, class T>
KANSETSU_HD Transform<P> load_poses(const T* records) {
  P n[kPoseRecord];
  load_records(records, n);
  return {{{n[0], n[4], n[8]}, {n[1], n[5], n[9]}, {n[2], n[6], n[10]}}, {n[12], n[13], n[14]}};
}
template <class P, class T>
KANSETSU_HD Motion<P> load_motions(const T* records) {
  P n[kMotionRecord];
  load_records(records, n);
  return {{n[0], n[1], n[2]}, {n[4], n[5], n[6]}};
}
template <class P, class T>
KANSETSU_HD Motion<P> load_motions(const T* records, const int* index) {
  P n[kMotionRecord];
  load_records(records, index, n);
  return {{n[0], n[1], n[2]}, {n[4], n[5], n[6]}};
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
