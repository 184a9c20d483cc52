#pragma once

#include "dynamics/coriolis_inertia.h"
#include "kinematics/world_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// External wrenches on the bodies for derivatives, in O: their sum, and its change when the body turns and each
/// wrench keeps its world axes: δF = −E·ω as seen from the moved body.
template <class T>
struct ExternalWrench {
  Force<T> F;
  CoriolisInertia<T> E;
};

/// Memory of the derivative kernels. Arrays per body, then per tree coordinate.
template <class T>
struct DerivativeScratch {
  Transform<T>* X;
  Motion<T>*V, *A;
  Inertia<T>* M;
  CoriolisInertia<T>*B, *E;
  Force<T>* F;
  Motion<T>*S, *S_dot, *Psi_dot, *Psi_ddot;
};

template <class T, class Const>
KANSETSU_HD DerivativeScratch<T> carve_derivatives(const TreeViewOf<Const>& tree, Carver<T>& carver) {
  const int n = tree.body_count;
  DerivativeScratch<T> w;
  w.X = carver.template take<Transform<T>>(n);
  w.V = carver.template take<Motion<T>>(n);
  w.A = carver.template take<Motion<T>>(n);
  w.M = carver.template take<Inertia<T>>(n);
  w.B = carver.template take<CoriolisInertia<T>>(n);
  w.E = carver.template take<CoriolisInertia<T>>(n);
  w.F = carver.template take<Force<T>>(n);
  w.S = carver.template take<Motion<T>>(tree.nu);
  w.S_dot = carver.template take<Motion<T>>(tree.nu);
  w.Psi_dot = carver.template take<Motion<T>>(tree.nu);
  w.Psi_ddot = carver.template take<Motion<T>>(tree.nu);
  return w;
}

/// Outward sweep common to the derivatives and the Coriolis matrix, all in O. [SRW22] Singh, Russell & Wensing 2022, Table 1.
///   Ṡ = V×S   Ψ̇ = V_λ×S   Ψ̈ = A_λ×S + V_λ×Ψ̇   F = M A + V×*M V − fext
template <class T, class Const>
KANSETSU_HD void spread(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u, const T* a,
                        const ExternalWrench<T>* fext, DerivativeScratch<T>& w) {
  const Vec3<T> zero{T(0), T(0), T(0)};
  const Motion<T> V_ground{zero, zero}, A_ground{zero, lift<T>(-tree.gravity)};
  poses(tree, posture, true, w.X);
  subspaces(tree, w.X, w.S);
  world_velocities(tree, w.S, u, w.V);
  world_accelerations(tree, w.S, u, a, w.V, A_ground, w.A);
  for (int i = 0; i < tree.body_count; ++i) {
    const BodyOf<Const>& b = tree.bodies[i];
    const Motion<T>& V_P = b.parent < 0 ? V_ground : w.V[b.parent];
    const Motion<T>& A_P = b.parent < 0 ? A_ground : w.A[b.parent];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      w.S_dot[k] = cross(w.V[i], w.S[k]);
      w.Psi_dot[k] = cross(V_P, w.S[k]);
      w.Psi_ddot[k] = cross(A_P, w.S[k]) + cross(V_P, w.Psi_dot[k]);
    }
    if (b.massless) {
      w.M[i] = {T(0), zero, {T(0), T(0), T(0), T(0), T(0), T(0)}};
      w.B[i] = {{zero, zero, zero}, zero};
      w.F[i] = {zero, zero};
    } else {
      w.M[i] = w.X[i] * lift<T>(b.M_B);
      w.B[i] = coriolis_inertia(w.M[i], w.V[i]);
      w.F[i] = w.M[i] * w.A[i] + cross(w.V[i], w.M[i] * w.V[i]);
    }
    if (fext) {
      w.F[i] -= fext[i].F;
      w.E[i] = fext[i].E;
    }
  }
}

template <class T, class Const>
KANSETSU_HD void gather(const BodyOf<Const>& b, int i, bool external, DerivativeScratch<T>& w) {
  if (b.parent < 0) return;
  w.M[b.parent] = w.M[b.parent] + w.M[i];
  w.B[b.parent] = w.B[b.parent] + w.B[i];
  w.F[b.parent] += w.F[i];
  if (external) w.E[b.parent] = w.E[b.parent] + w.E[i];
}

