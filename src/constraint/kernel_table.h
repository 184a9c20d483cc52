#pragma once

#include "model/tree.h"

/// Entry points of the kernels that prepare one state of a figure for constraints, of one instruction set.
namespace kansetsu::kernel {

/// One figure at one state, in O: world axes at the free base's present position, or at the world's origin. Records are
/// those of dynamics/dense: a pose is the axes of B and its origin, four numbers each; a motion is [w, 0, v, 0].
struct MechanicsBlock {
  double *X, *V, *A;       ///< per body: pose, velocity, acceleration at v̇ = 0 (gravity apart)
  double* S;               ///< per column: the motion that it gives whatever hangs on it
  double* subtree;         ///< per body: inertia (10) and bias wrench (6) of all that hangs on it
  double* lanes;           ///< S and M·S by columns
  double *H, *L, *D_inv;   ///< M = Lᵀ·D·L: rows of D·L and of −L, `stride` apart
  double *bias, *scratch;  ///< torques at v̇ = 0; columns numbers of scratch
  int stride;
  const int *path, *path_begin;    ///< of each row i the columns j < i where L is not zero
  const int *below, *below_begin;  ///< of each column j the rows i > j
};

/// Rows of constraints on one figure: column by column of v, all rows side by side. `stride` is a multiple of kRowBlock.
inline constexpr int kRowBlock = 8;
/// So many rows and the column of driving torques, padded.
constexpr int padded_rows(int rows) { return rows / kRowBlock * kRowBlock + kRowBlock; }

struct MechanicsKernels {
  void (*poses)(const TreeView&, const double* q, void* scratch, MechanicsBlock&);
  void (*motions)(const TreeView&, const double* v, MechanicsBlock&);
  /// M, plus `extra` (may be null) on its diagonal, and the bias torque. @return columns that nothing resists
  int (*factorise)(const TreeView&, const double* extra, MechanicsBlock&);
  /// Z ← L⁻ᵀ·Z for `stride` right sides
  void (*half_solve)(const MechanicsBlock&, int nv, double* Z, int stride);
  /// G += Zᵀ·D⁻¹·Z; G is stride × stride, of which the blocks on and right of the diagonal are written
  void (*delassus)(const MechanicsBlock&, int nv, const double* Z, int stride, double* G);
  /// out += L⁻¹·D⁻¹·Z·λ
  void (*respond)(const MechanicsBlock&, int nv, const double* Z, int stride, const double* lambda, double* out);
  /// x ← M⁻¹·x
  void (*solve)(const MechanicsBlock&, int nv, double* x);
};

const MechanicsKernels& mechanics();

}  // namespace kansetsu::kernel
