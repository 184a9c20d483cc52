#pragma once

#include "constraint/contact_law.h"
#include "constraint/contact_linear_kernel.h"
#include "dynamics/dense/derivative_lanes.h"

/// The system of a Newton step over the columns of a factor. With G = Zᵀ·D⁻¹·Z and dr = q − H·dw,
///
///     (D + Z·H·Zᵀ)·y = Z·q,   dw = Zᵀ·y
///
/// has as many unknowns as figures have degrees of freedom, however many contacts, limits and joints with dry friction take part. A row
/// reaches the columns from its body to the base only: with the tips first, elimination fills in nothing between limbs.
namespace kansetsu::kernel::inline KANSETSU_ISA {

class ColumnSystem {
 public:
  ColumnSystem(const RowFactor& factor, const ColumnScratch& scratch) : factor_(factor), s_(scratch) {}

  int columns() const { return factor_.columns; }

  /// dw for the right side q. False: a pivot vanishes, as it may where patches slide.
  bool solve(const LawWork& k, const double* q, double* dw) {
    if (!taken_) take_factor(k.rows);
    assemble(k, q);
    if (!solve_in_order(s_.A, columns(), s_.stride, s_.right, s_.y, s_.weight)) return false;
    for (int b = 0; b < (k.rows + 7) / 8; ++b) {
      Eight sum(0.0);
      for (int p = 0; p < packs(); ++p) {
        if (!reaches(b, p)) continue;
        for (int j = 8 * p; j < 8 * p + 8; ++j) sum = madd(Eight(s_.y[j]), load_eight(s_.Z[j] + 8 * b), sum);
      }
      store_eight(sum, dw + 8 * b);
    }
    return true;
  }

 private:
  int packs() const { return s_.stride / 8; }
  bool reaches(int block, int pack) const { return s_.reach[block * packs() + pack]; }

  /// Columns from the tips to the base, lines of Zᵀ, and which packs of columns a block of eight rows reaches.
  void take_factor(int rows) {
    using P = NativePack<double>;
    const int blocks = (rows + 7) / 8, ld = s_.stride;
    for (int i = 0; i < blocks * packs(); ++i) s_.reach[i] = 0;
    int j = columns();
    for (int f = 0; f < factor_.parts; ++f) {
      const RowFactor::Part& part = factor_.part[f];
      for (int c = 0; c < part.columns; ++c) {
        --j;
        const bool moves = part.D_inv[c] > 0;
        s_.D[j] = moves ? 1 / part.D_inv[c] : 1;
        s_.Z[j] = moves ? part.Z + c * part.stride : s_.zero;
        for (int b = 0; b < blocks && moves; ++b)
          s_.reach[b * packs() + j / 8] |= part.touched[b * part.words + c / 64] >> (c % 64) & 1;
      }
    }
    for (int i = columns(); i < ld; ++i) s_.D[i] = 1, s_.Z[i] = s_.zero;
    for (int b = 0; b < blocks; ++b) {
      for (int c = 0; c < ld; c += P::width) {
        for (int r = 8 * b; r < 8 * b + 8; r += P::width) {
          P tile[P::width];
          for (int i = 0; i < P::width; ++i) tile[i] = load<P>(s_.Z[c + i] + r);
          transpose(tile);
          for (int i = 0; i < P::width; ++i) store(tile[i], s_.lines + (r + i) * ld + c);
        }
      }
    }
    taken_ = true;
  }

