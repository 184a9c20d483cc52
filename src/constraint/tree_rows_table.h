#pragma once

#include "constraint/kernel_table.h"

/// Rows on trees of bodies as kernels see them: docs of TreeRows (tree_rows.h).
namespace kansetsu::kernel {

/// Up to six rows on one body: their wrenches at O, in world axes, by rows and by numbers.
struct TreeEnd {
  alignas(64) double F[6][8] = {};  ///< F[a]: wrench of row a, as a motion record [t, 0, f, 0]
  alignas(64) double N[6][8] = {};  ///< N[c][a]: number c of the wrench of row a
  int row = 0, count = 0;
  int figure = 0, body = 0;
};
/// A row that measures scale · v[column]
struct TreeTorque {
  int row = 0, figure = 0, column = 0;
  double scale = 0;
};
struct TreeBody {
  int body, parent;  ///< −1: the ground
  int first, count;  ///< its columns
};

/// One figure: its factorised state, and memory for systems. A record is six lines of eight numbers, as those of recursion_kernel.h.
struct TreeFigure {
  const TreeView* tree = nullptr;
  const MechanicsBlock* m = nullptr;
  const TreeBody* bodies = nullptr;  ///< the deepest first
  int body_count = 0, nv = 0;
  /// Per body, while a system is solved: whether something is added to its own inertia; whether friction that follows pressure makes what
  /// it carries unsymmetric.
  enum State : unsigned char { kRigid = 0, kOpen = 1, kTwoSided = 2 };
  unsigned char* state = nullptr;
  const double *rotor = nullptr, *extra = nullptr;  ///< per column: on M's diagonal besides bodies; extra may be null
  double* rigid = nullptr;                          ///< a record per body
  double *P = nullptr, *T = nullptr;  ///< a record per body: articulated, stiffness of rows included; and transposed
  double* compliance = nullptr;       ///< a record per body: its motion under a wrench on it
  double *U = nullptr, *W = nullptr;  ///< per column, a line: P·S and Sᵀ·P
  double *F = nullptr, *A = nullptr;  ///< per body, a line: wrench on it, its motion
  double *D_inv = nullptr, *added = nullptr;  ///< per column: 1/pivot; stiffness of rows on it
  double *y = nullptr, *x = nullptr;          ///< per column: torques on the way in, rates on the way out
  double* own = nullptr;                      ///< per column: entry of M⁻¹'s diagonal
  double *right = nullptr,
         *left = nullptr;  ///< rows that join bodies, as they reach each column: `stride` numbers a line
};

struct TreeRowsView {
  TreeFigure* figures = nullptr;
  int figure_count = 0;
  const TreeEnd* ends = nullptr;
  int end_count = 0;
  const TreeTorque* torques = nullptr;
  int torque_count = 0;
  int rows = 0;
  // Per row; a patch has its first row's.
  const int *end_of = nullptr, *torque_of = nullptr;  ///< the last that acts on it; −1: none
  const unsigned char* joins = nullptr;               ///< it acts on more than one body or coordinate
  double* own = nullptr;                              ///< a line: own block of G, line by line
  // Rows that join bodies; `place` and `row_of` are those of the present system, which takes the ones that carry load.
  int joined = 0, stride = 0;
  int *place = nullptr, *row_of = nullptr;                          ///< per row, −1: it takes no part; by place
  double *G = nullptr, *A = nullptr;                                ///< joined lines of `stride` numbers
  double *right = nullptr, *solution = nullptr, *weight = nullptr;  ///< a line each
  int* order = nullptr;
};

struct TreeRowsKernels {
  /// Own responses of all rows; and a += J·M⁻¹·(τ − bias torques).
  void (*begin)(const TreeRowsView&, double* a);
  /// a += J·M⁻¹·τ for torques τ on one figure, of which L⁻ᵀ·τ is given
  void (*add_rates)(const TreeRowsView&, int figure, const double* half, double* a);
  /// w = J·M⁻¹·Jᵀ·r, whole packs
  void (*answer)(const TreeRowsView&, const double* r, double* w);
  /// out += M⁻¹·(Jᵀ·r + share·(τ − bias torques)) of one figure
  void (*respond)(const TreeRowsView&, int figure, const double* r, double share, double* out);
};
const TreeRowsKernels& tree_rows_kernels();

}  // namespace kansetsu::kernel
