#pragma once

#include "assembly/chain_kernel.h"
#include "kansetsu/spatial/pack.h"
#include "kansetsu/spatial/small_matrix.h"

/// Segment reduction of a chain: each lane of T is a segment, eliminated from its tip to its base by the articulated-body
/// recursion, which includes the effect of an unknown wrench at its end. docs/theory/assembly.md.
///
/// Symbols   s_end = E·s_k + Γ·F_end + b      F_k = P_k·s_k + Z_k − Eᵀ·F_end     rows of E are covectors in the frame of k
namespace kansetsu {

/// Constants of one link per lane.
template <class T>
struct SegmentLink {
  Transform<T> X_PJ;
  Inertia<T> M;
  Motion<T> S;
  Vec3<T> turn, slide;  ///< unit vector about which it turns, or zero; what it slides by per unit of q
  T turns;              ///< 1 if it turns, else 0
};

/// Stored numbers of one link per lane.
template <class T>
struct SegmentStep {
  Transform<T> X;  ///< pose in the link before
  Motion<T> C;
  Force<T> Z, U;  ///< own bias; P·S
  T u, rate, D_inv, e;
  T EJ[6];
};

/// The interface of a segment (one lane) to its neighbours: numbers, not packs.
struct SegmentShare {
  ChainCarry carry;   ///< of all its links
  Motion<> V_before;  ///< in: of the link before the first
  Transform<> X;      ///< of its first link
  Motion<> C, S;      ///< of its first link
  ArticulatedInertia<> P;
  Force<> Z;
  double E[36];  ///< row by row
  double Gamma[36], b[6];
  Motion<> s_first;  ///< in: acceleration of its first link
  Force<> F_end;     ///< in
};

}  // namespace kansetsu

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// R for a turn by an angle about a unit axis: cos·1 + sin·ã + (1 − cos)·a·aᵀ.
template <class T>
KANSETSU_HD Mat3<T> turn_about(const Vec3<T>& a, const T& s, const T& c) {
  const T f = T(1) - c;
  const Vec3<T> fa = f * a, sa = s * a;
  return {{madd(fa.x, a.x, c), madd(fa.x, a.y, -sa.z), madd(fa.x, a.z, sa.y)},
          {madd(fa.x, a.y, sa.z), madd(fa.y, a.y, c), madd(fa.y, a.z, -sa.x)},
          {madd(fa.x, a.z, -sa.y), madd(fa.y, a.z, sa.x), madd(fa.z, a.z, c)}};
}

/// Poses and the carry of each segment. Lanes where `shorter` holds have no last link.
template <class T, class Mask>
KANSETSU_HD void place_segments(const SegmentLink<T>* links, SegmentStep<T>* steps, int count, const T* q,
                                const Mask& shorter, Transform<T>& X_all, Motion<T>& v_all) {
  for (int k = 0; k < count; ++k) {
    const SegmentLink<T>& link = links[k];
    T s, c;
    sincos(link.turns * q[k], s, c);
    SegmentStep<T>& step = steps[k];
    step.X.R = link.X_PJ.R * turn_about(link.turn, s, c);
    step.X.p = link.X_PJ.p + link.X_PJ.R * (q[k] * link.slide);
    const Motion<T> rate = step.rate * link.S;
    if (k == 0) {
      X_all = step.X;
      v_all = rate;
    } else if (k < count - 1) {
      X_all = X_all * step.X;
      v_all = inverse_times(step.X, v_all) + rate;
    } else {
      const auto keep = [&](const auto& old, const auto& next, auto& out) {
        const T *a = reinterpret_cast<const T*>(&old), *b = reinterpret_cast<const T*>(&next);
        T* to = reinterpret_cast<T*>(&out);
        for (int n = 0; n < int(sizeof(out) / sizeof(T)); ++n) to[n] = select(shorter, a[n], b[n]);
      };
      const Transform<T> X = X_all * step.X;
      const Motion<T> v = inverse_times(step.X, v_all) + rate;
      keep(X_all, X, X_all);
      keep(v_all, v, v_all);
    }
  }
}

template <class T>
struct SegmentFront {
  ArticulatedInertia<T> P;
  Force<T> Z;
  Force<T> E[6];
  T Gamma[36], b[6];
};

