#pragma once

#include "dynamics/dense/lanes.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// How a register full of columns, the rows r … of a matrix, stands to one other column, k; see ColumnView.
template <class P>
struct BlockRelations {
  const ColumnView& view;
  int r, left, right;
  P row, row_end;

  /// @param n  size of the matrix
  KANSETSU_HD BlockRelations(const ColumnView& columns, int first_row, int n)
      : view(columns),
        r(first_row),
        left(first_row + P::width < n ? first_row + P::width : n),
        right(columns.block_end[first_row / kColumnBlock]),
        row(load<P>(columns.row_lanes + first_row)),
        row_end(load<P>(columns.end_lanes + first_row)) {
    while (left < n && columns.first[left] < r + P::width) ++left;  // a body with columns in two blocks
    right = right < left ? left : right;
  }

  /// Columns before all rows: whether k moves any of them.
  KANSETSU_HD bool any_below(int k) const { return view.end[k] > r; }
  // Columns from r to left may be among the rows or share a body with one of them. Columns from left to right come behind
  // all rows and are moved by some of them; columns from right on by none.

  /// Of the rows up to k, those that move it or are its body's.
  KANSETSU_HD auto above(int k) const { return row_end > P(view.row_lanes[k]); }
  /// Of the rows from k on, those that it moves or that are its body's.
  KANSETSU_HD auto below(int k) const { return row < P(view.end_lanes[k]); }
  KANSETSU_HD auto at_most(int k) const { return row <= P(view.row_lanes[k]); }
  /// Rows whose column is not k's body's either.
  KANSETSU_HD auto before_body(int k) const { return row < P(view.first_lanes[k]); }
};

/// A matrix that is written block by block of rows, the last block first. The last block of a column is written as a whole
/// where it runs into the next column, which is written later, and lane by lane at the very end.
template <class T>
struct MatrixOut {
  T* data;
  int n, stride;

  template <class P>
  KANSETSU_HD void put(const P& value, int r, int k) const {
    T* at = data + k * stride + r;
    if (r + P::width <= n || at + P::width <= data + n * stride) return store(value, at);
    store_first(value, n - r, at);
  }
  /// Not with memcpy(): a call would drive everything out of the registers.
  template <class P>
  KANSETSU_HD static void store_first(const P& value, int count, T* at) {
#if defined(__AVX512F__)
    if constexpr (sizeof(T) == 8 && P::width == 8) {
      _mm512_mask_storeu_pd(at, __mmask8((1 << count) - 1), __m512d(value.v));
      return;
    }
#endif
    for (int j = 0; j < P::width - 1; ++j) {
      if (j < count) at[j] = value[j];
    }
  }
};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
