#pragma once

#include "model/tree.h"

/// Entry points of the dynamic kernels of one instruction set. See kinematics/kernel_table.h for how numbers are passed.
/// Vectors are in the coordinates of the state (v, τ: nv), matrices nv × nv column by column.
namespace kansetsu {
struct SparseMassMatrix;
/// The slot of the n-th entry that crba_sparse() computes.
const std::vector<int>& slots_of(const SparseMassMatrix& matrix);
}  // namespace kansetsu

namespace kansetsu::kernel {

template <class Real>
struct DynamicsKernels {
  int width;
  /// v, a and fext (wrench on each body, in B) may be null. tau or tau_tree (before gears) may be null.
  void (*rnea)(const TreeViewOf<Real>&, const Real* q, const Real* v, const Real* a, const Real* fext, void* scratch,
               Real* tau, Real* tau_tree);
  void (*crba)(const TreeViewOf<Real>&, const Real* q, void* scratch, Real* M);
  /// The lower triangle as values of a sparse matrix, see SparseMassMatrix. Packs of trees with nodes take no slots: their values
  /// are in the order in which they are computed
  void (*crba_sparse)(const TreeViewOf<Real>&, const Real* q, void* scratch, const int* slot, int value_count,
                      Real* values);
  /// singular: nv numbers, non-zero where the projected inertia of a coordinate vanishes; packs: may be null
  void (*aba)(const TreeViewOf<Real>&, const Real* q, const Real* v, const Real* tau, const Real* fext, void* scratch,
              Real* vdot, Real* singular);
  /// out = M⁻¹·x
  void (*solve)(const TreeViewOf<Real>&, const Real* q, const Real* x, void* scratch, Real* out, Real* singular);
  /// Factor that responses are computed from; the block must not change before the three calls below
  void (*factorise)(const TreeViewOf<Real>&, const Real* q, void* block, Real* singular);
  void (*inverse)(const TreeViewOf<Real>&, void* block, Real* M_inv);
  /// Accelerations of all bodies (A_B, in B) and of all columns for a wrench on a body (in B), or for torques. With a
  /// target ≥ 0 only those on the path from the base to that body.
  void (*respond_wrench)(const TreeViewOf<Real>&, void* block, int body, const Real* F, int target, Real* A,
                         Real* vdot);
  void (*respond_torque)(const TreeViewOf<Real>&, void* block, const Real* tau, Real* A, Real* vdot);
  /// fext: per body F (6) and E (12), all in world axes about O, see ExternalWrench; may be null. da (= M) may be null.
  void (*rnea_derivatives)(const TreeViewOf<Real>&, const Real* q, const Real* v, const Real* a, const Real* fext,
                           void* scratch, Real* dq, Real* dv, Real* da);
  /// dq, dv: on entry derivatives of inverse dynamics at vdot, on return of forward dynamics: −M⁻¹·(…)
  void (*apply_inverse)(const TreeViewOf<Real>&, const Real* M_inv, void* scratch, Real* dq, Real* dv);
  void (*mass_matrix_inverse)(const TreeViewOf<Real>&, const Real* q, void* scratch, Real* M_inv);
  /// Derivatives of forward dynamics where it gives vdot; fext as above
  void (*aba_derivatives)(const TreeViewOf<Real>&, const Real* q, const Real* v, const Real* vdot, const Real* fext,
                          void* scratch, Real* dq, Real* dv, Real* M_inv);
  void (*coriolis)(const TreeViewOf<Real>&, const Real* q, const Real* v, void* scratch, Real* C);
  /// nv × (10·links): τ = Y·π with π = [m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about and in each link's frame
  void (*regressor)(const TreeViewOf<Real>&, const LinkPlacement* links, int link_count, const Real* q, const Real* v,
                    const Real* a, void* scratch, Real* Y);
  /// Wrench across the joint of every link, on the link, at its origin and in its axes. fext: per link, world axes at its
  /// origin; may be null. parents: parent link of each link, −1 for the root.
  void (*reactions)(const TreeViewOf<Real>&, const LinkPlacement* links, const int* parents, int link_count,
                    const Real* q, const Real* v, const Real* a, const Real* fext, void* scratch, Real* F);
};

const DynamicsKernels<double>& dynamics();
template <class Real>
const DynamicsKernels<Real>& dynamics_packs();

}  // namespace kansetsu::kernel
