#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu {

/// A symmetric positive definite matrix with kWidth diagonals beside its own: row k holds (k, k), (k + 1, k), …
template <std::size_t kWidth>
class BandMatrix {
 public:
  explicit BandMatrix(std::size_t n) : rows_(n) {}
  void add(std::size_t i, std::size_t j, double x) { rows_[std::min(i, j)][i > j ? i - j : j - i] += x; }

  /// LDLᵀ in place; the matrix is gone then.
  void factor() {
    for (std::size_t k = 0; k < rows_.size(); ++k)
      for (std::size_t i = 1; i <= kWidth && k + i < rows_.size(); ++i) {
        const double l = rows_[k][i] / rows_[k][0];
        for (std::size_t j = i; j <= kWidth && k + j < rows_.size(); ++j) rows_[k + i][j - i] -= l * rows_[k][j];
      }
    for (auto& row : rows_)
      for (std::size_t i = 1; i <= kWidth; ++i) row[i] /= row[0];
  }
  void solve(std::vector<Vec3<>>& x) const {
    const std::size_t n = rows_.size();
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t i = 1; i <= kWidth && k + i < n; ++i) x[k + i] -= rows_[k][i] * x[k];
    for (std::size_t k = n; k-- > 0;) {
      x[k] = (1 / rows_[k][0]) * x[k];
      for (std::size_t i = 1; i <= kWidth && k + i < n; ++i) x[k] -= rows_[k][i] * x[k + i];
    }
  }

 private:
  std::vector<std::array<double, kWidth + 1>> rows_;
};

}  // namespace kansetsu
