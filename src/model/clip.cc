#include "kansetsu/model/clip.h"

#include <fmt/format.h>

#include <cmath>

#include "kansetsu/model/configuration.h"

namespace kansetsu {

std::optional<std::string> clip_problem(const Model& model, const Clip& clip) {
  if (clip.frames() == 0) return "the clip has no frames";
  if (clip.q.rows() != model.nq())
    return fmt::format("the clip has {} positions per frame, {} has {}", clip.q.rows(), model.name(), model.nq());
  if (static_cast<int>(clip.times.size()) != clip.frames())
    return fmt::format("the clip has {} frames and {} times", clip.frames(), clip.times.size());
  for (int k = 0; k < clip.frames(); ++k) {
    const double t = clip.times[static_cast<std::size_t>(k)];
    if (!std::isfinite(t)) return fmt::format("frame {}: the time is not a number", k);
    if (k > 0 && t <= clip.times[static_cast<std::size_t>(k - 1)])
      return fmt::format("frame {}: time {} s does not come after {} s", k, t,
                         clip.times[static_cast<std::size_t>(k - 1)]);
    if (const auto problem = configuration_problem(model, clip.q.col(k)))
      return fmt::format("frame {} at {} s: {}", k, t, *problem);
  }
  return std::nullopt;
}

}  // namespace kansetsu
