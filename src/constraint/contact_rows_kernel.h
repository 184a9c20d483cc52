#pragma once

#include "constraint/contact_newton_kernel.h"

/// The system of a Newton step by a matrix over all rows of an island.
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// w = G·r for kPacks packs of w; line i of G begins at G + i·stride.
template <int kPacks>
void combine_lines(const double* G, int stride, int n, const double* r, double* w) {
  Eight sum[kPacks];
  for (int p = 0; p < kPacks; ++p) sum[p] = Eight(0.0);
  for (int i = 0; i < n; ++i, G += stride) {
    const Eight factor(r[i]);
    for (int p = 0; p < kPacks; ++p) sum[p] = madd(factor, load_eight(G + 8 * p), sum[p]);
  }
  for (int p = 0; p < kPacks; ++p) store_eight(sum[p], w + 8 * p);
}

/// Rows that answer by a dense matrix: (1 + H·G)·dr = q over the rows where H is not zero.
class DenseRows {
 public:
  DenseRows(const RowResponse& matrix, const RowScratch& scratch) : matrix_(matrix), scratch_(scratch) {
    system_ = {scratch.matrix, scratch.lower, scratch.inverse, 0, scratch.stride};
  }

  void answer(const LawWork& k, const double* r, double* w) const {
    const double* G = matrix_.G;
    int packs = (k.rows + 7) / 8, at = 0;
    for (; packs >= 4; packs -= 4, at += 32) combine_lines<4>(G + at, matrix_.stride, k.rows, r, w + at);
    if (packs == 3) combine_lines<3>(G + at, matrix_.stride, k.rows, r, w + at);
    if (packs == 2) combine_lines<2>(G + at, matrix_.stride, k.rows, r, w + at);
    if (packs == 1) combine_lines<1>(G + at, matrix_.stride, k.rows, r, w + at);
  }
  /// dw for the right side q
  bool solve(LawWork& k, const double* q, double* dw) {
    list_rows(k);
    assemble(k);
    factorised_ = factorise_in_order(system_, scratch_.x);
    if (factorised_) return solve_again(k, q, dw);
    assemble(k);  // a pivot vanishes, as it may where patches slide
    return solve_with_exchanges(k, q, dw);
  }
  /// The same for another right side, with the last factor. False: there is none.
  [[gnu::noinline]] bool solve_again(LawWork& k, const double* q, double* dw) const {
    if (!factorised_) return false;
    set_right(k, q, dw);
    substitute_forward(system_, scratch_.right, scratch_.x);
    substitute_back(system_, scratch_.x);
    for (int i = 0; i < system_.n; ++i) k.dr[scratch_.row[i]] = scratch_.x[i];
    answer(k, k.dr, dw);
    return true;
  }

 private:
  /// The rows where H is not zero, in their order; and the line of each.
  void list_rows(const LawWork& k) {
    int* const line = scratch_.order;
    for (int r = 0; r < k.rows; ++r) line[r] = 0;
    for (int i = 0; i < k.patch_count; ++i) {
      for (int r = 0; r < k.patches[i].rows && k.patches[i].active; ++r) line[k.patches[i].row + r] = 1;
    }
    for (int i = 0; i < k.bound_count; ++i) line[k.bounds[i].row] = k.bounds[i].H > 0;
    int n = 0;
    for (int r = 0; r < k.rows; ++r) {
      const bool takes_part = line[r] != 0;
      line[r] = n, scratch_.row[n] = r;
      n += takes_part;
    }
    for (int a = n; a % 8 != 0; ++a) scratch_.row[a] = 0;
    for (int i = 0; i < 8; ++i) taken_[i] = n % 8 == 0 || i < n % 8;
    system_.n = n;
  }
  /// Eight columns of a line of G, from `first` of the system on; zero beyond its end.
  Eight columns_of(const double* G, int first) const {
    const int* at = scratch_.row + first;
    if (at[7] - at[0] == 7) return load_eight(G + at[0]);
    const Eight columns = gather_eight(G, at);
    return first + 8 > system_.n ? columns * load_eight(taken_) : columns;
  }

