#include "cli/live_world.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>

#include "cli/load_scene.h"
#include "cli/recording.h"

namespace kansetsu::cli {
namespace {

constexpr double kLargestStrength = 3;
constexpr double kPullFrequency = 9;    // [rad/s] at which the whole figure would swing on the mouse
constexpr double kStrongestPull = 30;   // [m/s²]: three times the figure's weight
constexpr double kLightest = 1e-3;      // [kg]
constexpr double kBudget = 0.05;        // [s] of wall time per frame
constexpr double kPastStep = 0.1;       // [s] between moments that are remembered
constexpr std::size_t kMostPast = 600;  // moments: a minute

constexpr std::size_t kMostControls = 200;

/// What the slider of a joint's target is called.
std::string target_name(const ControllerDescription& controller, const JointControl& joint) {
  const std::string dof = joint.dof.index == 0 ? "" : fmt::format("[{}]", joint.dof.index);
  return fmt::format("{}/{}{}", controller.name, joint.dof.joint, dof);
}

BodyRef body_of(const io::BodyRef& body) { return {FigureId(body.figure), LinkId(body.link)}; }

}  // namespace

LiveWorld::LiveWorld(SceneDescription scene, int threads)
    : scene_(std::move(scene)), threads_(threads), world_(world_or_fail(scene_, threads)) {
  numbers_ = usual_numbers(world_, scene_);
  header_ = header_of(world_, scene_, numbers_);
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
    if (Clock::now() > end) due_ = 0;  // and so ends
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

/// A spring and a damper from the point to the mouse, for the next step.
void LiveWorld::pull() {
  const Transform<> X = world_.pose(drag_->body);
  const Motion<> V = world_.velocity(drag_->body);
  const Vec3<> arm = X.R * drag_->point, at = X.p + arm;
  Vec3<> f = drag_->stiffness * (drag_->target - at) - drag_->damping * (V.v + cross(V.w, arm));
  if (const double size = norm(f); size > drag_->strongest) f = (drag_->strongest / size) * f;
  drag_->force = f;
  world_.apply_wrench(drag_->body, {{}, f}, at);
}

/// Of the link, or of the whole figure.
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
  // Soft enough that a step of the light end of a limb does not overshoot: k·h² and c·h stay well below the mass there,
  // which for a rod pulled at its end is a quarter of its own.
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
  for (const ControllerDescription& c : scene_.controllers) {
    if (c.kind != ControlKind::kPd) continue;
    const Model& model = world_.model(world_.figure(c.figure));
    for (const JointControl& joint : c.joints) {
      if (controls.size() >= kMostControls) return controls;
      const JointId id = model.joint_id(joint.dof.joint);
      const DofDescription& dof = model.dof(id, joint.dof.index);
      const bool slides = model.joint(id).type == JointType::kPrismatic;
      const double reach = slides ? 1 : std::numbers::pi;
      const std::string name = target_name(c, joint);
      const auto set = targets_.find(name);
      controls.push_back({name, std::isfinite(dof.lower) ? dof.lower : -reach,
                          std::isfinite(dof.upper) ? dof.upper : reach,
                          set == targets_.end() ? joint.value : set->second, slides ? "m" : "rad"});
    }
  }
  return controls;
}

void LiveWorld::set_control(const std::string& name, double value) {
  for (const ControllerDescription& c : scene_.controllers) {
    const bool targets = c.kind == ControlKind::kPd && std::ranges::any_of(c.joints, [&](const JointControl& joint) {
                           return target_name(c, joint) == name;
                         });
    if (targets) targets_[name] = value;
    if (c.name == name) strength_[name] = value;
    if (targets || c.name == name) set_controller(c);
  }
}

/// The scene's controller as the sliders have it.
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
