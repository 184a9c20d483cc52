#pragma once

#include <utility>

#include "dynamics/own_inertia.h"
#include "model/nodes.h"

/// The tight loop of the articulated-body algorithm over nodes: one hinge, eliminated in place. Number by number: compilers move
/// whole matrices that are copied or renamed as structs through the stack.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// A node with its subtree: articulated inertia and articulated bias force.
template <class T>
struct ArticulatedBody {
  ArticulatedInertia<T> P;
  Force<T> Z;
};
template <class T>
KANSETSU_HD ArticulatedBody<T> no_articulated_body() {
  const Vec3<T> o{T(0), T(0), T(0)};
  const Sym3<T> O{T(0), T(0), T(0), T(0), T(0), T(0)};
  return {{O, {o, o, o}, O}, {o, o}};
}

/// q̈ = free − kᵀ·a of a hinge: k = P·S/D, free = (τ − Sᵀ·Z)/D; a: acceleration of the parent at the hinge, in the parent's
/// axes, renamed so that the hinge is about z.
template <class T>
struct HingeGain {
  Force<T> k;
  T free;
};

/// Entries by number, axes renamed (cyclically) so that AX is axis 2.
template <int AX, int I, class Vec>
KANSETSU_HD auto& entry(Vec& a) {
  return along<(I + AX + 1) % 3>(a);
}
template <int AX, int I, int J, class T>
KANSETSU_HD const T& entry(const Mat3<T>& a) {
  constexpr int i = (I + AX + 1) % 3;
  return entry<AX, J>(i == 0 ? a.x : i == 1 ? a.y : a.z);
}
template <int AX, int I, int J, class T>
KANSETSU_HD const T& entry(const Sym3<T>& a) {
  constexpr int i = (I + AX + 1) % 3, j = (J + AX + 1) % 3;
  if constexpr (i == j) return i == 0 ? a.xx : i == 1 ? a.yy : a.zz;
  return i + j == 1 ? a.xy : i + j == 2 ? a.xz : a.yz;
}
template <int AX, int I, int J, template <class> class Matrix, class T>
KANSETSU_HD T& entry(Matrix<T>& a) {
  return const_cast<T&>(entry<AX, I, J>(std::as_const(a)));
}

/// A block of a symmetric matrix, turned about z in its plane.
template <class T>
struct PlaneBlock {
  T xx, xy, yy;
  KANSETSU_HD PlaneBlock(const TurnZ<T>& R, const T& a_xx, const T& a_xy, const T& a_yy) {
    const T e = a_xx - a_yy, g = a_xy + a_xy;
    const T t = madd(R.ss, e, R.cs * g);
    xx = a_xx - t;
    xy = msub(R.ss, g, madd(R.cs, e, a_xy));
    yy = a_yy + t;
  }
};
/// (x, y) of a vector, turned.
template <class T>
struct PlaneVector {
  T x, y;
  KANSETSU_HD PlaneVector(const TurnZ<T>& R, const T& a_x, const T& a_y)
      : x(msub(R.s, a_y, R.c * a_x)), y(madd(R.s, a_x, R.c * a_y)) {}
};

/// Z' = Z + k·u, in the parent's axes. `out` may be Z.
template <int AX, class T>
KANSETSU_HD void pass_wrench(const TurnZ<T>& R, const Force<T>& k, const T& u, const Force<T>& Z, Force<T>& out) {
  const PlaneVector<T> t(R, entry<AX, 0>(Z.t), entry<AX, 1>(Z.t)), f(R, entry<AX, 0>(Z.f), entry<AX, 1>(Z.f));
  entry<AX, 0>(out.t) = madd(u, k.t.x, t.x);
  entry<AX, 1>(out.t) = madd(u, k.t.y, t.y);
  entry<AX, 2>(out.t) = madd(u, k.t.z, entry<AX, 2>(Z.t));
  entry<AX, 0>(out.f) = madd(u, k.f.x, f.x);
  entry<AX, 1>(out.f) = madd(u, k.f.y, f.y);
  entry<AX, 2>(out.f) = madd(u, k.f.z, entry<AX, 2>(Z.f));
}