  /// D + Z·H·Zᵀ and Z·q.
  void assemble(const LawWork& k, const double* q) {
    const int ld = s_.stride;
    const Eight zero(0.0);
    for (int i = 0; i < columns(); ++i) {
      for (int p = 0; p < packs(); ++p) store_eight(zero, s_.A + i * ld + 8 * p);
      s_.A[i * ld + i] = s_.D[i];
    }
    for (int p = 0; p < packs(); ++p) {
      Eight sum(0.0);
      for (int r = 0; r < k.rows; ++r) sum = madd(Eight(q[r]), load_eight(s_.lines + r * ld + 8 * p), sum);
      store_eight(sum, s_.right + 8 * p);
    }
    for (int i = 0; i < k.patch_count; ++i) {
      const PatchLaw& law = k.patches[i];
      if (!law.active) continue;
      law.rows == 3 ? add_patch<3>(law) : add_patch<6>(law);
    }
    const double* line[8];
    double H[8];
    int n = 0;
    for (int i = 0; i < k.bound_count; ++i) {  // eight at a time: every line of A is loaded once for them
      const BoundLaw& b = k.bounds[i];
      if (!b.free) continue;
      line[n] = s_.lines + b.row * ld, H[n++] = b.H;
      add_reach(b.row / 8, n == 1);
      if (n == 8) add_bounds(line, H), n = 0;
    }
    if (n == 0) return;
    for (int i = n; i < 8; ++i) line[i] = line[0], H[i] = 0;
    add_bounds(line, H);
  }
  /// Packs of columns that the rows of a product reach.
  void add_reach(int block, bool first) {
    if (!first && block == block_) return;
    block_ = block;
    int n = 0;
    bool reached[ColumnScratch::kMostPacks] = {};
    for (int i = 0; i < (first ? 0 : count_); ++i) reached[pack_[i]] = true;
    for (int p = 0; p < packs(); ++p) {
      if (reached[p] || reaches(block, p)) pack_[n++] = p;
    }
    count_ = n;
  }
  template <int kCount>
  void add_patch(const PatchLaw& law) {
    const int ld = s_.stride;
    const double* line[kCount];
    for (int r = 0; r < kCount; ++r) line[r] = s_.lines + (law.row + r) * ld;
    add_reach(law.row / 8, true);
    add_reach((law.row + kCount - 1) / 8, false);
    for (int n = 0; n < count_; ++n) {  // H·Zᵀ
      Eight z[kCount];
      for (int l = 0; l < kCount; ++l) z[l] = load_eight(line[l] + 8 * pack_[n]);
      for (int r = 0; r < kCount; ++r) {
        Eight sum = Eight(law.H[6 * r]) * z[0];
        for (int l = 1; l < kCount; ++l) sum = madd(Eight(law.H[6 * r + l]), z[l], sum);
        store_eight(sum, s_.scratch + 8 * (kCount * n + r));
      }
    }
    add_product<kCount>(line);
  }
  void add_bounds(const double* const* line, const double* H) {
    for (int n = 0; n < count_; ++n) {
      for (int r = 0; r < 8; ++r)
        store_eight(Eight(H[r]) * load_eight(line[r] + 8 * pack_[n]), s_.scratch + 8 * (8 * n + r));
    }
    add_product<8>(line);
  }
  /// A += Z·(H·Zᵀ), of which the second factor is in the scratch.
  template <int kCount>
  void add_product(const double* const* line) {
    const int ld = s_.stride;
    for (int m = 0; m < count_; ++m) {
      for (int i = 8 * pack_[m]; i < 8 * pack_[m] + 8; ++i) {
        double factor[kCount], any = 0;
        for (int r = 0; r < kCount; ++r) factor[r] = line[r][i], any += absolute(factor[r]);
        if (any == 0) continue;
        for (int n = 0; n < count_; ++n) {
          double* to = s_.A + i * ld + 8 * pack_[n];
          const double* from = s_.scratch + 8 * kCount * n;
          Eight sum = load_eight(to), other(0.0);
          for (int r = 0; r + 1 < kCount; r += 2) {
            sum = madd(Eight(factor[r]), load_eight(from + 8 * r), sum);
            other = madd(Eight(factor[r + 1]), load_eight(from + 8 * r + 8), other);
          }
          if (kCount % 2 == 1) sum = madd(Eight(factor[kCount - 1]), load_eight(from + 8 * (kCount - 1)), sum);
          store_eight(sum + other, to);
        }
      }
    }
  }

  const RowFactor& factor_;
  const ColumnScratch& s_;
  bool taken_ = false;
  int pack_[ColumnScratch::kMostPacks], count_ = 0, block_ = -1;
};

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
