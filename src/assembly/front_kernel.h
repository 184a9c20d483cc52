#pragma once

#include <cmath>

#include "assembly/factor_kernel.h"
#include "kansetsu/spatial/pack.h"

/// Dense kernels of a cluster. Rows are padded to whole registers, so that every operation is one on rows.
///
/// A cluster closes some rows and keeps others:  Y·n + B·n_k = r,  Bᵀ·n + G·n_k = r_k.  With Y = C·Cᵀ
///     W = C⁻¹·B,  z = C⁻¹·r;   G' = G − Wᵀ·W,  r_k' = r_k − Wᵀ·z;   n = C⁻ᵀ·(z − W·n_k)
/// In the rows themselves; docs/theory/assembly.md.
namespace kansetsu {

/// Rows that a cluster closes. Columns: kept rows, right side, closed rows; after the elimination W, z and Cᵀ, whose
/// diagonal holds 1/C.
struct PivotRows {
  double* a = nullptr;
  int count = 0, kept = 0, ld = 0;

  double* row(int j) const { return a + j * ld; }
  int right() const { return kept; }
  int closed(int j) const { return kept + 1 + j; }
};

/// The rows that remain: G' and r_k'. Columns: kept rows, right side.
struct KeptRows {
  double* a = nullptr;
  int count = 0, ld = 0;

  double* row(int j) const { return a + j * ld; }
};

inline constexpr int kRowPadding = 8;
constexpr int padded(int n) { return (n + kRowPadding - 1) / kRowPadding * kRowPadding; }

/// A row is redundant if its pivot is below this share of its pivot for free parts. docs/theory/constrained.md.
inline constexpr double kRankTolerance = 1e-11;

}  // namespace kansetsu

