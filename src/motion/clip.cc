#include "kansetsu/motion/clip.h"

#include <algorithm>

#include "kansetsu/base/error.h"

namespace kansetsu {

Eigen::VectorXd sample(const Model& model, const Clip& clip, double time) {
  if (clip.frames() == 0) throw Error("sample(): the clip has no frames");
  const auto after = std::upper_bound(clip.times.begin(), clip.times.end(), time);
  if (after == clip.times.begin()) return clip.q.col(0);
  if (after == clip.times.end()) return clip.q.col(clip.frames() - 1);
  const auto k = after - clip.times.begin();
  const double s = (time - after[-1]) / (after[0] - after[-1]);
  return interpolate(model, clip.q.col(k - 1), clip.q.col(k), s);
}

}  // namespace kansetsu
