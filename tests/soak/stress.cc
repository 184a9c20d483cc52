#include "stress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"
#include "loop_robots.h"

namespace kansetsu::test {
namespace {

using Random = std::mt19937_64;

double uniform(Random& rng, double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng); }
int pick(Random& rng, int count) { return std::uniform_int_distribution<int>(0, count - 1)(rng); }

struct Thrown {
  Model model;
  std::vector<LoopEnds> loops{};
  double size = 1;  ///< [m] how high it begins
};

Model with_rounded_links(const Model& rope) {
  ModelDescription description = rope.description();
  for (LinkDescription& link : description.links) link.collisions = link.visuals;
  return value_or_throw(Model::build(description));
}

Thrown from_mjcf(const std::filesystem::path& file) {
  return {value_or_throw(Model::build(value_or_throw(io::read_mjcf(file)).figures.at(0).model))};
}

Thrown box(Random& rng) {
  const Box shape{{uniform(rng, 0.05, 0.5), uniform(rng, 0.05, 0.5), uniform(rng, 0.05, 0.5)}};
  return {value_or_throw(Model::build(make_body("box", shape, uniform(rng, 0.1, 20), {}).model)), {}, 0.5};
}

Thrown linkage(const std::filesystem::path& data) {
  const auto file = data / "robots" / "closed_loop" / "cassie_like" / "robot.urdf";
  return {value_or_throw(io::load_urdf(file, {.base = Base::kFree})), loop_robots()[2].loops};
}

constexpr int kKindsBuiltIn = 6, kKinds = 9;
Thrown make(int kind, Random& rng, const std::filesystem::path& data) {
  switch (kind) {
    case 0:
      return {human28()};
    case 1:
      return {human28_ball()};
    case 2:
      return box(rng);
    case 3:
      return {with_rounded_links(rope(20))};
    case 4:
      return {random_tree(rng(), {.links = 10, .gears = pick(rng, 3)})};
    case 5:
      return {chain(8, Base::kFree)};
    case 6:
      return from_mjcf(data / "robots" / "mjcf" / "mujoco_humanoid.xml");
    case 7:
      return from_mjcf(data / "robots" / "mjcf" / "gym_ant.xml");
    default:
      return linkage(data);
  }
}

/// Anywhere above the floor, in any pose, at up to some metres and turns a second.
State thrown_state(const Thrown& thrown, Random& rng, int number) {
  std::normal_distribution<double> normal;
  State state(thrown.model);
  if (thrown.loops.empty()) state.q = random_configuration(thrown.model, rng);
  const double speed = uniform(rng, 0, 3);
  for (int k = 0; k < state.v.size(); ++k) state.v[k] = speed * normal(rng);
  if (thrown.model.base() == Base::kFree)
    state.q.head<3>() << 1.2 * number, uniform(rng, -0.3, 0.3), thrown.size * uniform(rng, 0.8, 2);
  return state;
}

void add_motors(World& world, FigureId id, Random& rng) {
  const Model& model = world.model(id);
  ControllerDescription motors{.name = "motors" + std::to_string(id.value()),
                               .figure = world.name(id),
                               .period = uniform(rng, 0.01, 0.2),
                               .seed = rng()};
  const double torque = uniform(rng, 0, 0.4) * model.mass();
  for (int j = 0; j < model.joint_count(); ++j) {
    const JointDescription& joint = model.joint(JointId(j));
    if (info(joint.type).nv == 1 && model.coordinates(JointId(j)).nv == 1)
      motors.joints.push_back({.dof = {joint.name, 0}, .deviation = torque});
  }
  if (!motors.joints.empty() && pick(rng, 3) > 0) world.add_controller(motors);
}

/// Makes and cuts connections between links, and of links with the world.
class Hands {
 public:
  std::uint64_t grabs = 0;

  void act(World& world, Random& rng) {
    if (!held_.empty() && pick(rng, 2) == 0) {
      const size_t which = size_t(pick(rng, int(held_.size())));
      world.release(held_[which]);
      held_.erase(held_.begin() + long(which));
    }
    if (held_.size() >= 3 || pick(rng, 3) > 0) return;
    const auto link = [&] {
      const FigureId id(pick(rng, world.figure_count()));
      return BodyRef{id, LinkId(pick(rng, world.model(id).link_count()))};
    };
    const BodyRef b = link(), a = pick(rng, 2) == 0 ? kWorldBody : link();
    if (a == b) return;
    static constexpr ConstraintMask kMasks[] = {kWeldMask, kPointMask, kHingeMask, kSliderMask, kUniversalMask};
    held_.push_back(world.connect(a, b, {.mask = kMasks[pick(rng, 5)]}));
    ++grabs;
  }

