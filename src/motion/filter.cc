#include <fmt/format.h>

#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/motion/clip.h"
#include "motion/clip_check.h"

namespace kansetsu {
namespace {

/// y = b0·x + b1·x₁ + b2·x₂ − a1·y₁ − a2·y₂, the bilinear transform of 1/(s² + √2·s + 1).
struct Biquad {
  double b0, b1, b2, a1, a2;

  static Biquad butterworth(double cutoff, double rate) {
    const double k = std::tan(std::numbers::pi * cutoff / rate), k2 = k * k, r = std::numbers::sqrt2 * k;
    const double d = 1 + r + k2;
    return {k2 / d, 2 * k2 / d, k2 / d, 2 * (k2 - 1) / d, (1 - r + k2) / d};
  }

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

double even_rate(const Clip& clip) {
  const double step = clip.duration() / (clip.frames() - 1);
  for (int k = 0; k < clip.frames(); ++k) {
    const double expected = clip.times.front() + k * step, t = clip.times[static_cast<std::size_t>(k)];
    if (std::abs(t - expected) > 1e-3 * step)
      throw Error(fmt::format("low_pass(): frame {} is at {} s, evenly spaced it would be at {} s; resample() first", k,
                              t, expected));
  }
  return 1 / step;
}

/// The quaternions of neighbouring frames, that may differ in sign, made to differ little.
void unwind(const Model& model, Eigen::MatrixXd& q) {
  std::vector<int> quaternions;
  if (const CoordinateRange base = model.base_coordinates(); base.nq == 7) quaternions.push_back(base.q + 3);
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange r = model.coordinates(JointId(j));
    if (r.nq == 4 && r.nv == 3) quaternions.push_back(r.q);
    if (r.nq == 7 && r.nv == 6) quaternions.push_back(r.q + 3);
  }
  for (const int i : quaternions)
    for (long k = 1; k < q.cols(); ++k)
      if (q.block<4, 1>(i, k).dot(q.block<4, 1>(i, k - 1)) < 0) q.block<4, 1>(i, k) *= -1;
}

}  // namespace

Clip low_pass(const Model& model, const Clip& clip, double cutoff) {
  check_clip("low_pass", model, clip);
  if (clip.frames() < 4) throw Error(fmt::format("low_pass(): a clip of {} frames, four are needed", clip.frames()));
  const double rate = even_rate(clip);
  if (!(cutoff > 0) || cutoff >= 0.4 * rate)
    throw Error(fmt::format("low_pass(): cut-off {} Hz at {} frames per second; it must be below {} Hz", cutoff, rate,
                            0.4 * rate));
  // Each pass is weaker by this, so that both together have −3 dB at the cut-off: (2^½ − 1)^¼. The bilinear transform bends
  // frequencies; the correction belongs to the straight ones.
  static const double kTwoPasses = std::pow(std::numbers::sqrt2 - 1, 0.25);
  const double bent = std::tan(std::numbers::pi * cutoff / rate) / kTwoPasses;
  const Biquad filter = Biquad::butterworth(std::atan(bent) * rate / std::numbers::pi, rate);
  Clip out = clip;
  unwind(model, out.q);
  // The filter has forgotten its beginning after two periods of the cut-off.
  const long pad = std::min<long>(clip.frames() - 1, std::lround(2 * rate / cutoff));
  for (long i = 0; i < out.q.rows(); ++i) {
    Eigen::VectorXd x = padded(out.q.row(i), pad);
    filter.run(x);
    x.reverseInPlace();
    filter.run(x);
    x.reverseInPlace();
    out.q.row(i) = x.segment(pad, clip.frames());
  }
  for (int k = 0; k < out.frames(); ++k) normalise(model, out.q.col(k));
  return out;
}

}  // namespace kansetsu
