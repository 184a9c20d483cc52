#pragma once

/// One front of the elimination of loops (loops.h): the rows of constraints that meet in a part of the mechanism, and the
/// kernels that work on it. docs/theory/loops.md.
namespace kansetsu::kernel {

/// Columns of a front that stand side by side in the front they are added to.
struct FrontRun {
  int from, to, count;
};

/// The matrix of a part of the mechanism: with a the acceleration of the body that carries it, λ the forces of its open rows,
///     [−f; y] = F·[a; λ] + r,   F = [−P K; Kᵀ G]
/// where f is the wrench that moves the body so and y are the accelerations of the rows. P, K, G: what the recursion has left
/// of inertia, of the wrenches of the rows, and of how they answer forces.
///
/// Rows that no other part has to do with are closed: y = 0 settles their forces. Of their rows of F stay W = C⁻¹·[Kᵀ G] and,
/// in columns of their own, Cᵀ with 1/C on its diagonal, G_cc = C·Cᵀ. The columns of the joint that carries the body are
/// set free: of them stay z and 1/D.
struct LoopFront {
  int head;       ///< 6: columns of a; 0: there is no body, everything hangs on the ground
  int kept;       ///< columns: those of a, and rows that stay open
  int ld;         ///< kept, padded to whole blocks of eight
  int closed;     ///< rows
  int closed_ld;  ///< ld and the columns of the closed rows, padded
  int columns;    ///< of the joint
  int rank;       ///< rows of those closed that are independent; the others carry no force
  double* F;      ///< kept × ld
  double* W;      ///< closed × closed_ld
  double* z;      ///< columns × ld
  double* D_inv;  ///< per column; 0: it stands still
  double* S;      ///< columns × 8: [w, 0, v, 0]
  double* r;      ///< closed_ld numbers: right sides, those of closed rows as C⁻¹ leaves them
  double* scale;  ///< closed_ld numbers: per row the sum of all that joints have added to its diagonal
  double* drive;  ///< per column: what right sides ask of it
  int* order;     ///< closed rows as they were eliminated, dependent ones last
};

struct LoopKernels {
  /// F = 0, and the right side of a new factor with it.
  void (*clear)(const LoopFront&);
  /// Adds what a part has left to the front of what it belongs to.
  void (*add_child)(const LoopFront& child, const FrontRun* runs, int count, const LoopFront& front);
  /// Eliminates the closed rows, the one first that has lost least; takes off what they hold.
  /// @param least  rows with less on their diagonal cannot move
  void (*close)(LoopFront&, double least);
  /// Sets the columns of the joint free. `z` holds what torques of rows act on them, D_inv what is on the diagonal of M
  /// besides bodies; −∞: the column is locked.
  void (*free_columns)(const LoopFront&);
  /// Right sides r of the closed rows through the front. @return the largest that no force can change
  double (*reduce)(const LoopFront&);
  /// Forces of the closed rows and accelerations of the columns. x: closed_ld numbers, a of the carrier and forces of the open
  /// rows, the others zero; on return a of the body and all forces. rates: of the columns
  void (*substitute)(const LoopFront&, double* x, double* rates);
};

const LoopKernels& loops();

}  // namespace kansetsu::kernel
