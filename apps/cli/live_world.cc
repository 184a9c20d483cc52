#include "cli/live_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <set>

#include "cli/load_scene.h"
#include "cli/recording.h"

namespace kansetsu::cli {
namespace {

constexpr double kLargestStrength = 3;
constexpr double kPullFrequency = 9;    // [rad/s] natural frequency of the whole figure on the spring
constexpr double kStrongestPull = 30;   // [m/s²] times the figure's mass: three times its weight
constexpr double kLightest = 1e-3;      // [kg]
constexpr double kBudget = 0.05;        // [s] of wall time per frame
constexpr double kPastStep = 0.1;       // [s] between moments that are remembered
constexpr std::size_t kMostPast = 600;  // moments: a minute

constexpr std::size_t kMostControls = 200;

/// The name of the slider of a joint's target.
std::string target_name(const ControllerDescription& controller, const JointControl& joint) {
  const std::string dof = joint.dof.index == 0 ? "" : fmt::format("[{}]", joint.dof.index);
  return fmt::format("{}/{}{}", controller.name, joint.dof.joint, dof);
}

/// The range of a coordinate's slider: its limits, or ± half a turn or a metre. With only one limit, at least that far from it.
Interval range_of(const Model& model, const DofRef& dof) {
  const JointId id = model.joint_id(dof.joint);
  const double reach = model.joint(id).type == JointType::kPrismatic ? 1 : std::numbers::pi;
  const DofDescription& d = model.dof(id, dof.index);
  const bool below = std::isfinite(d.lower), above = std::isfinite(d.upper);
  return {below ? d.lower : std::min(-reach, above ? d.upper - reach : 0),
          above ? d.upper : std::max(reach, below ? d.lower + reach : 0)};
}
const char* unit_of(const Model& model, const DofRef& dof) {
  return model.joint(model.joint_id(dof.joint)).type == JointType::kPrismatic ? "m" : "rad";
}

/// Whether a control is a position, as that of a servo on a joint.
bool is_position(const ActuatorDescription& a) {
  return a.transmission == Transmission::kJoint && !a.dof.joint.empty() && a.bias == BiasLaw::kAffine &&
         a.bias_numbers[1] != 0 && a.bias_numbers[1] == -a.gain_numbers[0];
}

/// The slider of an actuator's control: the control range; for a servo without one, the range of its joint; else −1 to 1.
serve::LiveControl slider_of(const ActuatorDescription& a, const Model& model, double value) {
  Interval range = a.control_range;
  if (!std::isfinite(range.lower) || !std::isfinite(range.upper))
    range = is_position(a) && model.coordinates(model.joint_id(a.dof.joint)).nv == 1 ? range_of(model, a.dof)
                                                                                     : Interval{-1, 1};
  range.lower = std::min(range.lower, value), range.upper = std::max(range.upper, value);
  return {a.name, range.lower, range.upper, value, is_position(a) ? unit_of(model, a.dof) : ""};
}

BodyRef body_of(const io::BodyRef& body) { return {FigureId(body.figure), LinkId(body.link)}; }

}  // namespace

LiveWorld::LiveWorld(SceneDescription scene, int threads)
    : scene_(std::move(scene)), threads_(threads), world_(world_or_fail(scene_, threads)) {
  numbers_ = usual_numbers(world_, scene_);
  header_ = header_of(world_, scene_, numbers_);
  find_inputs();
}

/// Actuators by name, or by FIGURE/NAME if the name is not unique.
void LiveWorld::find_inputs() {
  std::set<std::string> taken;
  for (const serve::LiveControl& control : controls()) taken.insert(control.name);
  for (const FigureDescription& figure : scene_.figures) {
    const FigureId id = world_.figure(figure.name);
    const auto actuators = all_actuators(figure.model, figure.actuation);
    for (std::size_t k = 0; k < actuators.size() && inputs_.size() < kMostControls; ++k) {
      Input input{id, actuators[k].name, slider_of(actuators[k], world_.model(id), world_.control(id)[long(k)])};
      if (!taken.insert(input.control.name).second) input.control.name = figure.name + "/" + input.actuator;
      taken.insert(input.control.name);
      inputs_.push_back(std::move(input));
    }
  }
}

void LiveWorld::reset() {
  const Vec3<> gravity = world_.gravity();
  world_ = world_or_fail(scene_, threads_);
  world_.set_gravity(gravity);
  numbers_ = usual_numbers(world_, scene_);
  for (const ControllerDescription& c : scene_.controllers) {
    const auto mine = [&](const auto& target) { return target.first.starts_with(c.name + "/"); };
    if (strength_.contains(c.name) || std::ranges::any_of(targets_, mine)) set_controller(c);
  }
  for (const Input& input : inputs_) {
    if (input.set) world_.set_control(input.figure, input.actuator, input.control.value);
  }
  told_ = 0;
  due_ = 0;
  drag_.reset();
  grips_.clear();
  past_.clear();
}

void LiveWorld::remember() {
  if (world_.status() != WorldStatus::kRunning) return;
  if (!past_.empty() && world_.time() < past_.back().time + kPastStep - 1e-9) return;
  past_.push_back({world_.time(), world_.save(), grips_});
  if (past_.size() > kMostPast) past_.pop_front();
}

void LiveWorld::rewind(double time) {
  while (past_.size() > 1 && past_.back().time > time + 1e-9) past_.pop_back();
  if (past_.empty()) return;
  world_.restore(past_.back().state);
  told_ = world_.events().size();
  due_ = 0;
  drag_.reset();
  grips_ = past_.back().grips;
}

std::string LiveWorld::failure() const {
  return world_.status() == WorldStatus::kFailed ? "The world stopped " + world_.failure() : "";
}

io::RecordedFrame LiveWorld::advance(double seconds) {
  using Clock = std::chrono::steady_clock;
  remember();
  const auto end = Clock::now() + std::chrono::duration<double>(kBudget);
  due_ += seconds;
  for (; due_ >= world_.time_step() && world_.status() == WorldStatus::kRunning; due_ -= world_.time_step()) {
    if (drag_) pull();
    world_.step();
    if (Clock::now() > end) due_ = 0;  // cannot keep up
  }
  if (world_.status() != WorldStatus::kRunning) due_ = 0;
  io::RecordedFrame frame = frame_of(world_, numbers_, told_);
  if (drag_) {
    const Vec3<> at = world_.pose(drag_->body) * drag_->point;
    frame.connections.push_back(
        {"drag", {drag_->body.figure.value(), drag_->body.link.value()}, {}, at, {{}, drag_->force}});
  }
  return frame;
}

/// A spring and a damper between the point and the mouse, for the next step.
void LiveWorld::pull() {
  const Transform<> X = world_.pose(drag_->body);
  const Motion<> V = world_.velocity(drag_->body);
  const Vec3<> arm = X.R * drag_->point, at = X.p + arm;
  Vec3<> f = drag_->stiffness * (drag_->target - at) - drag_->damping * (V.v + cross(V.w, arm));
  if (const double size = norm(f); size > drag_->strongest) f = (drag_->strongest / size) * f;
  drag_->force = f;
  world_.apply_wrench(drag_->body, {{}, f}, at);
}

/// The mass of the link, or of the whole figure.
double LiveWorld::mass_of(FigureId figure, std::optional<LinkId> link) const {
  const Model& model = world_.model(figure);
  double sum = 0;
  for (int i = 0; i < model.link_count(); ++i) {
    const auto& inertial = model.link(LinkId(i)).inertial;
    if (inertial && (!link || link->value() == i)) sum += inertial->mass;
  }
  return sum;
}

void LiveWorld::drag(const io::BodyRef& to, const Vec3<>& point, const Vec3<>& target) {
  const BodyRef body = body_of(to);
  // Soft enough not to overshoot at the light end of a limb: k·h² and c·h stay well below the effective mass there, which is a
  // quarter of its mass for a rod pulled at its end.
  const double whole = std::max(mass_of(body.figure), kLightest), h = world_.time_step();
  const double own = std::max(mass_of(body.figure, body.link), 0.01 * whole) / 4;
  drag_ = Drag{.body = body, .point = point, .target = target, .strongest = kStrongestPull * whole};
  drag_->stiffness = std::min(kPullFrequency * kPullFrequency * whole, 0.2 * own / (h * h));
  drag_->damping = std::min(kPullFrequency * whole, 0.2 * own / h);
}

void LiveWorld::grab(const io::BodyRef& to, const Vec3<>& point) {
  release(to);
  const BodyRef body = body_of(to);
  ConnectionOptions options{.mask = kPointMask, .hold = Hold::kRelativePose, .name = "grip"};
  options.X_AC.p = world_.pose(body) * point;
  options.X_BC.p = point;
  grips_.insert_or_assign({to.figure, to.link}, world_.connect(kWorldBody, body, options));
}

void LiveWorld::release(const io::BodyRef& body) {
  const auto found = grips_.find({body.figure, body.link});
  if (found == grips_.end()) return;
  if (world_.connected(found->second)) world_.release(found->second);
  grips_.erase(found);
}

std::vector<serve::LiveControl> LiveWorld::controls() const {
  std::vector<serve::LiveControl> controls;
  for (const std::string& name : world_.controller_names()) {
    const auto set = strength_.find(name);
    const double now = set != strength_.end() ? set->second : world_.controller(name).active ? 1 : 0;
    controls.push_back({name, 0, kLargestStrength, now, "×"});
  }
  add_targets(controls);
  for (const Input& input : inputs_) controls.push_back(input.control);
  return controls;
}

void LiveWorld::add_targets(std::vector<serve::LiveControl>& controls) const {
  for (const ControllerDescription& c : scene_.controllers) {
    if (c.kind != ControlKind::kPd) continue;
    const Model& model = world_.model(world_.figure(c.figure));
    for (const JointControl& joint : c.joints) {
      if (controls.size() >= kMostControls) return;
      const Interval range = range_of(model, joint.dof);
      const std::string name = target_name(c, joint);
      const auto set = targets_.find(name);
      controls.push_back({name, range.lower, range.upper, set == targets_.end() ? joint.value : set->second,
                          unit_of(model, joint.dof)});
    }
  }
}

void LiveWorld::set_control(const std::string& name, double value) {
  for (Input& input : inputs_) {
    if (input.control.name != name) continue;
    input.control.value = value;
    input.set = true;
    world_.set_control(input.figure, input.actuator, value);
  }
  for (const ControllerDescription& c : scene_.controllers) {
    const bool targets = c.kind == ControlKind::kPd && std::ranges::any_of(c.joints, [&](const JointControl& joint) {
                           return target_name(c, joint) == name;
                         });
    if (targets) targets_[name] = value;
    if (c.name == name) strength_[name] = value;
    if (targets || c.name == name) set_controller(c);
  }
}

/// The scene's controller with the values of the sliders.
void LiveWorld::set_controller(const ControllerDescription& original) {
  ControllerDescription changed = original;
  const auto set = strength_.find(original.name);
  const double value = set != strength_.end() ? set->second : original.active ? 1 : 0;
  changed.active = value > 0;
  for (JointControl& joint : changed.joints) {
    if (const auto target = targets_.find(target_name(original, joint)); target != targets_.end())
      joint.value = target->second;
    if (changed.kind == ControlKind::kPd) joint.kp *= value, joint.kd *= value;
    if (changed.kind == ControlKind::kTorque) joint.value *= value, joint.amplitude *= value, joint.deviation *= value;
  }
  world_.set_controller(changed);
}

}  // namespace kansetsu::cli