/// Eliminates a hinge about AX: the articulated body becomes its share in the parent, at the hinge but in the parent's axes. P
/// is turned first, while 1/D is computed, and U·D⁻¹·Uᵀ is then subtracted.
/// @param kSolid  the rotor alone keeps D from vanishing
/// @param passes_on  whether there is a parent
/// @param singular  out: number c is 1 if the hinge moves no inertia; may be null
template <int AX, bool kSolid, class T>
KANSETSU_HD void eliminate(const TurnZ<T>& R, const T& tau, const T& rotor, bool passes_on, ArticulatedBody<T>& b,
                           HingeGain<T>& gain, T* singular, int c) {
  const ArticulatedInertia<T>& P = b.P;
  ArticulatedBody<T>& out = b;
  const T D = entry<AX, 2, 2>(P.A) + rotor;
  T D_inv = T(1) / D, rest = T(1);
  if constexpr (!kSolid) {
    const auto regular = D > T(kPivotNoise<T>) * trace(P.A);
    D_inv = select(regular, D_inv, T(0));
    rest = select(regular, rotor * D_inv, T(1));
    if (singular) singular[c] = select(regular, T(0), T(1));
  } else if (singular) {
    singular[c] = T(0);
  }
  const T u = tau - entry<AX, 2>(b.Z.t);
  gain.free = D_inv * u;
  const PlaneVector<T> t(R, entry<AX, 0, 2>(P.A), entry<AX, 1, 2>(P.A)),
      f(R, entry<AX, 2, 0>(P.B), entry<AX, 2, 1>(P.B));
  const T t_z = entry<AX, 2, 2>(P.A), f_z = entry<AX, 2, 2>(P.B);
  const Force<T> k{{D_inv * t.x, D_inv * t.y, D_inv * t_z}, {D_inv * f.x, D_inv * f.y, D_inv * f_z}};
  gain.k = k;
  if (!passes_on) return;

  const PlaneBlock<T> M(R, entry<AX, 0, 0>(P.M), entry<AX, 0, 1>(P.M), entry<AX, 1, 1>(P.M));
  const PlaneVector<T> M_z(R, entry<AX, 0, 2>(P.M), entry<AX, 1, 2>(P.M));
  entry<AX, 0, 0>(out.P.M) = msub(f.x, k.f.x, M.xx);
  entry<AX, 0, 1>(out.P.M) = msub(f.x, k.f.y, M.xy);
  entry<AX, 1, 1>(out.P.M) = msub(f.y, k.f.y, M.yy);
  entry<AX, 0, 2>(out.P.M) = msub(f.x, k.f.z, M_z.x);
  entry<AX, 1, 2>(out.P.M) = msub(f.y, k.f.z, M_z.y);
  entry<AX, 2, 2>(out.P.M) = msub(f_z, k.f.z, entry<AX, 2, 2>(P.M));

  const T B_xx = entry<AX, 0, 0>(P.B), B_xy = entry<AX, 0, 1>(P.B), B_yx = entry<AX, 1, 0>(P.B),
          B_yy = entry<AX, 1, 1>(P.B);
  const T e = B_xx - B_yy, g = B_xy + B_yx;
  const T p = madd(R.ss, e, R.cs * g), d = msub(R.ss, g, R.cs * e);
  const PlaneVector<T> B_z(R, entry<AX, 0, 2>(P.B), entry<AX, 1, 2>(P.B));
  entry<AX, 0, 0>(out.P.B) = msub(t.x, k.f.x, B_xx - p);
  entry<AX, 0, 1>(out.P.B) = msub(t.x, k.f.y, B_xy + d);
  entry<AX, 1, 0>(out.P.B) = msub(t.y, k.f.x, B_yx + d);
  entry<AX, 1, 1>(out.P.B) = msub(t.y, k.f.y, B_yy + p);
  entry<AX, 0, 2>(out.P.B) = msub(t.x, k.f.z, B_z.x);
  entry<AX, 1, 2>(out.P.B) = msub(t.y, k.f.z, B_z.y);

  const PlaneBlock<T> A(R, entry<AX, 0, 0>(P.A), entry<AX, 0, 1>(P.A), entry<AX, 1, 1>(P.A));
  entry<AX, 0, 0>(out.P.A) = msub(t.x, k.t.x, A.xx);
  entry<AX, 0, 1>(out.P.A) = msub(t.x, k.t.y, A.xy);
  entry<AX, 1, 1>(out.P.A) = msub(t.y, k.t.y, A.yy);

  // Along the axis the rotor's share U·J/D remains: exactly zero without a rotor.
  const T& share = kSolid ? rotor : rest;
  entry<AX, 2, 0>(out.P.B) = share * (kSolid ? k.f.x : f.x);
  entry<AX, 2, 1>(out.P.B) = share * (kSolid ? k.f.y : f.y);
  entry<AX, 2, 2>(out.P.B) = share * (kSolid ? k.f.z : f_z);
  entry<AX, 0, 2>(out.P.A) = share * (kSolid ? k.t.x : t.x);
  entry<AX, 1, 2>(out.P.A) = share * (kSolid ? k.t.y : t.y);
  entry<AX, 2, 2>(out.P.A) = share * (kSolid ? k.t.z : t_z);
  pass_wrench<AX>(R, k, u, b.Z, out.Z);
}