template <class T>
KANSETSU_HD void start_segment(const SegmentLink<T>& link, const SegmentStep<T>& step, SegmentFront<T>& f) {
  f.P = to_articulated(link.M);
  f.Z = step.Z;
  const auto unit = [](int i, int k) { return T(i == k ? 1 : 0); };
  for (int i = 0; i < 6; ++i) {
    f.E[i] = {{unit(i, 0), unit(i, 1), unit(i, 2)}, {unit(i, 3), unit(i, 4), unit(i, 5)}};
    f.b[i] = T(0);
    for (int k = 0; k < 6; ++k) f.Gamma[6 * i + k] = T(0);
  }
}

/// The step over joint k; afterwards f belongs to link k − 1.
template <class T>
KANSETSU_HD void reduce_step(const SegmentLink<T>* links, SegmentStep<T>* steps, int k, SegmentFront<T>& f) {
  const Motion<T>& S = links[k].S;
  SegmentStep<T>& step = steps[k];
  step.U = f.P * S;
  const T D = dot(S, step.U);
  step.D_inv = select(D > T(0), T(1) / D, T(0));
  step.e = step.u - dot(S, f.Z) - dot(step.C, step.U);
  const T qdd = step.D_inv * step.e;
  const Force<T> F = f.P * step.C + f.Z;
  for (int i = 0; i < 6; ++i) step.EJ[i] = dot(S, f.E[i]);
  for (int i = 0; i < 6; ++i) {
    f.b[i] += madd(step.EJ[i], qdd, dot(step.C, f.E[i]));
    const T g = step.EJ[i] * step.D_inv;
    for (int j = i; j < 6; ++j) f.Gamma[6 * i + j] = madd(g, step.EJ[j], f.Gamma[6 * i + j]);
    f.E[i] = step.X * madd(-g, step.U, f.E[i]);
  }
  const Force<T> k_U = step.D_inv * step.U;
  ArticulatedInertia<T> P = f.P;
  P.A = P.A - Sym3<T>{k_U.t.x * step.U.t.x, k_U.t.x * step.U.t.y, k_U.t.x * step.U.t.z,
                      k_U.t.y * step.U.t.y, k_U.t.y * step.U.t.z, k_U.t.z * step.U.t.z};
  P.B = P.B - outer(step.U.t, k_U.f);
  P.M = P.M - Sym3<T>{k_U.f.x * step.U.f.x, k_U.f.x * step.U.f.y, k_U.f.x * step.U.f.z,
                      k_U.f.y * step.U.f.y, k_U.f.y * step.U.f.z, k_U.f.z * step.U.f.z};
  f.P = step.X * P + to_articulated(links[k - 1].M);
  f.Z = step.X * madd(qdd, step.U, F) + steps[k - 1].Z;
}

/// Velocities from the base, then the recursion to the base. Lanes where `shorter` holds have no last link.
template <class T, class Mask>
KANSETSU_HD void reduce_segments(const SegmentLink<T>* links, SegmentStep<T>* steps, int count,
                                 const Motion<T>& V_before, const Mask& shorter, bool any_shorter, SegmentFront<T>& f) {
  Motion<T> V = V_before;
  for (int k = 0; k < count; ++k) {
    const Motion<T> rate = steps[k].rate * links[k].S;
    V = inverse_times(steps[k].X, V) + rate;
    steps[k].C = cross(V, rate);
    steps[k].Z = cross(V, links[k].M * V);
  }
  start_segment(links[count - 1], steps[count - 1], f);
  for (int k = count - 1; k > 0; --k) {
    reduce_step(links, steps, k, f);
    if (k == count - 1 && any_shorter) {
      SegmentFront<T> other;
      start_segment(links[k - 1], steps[k - 1], other);
      const T* from = reinterpret_cast<const T*>(&other);
      T* to = reinterpret_cast<T*>(&f);
      for (int n = 0; n < int(sizeof(f) / sizeof(T)); ++n) to[n] = select(shorter, from[n], to[n]);
    }
  }
}

/// Accelerations of the joints but the first of each segment. @param qdd  out, count numbers
template <class T>
KANSETSU_HD void finish_segments(const SegmentLink<T>* links, const SegmentStep<T>* steps, int count, Motion<T> s,
                                 const T* F_end, T* qdd) {
  for (int k = 1; k < count; ++k) {
    const SegmentStep<T>& step = steps[k];
    const Motion<T> moved = inverse_times(step.X, s);
    T e = step.e - dot(moved, step.U);  // e has U·C in it
    for (int i = 0; i < 6; ++i) e = madd(step.EJ[i], F_end[i], e);
    qdd[k] = step.D_inv * e;
    s = madd(qdd[k], links[k].S, moved + step.C);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
