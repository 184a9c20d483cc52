#pragma once

#include "dynamics/dense/lanes.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// How a register full of columns, the rows r … of a matrix, stands to one other, k; see ColumnView.
template <class P>
struct BlockRelations {
  const ColumnView& view;
  int r, end;
  P row, row_end;

  KANSETSU_HD BlockRelations(const ColumnView& columns, int first_row)
      : view(columns),
        r(first_row),
        row(load<P>(columns.row_lanes + first_row)),
        row_end(load<P>(columns.end_lanes + first_row)) {
    const int a = columns.block_end[r / kColumnBlock], b = columns.block_end[(r + P::width - 1) / kColumnBlock];
    end = a < b ? b : a;
  }

  /// The columns behind all rows and moved by some of them are among these, in a matrix of n.
  KANSETSU_HD int begin_above(int n) const { return r + P::width < n ? r + P::width : n; }
  KANSETSU_HD int end_above(int n) const {
    const int begin = begin_above(n);
    return end < begin ? begin : end < n ? end : n;
  }
  /// Whether column k, before all rows, moves any of them.
  KANSETSU_HD bool any_below(int k) const { return view.end[k] > r; }

  /// Of the rows up to k, those that move it or are its body's.
  KANSETSU_HD auto above(int k) const { return row_end > P(view.row_lanes[k]); }
  /// Of the rows from k on, those that it moves.
  KANSETSU_HD auto below(int k) const { return row < P(view.end_lanes[k]); }
  KANSETSU_HD auto at_most(int k) const { return row <= P(view.row_lanes[k]); }
  /// Whether k's body, and not only the column k, is behind the row.
  KANSETSU_HD auto before_body(int k) const { return row < P(view.first_lanes[k]); }
};

/// The first min(n, width) lanes. No call, so that registers keep what they hold.
template <class P, class Real>
KANSETSU_HD void store_first(const P& value, [[maybe_unused]] int n, Real* at) {
#if defined(__AVX512F__)
  if constexpr (sizeof(Real) == 8 && P::width == 8) {
    _mm512_mask_storeu_pd(at, __mmask8((1 << n) - 1), __m512d(value.v));
    return;
  }
#endif
  for (int j = 0; j < P::width; ++j) {
    if (j < n) at[j] = value[j];
  }
}

/// First row of the block that begins at `r` in a column of n: the last one overlaps the one before where n is no multiple.
template <class P>
KANSETSU_HD int block_start(int r, int n) {
  return r + P::width <= n ? r : n < P::width ? 0 : n - P::width;
}
/// Stores a block of rows of a column of n.
template <class P, class Real>
KANSETSU_HD void store_rows(const P& value, int r, int n, Real* column) {
  if (n >= P::width)
    store(value, column + r);
  else
    store_first(value, n, column);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
