#pragma once

#include "kinematics/velocity_kernel.h"
#include "kinematics/world_kernel.h"

/// Common parts of the entry points of the kernel tables. Their arguments are plain numbers; inside they are T.
namespace kansetsu::kernel::inline KANSETSU_ISA {

template <class T, class Real>
KANSETSU_HD const T* as(const Real* x) {
  return reinterpret_cast<const T*>(x);
}
template <class T, class Real>
KANSETSU_HD T* as(Real* x) {
  return reinterpret_cast<T*>(x);
}

/// The first steps of every entry.
template <class T>
struct Frame {
  Carver<T> carver;
  Posture<T> posture;

  template <class Const>
  KANSETSU_HD Frame(const TreeViewOf<Const>& tree, const scalar_t<T>* q, void* scratch)
      : carver(scratch), posture(carve_posture(tree, carver)) {
    load_posture(tree, as<T>(q), posture);
  }
  template <class Item>
  KANSETSU_HD Item* take(int n) {
    return carver.template take<Item>(n);
  }
  /// Tree coordinates of a vector; zeros if it is null.
  template <class Const>
  KANSETSU_HD T* expanded(const TreeViewOf<Const>& tree, const scalar_t<T>* v) {
    T* u = take<T>(tree.nu);
    if (v) {
      expand(tree, as<T>(v), u);
    } else {
      for (int k = 0; k < tree.nu; ++k) u[k] = T(0);
    }
    return u;
  }
};

/// Poses, subspaces and (if v) velocities in O, and the position of O.
template <class T>
struct WorldFrame {
  Transform<T>* X;
  Motion<T>*S, *V = nullptr;
  Vec3<T> O{T(0), T(0), T(0)};

  template <class Const>
  KANSETSU_HD WorldFrame(const TreeViewOf<Const>& tree, Frame<T>& frame, const scalar_t<T>* v) {
    X = frame.template take<Transform<T>>(tree.body_count);
    S = frame.template take<Motion<T>>(tree.nu);
    poses(tree, frame.posture, true, X);
    subspaces(tree, X, S);
    if (tree.free_base) O = frame.posture.X_PB[0].p;
    if (!v) return;
    V = frame.template take<Motion<T>>(tree.body_count);
    world_velocities(tree, S, frame.expanded(tree, v), V);
  }
};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
