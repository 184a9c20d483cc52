#pragma once

#include "constraint/eight.h"

/// Dense systems of the contact solver: row-major, rows padded to whole packs of eight, the right side in column n.
namespace kansetsu::kernel::inline KANSETSU_ISA {

KANSETSU_HD Eight& eight(double* p) { return *reinterpret_cast<Eight*>(p); }
KANSETSU_HD double absolute(double a) { return a < 0 ? -a : a; }
KANSETSU_HD double larger(double a, double b) { return a > b ? a : b; }
KANSETSU_HD double smaller(double a, double b) { return a < b ? a : b; }
KANSETSU_HD double root(double a) { return __builtin_sqrt(a); }

/// y += s·x over whole packs.
inline void add_scaled(double s, const double* x, int n, double* y) {
  const Eight m(s);
  for (int i = 0; i < n; i += 8) eight(y + i) = madd(m, *reinterpret_cast<const Eight*>(x + i), eight(y + i));
}

/// Elimination of a general system with row exchanges, rows scaled by their largest entry. Pivots below `share` are
/// dropped. @return the number dropped. The matrix is overwritten.
inline int solve_general(double* A, int n, int ld, double share, double* x, double* weight, int* order) {
  int dropped = 0;
  for (int i = 0; i < n; ++i) {
    double m = 0;
    for (int j = 0; j < n; ++j) m = larger(m, absolute(A[i * ld + j]));
    weight[i] = m > 0 ? 1 / m : 0.0;
    order[i] = i;
  }
  for (int k = 0; k < n; ++k) {
    int best = k;
    double most = -1;
    for (int i = k; i < n; ++i) {
      const double size = absolute(A[order[i] * ld + k]) * weight[order[i]];
      if (size > most) most = size, best = i;
    }
    const int swapped = order[k];
    order[k] = order[best], order[best] = swapped;
    double* Ak = A + order[k] * ld;
    if (!(most > share)) {
      Ak[k] = 0;
      ++dropped;
      continue;
    }
    const double inverse = 1 / Ak[k];
    const int first = k / 8 * 8;
    for (int i = k + 1; i < n; ++i) {
      double* Ai = A + order[i] * ld;
      const double factor = -(Ai[k] * inverse);
      if (factor == 0) continue;
      const Eight m(factor);
      for (int j = first; j <= n; j += 8) eight(Ai + j) = madd(m, eight(Ak + j), eight(Ai + j));
      Ai[k] = 0;
    }
  }
  for (int k = n - 1; k >= 0; --k) {
    const double* Ak = A + order[k] * ld;
    double s = Ak[n];
    for (int j = k + 1; j < n; ++j) s -= Ak[j] * x[j];
    x[k] = Ak[k] != 0 ? s / Ak[k] : 0.0;
  }
  return dropped;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
