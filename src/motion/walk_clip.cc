#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/motion/walk.h"

namespace kansetsu {

Clip walk_clip(const Model& model, const WalkOptions& options, double rate) {
  constexpr double kTick = 1e-3, kMostTime = 3600;  // [s]
  if (!(rate > 0) || rate > 1 / kTick) throw Error("walk_clip: the rate is not between 0 and 1000 Hz");
  if (!std::isfinite(options.distance)) throw Error("walk_clip: a clip needs a distance");
  const Biped biped = biped_of(model);
  Walker walker(model, biped, options);
  State state = walker.start();
  std::vector<Eigen::VectorXd> frames;
  const auto touches = [&](const LinkPoses& poses, const Sole& sole) {
    const Vec3<> p = (poses[sole.link] * sole.X_LS).p;
    return p.z <= options.terrain.height(p.x) + 1e-6;
  };
  Workspace work(model);
  LinkPoses poses(model);
  double time = 0;
  for (int i = 0; !walker.status().done; ++i, time = i * kTick) {
    if (time >= double(frames.size()) / rate - 1e-9) frames.push_back(state.q);
    fk(model, state.q, work, poses);
    walker.control(time, kTick, state, {touches(poses, biped.left), touches(poses, biped.right)});
    if (walker.status().fallen || time > kMostTime) {
      throw Error("walk_clip: no walk of " + std::to_string(options.speed) +
                  " m/s comes out: " + walker.status().cause);
    }
    state.v += kTick * walker.forces().vdot;
    integrate(model, state.q, kTick * state.v, state.q);
  }
  Clip clip{.name = "walk"};
  clip.q.resize(model.nq(), Eigen::Index(frames.size()));
  for (size_t k = 0; k < frames.size(); ++k) {
    clip.times.push_back(double(k) / rate);
    clip.q.col(Eigen::Index(k)) = frames[k];
  }
  return clip;
}

}  // namespace kansetsu