namespace kansetsu::kernel::inline KANSETSU_ISA {

using Word = NativePack<double>;

KANSETSU_HD Word* words(double* row) { return reinterpret_cast<Word*>(row); }
KANSETSU_HD const Word* words(const double* row) { return reinterpret_cast<const Word*>(row); }

/// y += s·x over n words
KANSETSU_HD void add_row(int n, double s, const double* x, double* y) {
  const Word factor(s);
  for (int w = 0; w < n; ++w) words(y)[w] = madd(factor, words(x)[w], words(y)[w]);
}

/// Eliminates row p from the remaining rows, those for which done() is false.
template <class Done>
KANSETSU_HD void eliminate_row(const PivotRows& P, int p, double inverse, const Done& done) {
  const int n = P.ld / Word::width;
  double* pivot = P.row(p);
  const Word scale(inverse);
  for (int w = 0; w < n; ++w) words(pivot)[w] = words(pivot)[w] * scale;
  for (int i = 0; i < P.count; ++i) {
    if (done(i)) continue;
    const double f = pivot[P.closed(i)];
    add_row(n, -f, pivot, P.row(i));
  }
  pivot[P.closed(p)] = inverse;
}

/// Positive definite Y, natural order. Returns the number of pivots that vanished.
KANSETSU_HD int eliminate(const PivotRows& P) {
  int dropped = 0;
  for (int p = 0; p < P.count; ++p) {
    const double pivot = P.row(p)[P.closed(p)];
    const bool drop = !(pivot > 0);
    dropped += drop;
    eliminate_row(P, p, drop ? 0.0 : 1 / std::sqrt(pivot), [p](int i) { return i <= p; });
  }
  return dropped;
}

/// Y may be singular: the row with the largest remaining pivot comes first, redundant rows are left out.
/// @param order  out, count numbers: rows as they were eliminated; dropped ones last, with a zero row
/// @param own  the first `own` rows are of joints: they hold where closures contradict them
/// @param free  count numbers: the diagonal of Y for free parts, the scale of the remaining pivots
KANSETSU_HD int eliminate_by_rank(const PivotRows& P, int own, int* order, const double* free) {
  for (int i = 0; i < P.count; ++i) order[i] = i;
  for (int j = 0; j < P.count; ++j) {
    const auto left = [&](int k) {
      const int i = order[k];
      return free[i] > 0 ? P.row(i)[P.closed(i)] / free[i] : 0.0;
    };
    const auto best_of = [&](bool joints) {
      int best = j;
      double most = -1;
      for (int k = j; k < P.count; ++k) {
        if ((!joints || order[k] < own) && left(k) > most) most = left(best = k);
      }
      return best;
    };
    int best = best_of(true);
    if (order[best] >= own || !(left(best) > kRankTolerance)) best = best_of(false);
    if (!(left(best) > kRankTolerance)) {
      for (int k = j; k < P.count; ++k) {
        double* row = P.row(order[k]);
        for (int c = 0; c < P.ld; ++c) row[c] = 0;
      }
      return P.count - j;
    }
    const int p = order[best];
    order[best] = order[j];
    order[j] = p;
    eliminate_row(P, p, 1 / std::sqrt(P.row(p)[P.closed(p)]), [&](int i) {
      if (i == p) return true;
      for (int k = 0; k < j; ++k) {
        if (order[k] == i) return true;
      }
      return false;
    });
    for (int k = j + 1; k < P.count; ++k) P.row(order[k])[P.closed(p)] = 0;
  }
  return 0;
}

/// G ← G ∓ Wᵀ·W and the right side with it. kWords > 0: that many words a row.
template <int kWords>
KANSETSU_HD void add_product(const PivotRows& P, double sign, const KeptRows& G) {
  const int n = kWords > 0 ? kWords : G.ld / Word::width;
  for (int r = 0; r < G.count; ++r) {
    if constexpr (kWords > 0) {
      Word sum[kWords];
      for (int w = 0; w < kWords; ++w) sum[w] = words(G.row(r))[w];
      for (int j = 0; j < P.count; ++j) {
        const Word f(sign * P.row(j)[r]);
        for (int w = 0; w < kWords; ++w) sum[w] = madd(f, words(P.row(j))[w], sum[w]);
      }
      for (int w = 0; w < kWords; ++w) words(G.row(r))[w] = sum[w];
    } else {
      for (int j = 0; j < P.count; ++j) add_row(n, sign * P.row(j)[r], P.row(j), G.row(r));
    }
  }
}
KANSETSU_HD void add_product(const PivotRows& P, double sign, const KeptRows& G) {
  switch (G.ld / Word::width) {
    case 1:
      return add_product<1>(P, sign, G);
    case 2:
      return add_product<2>(P, sign, G);
    case 4:
      return add_product<4>(P, sign, G);
    default:
      return add_product<0>(P, sign, G);
  }
}

/// x·y over n columns, a multiple of eight: summed in eight lanes for registers of any width, so that bits do not depend on
/// it.
KANSETSU_HD double dot_row(int n, const double* x, const double* y) {
  constexpr int kParts = 8 / Word::width;
  Word sum[kParts];
  for (int k = 0; k < kParts; ++k) sum[k] = words(x)[k] * words(y)[k];
  for (int w = kParts; w < n / Word::width; w += kParts) {
    for (int k = 0; k < kParts; ++k) sum[k] = madd(words(x)[w + k], words(y)[w + k], sum[k]);
  }
  const auto lane = [&](int i) { return sum[i / Word::width][i % Word::width]; };
  return ((lane(0) + lane(4)) + (lane(2) + lane(6))) + ((lane(1) + lane(5)) + (lane(3) + lane(7)));
}

/// n = C⁻ᵀ·(z − W·n_k), rows last to first. order: null for the natural one. z: one number every `stride`.
/// @param n  as many numbers as a row has columns, aligned: kept forces, and zeros; on return the closed ones in their columns
KANSETSU_HD void substitute_rows(const PivotRows& P, const int* order, const double* z, int stride, double* n) {
  for (int j = P.count - 1; j >= 0; --j) {
    const int p = order ? order[j] : j;
    const double* row = P.row(p);
    n[P.closed(p)] = (z[p * stride] - dot_row(P.ld, row, n)) * row[P.closed(p)];  // its own column is zero until now
  }
}

/// Reduces another right side with the same factors: z = C⁻¹·r, r_k −= Wᵀ·z. @param r  count numbers; on return z
KANSETSU_HD void reduce_right_side(const PivotRows& P, const int* order, double* r, double* r_kept) {
  for (int j = 0; j < P.count; ++j) {
    const int p = order ? order[j] : j;
    const double* row = P.row(p);
    const double z = r[p] * row[P.closed(p)];
    r[p] = z;
    for (int k = j + 1; k < P.count; ++k) {
      const int i = order ? order[k] : k;
      r[i] = msub(row[P.closed(i)], z, r[i]);
    }
    for (int k = 0; k < P.kept; ++k) r_kept[k] = msub(row[k], z, r_kept[k]);
  }
}

/// The kept rows of a child, and their places in its parent.
struct ChildRows {
  KeptRows out;
  int bonds = 0;
  const int* place = nullptr;  ///< per bond: first column in the parent's front
  const int* rows = nullptr;   ///< per bond
};
/// Adds a child to the front of its parent.
KANSETSU_HD void add_child(const ChildRows& child, const PivotRows& P, const KeptRows& G) {
  int from = 0;
  for (int i = 0; i < child.bonds; ++i) {
    const int to = child.place[i];
    const bool closes = to > P.kept;
    for (int r = 0; r < child.rows[i]; ++r) {
      const double* source = child.out.row(from + r);
      double* target = closes ? P.row(to - P.kept - 1 + r) : G.row(to + r);
      for (int j = 0, at = 0; j < child.bonds; at += child.rows[j++]) {
        const int column = child.place[j];
        if (!closes && column > P.kept) continue;
        if (child.rows[j] == 5) {
          for (int c = 0; c < 5; ++c) target[column + c] += source[at + c];
        } else {
          for (int c = 0; c < child.rows[j]; ++c) target[column + c] += source[at + c];
        }
      }
      target[P.kept] += source[child.out.count];
    }
    from += child.rows[i];
  }
}

/// Front of a rigid body: rows G = Hᵀ·A⁻¹·H with A⁻¹ = C⁻ᵀ·C⁻¹.
/// @param H  six rows of `ld` columns: kept rows, right side (−t), closed rows; overwritten by C⁻¹·H
KANSETSU_HD void body_front(const double* C_inv, double* H, int ld, const PivotRows& P, const KeptRows& G) {
  const int n = ld / Word::width;
  for (int i = 5; i >= 0; --i) {
    double* row = H + i * ld;
    const Word scale(C_inv[i * 6 + i]);
    for (int w = 0; w < n; ++w) words(row)[w] = words(row)[w] * scale;
    for (int k = 0; k < i; ++k) add_row(n, C_inv[i * 6 + k], H + k * ld, row);
  }
  const auto product = [&](int column, int count, double* out) {
    for (int w = 0; w < count; ++w) {
      Word sum = Word(H[column]) * words(H)[w];
      for (int i = 1; i < 6; ++i) sum = madd(Word(H[i * ld + column]), words(H + i * ld)[w], sum);
      words(out)[w] = sum;
    }
  };
  for (int r = 0; r < G.count; ++r) product(r, G.ld / Word::width, G.row(r));
  for (int j = 0; j < P.count; ++j) product(P.closed(j), n, P.row(j));
}

/// s = C⁻ᵀ·(y0 + H·n), with the columns that body_front has left in H. @param n  as many numbers as H has columns, aligned
KANSETSU_HD void body_acceleration(const double* C_inv, const double* H, int ld, const double* y0, const double* n,
                                   double* s) {
  double y[6];
  for (int i = 0; i < 6; ++i) y[i] = y0[i] + dot_row(ld, H + i * ld, n);
  for (int i = 0; i < 6; ++i) {
    double sum = 0;
    for (int k = i; k < 6; ++k) sum = madd(C_inv[6 * k + i], y[k], sum);
    s[i] = sum;
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
