#pragma once

#include <cstring>

#include "constraint/kernel_table.h"
#include "dynamics/dense/derivative_lanes.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Rows r … (kPacks registers of them) of kColumns columns from the n-th on; a register that would reach beyond the last row begins
/// earlier and has some rows once more. Every entry is summed in the same order whatever the width.
template <class R, int kPacks, int kColumns>
KANSETSU_HD void multiply_tile(const Product& p, int r, int n) {
  constexpr int kWidth = int(sizeof(R) / sizeof(double));
  const auto get = [](const double* from) {
    R out;
    std::memcpy(&out, from, sizeof(R));
    return out;
  };
  int row[kPacks];
  for (int i = 0; i < kPacks; ++i) row[i] = r + (i + 1) * kWidth <= p.rows ? r + i * kWidth : p.rows - kWidth;
  R sum[kPacks][kColumns];
  const double* b[kColumns];
  int c[kColumns];
#pragma GCC unroll 4
  for (int j = 0; j < kColumns; ++j) {
    c[j] = p.targets ? p.targets[n + j] : n + j;
    b[j] = p.B + c[j] * p.B_column;
#pragma GCC unroll 3
    for (int i = 0; i < kPacks; ++i) sum[i][j] = R(0.0);
  }
  for (int m = 0; m < p.inner_count; ++m) {
    const int k = p.inner[m];
    const double* A = p.A + k * p.A_stride;
    R a[kPacks];
#pragma GCC unroll 3
    for (int i = 0; i < kPacks; ++i) a[i] = get(A + row[i]);
#pragma GCC unroll 4
    for (int j = 0; j < kColumns; ++j) {
      const R factor(b[j][k * p.B_row]);
#pragma GCC unroll 3
      for (int i = 0; i < kPacks; ++i) sum[i][j] = madd(a[i], factor, sum[i][j]);
    }
  }
  for (int j = 0; j < kColumns; ++j) {
    for (int i = 0; i < kPacks; ++i) {
      const int at = c[j] * p.out_stride + row[i];
      const R whole = p.C ? madd(R(p.scale), sum[i][j], get(p.C + at)) : R(p.scale) * sum[i][j];
      std::memcpy(p.out + at, &whole, sizeof(R));
    }
  }
}

template <int kColumns>
KANSETSU_HD void multiply_columns(const Product& p, int n) {
  using P = NativePack<double>;
  constexpr int kMostPacks = 3;
  if (p.rows < P::width) {
    for (int r = 0; r < p.rows; ++r) multiply_tile<double, 1, kColumns>(p, r, n);
    return;
  }
  for (int r = 0; r < p.rows; r += kMostPacks * P::width) {
    const int left = p.rows - r;
    if (left > 2 * P::width)
      multiply_tile<P, kMostPacks, kColumns>(p, r, n);
    else if (left > P::width)
      multiply_tile<P, 2, kColumns>(p, r, n);
    else
      multiply_tile<P, 1, kColumns>(p, r, n);
  }
}

inline void multiply(const Product& p) {
  int n = 0;
  for (; n + 4 <= p.columns; n += 4) multiply_columns<4>(p, n);
  if (n + 2 <= p.columns) multiply_columns<2>(p, n), n += 2;
  if (n < p.columns) multiply_columns<1>(p, n);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
