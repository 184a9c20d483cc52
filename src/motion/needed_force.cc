#include "motion/needed_force.h"

#include <algorithm>
#include <cmath>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/motion/clip.h"
#include "motion/ball_view.h"
#include "motion/base_wrench.h"

namespace kansetsu {

Clip smoothed(const Model& model, const Clip& clip, double cutoff) {
  if (clip.frames() < 8 || !(clip.duration() > 0)) return clip;
  const double step = clip.duration() / (clip.frames() - 1);
  for (int k = 1; k < clip.frames(); ++k)
    if (std::abs(clip.times[std::size_t(k)] - clip.times[std::size_t(k - 1)] - step) > 1e-3 * step) return clip;
  const BallView view(model);
  const Clip filtered = low_pass(view.model(), view.to_balls(clip), std::min(cutoff, 0.35 / step));
  return view.to_hinges(filtered, clip);
}

NeededForce needed_force(const Model& hinged, const Clip& given, double cutoff) {
  NeededForce out;
  const BallView view(hinged);
  const Model& model = view.model();
  const Clip clip = view.to_balls(given), smooth = smoothed(model, clip, cutoff);
  const double weight = model.mass() * norm(model.gravity());
  if (clip.frames() < 3 || !(weight > 0)) {
    out.share.assign(std::size_t(clip.frames()), 1);
    out.point.assign(std::size_t(clip.frames()), {});
    return out;
  }
  const ClipDerivatives rates = derivatives(model, smooth);
  Workspace work(model);
  LinkPoses poses(model);
  State state(model);
  Eigen::VectorXd tau(model.nv());
  for (int k = 0; k < clip.frames(); ++k) {
    state.q = smooth.q.col(k), state.v = rates.v.col(k);
    rnea(model, state, rates.vdot.col(k), work, tau);
    fk(model, state.q, work, poses);
    const Transform<>& X = poses[LinkId(0)];
    const Force<> F = base_wrench(X, tau);
    const Vec3<> com = center_of_mass(model, state.q, work);
    out.share.push_back(F.f.z / weight);
    const bool strong = F.f.z > 0.05 * weight;
    out.point.push_back(
        strong ? Vec3<>{X.p.x + (-F.t.y - X.p.z * F.f.x) / F.f.z, X.p.y + (F.t.x - X.p.z * F.f.y) / F.f.z, 0}
               : Vec3<>{com.x, com.y, 0});
  }
  return out;
}

}  // namespace kansetsu
