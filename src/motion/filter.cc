#include <fmt/format.h>

#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/motion/clip.h"
#include "motion/butterworth.h"
#include "motion/clip_check.h"

namespace kansetsu {
namespace {

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
  Clip out = clip;
  unwind(model, out.q);
  low_pass_rows(out.q, rate, cutoff, ButterworthKind::kSecondCorrected);
  for (int k = 0; k < out.frames(); ++k) normalise(model, out.q.col(k));
  return out;
}

}  // namespace kansetsu
