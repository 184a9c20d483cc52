#pragma once

#include "model/tree.h"

/// Entry points of the dynamic kernels of one instruction set. See kinematics/kernel_table.h for how numbers are passed.
/// Vectors are in the coordinates of the state (v, τ: nv), matrices nv × nv column by column.
namespace kansetsu::kernel {

struct DynamicsKernels {
  int width;
  /// v, a and fext (wrench on each body, in B) may be null. tau or tau_tree (before gears) may be null.
  void (*rnea)(const TreeView&, const double* q, const double* v, const double* a, const double* fext, void* scratch,
               double* tau, double* tau_tree);
  void (*crba)(const TreeView&, const double* q, void* scratch, double* M);
  /// The lower triangle as values of a sparse matrix, see SparseMassMatrix
  void (*crba_sparse)(const TreeView&, const double* q, void* scratch, const int* slot, int value_count,
                      double* values);
  /// singular: nv numbers, non-zero where the projected inertia of a coordinate vanishes
  void (*aba)(const TreeView&, const double* q, const double* v, const double* tau, const double* fext, void* scratch,
              double* vdot, double* singular);
  /// out = M⁻¹·x
  void (*solve)(const TreeView&, const double* q, const double* x, void* scratch, double* out, double* singular);
  /// Factor that responses are computed from; the block must stay as it is for the three calls below
  void (*factorise)(const TreeView&, const double* q, void* block, double* singular);
  void (*inverse)(const TreeView&, void* block, double* M_inv);
  /// Accelerations of all bodies (A_B, in B) and of all columns for a wrench on a body (in B), or for torques. With a
  /// target ≥ 0 only those on the path from the base to that body.
  void (*respond_wrench)(const TreeView&, void* block, int body, const double* F, int target, double* A, double* vdot);
  void (*respond_torque)(const TreeView&, void* block, const double* tau, double* A, double* vdot);
  /// fext: per body F (6) and E (12), all in world axes about O, see ExternalWrench; may be null. da (= M) may be null.
  void (*rnea_derivatives)(const TreeView&, const double* q, const double* v, const double* a, const double* fext,
                           void* scratch, double* dq, double* dv, double* da);
  /// dq, dv: on entry derivatives of inverse dynamics at vdot, on return of forward dynamics: −M⁻¹·(…)
  void (*apply_inverse)(const TreeView&, const double* M_inv, void* scratch, double* dq, double* dv);
  void (*coriolis)(const TreeView&, const double* q, const double* v, void* scratch, double* C);
  /// nv × (10·links): τ = Y·π with π = [m, m·c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz] about and in each link's frame
  void (*regressor)(const TreeView&, const LinkPlacement* links, int link_count, const double* q, const double* v,
                    const double* a, void* scratch, double* Y);
  /// Wrench across the joint of every link, on the link, at its origin and in its axes. fext: per link, world axes at its
  /// origin; may be null. parents: parent link of each link, −1 for the root.
  void (*reactions)(const TreeView&, const LinkPlacement* links, const int* parents, int link_count, const double* q,
                    const double* v, const double* a, const double* fext, void* scratch, double* F);
};

const DynamicsKernels& dynamics();
const DynamicsKernels& dynamics_packs();

}  // namespace kansetsu::kernel
