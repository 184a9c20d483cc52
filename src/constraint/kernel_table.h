#pragma once

#include <cstdint>

#include "model/tree.h"

/// Entry points of the kernels that prepare one state of a figure for constraints, of one instruction set.
namespace kansetsu::kernel {

/// A body as the recursion passes it, together with those that carry it alone and have no mass.
struct TreeStep {
  int first, last;            ///< its columns
  int before;                 ///< last column of what carries it; −1: none
  int record, parent_record;  ///< where their articulated bodies begin; −1: no parent
  bool opens;                 ///< nothing is there yet when it comes to its parent
};

/// Up to eight wrenches side by side (six numbers by eight rows) on what column k moves, for the rows from `row` on.
struct Wrenches {
  alignas(64) double numbers[6][8];
  int k, row;
};

/// Up to eight rows of a block that measure columns on one way to the base, from column `last` on: row i has scale[i] of column[i]; −1: none.
struct Torques {
  alignas(64) double scale[8];
  int column[8];
  int last, row;  ///< the innermost comes last on the way; first row of the block
};

/// The pose record of a body as it was, and what the squares of the changes of its axes count; those of its place count once.
struct BodyBefore {
  alignas(64) double X[16];
  double weight;
  int body;
};

/// One figure at one state, in O: world axes at the free base's present position, or at the world's origin. Records are
/// those of dynamics/dense: a pose is the axes of B and its origin, four numbers each; a motion is [w, 0, v, 0].
struct MechanicsBlock {
  double *X, *V, *A;      ///< per body: pose, velocity, acceleration at v̇ = 0 (gravity apart)
  double* S;              ///< per column: the motion that it gives whatever hangs on it
  double *D_inv, *drive;  ///< per column: of M = Lᵀ·D·L; and L⁻ᵀ·(τ − bias torques)

  const int* heavy;             ///< bodies with mass, padded to whole blocks
  const double* heavy_inertia;  ///< mass, h and I as ten arrays
  int heavy_count, heavy_stride;
  double* whole;  ///< kTotalNumbers for each of them; scratch of totals

  // Trees without gears: the articulated-body recursion, see recursion_kernel.h.
  bool recursive;
  const TreeStep* steps;  ///< the deepest first
  double* articulated;    ///< articulated inertia and bias force of each body; those with mass come first
  double *U, *along;      ///< per column: P·S, as a motion record; scratch of the sweeps
  double* share;          ///< per column, four numbers: what the others of its group take of it
  const int* group;       ///< per column: how many, from it inwards, were eliminated at once; 1 inside such a group
  const int* up;          ///< per column: the one before it on the way to the base, or −1
  int step_count;

  // Others: the mass matrix.
  double *subtree,
      *lanes;              ///< per body: inertia (10) and bias wrench (6) of all that hangs on it; S and M·S by columns
  double *H, *L;           ///< rows of D·L and of −L, `stride` apart
  double *bias, *scratch;  ///< torques at v̇ = 0; columns numbers of scratch
  int stride;
  const int *path, *path_begin;    ///< of each row i the columns j < i where L is not zero
  const int *below, *below_begin;  ///< of each column j the rows i > j

  int words;  ///< of a set of columns, 64 each
};

/// Rows of constraints on one figure: column by column of v, all rows side by side. `stride` is a multiple of kRowBlock.
inline constexpr int kRowBlock = 8;
constexpr int padded_rows(int rows) { return (rows + kRowBlock - 1) / kRowBlock * kRowBlock; }

/// out(:, c) = C(:, c) + scale·Σ A(:, k)·B(k, c) over the k of a list; columns one after the other, out and C not the same memory.
struct Product {
  int rows, columns;
  const int* targets;  ///< which columns c; null: the first ones
  double scale;
  const double* A;
  int A_stride;
  const int* inner;  ///< the k
  int inner_count;
  const double* B;
  int B_row, B_column;  ///< steps from k to k + 1, from c to c + 1
  const double* C;      ///< null: nothing
  double* out;
  int out_stride;  ///< C's, too
};

/// Inertia and momentum of bodies as one, at O: mass, h, I (xx xy xz yy yz zz); moment, force.
inline constexpr int kTotalNumbers = 16;

struct MechanicsKernels {
  void (*poses)(const TreeView&, const double* q, void* scratch, MechanicsBlock&);
  void (*motions)(const TreeView&, const double* v, MechanicsBlock&);
  /// M, plus `extra` (may be null) on its diagonal, and what the torques tau (may be null) and the bias do.
  /// @return columns that nothing resists
  int (*factorise)(const TreeView&, const double* extra, const double* tau, MechanicsBlock&);
  /// Recursive only: Z += L⁻ᵀ·Jᵀ of sets of wrenches, and of torques
  void (*climb)(const MechanicsBlock&, const Wrenches* sets, int count, double* Z, int stride);
  void (*climb_torques)(const MechanicsBlock&, const Torques* sets, int count, double* Z, int stride);
  /// Zeros wherever a block of rows has touched a column of Z; then it has touched none
  void (*clear)(std::uint64_t* touched, int blocks, int words, double* Z, int stride);
  /// Not recursive only: Z ← L⁻ᵀ·Z for `stride` right sides
  void (*half_solve)(const MechanicsBlock&, int nv, double* Z, int stride);
  /// G += Zᵀ·D⁻¹·Z, or G = … if it is the first; G is stride × stride, of which the blocks on and right of the diagonal are
  /// written. a += Zᵀ·D⁻¹·drive.
  /// `touched`: per block of rows the set of columns where Z is not zero; `used`: how many of its rows are in use
  void (*delassus)(const MechanicsBlock&, const std::uint64_t* touched, const int* used, const double* Z, int stride,
                   bool first, double* G, double* a);
  /// a += Zᵀ·D⁻¹·half
  void (*add_rates)(const MechanicsBlock&, const std::uint64_t* touched, const double* Z, int stride,
                    const double* half, double* a);
  /// out += L⁻¹·D⁻¹·(Z·λ + share·drive). `any`: the set of columns where Z is not zero
  void (*respond)(const MechanicsBlock&, int nv, const std::uint64_t* any, const double* Z, int stride,
                  const double* lambda, double share, double* out);
  /// x ← M⁻¹·x
  void (*solve)(const MechanicsBlock&, int nv, double* x);
  /// Adds torques to what drives the figure: torques ← L⁻ᵀ·torques, drive += that
  void (*add_drive)(const MechanicsBlock&, int nv, double* torques);
  /// y += G·f for a symmetric matrix with whole blocks of columns
  void (*add_product)(const double* G, int rows, int stride, const double* f, double* y);
  /// G as a whole from its blocks on and right of the diagonal
  void (*mirror)(double* G, int stride);
  /// The largest Σ weight·(X − before)² of some bodies: their records, as they are and as they were; the sum of all if it is below
  /// `little`
  double (*largest_change)(const MechanicsBlock&, const BodyBefore* bodies, int count, const double* shift,
                           double little);
  void (*multiply)(const Product&);
  void (*totals)(const MechanicsBlock&, double* numbers);  ///< of all bodies, kTotalNumbers of them
};

const MechanicsKernels& mechanics();

}  // namespace kansetsu::kernel
