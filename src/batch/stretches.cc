#include "batch/stretches.h"

namespace kansetsu::batch {

std::vector<kernel::CoordinateStretch> coordinate_stretches(const Model& model) {
  using Stretch = kernel::CoordinateStretch;
  std::vector<Stretch> out;
  const auto add = [&](const CoordinateRange& r) {
    if (r.nq == 0) return;
    if (r.nq > r.nv) {
      out.push_back({r.nq == 4 ? Stretch::kBall : Stretch::kFree, r.q, r.v, r.nq});
    } else if (!out.empty() && out.back().kind == Stretch::kVector && out.back().q + out.back().n == r.q &&
               out.back().v + out.back().n == r.v) {
      out.back().n += r.nq;
    } else {
      out.push_back({Stretch::kVector, r.q, r.v, r.nq});
    }
  };
  add(model.base_coordinates());
  for (int j = 0; j < model.joint_count(); ++j) add(model.coordinates(JointId(j)));
  return out;
}

}  // namespace kansetsu::batch
