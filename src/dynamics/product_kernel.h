#pragma once

#include <cstring>

#include "kinematics/joint_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

inline constexpr int kTileColumns = 4;

/// Rows r … r + width of out = −M·x for `columns` columns x, all n long and contiguous; one register tile.
template <class R, class T>
KANSETSU_HD void product_tile(const T* M, int n, int r, const T* x, int columns, T* out) {
  R sum[kTileColumns] = {R(T(0)), R(T(0)), R(T(0)), R(T(0))};
  for (int j = 0; j < n; ++j) {
    R m;
    std::memcpy(&m, M + j * n + r, sizeof(R));
    for (int c = 0; c < kTileColumns; ++c) sum[c] = madd(m, R(-x[(c < columns ? c : 0) * n + j]), sum[c]);
  }
  for (int c = 0; c < columns; ++c) std::memcpy(out + c * n + r, &sum[c], sizeof(R));
}

/// X ← −M·X for n × n matrices, column by column. Every entry is summed in the same order whatever the width.
/// @param out  kTileColumns · n numbers of scratch
template <class T>
KANSETSU_HD void multiply_in_place(const T* M, int n, T* X, T* out) {
  for (int c = 0; c < n; c += kTileColumns) {
    const int columns = n - c < kTileColumns ? n - c : kTileColumns;
    int r = 0;
    if constexpr (kHasPacks && std::is_floating_point_v<T>) {
      using P = NativePack<T>;
      for (; r + P::width <= n; r += P::width) product_tile<P>(M, n, r, X + c * n, columns, out);
    }
    for (; r < n; ++r) product_tile<T>(M, n, r, X + c * n, columns, out);
    for (int i = 0; i < columns * n; ++i) X[c * n + i] = out[i];
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
