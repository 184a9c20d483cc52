#include "cli/live_world.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "cli/load_scene.h"
#include "cli/recording.h"

namespace kansetsu::cli {
namespace {

constexpr double kLargestStrength = 3;
constexpr double kPullFrequency = 9;   // [rad/s] at which the whole figure would swing on the mouse
constexpr double kStrongestPull = 30;  // [m/s²]: three times the figure's weight
constexpr double kLightest = 1e-3;     // [kg]
constexpr double kBudget = 0.05;       // [s] of wall time per frame

BodyRef body_of(const io::BodyRef& body) { return {FigureId(body.figure), LinkId(body.link)}; }

}  // namespace

LiveWorld::LiveWorld(SceneDescription scene, int threads)
    : scene_(std::move(scene)), threads_(threads), world_(world_or_fail(scene_, threads)) {
  header_ = header_of(world_, scene_);
}

void LiveWorld::reset() {
  const Vec3<> gravity = world_.gravity();
  world_ = world_or_fail(scene_, threads_);
  world_.set_gravity(gravity);
  const std::map<std::string, double> strength = std::move(strength_);
  for (const auto& [name, value] : strength) set_control(name, value);
  told_ = 0;
  due_ = 0;
  drag_.reset();
  grips_.clear();
}

std::string LiveWorld::failure() const {
  return world_.status() == WorldStatus::kFailed ? "The world stopped " + world_.failure() : "";
}

io::RecordedFrame LiveWorld::advance(double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(kBudget);
  due_ += seconds;
  for (; due_ >= world_.time_step() && world_.status() == WorldStatus::kRunning; due_ -= world_.time_step()) {
    if (drag_) pull();
    world_.step();
    if (Clock::now() > end) due_ = 0;  // and so ends
  }
  if (world_.status() != WorldStatus::kRunning) due_ = 0;
  io::RecordedFrame frame = frame_of(world_, told_);
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
    controls.push_back({name, 0, kLargestStrength, now});
  }
  return controls;
}

void LiveWorld::set_control(const std::string& name, double value) {
  strength_[name] = value;
  const auto found = std::ranges::find(scene_.controllers, name, &ControllerDescription::name);
  if (found == scene_.controllers.end()) return;
  ControllerDescription changed = *found;
  changed.active = value > 0;
  for (JointControl& joint : changed.joints) {
    if (changed.kind == ControlKind::kPd) joint.kp *= value, joint.kd *= value;
    if (changed.kind == ControlKind::kTorque) joint.value *= value, joint.amplitude *= value, joint.deviation *= value;
  }
  world_.set_controller(changed);
}

}  // namespace kansetsu::cli
