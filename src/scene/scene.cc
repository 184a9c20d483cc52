#include "kansetsu/scene/scene.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "kansetsu/base/error.h"
#include "kansetsu/model/solid.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu {
MotionSample sample(const PrescribedMotion& motion, const Transform<>& X_WB0, double t) {
  const double s = std::clamp(t, motion.start, motion.stop) - motion.start;
  const bool moves = t >= motion.start && t < motion.stop;
  const double w = 2 * std::numbers::pi * motion.frequency, angle = w * s + motion.phase;
  const double wave = std::sin(angle) - std::sin(motion.phase);
  const double rate = moves ? w * std::cos(angle) : 0, rate2 = moves ? -w * w * std::sin(angle) : 0;
  const double length = norm(motion.axis);
  const Vec3<> axis = length > 0 ? (1 / length) * motion.axis : Vec3<>{};
  const double steady = moves ? 1 : 0;

  MotionSample out;
  out.X_WB.p = X_WB0.p + s * motion.velocity + wave * motion.amplitude;
  out.X_WB.R = exp_rotation((motion.rate * s + motion.swing * wave) * axis) * X_WB0.R;
  out.V_WB.w = (steady * motion.rate + motion.swing * rate) * axis;
  out.V_WB.v = steady * motion.velocity + rate * motion.amplitude;
  out.A_WB.w = motion.swing * rate2 * axis;
  out.A_WB.v = rate2 * motion.amplitude;
  return out;
}

std::string connection_problem(ConstraintMask mask, const PerDirection& restitution, const Compliance& compliance) {
  for (int k = 0; k < 6; ++k) {
    const std::string_view name = kDirectionNames[k];
    const double e = restitution[k], stiffness = compliance.stiffness[k], damping = compliance.damping[k];
    const bool soft = stiffness < kInfinity;
    if (!(e >= 0 && e <= 1)) return fmt::format("the restitution of {} is {}, it must lie in 0…1", name, e);
    if (!(stiffness >= 0)) return fmt::format("the stiffness of {} is {}, it must not be negative", name, stiffness);
    if (!(damping >= 0 && damping < kInfinity))
      return fmt::format("the damping of {} is {}, it must be finite and not negative", name, damping);
    if (damping > 0 && !soft) return fmt::format("{} has a damping but no stiffness: a rigid direction has none", name);
    if (e > 0 && soft) return fmt::format("{} has a stiffness and a restitution: a spring takes no impulse", name);
    if (stiffness == 0 && damping == 0)
      return fmt::format("{} has neither stiffness nor damping: remove it from the held directions", name);
    if (soft && !(mask >> k & 1)) return fmt::format("{} has a stiffness, but the connection leaves it free", name);
  }
  return {};
}

FigureDescription make_body(std::string name, const Shape& shape, double mass, const Pose& pose) {
  FigureDescription body;
  body.model.name = name;
  body.model.base = Base::kFree;
  LinkDescription link;
  link.name = name;
  const auto inertial = solid_inertial(shape, mass);
  if (!inertial)
    throw Error(fmt::format("make_body: the shape of '{}' encloses no volume, so its inertia is unknown", name));
  link.inertial = *inertial;
  link.collisions.push_back({.name = name, .shape = shape});
  body.model.links.push_back(std::move(link));
  body.name = std::move(name);
  body.initial.base = pose;
  return body;
}

void apply_keyframe(SceneDescription& scene, const std::string& keyframe) {
  const auto found = std::ranges::find(scene.keyframes, keyframe, &Keyframe::name);
  if (found == scene.keyframes.end()) {
    std::string known;
    for (const Keyframe& k : scene.keyframes) known += (known.empty() ? "" : ", ") + k.name;
    throw Error(fmt::format("apply_keyframe: the scene has no keyframe '{}'; known: {}", keyframe,
                            known.empty() ? "none" : known));
  }
  for (FigureDescription& figure : scene.figures) {
    if (const auto state = found->figures.find(figure.name); state != found->figures.end()) {
      figure.initial = state->second;
    }
  }
  for (ControllerDescription& controller : scene.controllers) {
    const auto values = found->controls.find(controller.name);
    if (values == found->controls.end() || values->second.size() != controller.joints.size()) continue;
    for (std::size_t i = 0; i < controller.joints.size(); ++i) controller.joints[i].value = values->second[i];
  }
}

}  // namespace kansetsu
