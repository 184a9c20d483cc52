#include "motion/butterworth.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace kansetsu {
namespace {

/// y = b0·x + b1·x₁ + b2·x₂ − a1·y₁ − a2·y₂
struct Biquad {
  double b0, b1, b2, a1, a2;

  /// The bilinear transform of 1/(s² + damping·s + 1). @param k  tan(π·cut-off/rate)
  static Biquad second(double k, double damping) {
    const double k2 = k * k, r = damping * k, d = 1 + r + k2;
    return {k2 / d, 2 * k2 / d, k2 / d, 2 * (k2 - 1) / d, (1 - r + k2) / d};
  }
  /// That of 1/(s + 1).
  static Biquad first(double k) { return {k / (1 + k), k / (1 + k), 0, (k - 1) / (k + 1), 0}; }

  /// In place, from rest at the first value.
  void run(Eigen::VectorXd& x) const {
    double x1 = x[0], x2 = x[0], y1 = x[0], y2 = x[0];
    for (long k = 0; k < x.size(); ++k) {
      const double in = x[k], y = b0 * in + b1 * x1 + b2 * x2 - a1 * y1 - a2 * y2;
      x2 = x1, x1 = in, y2 = y1, y1 = y;
      x[k] = y;
    }
  }
};

/// n samples with `pad` more on both sides, reflected in the end points.
Eigen::VectorXd padded(const Eigen::VectorXd& x, long pad) {
  const long n = x.size();
  Eigen::VectorXd out(n + 2 * pad);
  for (long k = 0; k < pad; ++k) {
    out[k] = 2 * x[0] - x[pad - k];
    out[pad + n + k] = 2 * x[n - 1] - x[n - 2 - k];
  }
  out.segment(pad, n) = x;
  return out;
}

std::vector<Biquad> sections(ButterworthKind kind, double rate, double cutoff) {
  // Each pass is weaker by this, so that both together have −3 dB at the cut-off: (2^½ − 1)^¼. The bilinear transform bends
  // frequencies; the correction belongs to the straight ones.
  static const double kTwoPasses = std::pow(std::numbers::sqrt2 - 1, 0.25);
  const double bent = std::tan(std::numbers::pi * cutoff / rate);
  if (kind == ButterworthKind::kThird) return {Biquad::first(bent), Biquad::second(bent, 1)};
  return {Biquad::second(bent / kTwoPasses, std::numbers::sqrt2)};
}

}  // namespace

void low_pass_rows(Eigen::MatrixXd& rows, double rate, double cutoff, ButterworthKind kind) {
  const std::vector<Biquad> filter = sections(kind, rate, cutoff);
  // The filter has forgotten its beginning after two periods of the cut-off.
  const long pad = std::min<long>(rows.cols() - 1, std::lround(2 * rate / cutoff));
  for (long i = 0; i < rows.rows(); ++i) {
    Eigen::VectorXd x = padded(rows.row(i), pad);
    for (int pass = 0; pass < 2; ++pass) {
      for (const Biquad& section : filter) section.run(x);
      x.reverseInPlace();
    }
    rows.row(i) = x.segment(pad, rows.cols());
  }
}

}  // namespace kansetsu
