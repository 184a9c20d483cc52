#include "kansetsu/motion/walk_simulation.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <random>

#include "kansetsu/base/error.h"
#include "kansetsu/spatial/quaternion.h"
#include "motion/motion_quality.h"
#include "motion/track_search.h"

namespace kansetsu {
namespace {

EnvironmentShape make_shape(std::string name, const Shape& shape, const Transform<>& X_WS) {
  EnvironmentShape out;
  out.shape.name = std::move(name);
  out.shape.shape = shape;
  out.shape.origin = to_pose(X_WS);
  return out;
}

/// What was not said is drawn: any direction, any time once it is on its way.
std::vector<Push> draw(const WalkSetup& setup) {
  std::mt19937_64 random(setup.seed);
  const auto uniform = [&](double low, double high) {
    return low + (high - low) * double(random() >> 11) * 0x1p-53;  // the same on every platform
  };
  const double expected = setup.walk.distance / std::max(setup.walk.speed, 0.1);
  const double last = std::max(std::min(expected, setup.duration) - 1, 3.0);
  std::vector<Push> pushes = setup.pushes;
  for (Push& push : pushes) {
    const double time = uniform(2, last), direction = uniform(-std::numbers::pi, std::numbers::pi);
    if (!push.time) push.time = time;
    if (!push.direction) push.direction = direction;
  }
  return pushes;
}

}  // namespace

std::vector<EnvironmentShape> make_ground(const Terrain& t) {
  const Transform<> X_WS{rotation_y(-std::sin(t.slope), std::cos(t.slope)), {}};
  std::vector<EnvironmentShape> shapes{make_shape("ground", Plane{}, X_WS)};
  if (t.stair_rise <= 0) return shapes;
  constexpr double kWidth = 3, kLanding = 8;
  for (int i = 1; i <= t.stair_count; ++i) {
    const double length = i == t.stair_count ? kLanding : t.stair_run, height = i * t.stair_rise;
    const double x = t.stair_start + (i - 1) * t.stair_run + 0.5 * length;
    shapes.push_back(
        make_shape("step" + std::to_string(i), Box{{length, kWidth, height}}, {.p = {x, 0, 0.5 * height}}));
  }
  return shapes;
}

struct WalkSimulation::Impl final : RepeatableRun {
  Model model;
  WalkSetup setup;
  Biped biped;
  std::unique_ptr<MotionController> walker;
  Tracker* tracker = nullptr;  ///< the same, if a clip is tracked
  SceneDescription description;
  World world;
  FigureId figure;
  std::vector<Push> pushes;
  WalkReport report;
  State state;
  Vec3<> start{};
  double weight, work = 0, vertical_impulse = 0, square_error = 0;
  std::uint64_t steps = 0;
  double first_landing = 0, last_landing = 0;
  std::vector<Vec3<>> before;  ///< origins of the links at the beginning of the step
  std::vector<double> crept;   ///< [m] of each link since its sole lies and sticks

  Impl(const Model& m, const WalkSetup& s, const Clip* clip)
      : model(m),
        setup(s),
        biped(biped_of(m)),
        world(WorldOptions{.time_step = s.time_step, .gravity = m.gravity(), .seed = s.seed}),
        figure(0),
        pushes(draw(s)),
        weight(m.mass() * norm(m.gravity())) {
    if (clip) {
      auto made = std::make_unique<Tracker>(model, biped, *clip, s.track);
      tracker = made.get();
      walker = std::move(made);
    } else {
      walker = std::make_unique<Walker>(model, biped, s.walk);
    }
    description.name = clip ? clip->name : "walk";
    description.time_step = setup.time_step;
    description.seed = setup.seed;
    description.environment = make_ground(setup.walk.terrain);
    if (tracker)
      for (const TrackProp& prop : tracker->props())
        if (prop.seat) description.environment.push_back(make_shape(prop.name, *prop.seat, prop.X_WP));
    for (const EnvironmentShape& e : description.environment) {
      world.add_fixed(e.shape.shape, to_transform(e.shape.origin), {}, e.shape.name);
    }
    if (tracker) sensed.held.resize(tracker->props().size());
    state = walker->start();
    figure = world.add(model, state, {.name = model.name(), .self_collision = setup.self_collision});
    start = center_of_mass(model, state.q);
    report.limit_margin = kInfinity;
    before.resize(size_t(model.link_count()));
    crept.assign(size_t(model.link_count()), 0);
  }

