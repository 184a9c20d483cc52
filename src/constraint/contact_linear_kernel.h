#pragma once

#include "constraint/contact_thresholds.h"
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

/// Two pivots at once, those of lines k and k + 1, from all lines below; kPacks packs from `first` on are left of a line.
template <int kPacks>
void eliminate_pair(double* A, int ld, int n, int k, int first, double* right) {
  double *const one = A + k * ld, *const two = one + ld;
  const double inverse_one = 1 / one[k], f = -(two[k] * inverse_one);
  right[k + 1] += f * right[k];
  Eight a[kPacks], b[kPacks];
  for (int p = 0; p < kPacks; ++p) {
    a[p] = load_eight(one + first + 8 * p);
    b[p] = madd(Eight(f), a[p], load_eight(two + first + 8 * p));
    store_eight(b[p], two + first + 8 * p);
  }
  const double inverse_two = 1 / two[k + 1], over = one[k + 1], y = right[k], z = right[k + 1];
  for (int i = k + 2; i < n; ++i) {
    double* to = A + i * ld;
    if (to[k] == 0 && to[k + 1] == 0) continue;  // nothing between limbs that do not touch each other
    const double g = -(to[k] * inverse_one), h = -((to[k + 1] + g * over) * inverse_two);
    const Eight G(g), H(h);
    for (int p = 0; p < kPacks; ++p)
      store_eight(madd(H, b[p], madd(G, a[p], load_eight(to + first + 8 * p))), to + first + 8 * p);
    right[i] += g * y + h * z;
  }
}

/// As many packs as there are.
inline void eliminate_long_pair(double* A, int ld, int n, int k, int first, int end, double* right) {
  for (int pivot = k; pivot < k + 2; ++pivot) {
    const double *from = A + pivot * ld, inverse = 1 / from[pivot];
    for (int i = pivot + 1; i < n; ++i) {
      double* to = A + i * ld;
      if (to[pivot] == 0) continue;
      const double factor = -(to[pivot] * inverse);
      for (int j = first; j < end; j += 8)
        store_eight(madd(Eight(factor), load_eight(from + j), load_eight(to + j)), to + j);
      right[i] += factor * right[pivot];
    }
  }
}

/// x of an upper triangular matrix, eight unknowns at a time: a number that is stored alone and loaded with others would be waited for.
inline void substitute_back(const double* A, int n, int ld, const double* right, double* x) {
  const int end = (n + 7) / 8 * 8;
  for (int first = end - 8; first >= 0; first -= 8) {
    const int count = n - first < 8 ? n - first : 8;
    double rest[8], inverse[8], own[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < count; ++i) {
      const double* line = A + (first + i) * ld;
      Eight sum(0.0);
      for (int j = first + 8; j < end; j += 8) sum = madd(load_eight(line + j), load_eight(x + j), sum);
      rest[i] = right[first + i] - total(sum), inverse[i] = 1 / line[first + i];
    }
    for (int i = count - 1; i >= 0; --i) {
      own[i] = rest[i] * inverse[i];
      for (int l = 0; l < i; ++l) rest[l] -= A[(first + l) * ld + first + i] * own[i];
    }
    for (int i = 0; i < 8; ++i) x[first + i] = own[i];
  }
}

/// A·x = right without exchanges: for the matrices of Newton steps, of which only sliding friction makes anything but a positive one. A and
/// `right` are overwritten. @return false if a pivot falls below kVanishing of its diagonal
inline bool solve_in_order(double* A, int n, int ld, double* right, double* x, double* weight) {
  const int end = (n + 7) / 8 * 8;
  for (int a = 0; a < n; ++a) weight[a] = threshold::kVanishing * absolute(A[a * ld + a]);
  for (int k = 0; k < n; k += 2) {
    if (!(absolute(A[k * ld + k]) > weight[k])) return false;
    if (k + 1 == n) break;
    const int first = k / 8 * 8, packs = (end - first) / 8;
    switch (packs) {
      case 1:
        eliminate_pair<1>(A, ld, n, k, first, right);
        break;
      case 2:
        eliminate_pair<2>(A, ld, n, k, first, right);
        break;
      case 3:
        eliminate_pair<3>(A, ld, n, k, first, right);
        break;
      case 4:
        eliminate_pair<4>(A, ld, n, k, first, right);
        break;
      case 5:
        eliminate_pair<5>(A, ld, n, k, first, right);
        break;
      case 6:
        eliminate_pair<6>(A, ld, n, k, first, right);
        break;
      default:
        eliminate_long_pair(A, ld, n, k, first, end, right);
        break;
    }
    if (!(absolute(A[(k + 1) * ld + k + 1]) > weight[k + 1])) return false;
  }
  substitute_back(A, n, ld, right, x);
  return true;
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