 private:
  std::vector<ConnectionId> held_;
};

struct Scene {
  World world;
  std::string what;
  std::vector<Thrown> thrown{};
};

/// The neutral posture, or as near to it as limits allow: what is past a limit is pushed back, which gives energy.
Eigen::VectorXd straight(const Model& model) {
  Eigen::VectorXd q = neutral(model);
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange at = model.coordinates(JointId(j));
    if (at.nq != 1 || info(model.joint(JointId(j)).type).nv != 1) continue;
    const DofDescription& dof = model.dof(JointId(j), 0);
    q[at.q] = std::clamp(q[at.q], dof.lower, dof.upper);
  }
  return q;
}

/// Poses in which nothing is inside of something else: what pushes it out gives energy.
void draw_poses(Scene& scene, Random& rng) {
  constexpr int kTries = 30;
  constexpr double kShallow = 1e-3;  // [m]
  for (int k = 0; k < kTries; ++k) {
    for (size_t i = 0; i < scene.thrown.size(); ++i) {
      const Model& model = scene.thrown[i].model;
      State state = thrown_state(scene.thrown[i], rng, int(i));
      if (scene.thrown[i].loops.empty()) {  // less and less bent
        const Eigen::VectorXd place = state.q.head(model.base() == Base::kFree ? 7 : 0);
        state.q = interpolate(model, straight(model), state.q, 1 - double(k) / kTries);
        state.q.head(place.size()) = place;
      }
      scene.world.set_state(FigureId(int(i)), state);
    }
    scene.world.assemble();
    const Snapshot start = scene.world.save();
    scene.world.step();
    const double depth = scene.world.totals().worst_penetration;
    scene.world.restore(start);
    if (depth < kShallow) return;
  }
}

Scene make_world(Random& rng, const std::optional<std::filesystem::path>& data) {
  WorldOptions options;
  options.time_step = std::exp(uniform(rng, std::log(0.5e-3), std::log(10e-3)));
  options.seed = rng();
  options.contact.anticipate = pick(rng, 2) == 0;
  Scene scene{World(options), fmt::format("h {:.2f} ms{}", 1e3 * options.time_step,
                                          options.contact.anticipate ? ", anticipating" : "")};
  scene.world.add_fixed(Plane{}, {}, {}, "floor");
  const int count = 1 + pick(rng, 3);
  for (int i = 0; i < count; ++i) {
    const int kind = pick(rng, data ? kKinds : kKindsBuiltIn);
    const Thrown thrown = make(kind, rng, data.value_or(""));
    FigureOptions figure;
    figure.name = "figure" + std::to_string(i);
    figure.self_collision = pick(rng, 2) == 0 ? SelfCollision::kNone : SelfCollision::kNotNeighbours;
    const FigureId id = scene.world.add(thrown.model, figure);
    for (const auto& [a, b] : thrown.loops) {
      scene.world.connect({id, loop_end(thrown.model, a)}, {id, loop_end(thrown.model, b)}, {.hold = Hold::kTogether});
    }
    add_motors(scene.world, id, rng);
    scene.what += fmt::format(", {}{}", thrown.model.name(),
                              figure.self_collision == SelfCollision::kNone ? "" : " touching itself");
    scene.thrown.push_back(thrown);
  }
  draw_poses(scene, rng);
  return scene;
}

}  // namespace

StressReport stress(std::uint64_t seed, double seconds, const std::optional<std::filesystem::path>& data) {
  Random rng(seed);
  Scene scene = make_world(rng, data);
  World& world = scene.world;
  StressReport report;
  report.world = scene.what;
  Hands hands;
  const bool grabs = pick(rng, 2) == 0;
  const double start = world.kinetic_energy() + world.potential_energy();
  double fall = 0;
  for (int i = 0; i < world.figure_count(); ++i) {
    const FigureId id(i);
    fall += world.model(id).mass() * norm(world.gravity()) * std::abs(world.pose({id, LinkId(0)}).p.z);
  }
  const double kinetic = world.kinetic_energy();
  double pushed = 0, last = 0, next_grab = 0;
  while (world.time() < seconds) {
    if (grabs && world.time() >= next_grab) hands.act(world, rng), next_grab += 0.05;
    world.step();
    if (world.status() != WorldStatus::kRunning) {
      report.failure = world.failure();
      break;
    }
    const double energy = world.kinetic_energy() + world.potential_energy(), work = world.totals().work_torque;
    if (!std::isfinite(energy)) {
      report.failure = fmt::format("at {} s: the energy is {}", world.time(), energy);
      break;
    }
    pushed += std::abs(work - last), last = work;
    report.gain = std::max(report.gain, energy - start - work);
    report.gap = std::max(report.gap, world.report().loop_gap);
    report.unsolved += std::uint64_t(world.report().tiers[int(ContactTier::kUnsolved)]);
  }
  report.scale = 1 + fall + kinetic + pushed;
  report.steps = world.totals().steps;
  report.contacts = world.totals().contacts;
  report.grabs = hands.grabs;
  report.penetration = world.totals().worst_penetration;
  return report;
}

}  // namespace kansetsu::test
