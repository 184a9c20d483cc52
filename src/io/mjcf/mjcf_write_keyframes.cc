#include <algorithm>
#include <array>

#include "io/mjcf/mjcf_writer.h"
#include "kansetsu/spatial/quaternion.h"
#include "model/joint_motion.h"

namespace kansetsu::io::mjcf {
namespace {

void append(std::vector<double>& out, std::initializer_list<double> numbers) {
  out.insert(out.end(), numbers.begin(), numbers.end());
}

double pitch_of(const Writer& w, const WrittenJoint& joint) {
  return find_named(find_named(w.scene.figures, joint.figure)->model.joints, joint.joint)->pitch;
}

/// The slide of a screw is proportional to its rotation.
double value_of(const Writer& w, const WrittenJoint& joint, const std::vector<double>& values) {
  return joint.coordinate < 0 ? pitch_of(w, joint) * values[0] : values[std::size_t(joint.coordinate)];
}

/// The quaternion of a ball or free joint.
Quaternion<> turn_in(const std::vector<double>& q) {
  const std::size_t n = q.size();
  return {q[n - 4], q[n - 3], q[n - 2], q[n - 1]};
}

/// The rate of a coordinate; the velocity of a free joint is in body axes.
double rate_of(const Writer& w, const WrittenJoint& joint, const FigureState& state, const std::vector<double>& rates) {
  if (rates.size() < 6) return value_of(w, joint, rates);
  const std::vector<double>* q = find_in(state.q, joint.joint);
  const Vec3<> v = to_mat3(q ? turn_in(*q) : Quaternion<>{}) * Vec3<>{rates[3], rates[4], rates[5]};
  return std::array{v.x, v.y, v.z}[std::size_t(joint.coordinate)];
}

void add_position(const Writer& w, const WrittenJoint& joint, const FigureState& state, std::vector<double>& out) {
  if (joint.kind == PrimitiveKind::kFree) {
    const Transform<> X = to_transform(state.base);
    const Quaternion<> q = to_quaternion(X.R);
    return append(out, {X.p.x, X.p.y, X.p.z, q.w, q.x, q.y, q.z});
  }
  const std::vector<double>* given = find_in(state.q, joint.joint);
  if (joint.kind == PrimitiveKind::kBall) {
    Quaternion<> q;
    if (given) q = turn_in(*given);
    const Vec3<> turned = joint.R_BK * q.vector();
    return append(out, {q.w, turned.x, turned.y, turned.z});
  }
  out.push_back(given ? value_of(w, joint, *given) : 0);
}

void add_velocity(const Writer& w, const WrittenJoint& joint, const FigureState& state, std::vector<double>& out) {
  if (joint.kind == PrimitiveKind::kFree) {
    const Vec3<>& v = state.velocity.v;
    const Vec3<> omega = transpose_times(to_transform(state.base).R, state.velocity.w);
    return append(out, {v.x, v.y, v.z, omega.x, omega.y, omega.z});
  }
  const std::vector<double>* given = find_in(state.v, joint.joint);
  if (joint.kind == PrimitiveKind::kBall) {
    const Vec3<> omega = given ? joint.R_BK * Vec3<>{(*given)[0], (*given)[1], (*given)[2]} : Vec3<>{};
    return append(out, {omega.x, omega.y, omega.z});
  }
  out.push_back(given ? rate_of(w, joint, state, *given) : 0);
}

void write_key(Writer& w, const Keyframe& key) {
  const auto state_of = [&](const std::string& figure) -> const FigureState& {
    const FigureState* found = find_in(key.figures, figure);
    return found ? *found : find_named(w.scene.figures, figure)->initial;
  };
  Element& e = w.add(w.section("keyframe"), "key");
  w.set(e, "name", w.take_name("key", {}, key.name));
  w.set_unless(e, "time", key.time, 0);
  std::vector<double> qpos, qvel, ctrl, act;
  bool moves = false, controlled = false, active = false;
  for (const WrittenJoint& joint : w.coordinates) {
    const FigureState& state = state_of(joint.figure);
    add_position(w, joint, state, qpos);
    add_velocity(w, joint, state, qvel);
    moves = moves || !state.v.empty() || state.velocity != Motion<>{};
  }
  for (const auto& [figure, actuator] : w.inputs) {
    const FigureState& state = state_of(figure);
    const auto value = [&](const std::map<std::string, double>& map) {
      const double* found = find_in(map, actuator.name);
      return found ? *found : 0;
    };
    ctrl.push_back(value(state.control));
    controlled = controlled || !state.control.empty();
    if (actuator.activation == ActivationLaw::kNone) continue;
    act.push_back(value(state.activation));
    active = active || !state.activation.empty();
  }
  if (!qpos.empty()) w.set(e, "qpos", qpos);
  if (moves) w.set(e, "qvel", qvel);
  if (controlled) w.set(e, "ctrl", ctrl);
  if (active) w.set(e, "act", act);
}

/// Whether the initial state of a figure differs from the reference configuration.
bool needs_key(const FigureDescription& f) {
  const FigureState& s = f.initial;
  if (!s.v.empty() || s.velocity != Motion<>{} || !s.control.empty() || !s.activation.empty()) return true;
  return std::ranges::any_of(f.model.joints, [&](const JointDescription& joint) {
    return has_quaternion(joint.type) && s.q.contains(joint.name);
  });
}

}  // namespace

void write_keyframes(Writer& w) {
  if (std::ranges::any_of(w.scene.figures, needs_key)) write_key(w, {.name = "initial"});
  for (const Keyframe& key : w.scene.keyframes) write_key(w, key);
}

}  // namespace kansetsu::io::mjcf
