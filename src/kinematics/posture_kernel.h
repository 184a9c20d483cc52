#pragma once

#include "kansetsu/spatial/quaternion.h"
#include "kinematics/joint_kernel.h"
#include "kinematics/sincos_kernel.h"
#include "model/scratch.h"

/// From the user's q, v to the tree's coordinates and back: gears, signs, quaternions, sines and cosines.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// u = G·v
template <class T, class Const>
KANSETSU_HD void expand(const TreeViewOf<Const>& tree, const T* v, T* u) {
  if (tree.simple) {
    for (int k = 0; k < tree.nu; ++k) u[k] = T(tree.terms[k].ratio) * v[tree.terms[k].column];
    return;
  }
  for (int k = 0; k < tree.nu; ++k) {
    const CoordinateRowOf<Const> row = tree.rows[k];
    T sum = T(0);
    for (int t = row.begin; t < row.end; ++t) sum = madd(T(tree.terms[t].ratio), v[tree.terms[t].column], sum);
    u[k] = sum;
  }
}
/// out = Gᵀ·u
template <class T, class Const>
KANSETSU_HD void reduce(const TreeViewOf<Const>& tree, const T* u, T* out) {
  if (tree.simple) {
    for (int k = 0; k < tree.nu; ++k) out[tree.terms[k].column] = T(tree.terms[k].ratio) * u[k];
    return;
  }
  for (int k = 0; k < tree.nv; ++k) out[k] = T(0);
  for (int k = 0; k < tree.nu; ++k) {
    for (int t = tree.rows[k].begin; t < tree.rows[k].end; ++t) {
      T& o = out[tree.terms[t].column];
      o = madd(T(tree.terms[t].ratio), u[k], o);
    }
  }
}

template <class T, class Const>
KANSETSU_HD T tree_position(const TreeViewOf<Const>& tree, int k, const T* q) {
  if (tree.simple) return madd(T(tree.terms[k].ratio), q[tree.terms[k].position], T(tree.rows[k].offset));
  const CoordinateRowOf<Const> row = tree.rows[k];
  T sum = T(row.offset);
  for (int t = row.begin; t < row.end; ++t) sum = madd(T(tree.terms[t].ratio), q[tree.terms[t].position], sum);
  return sum;
}

template <class T, class Const>
KANSETSU_HD Posture<T> carve_posture(const TreeViewOf<Const>& tree, Carver<T>& carver) {
  T* c = carver.template take<T>(tree.body_count);
  T* s = carver.template take<T>(tree.body_count);
  return {c, s, carver.template take<Transform<T>>(tree.body_count)};
}

template <class T, class Const>
KANSETSU_HD void load_posture(const TreeViewOf<Const>& tree, const T* q, Posture<T>& out) {
  T* angle = out.s;  // overwritten by the sines
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    const bool turns = b.kind == PrimitiveKind::kHinge || b.kind == PrimitiveKind::kScrew;
    angle[i] = turns ? tree_position(tree, b.u, q) : T(0);
  }
  sincos_array(angle, tree.body_count, out.s, out.c);
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    if (b.aligned_axis >= 0) continue;
    const Transform<T> X_PJ = lift<T>(b.X_PJ);
    Transform<T>& X = out.X_PB[i];
    if (b.large >= 0) {
      const bool free = b.kind == PrimitiveKind::kFree;
      const T* p = q + tree.large[b.large].q;
      const T* r = free ? p + 3 : p;
      X.R = X_PJ.R * to_mat3(Quaternion<T>{r[0], r[1], r[2], r[3]});
      X.p = free ? X_PJ * Vec3<T>{p[0], p[1], p[2]} : X_PJ.p;
      continue;
    }
    X = X_PJ;
    if (b.kind == PrimitiveKind::kHinge || b.kind == PrimitiveKind::kScrew) {
      X.R = {turn_back<2>(out.c[i], out.s[i], X_PJ.R.x), turn_back<2>(out.c[i], out.s[i], X_PJ.R.y),
             turn_back<2>(out.c[i], out.s[i], X_PJ.R.z)};
    }
    if (b.kind == PrimitiveKind::kSlide || b.kind == PrimitiveKind::kScrew) {
      const T along_axis = b.kind == PrimitiveKind::kScrew ? T(b.pitch) : T(1);
      X.p = madd(along_axis * tree_position(tree, b.u, q), X_PJ.R.column_z(), X.p);
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
