#include "kansetsu/model/coordinate_function.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace kansetsu {

bool CoordinateFunction::is_identity() const {
  return kind == Kind::kPolynomial && coefficients.size() == 2 && coefficients[0] == 1 && coefficients[1] == 0 &&
         scale == 1;
}

double CoordinateFunction::operator()(double at) const {
  if (kind == Kind::kPolynomial) {
    double value = 0;
    for (const double c : coefficients) value = value * at + c;
    return scale * value;
  }
  if (kind == Kind::kSine)
    return scale * (coefficients[0] * std::sin(coefficients[1] * at + coefficients[2]) + coefficients[3]);
  const std::size_t n = x.size();
  if (at <= x.front()) return scale * (y.front() + slope.front() * (at - x.front()));
  if (at >= x.back()) return scale * (y.back() + slope.back() * (at - x.back()));
  const auto after = std::ranges::upper_bound(x, at);
  const std::size_t k = std::min(std::size_t(after - x.begin()) - 1, n - 2);
  const double d = at - x[k];
  return scale * (y[k] + d * (slope[k] + d * (square[k] + d * cube[k])));
}

double CoordinateFunction::derivative(double at) const {
  if (kind == Kind::kPolynomial) {
    double value = 0, rate = 0;
    for (const double c : coefficients) rate = rate * at + value, value = value * at + c;
    return scale * rate;
  }
  if (kind == Kind::kSine)
    return scale * coefficients[0] * coefficients[1] * std::cos(coefficients[1] * at + coefficients[2]);
  if (at <= x.front()) return scale * slope.front();
  if (at >= x.back()) return scale * slope.back();
  const auto after = std::ranges::upper_bound(x, at);
  const std::size_t k = std::min(std::size_t(after - x.begin()) - 1, x.size() - 2);
  const double d = at - x[k];
  return scale * (slope[k] + d * (2 * square[k] + d * 3 * cube[k]));
}

std::optional<std::string> CoordinateFunction::prepare() {
  if (kind == Kind::kPolynomial) return coefficients.empty() ? std::optional("it has no coefficients") : std::nullopt;
  if (kind == Kind::kSine) return coefficients.size() == 4 ? std::nullopt : std::optional("it has no four numbers");
  const std::size_t n = x.size();
  if (n < 2 || y.size() != n) return fmt::format("{} x values and {} y values do not make points", n, y.size());
  for (std::size_t k = 1; k < n; ++k)
    if (!(x[k] > x[k - 1])) return fmt::format("x does not rise from {} to {}", x[k - 1], x[k]);
  slope.assign(n, 0), square.assign(n, 0), cube.assign(n, 0);
  std::vector<double> h(n, 0), rise(n, 0);
  for (std::size_t k = 0; k + 1 < n; ++k) h[k] = x[k + 1] - x[k], rise[k] = (y[k + 1] - y[k]) / h[k];
  if (kind == Kind::kSegments || n == 2) {
    for (std::size_t k = 0; k < n; ++k) slope[k] = rise[std::min(k, n - 2)];
    return std::nullopt;
  }
  // Second derivatives over six, s, from a tridiagonal system.
  std::vector<double> diagonal(n, 0), right(n, 0), s(n, 0);
  for (std::size_t k = 1; k + 1 < n; ++k) diagonal[k] = 2 * (h[k - 1] + h[k]), right[k] = rise[k] - rise[k - 1];
  diagonal[0] = -h[0], diagonal[n - 1] = -h[n - 2];
  if (n > 3) {
    const auto third = [&](std::size_t i) {  // divided difference of four points from i on
      const double low = (rise[i + 1] - rise[i]) / (x[i + 2] - x[i]),
                   high = (rise[i + 2] - rise[i + 1]) / (x[i + 3] - x[i + 1]);
      return (high - low) / (x[i + 3] - x[i]);
    };
    right[0] = h[0] * h[0] * third(0);
    right[n - 1] = -h[n - 2] * h[n - 2] * third(n - 4);
  }
  for (std::size_t k = 1; k < n; ++k) {
    const double f = h[k - 1] / diagonal[k - 1];
    diagonal[k] -= f * h[k - 1];
    right[k] -= f * right[k - 1];
  }
  s[n - 1] = right[n - 1] / diagonal[n - 1];
  for (std::size_t k = n - 1; k-- > 0;) s[k] = (right[k] - h[k] * s[k + 1]) / diagonal[k];
  for (std::size_t k = 0; k + 1 < n; ++k) {
    slope[k] = rise[k] - h[k] * (s[k + 1] + 2 * s[k]);
    square[k] = 3 * s[k];
    cube[k] = (s[k + 1] - s[k]) / h[k];
  }
  slope[n - 1] = rise[n - 2] + h[n - 2] * (s[n - 2] + 2 * s[n - 1]);
  return std::nullopt;
}

}  // namespace kansetsu
