#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "base/aligned_memory.h"
#include "batch/kernel_table.h"

/// Rows to packs and back: any length, any number of rows, wherever they begin; under the baseline and under this processor's
/// instruction set.
namespace kansetsu::kernel::baseline {
extern const BatchKernels<double> batch_double_packs;
extern const BatchKernels<float> batch_float_packs;
}  // namespace kansetsu::kernel::baseline

using namespace kansetsu;

namespace {

template <class Real>
std::vector<const kernel::BatchKernels<Real>*> tables() {
  if constexpr (sizeof(Real) == 8)
    return {&kernel::baseline::batch_double_packs, &kernel::batch_packs<Real>()};
  else
    return {&kernel::baseline::batch_float_packs, &kernel::batch_packs<Real>()};
}

template <class Real>
void check_round_trip(const kernel::BatchKernels<Real>& table, int n, int rows, int gap, int offset) {
  const int W = table.width, stride = n + gap;
  std::vector<Real> from(size_t(offset + rows * stride)), to(from.size(), Real(-1)), spare(size_t(n) + 1, Real(-2));
  std::iota(from.begin(), from.end(), Real(1));
  const auto memory = make_aligned(size_t(n * W + 1) * sizeof(Real));
  Real* packs = reinterpret_cast<Real*>(memory.get());
  CHECK(table.gather({from.data() + offset, stride, rows}, n, packs));
  for (int k = 0; k < n; ++k) {
    for (int lane = 0; lane < W; ++lane) {
      REQUIRE(packs[k * W + lane] == from[size_t(offset + std::min(lane, rows - 1) * stride + k)]);
    }
  }
  std::vector<int> backwards(static_cast<size_t>(n));
  for (int k = 0; k < n; ++k) backwards[size_t(k)] = (n - 1 - k) * W;
  for (const int* order : {static_cast<const int*>(nullptr), static_cast<const int*>(backwards.data())}) {
    table.scatter(packs, order, n, {to.data() + offset, stride, rows}, spare.data());
    for (size_t at = 0; at < to.size(); ++at) {
      const int inside = (int(at) - offset) % stride, row = (int(at) - offset) / stride;
      const bool written = int(at) >= offset && inside < n;
      const int k = order ? n - 1 - inside : inside;
      REQUIRE(to[at] == (written ? from[size_t(offset + row * stride + k)] : Real(-1)));
    }
    REQUIRE(spare.back() == Real(-2));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("layout: there and back", Real, double, float) {
  for (const auto* table : tables<Real>()) {
    CAPTURE(table->width);
    for (int n : {1, 2, 3, 5, 8, 15, 16, 17, 33, 34, 35, 64, 65, 66, 71, 100}) {
      CAPTURE(n);
      for (int rows : {1, table->width / 2, table->width - 1, table->width}) {
        for (int offset = 0; offset < 8; ++offset) check_round_trip(*table, n, rows, (n + offset) % 4 + 1, offset);
      }
    }
  }
}

TEST_CASE_TEMPLATE("layout: one pack serves many numbers", Real, double, float) {
  for (const auto* table : tables<Real>()) {
    const int W = table->width, n = 150, rows = W - 1, last = n;  // pack `last` is the zero of sparse rows
    const auto memory = make_aligned(size_t((n + 1) * W) * sizeof(Real));
    Real* packs = reinterpret_cast<Real*>(memory.get());
    std::iota(packs, packs + n * W, Real(1));
    std::fill_n(packs + n * W, W, Real(0));
    std::vector<int> order(static_cast<size_t>(n));
    for (int k = 0; k < n; ++k) order[size_t(k)] = (k % 50 < 29 ? last : n - 1 - k) * W;
    for (int offset = 0; offset < 4; ++offset) {
      std::vector<Real> to(size_t(offset + rows * n), Real(-1)), spare(static_cast<size_t>(n));
      table->scatter(packs, order.data(), n, {to.data() + offset, n, rows}, spare.data());
      for (int row = 0; row < rows; ++row) {
        for (int k = 0; k < n; ++k) {
          REQUIRE(to[size_t(offset + row * n + k)] == packs[order[size_t(k)] + row]);
        }
      }
    }
  }
}

TEST_CASE_TEMPLATE("layout: a number that is not finite is seen wherever it stands", Real, double, float) {
  for (const auto* table : tables<Real>()) {
    for (int n : {1, 3, 8, 35}) {
      const int W = table->width;
      const auto memory = make_aligned(size_t(n * W) * sizeof(Real));
      for (int at = 0; at < n * W; ++at) {
        for (Real wrong : {Real(NAN), Real(INFINITY)}) {
          std::vector<Real> from(size_t(n * W), std::numeric_limits<Real>::max());
          from[size_t(at)] = wrong;
          REQUIRE_FALSE(table->gather({from.data(), n, W}, n, reinterpret_cast<Real*>(memory.get())));
        }
      }
    }
  }
}
