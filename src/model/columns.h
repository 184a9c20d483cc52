#pragma once

#include <vector>

namespace kansetsu {

struct Tree;

/// Tables of kernels that take a register full of bodies or of tree coordinates ("columns") at a time. Bodies are numbered
/// depth first, so that the columns of a subtree are one range: column r precedes column k, that is, r moves what k hangs
/// on, if r < first[k] and k < end[r]; and r belongs to k's body or moves something on it if first[k] ≤ r < end[k].
/// All arrays are padded with harmless entries to a multiple of kColumnBlock.
inline constexpr int kColumnBlock = 8;
/// Trees of up to so many columns have tables and scratch memory of quadratic size.
inline constexpr int kMatrixColumns = 128;

/// What a kernel reads; plain pointers, like TreeViewOf.
struct ColumnView {
  int columns = 0, bodies = 0;       ///< their numbers, padded
  bool ordered = false;              ///< column k of the tree is column k of v up to its sign
  const int* body = nullptr;         ///< of each column
  const double* sign = nullptr;      ///< of each column: its ratio ±1 to v if ordered, else 1
  const int* first = nullptr;        ///< of each column: first column that is not before it
  const int* end = nullptr;          ///< of each column: one past the last column of its subtree; 0 in the padding
  const int* path = nullptr;         ///< the columns before each on its path to the ground, from there on; and
  const int* path_begin = nullptr;   ///< where they begin, columns + 1 entries. Empty above kMatrixColumns columns
  const int* block_end = nullptr;    ///< largest end in each block of kColumnBlock columns
  const int* block_joint = nullptr;  ///< of each block: whether a body of several columns is in it
  const double *first_lanes = nullptr, *end_lanes = nullptr;  ///< first and end again
  const double* row_lanes = nullptr;                          ///< 0, 1, 2, …
  const double* inertia = nullptr;  ///< M_B of all bodies: mass, h and I as ten arrays, one number per body
};

struct ColumnTables {
  bool ordered = false;
  int columns = 0, bodies = 0;
  std::vector<int> body, first, end, path, path_begin, block_end, block_joint;
  std::vector<double> sign, first_lanes, end_lanes, row_lanes, inertia;

  ColumnView view() const {
    return {
        columns,          bodies,           ordered,           body.data(),      sign.data(),        first.data(),
        end.data(),       path.data(),      path_begin.data(), block_end.data(), block_joint.data(), first_lanes.data(),
        end_lanes.data(), row_lanes.data(), inertia.data()};
  }
};

constexpr int padded_columns(int n) { return (n + kColumnBlock - 1) / kColumnBlock * kColumnBlock; }

ColumnTables make_column_tables(const Tree& tree);

}  // namespace kansetsu