/// Derivatives of inverse dynamics by position (tangent space, perturbed on the right) and velocity; external wrenches
/// keep their world axes and move with their links. [SRW22] with M, B, F those of the subtree below j:
///   ∂τᵢ/∂qⱼ = Sᵢᵀ(2B Ψ̇ⱼ + M Ψ̈ⱼ + Sⱼ×*F)   ∂τⱼ/∂qᵢ = Sⱼᵀ(2B Ψ̇ᵢ + M Ψ̈ᵢ)      i a proper ancestor of j
///   ∂τᵢ/∂vⱼ = Sᵢᵀ(2B Sⱼ + M(Ψ̇ⱼ + Ṡⱼ))       ∂τⱼ/∂vᵢ = Sⱼᵀ(2B Sᵢ + M(Ψ̇ᵢ + Ṡᵢ))
/// and the first of each for two coordinates of one joint, there without Sⱼ×*F.
/// Calls dq(row, column, value) and dv(row, column, value) once for each entry that may differ from zero, and
/// da(row, column, value), the mass matrix, once for each pair.
template <class T, class Dq, class Dv, class Da, class Const>
KANSETSU_HD void rnea_derivatives(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u, const T* a,
                                  const ExternalWrench<T>* fext, DerivativeScratch<T>& w, Dq&& dq, Dv&& dv, Da&& da) {
  const T two = T(scalar_t<T>(2));
  spread(tree, posture, u, a, fext, w);
  for (int i = tree.body_count - 1; i >= 0; --i) {
    const BodyOf<Const>& b = tree.bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const Motion<T>& S = w.S[k];
      Force<T> by_q = two * (w.B[i] * w.Psi_dot[k]) + w.M[i] * w.Psi_ddot[k];
      if (fext) by_q += w.E[i] * S;
      const Force<T> by_v = two * (w.B[i] * S) + w.M[i] * (w.Psi_dot[k] + w.S_dot[k]);
      const Force<T> row_M = w.M[i] * S;
      for (int l = b.u; l < b.u + b.nu; ++l) {
        dq(l, k, dot(w.S[l], by_q));
        dv(l, k, dot(w.S[l], by_v));
        if (l < k) da(l, k, dot(w.S[l], row_M));
        if (l == k) da(k, k, dot(S, row_M) + T(tree.rotor_inertia[k]));
      }
      const Force<T> carried = by_q + cross(S, w.F[i]);
      const Vec3<T> row_B = two * transpose_times(w.B[i], S);
      const Vec3<T> row_E = fext ? transpose_times(w.E[i], S) : row_B;
      for (int j = b.parent; j >= 0; j = tree.bodies[j].parent) {
        for (int l = tree.bodies[j].u; l < tree.bodies[j].u + tree.bodies[j].nu; ++l) {
          dq(l, k, dot(w.S[l], carried));
          dv(l, k, dot(w.S[l], by_v));
          T below = dot(row_B, w.Psi_dot[l].w) + dot(w.Psi_ddot[l], row_M);
          if (fext) below = below + dot(row_E, w.S[l].w);
          dq(k, l, below);
          dv(k, l, dot(row_B, w.S[l].w) + dot(w.Psi_dot[l] + w.S_dot[l], row_M));
          da(l, k, dot(w.S[l], row_M));
        }
      }
    }
    gather(b, i, fext != nullptr, w);
  }
}

/// Coriolis matrix with C·v = bias without gravity and Ṁ − 2C skew. [EW21]: Cᵢⱼ = Sᵢᵀ(B Sⱼ + M Ṡⱼ), Cⱼᵢ = Sⱼᵀ(B Sᵢ + M Ṡᵢ).
template <class T, class Out, class Const>
KANSETSU_HD void coriolis(const TreeViewOf<Const>& tree, const Posture<T>& posture, const T* u, DerivativeScratch<T>& w,
                          Out&& out) {
  spread<T>(tree, posture, u, nullptr, nullptr, w);
  for (int i = tree.body_count - 1; i >= 0; --i) {
    const BodyOf<Const>& b = tree.bodies[i];
    for (int k = b.u; k < b.u + b.nu; ++k) {
      const Force<T> column = w.B[i] * w.S[k] + w.M[i] * w.S_dot[k];
      const Vec3<T> row_B = transpose_times(w.B[i], w.S[k]);
      const Force<T> row_M = w.M[i] * w.S[k];
      for (int l = b.u; l < b.u + b.nu; ++l) out(l, k, dot(w.S[l], column));
      for (int j = b.parent; j >= 0; j = tree.bodies[j].parent) {
        for (int l = tree.bodies[j].u; l < tree.bodies[j].u + tree.bodies[j].nu; ++l) {
          out(l, k, dot(w.S[l], column));
          out(k, l, dot(row_B, w.S[l].w) + dot(w.S_dot[l], row_M));
        }
      }
    }
    gather(b, i, false, w);
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