/// The same for the last hinge of a limb: all but the turn and the wrench is constant.
template <int AX, class T, class Const>
KANSETSU_HD void eliminate(const TurnZ<T>& R, const T& tau, const LeafOf<Const>& leaf, bool passes_on,
                           const Force<T>& Z, ArticulatedBody<T>& out, HingeGain<T>& gain, T* singular, int c) {
  const T D_inv = lift<T>(leaf.D_inv);
  if (singular) singular[c] = select(D_inv == T(0), T(1), T(0));
  const T u = tau - entry<AX, 2>(Z.t);
  gain.free = D_inv * u;
  const PlaneVector<T> t(R, lift<T>(leaf.k.t.x), lift<T>(leaf.k.t.y)), f(R, lift<T>(leaf.k.f.x), lift<T>(leaf.k.f.y));
  const Force<T> k{{t.x, t.y, lift<T>(leaf.k.t.z)}, {f.x, f.y, lift<T>(leaf.k.f.z)}};
  gain.k = k;
  if (!passes_on) return;
  const auto sym = [&](const Sym3<Const>& from, Sym3<T>& to) {
    const PlaneBlock<T> a(R, lift<T>(entry<AX, 0, 0>(from)), lift<T>(entry<AX, 0, 1>(from)),
                          lift<T>(entry<AX, 1, 1>(from)));
    const PlaneVector<T> z(R, lift<T>(entry<AX, 0, 2>(from)), lift<T>(entry<AX, 1, 2>(from)));
    entry<AX, 0, 0>(to) = a.xx;
    entry<AX, 0, 1>(to) = a.xy;
    entry<AX, 1, 1>(to) = a.yy;
    entry<AX, 0, 2>(to) = z.x;
    entry<AX, 1, 2>(to) = z.y;
    entry<AX, 2, 2>(to) = lift<T>(entry<AX, 2, 2>(from));
  };
  sym(leaf.P.A, out.P.A);
  sym(leaf.P.M, out.P.M);
  const Mat3<Const>& B = leaf.P.B;
  const T B_xx = lift<T>(entry<AX, 0, 0>(B)), B_xy = lift<T>(entry<AX, 0, 1>(B)), B_yx = lift<T>(entry<AX, 1, 0>(B)),
          B_yy = lift<T>(entry<AX, 1, 1>(B));
  const T e = B_xx - B_yy, g = B_xy + B_yx;
  const T p = madd(R.ss, e, R.cs * g), d = msub(R.ss, g, R.cs * e);
  const PlaneVector<T> column(R, lift<T>(entry<AX, 0, 2>(B)), lift<T>(entry<AX, 1, 2>(B)));
  const PlaneVector<T> row(R, lift<T>(entry<AX, 2, 0>(B)), lift<T>(entry<AX, 2, 1>(B)));
  entry<AX, 0, 0>(out.P.B) = B_xx - p;
  entry<AX, 0, 1>(out.P.B) = B_xy + d;
  entry<AX, 1, 0>(out.P.B) = B_yx + d;
  entry<AX, 1, 1>(out.P.B) = B_yy + p;
  entry<AX, 0, 2>(out.P.B) = column.x;
  entry<AX, 1, 2>(out.P.B) = column.y;
  entry<AX, 2, 0>(out.P.B) = row.x;
  entry<AX, 2, 1>(out.P.B) = row.y;
  entry<AX, 2, 2>(out.P.B) = lift<T>(entry<AX, 2, 2>(B));
  pass_wrench<AX>(R, k, u, Z, out.Z);
}