  bool prepared = false;
  MotionQuality quality;

  /// What a run needs beside the world's and the tracker's state to go on from a moment of it.
  struct Sensed {
    bool left = false, right = false;               ///< feet touched in the last step
    std::vector<BodyTouch> touches;                 ///< of the last step, beside the feet
    std::vector<std::optional<ConnectionId>> held;  ///< by each prop
  };
  Sensed sensed;

  void feel();
  void hold_on();
  Vec3<> push_now();
  void measure(const Vec3<>& momentum, const Vec3<>& push, const Eigen::VectorXd& tau);
  void measure_contacts(Vec3<>& force, Vec3<>& impulse);
  void measure_joints(const Eigen::VectorXd& tau);

  /// Control, and a step of the world.
  struct Step {
    bool made = false;
    Vec3<> push{}, momentum{};  ///< [N] on the trunk; [N·s] before it
    Eigen::VectorXd tau{};
  };
  void advance(Step& out);

  // Repeated from its moments.
  struct At final : Moment {
    Snapshot world;
    std::shared_ptr<const Tracker::Memory> tracker;
    Sensed sensed;
  };
  std::shared_ptr<const Moment> save() const override {
    auto at = std::make_shared<At>();
    at->world = world.save(), at->tracker = tracker->save(), at->sensed = sensed;
    return at;
  }
  void restore(const Moment& moment) override {
    const At& at = static_cast<const At&>(moment);
    world.restore(at.world);
    tracker->restore(*at.tracker);
    sensed = at.sensed;
  }
  void correct(const std::vector<TrackCorrection>& corrections) override { tracker->correct(corrections); }
  bool step() override {
    Step taken;
    advance(taken);
    return taken.made;
  }
  bool fallen() const override { return walker->status().fallen || world.status() == WorldStatus::kFailed; }
  double time() const override { return world.time(); }
  double strain() const override { return tracker->strain(); }
};

WalkSimulation::WalkSimulation(const Model& model, const WalkSetup& setup)
    : impl_(std::make_unique<Impl>(model, setup, nullptr)) {}
WalkSimulation::WalkSimulation(const Model& model, const Clip& clip, const WalkSetup& setup)
    : impl_(std::make_unique<Impl>(model, setup, &clip)) {}

World& WalkSimulation::world() { return impl_->world; }
const MotionController& WalkSimulation::controller() const { return *impl_->walker; }
const SceneDescription& WalkSimulation::scene() const { return impl_->description; }
const std::vector<Push>& WalkSimulation::pushes() const { return impl_->pushes; }

/// Reads the contacts of the step that has been made: snapshots do not hold them.
void WalkSimulation::Impl::feel() {
  sensed.left = sensed.right = false;
  sensed.touches.clear();
  for (const ContactReport& c : world.report().contacts) {
    if (c.mode == ContactMode::kOpen) continue;
    for (const BodyRef& body : {c.a, c.b}) {
      if (body.is_world()) continue;
      sensed.left = sensed.left || body.link == biped.left.link;
      sensed.right = sensed.right || body.link == biped.right.link;
    }
    if (!c.a.is_world() && !c.b.is_world()) continue;  // of the figure on itself
    const LinkId link = c.a.is_world() ? c.b.link : c.a.link;
    if (link == biped.left.link || link == biped.right.link) continue;
    sensed.touches.push_back({link, c.pressure, c.a.is_world() ? c.normal : -1 * c.normal, false});
  }
  for (size_t i = 0; i < sensed.held.size(); ++i) {
    if (!sensed.held[i]) continue;
    const TrackProp& prop = tracker->props()[i];
    sensed.touches.push_back({prop.link, world.pose({figure, prop.link}) * prop.point, {0, 0, 1}, true});
  }
}

/// Hands take hold of the world, and let go, when they do in the clip.
void WalkSimulation::Impl::hold_on() {
  std::vector<std::optional<ConnectionId>>& held = sensed.held;
  for (size_t i = 0; i < held.size(); ++i) {
    const TrackProp& prop = tracker->props()[i];
    const double at = tracker->clip_time(world.time());
    const bool holds = !prop.seat && at >= prop.start && at <= prop.end;
    if (holds && !held[i]) {
      const Vec3<> p = world.pose({figure, prop.link}) * prop.point;
      held[i] = world.connect(kWorldBody, {figure, prop.link},
                              {.mask = kPointMask, .X_AC = {.p = p}, .X_BC = {.p = prop.point}, .name = prop.name});
    } else if (!holds && held[i]) {
      world.release(*held[i]);
      held[i].reset();
    }
  }
}

/// Applies the pushes that are on. @return their force
Vec3<> WalkSimulation::Impl::push_now() {
  Vec3<> sum{};
  for (const Push& push : pushes) {
    if (world.time() < *push.time || world.time() >= *push.time + push.duration - 0.5 * setup.time_step) continue;
    const double angle = walker->status().heading + *push.direction, size = push.impulse / push.duration;
    sum = sum + Vec3<>{size * std::cos(angle), size * std::sin(angle), 0};
  }
  if (norm(sum) > 0) {
    const auto& inertial = model.link(biped.trunk).inertial;
    const Vec3<> p = world.pose({figure, biped.trunk}) * (inertial ? inertial->origin.p : Vec3<>{});
    world.apply_wrench({figure, biped.trunk}, {{}, sum}, p);
  }
  return sum;
}

void WalkSimulation::Impl::measure_contacts(Vec3<>& force, Vec3<>& impulse) {
  double feet[2] = {0, 0}, slid[2] = {0, 0};
  for (const ContactReport& c : world.report().contacts) {
    ++report.modes[size_t(c.mode)];
    if (c.mode == ContactMode::kOpen && norm(c.impulse.f) == 0) continue;
    if (!c.a.is_world() && !c.b.is_world()) continue;  // of the figure on itself
    const bool on_figure = !c.b.is_world();
    const double sign = on_figure ? 1 : -1;
    const BodyRef body = on_figure ? c.b : c.a;
    force = force + sign * c.wrench.f;
    impulse = impulse + sign * c.impulse.f;
    if (body.link == biped.left.link) feet[0] += norm(c.wrench.f);
    if (body.link == biped.right.link) feet[1] += norm(c.wrench.f);
    if (c.slip != SlipMode::kStick) ++report.sliding;
    if (body.link == biped.left.link || body.link == biped.right.link) {
      const Motion<> V_foot = world.velocity(body);
      const Vec3<> v_foot = add_cross(V_foot.v, V_foot.w, c.pressure - before[size_t(body.link.value())]);
      slid[body.link == biped.left.link ? 0 : 1] += setup.time_step * norm(v_foot - dot(v_foot, c.normal) * c.normal);
    }
    const bool lies = c.mode == ContactMode::kSurface && c.slip == SlipMode::kStick && norm(c.impulse.f) == 0;
    double& moved = crept[size_t(body.link.value())];
    if (!lies) {
      moved = 0;
      continue;
    }
    const Motion<> V = world.velocity(body);
    // The rows of contacts hold where the link was when they were made: at the beginning of the step.
    const Vec3<> v = add_cross(V.v, V.w, c.pressure - before[size_t(body.link.value())]);
    moved += setup.time_step * norm(v - dot(v, c.normal) * c.normal);
    report.slip = std::max(report.slip, moved);
  }
  report.most_force = std::max({report.most_force, feet[0], feet[1]});
  for (std::size_t side = 0; side < 2; ++side) quality.add_slide(side, feet[side] > 0, slid[side]);
}

void WalkSimulation::Impl::measure_joints(const Eigen::VectorXd& tau) {
  const Eigen::VectorXd &q = world.q(figure), &v = world.v(figure);
  double power = 0;
  for (int i = 6; i < model.nv(); ++i) {
    power += std::abs(tau[i] * v[i]);
    if (std::abs(tau[i]) > report.most_torque) {
      report.most_torque = std::abs(tau[i]);
      report.most_torque_joint = model.dof_names()[size_t(i)];
    }
  }
  work += power * setup.time_step;
  report.most_power = std::max(report.most_power, power);
  for (int i = 7; i < model.nq(); ++i) {
    report.limit_margin =
        std::min({report.limit_margin, q[i] - model.lower_position()[i], model.upper_position()[i] - q[i]});
  }
}

void WalkSimulation::Impl::measure(const Vec3<>& momentum, const Vec3<>& push, const Eigen::VectorXd& tau) {
  const double h = setup.time_step;
  Vec3<> force{}, impulse{};
  measure_contacts(force, impulse);
  measure_joints(tau);
  if (norm(push) == 0) {
    report.root_wrench = std::max(report.root_wrench, world.effort(figure).head<6>().cwiseAbs().maxCoeff());
  }
  vertical_impulse += h * force.z + impulse.z;
  quality.add_force(h, force.z + impulse.z / h);
  if (tracker) quality.add_frame(model, world.time(), world.q(figure), *tracker);
  const Vec3<> gained = world.momentum() - momentum - impulse;
  const Vec3<> missing = (1 / h) * gained - force - push - Vec3<>{0, 0, -weight};
  report.unbalanced = std::max(report.unbalanced, norm(missing) / weight);
  square_error += walker->status().capture_error * walker->status().capture_error;
  ++steps;
}

void WalkSimulation::Impl::advance(Step& out) {
  const WalkStatus& status = walker->status();
  out.made = false;
  if (status.done || status.fallen || world.status() != WorldStatus::kRunning) return;
  if (world.time() >= setup.duration - 0.5 * setup.time_step) return;
  hold_on();
  state.q = world.q(figure), state.v = world.v(figure);
  out.tau = walker->control(world.time(), setup.time_step, state,
                            {.left = sensed.left, .right = sensed.right, .others = sensed.touches});
  if (status.fallen) return;
  world.set_torque(figure, out.tau);
  out.push = push_now(), out.momentum = world.momentum();
  for (int i = 0; i < model.link_count(); ++i) before[size_t(i)] = world.pose({figure, LinkId{i}}).p;
  world.step();
  out.made = world.status() != WorldStatus::kFailed;
  feel();
}

bool WalkSimulation::tracks() const { return impl_->tracker != nullptr; }

void WalkSimulation::prepare(const std::function<bool(double)>& progress) {
  Impl& m = *impl_;
  if (m.prepared) return;
  m.prepared = true;
  if (!m.tracker || m.setup.track.tries <= 0) return;
  const auto first = m.save();
  m.report.corrections = find_corrections(m, {.tries = m.setup.track.tries, .seed = m.setup.seed}, progress);
  m.restore(*first);
}

bool WalkSimulation::step() {
  Impl& m = *impl_;
  prepare();
  const WalkStatus& status = m.walker->status();
  const double time = m.world.time();
  const int landed = status.steps;
  Impl::Step taken;
  m.advance(taken);
  if (status.steps > landed) (status.steps == 1 ? m.first_landing : m.last_landing) = time;
  if (!taken.made) return false;
  m.measure(taken.momentum, taken.push, taken.tau);
  return true;
}

WalkReport WalkSimulation::report() const {
  const Impl& m = *impl_;
  const WalkStatus& status = m.walker->status();
  WalkReport r = m.report;
  r.fallen = status.fallen || m.world.status() == WorldStatus::kFailed;
  r.cause = status.fallen ? status.cause : m.world.failure();
  r.seconds = m.world.time();
  r.distance = norm(center_of_mass(m.model, m.world.q(m.figure)) - m.start);
  r.walked = status.walked;
  r.turned = status.heading;
  r.steps = status.steps;
  r.step_time = status.steps > 1 ? (m.last_landing - m.first_landing) / (status.steps - 1) : 0;
  r.capture_error = m.steps > 0 ? std::sqrt(m.square_error / double(m.steps)) : 0;
  r.vertical_force = r.seconds > 0 ? m.vertical_impulse / (r.seconds * m.weight) : 0;
  r.cost_of_transport = r.walked > 0 ? m.work / (m.weight * r.walked) : 0;
  r.infeasible = status.infeasible;
  r.joint_error = status.joint_error;
  r.shift = status.shift;
  r.foot_slide = m.quality.slide(), r.peak_weights = m.quality.peak_force() / m.weight;
  if (m.tracker) {
    r.clip_seconds = m.tracker->duration();
    r.props = m.tracker->props();
    r.path_error = m.quality.path_error(), r.turn_error = m.quality.turn_error();
    r.jerk_ratio = m.quality.jerk_ratio();
  }
  return r;
}

}  // namespace kansetsu
