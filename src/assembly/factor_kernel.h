#pragma once

#include <cmath>

#include "kansetsu/spatial/scalar.h"

/// Factor of the inertia of a part, 6 × 6.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Inverse of the Cholesky factor of A, 6 × 6 row by row, upper triangle zero. Returns the number of vanished pivots.
KANSETSU_HD int invert_factor(const double* A, double floor, double* C_inv) {
  double C[36];
  int dropped = 0;
  for (int j = 0; j < 6; ++j) {
    double d = A[j * 6 + j];
    for (int k = 0; k < j; ++k) d = msub(C[j * 6 + k], C[j * 6 + k], d);
    const bool drop = !(d > floor);
    dropped += drop;
    const double inverse = drop ? 0.0 : 1 / std::sqrt(d);
    C[j * 6 + j] = inverse;  // of the diagonal
    for (int i = j + 1; i < 6; ++i) {
      double c = A[i * 6 + j];
      for (int k = 0; k < j; ++k) c = msub(C[i * 6 + k], C[j * 6 + k], c);
      C[i * 6 + j] = c * inverse;
    }
  }
  for (int j = 0; j < 6; ++j) {
    for (int i = 0; i < j; ++i) C_inv[i * 6 + j] = 0;
    C_inv[j * 6 + j] = C[j * 6 + j];
    for (int i = j + 1; i < 6; ++i) {
      double sum = 0;
      for (int k = j; k < i; ++k) sum = msub(C[i * 6 + k], C_inv[k * 6 + j], sum);
      C_inv[i * 6 + j] = sum * C[i * 6 + i];
    }
  }
  return dropped;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
