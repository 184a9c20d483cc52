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

/// A system of n lines in whole packs, eliminated in order. What is right of the pivots is the factor; `lower` keeps, a line per pivot, what each line below
/// took of it, zero elsewhere. Of two pivots that go together line k + 1 keeps its share of line k in the matrix.
struct OrderedSystem {
  double *A = nullptr, *lower = nullptr;  ///< line k at k·stride
  double* inverse = nullptr;              ///< of the pivots
  int n = 0, stride = 0;
};

/// Takes lines k and k + 1 off all lines below, in kPacks packs from `first` on: the first of a line, in which the pivots are, or more of it.
enum class Packs { kFirst, kMore };
template <int kPacks, Packs kWhich>
void eliminate_pair(const OrderedSystem& s, int k, int first, double f) {
  const double *one = s.A + k * s.stride, inverse_one = s.inverse[k];
  double *const two = s.A + (k + 1) * s.stride, *const shares = s.lower + k * s.stride, *const next = shares + s.stride;
  Eight a[kPacks], b[kPacks];
  for (int p = 0; p < kPacks; ++p) {
    a[p] = load_eight(one + first + 8 * p);
    b[p] = madd(Eight(f), a[p], load_eight(two + first + 8 * p));
    store_eight(b[p], two + first + 8 * p);
  }
  const double over = one[k + 1], inverse_two = 1 / two[k + 1];
  if constexpr (kWhich == Packs::kFirst) {
    const Eight zero(0.0);
    for (int i = (k + 2) / 8 * 8; i < s.n; i += 8) store_eight(zero, shares + i), store_eight(zero, next + i);
    s.inverse[k + 1] = inverse_two;
  }
  for (int i = k + 2; i < s.n; ++i) {
    double *to = s.A + i * s.stride, first_share = 0, second_share = 0;
    if constexpr (kWhich == Packs::kFirst) {
      if (to[k] == 0 && to[k + 1] == 0) continue;  // nothing between limbs that do not touch each other
      first_share = -(to[k] * inverse_one), second_share = -((to[k + 1] + first_share * over) * inverse_two);
      shares[i] = first_share, next[i] = second_share;
    } else {
      first_share = shares[i], second_share = next[i];
      if (first_share == 0 && second_share == 0) continue;
    }
    const Eight g(first_share), h(second_share);
    for (int p = 0; p < kPacks; ++p)
      store_eight(madd(h, b[p], madd(g, a[p], load_eight(to + first + 8 * p))), to + first + 8 * p);
  }
}

/// Elimination without exchanges: for the matrices of Newton steps, of which only sliding friction makes anything but a positive one.
/// @param least  by line: a pivot that falls below ends it. @return false if one does
inline bool factorise_in_order(const OrderedSystem& s, const double* least) {
  const auto vanishes = [&](int k) { return !(absolute(s.A[k * s.stride + k]) > least[k]); };
  const int end = (s.n + 7) / 8 * 8;
  for (int k = 0; k < s.n; k += 2) {
    if (vanishes(k)) return false;
    s.inverse[k] = 1 / s.A[k * s.stride + k];
    if (k + 1 == s.n) break;
    double& share = s.A[(k + 1) * s.stride + k];
    const double f = -(share * s.inverse[k]);
    int first = k / 8 * 8;
    switch ((end - first) / 8) {
      case 1:
        eliminate_pair<1, Packs::kFirst>(s, k, first, f);
        break;
      case 2:
        eliminate_pair<2, Packs::kFirst>(s, k, first, f);
        break;
      case 3:
        eliminate_pair<3, Packs::kFirst>(s, k, first, f);
        break;
      case 4:
        eliminate_pair<4, Packs::kFirst>(s, k, first, f);
        break;
      default:
        eliminate_pair<5, Packs::kFirst>(s, k, first, f);
        for (first += 40; first < end; first += 8) eliminate_pair<1, Packs::kMore>(s, k, first, f);
        break;
    }
    share = f;
    if (vanishes(k + 1)) return false;
  }
  return true;
}

/// y ← what elimination makes of the right side, two pivots at a time. `right` is overwritten; a number that is stored alone and loaded with
/// others would be waited for.
inline void substitute_forward(const OrderedSystem& s, double* right, double* y) {
  for (int k = 0; k < s.n; k += 2) {
    y[k] = right[k];
    if (k + 1 == s.n) return;
    const double *one = s.lower + k * s.stride, *two = one + s.stride;
    y[k + 1] = right[k + 1] + s.A[(k + 1) * s.stride + k] * y[k];
    const Eight g(y[k]), h(y[k + 1]);
    for (int i = (k + 2) / 8 * 8; i < s.n; i += 8)
      store_eight(madd(h, load_eight(two + i), madd(g, load_eight(one + i), load_eight(right + i))), right + i);
  }
}

/// From y to the answer in place, eight at a time.
inline void substitute_back(const OrderedSystem& s, double* x) {
  const int end = (s.n + 7) / 8 * 8;
  for (int first = end - 8; first >= 0; first -= 8) {
    const int count = s.n - first < 8 ? s.n - first : 8;
    const double* lines = s.A + first * s.stride + first;
    double rest[8] = {0, 0, 0, 0, 0, 0, 0, 0};
    for (int i = 0; i < count; ++i) {
      Eight sum(0.0);
      for (int j = 8; j < end - first; j += 8)
        sum = madd(load_eight(lines + i * s.stride + j), load_eight(x + first + j), sum);
      rest[i] = x[first + i] - total(sum);
    }
#pragma GCC unroll 8
    for (int i = 7; i >= 0; --i) {
      x[first + i] = 0;
      if (i >= count) continue;  // there is no such line
      const double value = rest[i] * s.inverse[first + i];
#pragma GCC unroll 8
      for (int l = 0; l < i; ++l) rest[l] -= lines[l * s.stride + i] * value;
      x[first + i] = value;
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
