#pragma once

#include <cmath>
#include <limits>

/// Sums over rows of numbers, for small dense problems. The order of every sum is the same on all machines.
namespace kansetsu::ik {

/// Four partial sums, to hide the latency of additions.
inline double dot(const double* a, const double* b, int n) {
  double s0 = 0, s1 = 0, s2 = 0, s3 = 0;
  int i = 0;
  for (; i + 4 <= n; i += 4) {
    s0 += a[i] * b[i], s1 += a[i + 1] * b[i + 1];
    s2 += a[i + 2] * b[i + 2], s3 += a[i + 3] * b[i + 3];
  }
  for (; i < n; ++i) s0 += a[i] * b[i];
  return (s0 + s1) + (s2 + s3);
}
inline void add_scaled(double s, const double* __restrict a, double* __restrict out, int n) {
  for (int i = 0; i < n; ++i) out[i] += s * a[i];
}

/// In place: H = L·Lᵀ in the lower triangle, row by row, `stride` numbers apart.
inline void factorise(double* H, int stride, int n) {
  for (int j = 0; j < n; ++j) {
    double* row = H + j * stride;
    for (int k = 0; k < j; ++k) {
      const double* other = H + k * stride;
      row[k] = (row[k] - dot(row, other, k)) / other[k];
    }
    const double pivot = row[j] - dot(row, row, j);
    row[j] = std::sqrt(pivot > 0 ? pivot : std::numeric_limits<double>::min());
  }
}

}  // namespace kansetsu::ik