  /// 1 + H·G over the rows of the system; what its pivots must not fall below, in the memory of the answer.
  void assemble(const LawWork& k) const {
    for (int i = 0; i < k.patch_count; ++i) {
      const PatchLaw& law = k.patches[i];
      if (law.active) law.rows == 3 ? fill<3>(law) : fill<6>(law);
    }
    for (int i = 0; i < k.bound_count; ++i) {
      const BoundLaw& b = k.bounds[i];
      if (!(b.H > 0)) continue;
      const double* const G = matrix_.G + long(b.row) * matrix_.stride;
      double* const line = system_.A + scratch_.order[b.row] * system_.stride;
      for (int j = 0; j < system_.n; j += 8) store_eight(Eight(b.H) * columns_of(G, j), line + j);
    }
    for (int a = 0; a < system_.n; ++a) {
      double& own = system_.A[a * system_.stride + a];
      own += 1;
      scratch_.x[a] = kVanishing * absolute(own);
    }
  }
  /// Lines of H·G of a patch. Pressure is in rows 2 to 4 and does not answer slip.
  template <int kRows>
  void fill(const PatchLaw& law) const {
    const double* const G = matrix_.G + long(law.row) * matrix_.stride;
    double* const lines = system_.A + scratch_.order[law.row] * system_.stride;
    Eight H[kRows][kRows];
    for (int i = 0; i < kRows; ++i) {
      for (int l = 0; l < kRows; ++l) H[i][l] = Eight(law.H[6 * i + l]);
    }
    for (int j = 0; j < system_.n; j += 8) {
      Eight g[kRows];
      for (int l = 0; l < kRows; ++l) g[l] = columns_of(G + l * matrix_.stride, j);
      for (int i = 0; i < kRows; ++i) {
        const bool presses = i >= 2 && i <= 4;
        Eight sum = presses ? H[i][2] * g[2] : madd(H[i][1], g[1], H[i][0] * g[0]);
        if constexpr (kRows == 6) {
          sum = presses ? madd(H[i][4], g[4], madd(H[i][3], g[3], sum)) : madd(H[i][5], g[5], sum);
          if (!presses && law.follows) sum = madd(H[i][4], g[4], madd(H[i][3], g[3], sum));
        }
        if (!presses && law.follows) sum = madd(H[i][2], g[2], sum);
        store_eight(sum, lines + i * system_.stride + j);
      }
    }
  }

  /// The right side, with the velocities that known impulses of other rows give. These are in dr then, where the rest is zero.
  void set_right(LawWork& k, const double* q, double* dw) const {
    for (int r = 0; r < k.rows; ++r) k.dr[r] = q[r];
    for (int a = 0; a < system_.n; ++a) k.dr[scratch_.row[a]] = 0, scratch_.right[a] = q[scratch_.row[a]];
    bool others = false;
    for (int r = 0; r < k.rows; ++r) others = others || k.dr[r] != 0;
    if (!others) return;
    answer(k, k.dr, dw);
    for (int i = 0; i < k.patch_count; ++i) {
      const PatchLaw& law = k.patches[i];
      double* const right = scratch_.right + scratch_.order[law.row];
      for (int a = 0; a < law.rows && law.active; ++a) {
        for (int l = 0; l < law.rows; ++l) right[a] -= law.H[6 * a + l] * dw[law.row + l];
      }
    }
    for (int i = 0; i < k.bound_count; ++i) {
      const BoundLaw& b = k.bounds[i];
      if (b.H > 0) scratch_.right[scratch_.order[b.row]] -= b.H * dw[b.row];
    }
  }

  bool solve_with_exchanges(LawWork& k, const double* q, double* dw) const {
    const int n = system_.n, ld = system_.stride;
    set_right(k, q, dw);
    for (int a = 0; a < n; ++a) {
      double* const line = system_.A + a * ld;
      line[n] = scratch_.right[a];
      for (int j = n + 1; j < (n + 8) / 8 * 8; ++j) line[j] = 0;
    }
    if (solve_general(system_.A, n, ld, kSingular, scratch_.x, scratch_.inverse, scratch_.order) > 0) return false;
    for (int a = 0; a < n; ++a) k.dr[scratch_.row[a]] = scratch_.x[a];
    answer(k, k.dr, dw);
    return true;
  }

  const RowResponse& matrix_;
  const RowScratch& scratch_;
  OrderedSystem system_;
  bool factorised_ = false;
  double taken_[8] = {};  ///< of the last eight columns: 1 where the system has one
};

inline void newton_rows(LawWork& k, const RowResponse& matrix, const RowScratch& scratch) {
  DenseRows rows(matrix, scratch);
  solve_law(rows, k);
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
