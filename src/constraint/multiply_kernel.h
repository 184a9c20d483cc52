#pragma once

#include <cstring>

#include "constraint/kernel_table.h"
#include "dynamics/dense/derivative_lanes.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Rows r … of up to four columns from c on, in registers. Every entry is summed in the same order whatever the width.
template <class R, int kColumns>
KANSETSU_HD void multiply_tile(const Product& p, int r, int c) {
  R sum[kColumns];
  const auto get = [](const double* from) {
    R out;
    std::memcpy(&out, from, sizeof(R));
    return out;
  };
  for (int j = 0; j < kColumns; ++j) sum[j] = p.C ? get(p.C + (c + j) * p.out_stride + r) : R(0.0);
  for (int n = 0; n < p.inner_count; ++n) {
    const int k = p.inner[n];
    const R a = get(p.A + k * p.A_stride + r) * R(p.scale);
    const double* b = p.B + k * p.B_row + c * p.B_column;
    for (int j = 0; j < kColumns; ++j) sum[j] = madd(a, R(b[j * p.B_column]), sum[j]);
  }
  for (int j = 0; j < kColumns; ++j) std::memcpy(p.out + (c + j) * p.out_stride + r, &sum[j], sizeof(R));
}

template <int kColumns>
KANSETSU_HD void multiply_columns(const Product& p, int c) {
  using P = NativePack<double>;
  if (p.rows < P::width) {
    for (int r = 0; r < p.rows; ++r) multiply_tile<double, kColumns>(p, r, c);
    return;
  }
  for (int r = 0; r + P::width <= p.rows; r += P::width) multiply_tile<P, kColumns>(p, r, c);
  if (p.rows % P::width != 0) multiply_tile<P, kColumns>(p, p.rows - P::width, c);  // some rows once more
}

inline void multiply(const Product& p) {
  int c = 0;
  for (; c + 4 <= p.columns; c += 4) multiply_columns<4>(p, c);
  for (; c < p.columns; ++c) multiply_columns<1>(p, c);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