/// From a hinge to the origin of its parent, d along coordinate axis K away.
template <int K, class T>
KANSETSU_HD void shift_along(const T& d, ArticulatedBody<T>& b) {
  Sym3<T>&A = b.P.A, &M = b.P.M;
  Mat3<T>& B = b.P.B;
  const T xx = msub(d, entry<K, 0, 1>(M), entry<K, 0, 0>(B)), xy = msub(d, entry<K, 1, 1>(M), entry<K, 0, 1>(B)),
          yx = madd(d, entry<K, 0, 0>(M), entry<K, 1, 0>(B));
  entry<K, 0, 0>(A) = msub(d, entry<K, 0, 1>(B) + xy, entry<K, 0, 0>(A));
  entry<K, 0, 1>(A) = madd(d, xx - entry<K, 1, 1>(B), entry<K, 0, 1>(A));
  entry<K, 0, 2>(A) = msub(d, entry<K, 2, 1>(B), entry<K, 0, 2>(A));
  entry<K, 1, 1>(A) = madd(d, entry<K, 1, 0>(B) + yx, entry<K, 1, 1>(A));
  entry<K, 1, 2>(A) = madd(d, entry<K, 2, 0>(B), entry<K, 1, 2>(A));
  entry<K, 0, 0>(B) = xx;
  entry<K, 0, 1>(B) = xy;
  entry<K, 1, 0>(B) = yx;
  entry<K, 0, 2>(B) = msub(d, entry<K, 1, 2>(M), entry<K, 0, 2>(B));
  entry<K, 1, 1>(B) = madd(d, entry<K, 0, 1>(M), entry<K, 1, 1>(B));
  entry<K, 1, 2>(B) = madd(d, entry<K, 0, 2>(M), entry<K, 1, 2>(B));
  entry<K, 0>(b.Z.t) = msub(d, entry<K, 1>(b.Z.f), entry<K, 0>(b.Z.t));
  entry<K, 1>(b.Z.t) = madd(d, entry<K, 0>(b.Z.f), entry<K, 1>(b.Z.t));
}

/// From a node to the origin of its parent.
template <class T, class Node>
KANSETSU_HD void shift(const Node& node, ArticulatedBody<T>& b) {
  switch (node.offset) {
    case Offset::kX:
      shift_along<0>(lift<T>(node.p.x), b);
      break;
    case Offset::kY:
      shift_along<1>(lift<T>(node.p.y), b);
      break;
    case Offset::kZ:
      shift_along<2>(lift<T>(node.p.z), b);
      break;
    case Offset::kAny:
      b = {kansetsu::shift(lift<T>(node.p), b.P), {add_cross(b.Z.t, lift<T>(node.p), b.Z.f), b.Z.f}};
      break;
    case Offset::kNone:
      break;
  }
}

/// P + M where I is diagonal and h along axis K.
template <int K, class T, class Const>
KANSETSU_HD void add_own_along(const Inertia<Const>& M, ArticulatedInertia<T>& P) {
  const T h = lift<T>(along<K>(M.h)), m = lift<T>(M.m);
  P.A.xx += lift<T>(M.I.xx), P.A.yy += lift<T>(M.I.yy), P.A.zz += lift<T>(M.I.zz);
  entry<K, 0, 1>(P.B) -= h;
  entry<K, 1, 0>(P.B) += h;
  P.M.xx += m, P.M.yy += m, P.M.zz += m;
}
/// P + M, number by number.
template <class T, class Const>
KANSETSU_HD void add_own(const NodeOf<Const>& node, ArticulatedInertia<T>& P) {
  switch (node.centre) {
    case Offset::kX:
      add_own_along<0>(node.M, P);
      break;
    case Offset::kY:
      add_own_along<1>(node.M, P);
      break;
    case Offset::kNone:
    case Offset::kZ:
      add_own_along<2>(node.M, P);
      break;
    case Offset::kAny: {
      const Inertia<T> M = lift<T>(node.M);
      P.A = P.A + M.I;
      P.B.x.y -= M.h.z, P.B.x.z += M.h.y, P.B.y.x += M.h.z, P.B.y.z -= M.h.x, P.B.z.x -= M.h.y, P.B.z.y += M.h.x;
      P.M.xx += M.m, P.M.yy += M.m, P.M.zz += M.m;
      break;
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
