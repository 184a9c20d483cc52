#include "world_runners.h"

#include <cmath>
#include <random>
#include <utility>

#include "kansetsu/io/scene.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world_batch.h"
#include "kansetsu/spatial/rotations.h"

namespace bench {

using namespace kansetsu;

std::vector<double> noise(int count, double deviation, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal(0, deviation);
  std::vector<double> out(static_cast<size_t>(count));
  for (double& x : out) x = normal(rng);
  return out;
}

namespace {

/// A world; torques of its first figure row by row, if there are any.
class WorldRunner : public Runner {
 public:
  WorldRunner(World world, int steps, std::vector<double> torque, int restart = 0)
      : world_(std::move(world)), steps_(steps), restart_(restart), torque_(std::move(torque)), start_(world_.save()) {}

  std::string engine() const override { return "kansetsu"; }
  int steps() const override { return steps_; }
  double time_step() const override { return world_.time_step(); }
  void reset() override { world_.restore(start_); }
  void before(int i) override {
    if (restart_ > 0 && i % restart_ == 0) reset();
  }
  void step(int i) override {
    if (!torque_.empty()) {
      const long nv = world_.v(FigureId(0)).size();
      world_.set_torque(FigureId(0), Eigen::Map<const Eigen::VectorXd>(torque_.data() + i * nv, nv));
    }
    world_.step();
  }
  Quality observe() override {
    reset();
    const WorldTotals before_all = world_.totals();
    const double energy = world_.kinetic_energy() + world_.potential_energy();
    std::vector<Eigen::Vector3d> p;
    for (int f = 0; f < world_.figure_count(); ++f) p.push_back(world_.q(FigureId(f)).head<3>());
    Quality out;
    out.tiers.assign(kContactTiers, 0);
    const auto add_run = [&] {
      const WorldTotals& t = world_.totals();
      out.contacts += double(t.contacts - before_all.contacts) / steps_;
      for (size_t k = 0; k < kContactTiers; ++k) out.tiers[k] += t.tiers[k] - before_all.tiers[k];
      out.energy_error += world_.kinetic_energy() + world_.potential_energy() - energy -
                          (t.work_torque - before_all.work_torque) - (t.work_contact - before_all.work_contact) -
                          (t.work_connection - before_all.work_connection) -
                          (t.impact_energy - before_all.impact_energy);
    };
    for (int i = 0; i < steps_; ++i) {
      if (restart_ > 0 && i > 0 && i % restart_ == 0) add_run();
      before(i);
      step(i);
      out.penetration = std::max(out.penetration, world_.report().penetration);
      out.residual = std::max(out.residual, world_.report().residual);
    }
    add_run();
    for (int f = 0; f < world_.figure_count(); ++f) {
      out.drift = std::max(out.drift, (world_.q(FigureId(f)).head<3>() - p[size_t(f)]).norm());
    }
    if (world_.status() != WorldStatus::kRunning) std::printf("stopped: %s\n", world_.failure().c_str());
    return out;
  }

 protected:
  World world_;

 private:
  int steps_, restart_;
  std::vector<double> torque_;
  Snapshot start_;
};

/// The same with a grip on the trunk made and cut before every step.
class GripRunner : public WorldRunner {
 public:
  using WorldRunner::WorldRunner;
  std::string engine() const override { return "grip"; }
  void step(int i) override {
    const ConnectionId grip = world_.grab(kWorldBody, {FigureId(0), world_.model(FigureId(0)).link_id("UpperBody")});
    world_.release(grip);
    WorldRunner::step(i);
  }
};

constexpr double kStiffness = 2000, kDamping = 100;
constexpr int kRestart = 200;  // steps until a standing figure restarts: noise tips it over eventually

/// human28 on two soles, held by PD control of every hinge.
World standing() {
  World world;
  const Model model = human28();
  State state(model);
  state.q[2] = 0.88;
  world.add_fixed(Plane{}, {}, {}, "floor");
  FigureOptions options;
  options.switches.limits = false;
  options.self_collision = SelfCollision::kNone;  // the peer's figure has soles only
  world.add(model, state, options);
  ControllerDescription pd;
  pd.name = "posture", pd.figure = model.name(), pd.kind = ControlKind::kPd;
  for (int j = 0; j < model.joint_count(); ++j) {
    if (model.coordinates(JointId(j)).nv == 1)
      pd.joints.push_back({.dof = {model.joint(JointId(j)).name, 0}, .kp = kStiffness, .kd = kDamping});
  }
  world.add_controller(pd);
  return world;
}

/// Noise on the hinges of human28, the free base left alone.
std::vector<double> standing_torque(int steps, double deviation) {
  constexpr int kNv = 34;
  std::vector<double> torque = noise(steps * kNv, deviation, 1);
  for (int i = 0; i < steps; ++i) std::fill_n(torque.begin() + i * kNv, 6, 0.0);
  return torque;
}

/// Several worlds that stand already, each under its own noise.
class BatchRunner : public Runner {
 public:
  BatchRunner(const World& world, int worlds, int steps, double deviation, bool lanes)
      : batch_(world, worlds, {.lanes = lanes}), lanes_(lanes), steps_(steps), start_(batch_.save()) {
    const long nv = world.v(FigureId(0)).size();
    const std::vector<double> draws = noise(steps * worlds * int(nv), deviation, 1);
    for (int i = 0; i < steps; ++i) {
      torque_.emplace_back(Eigen::Map<const WorldBatch::Matrix>(draws.data() + i * worlds * nv, worlds, nv));
      torque_.back().leftCols(6).setZero();
    }
  }
  std::string engine() const override { return lanes_ ? "lanes" : "alone"; }
  int steps() const override { return steps_; }
  int worlds() const override { return batch_.size(); }
  double time_step() const override { return batch_.time_step(); }
  void reset() override { batch_.restore(start_); }
  void before(int i) override {
    if (i % kRestart == 0) reset();
  }
  void step(int i) override {
    batch_.set_torques(FigureId(0), torque_[size_t(i)]);
    batch_.step();
  }
  Quality observe() override {
    Quality out;
    out.tiers.assign(kContactTiers, 0);
    const WorldBatchReport before_all = batch_.report();
    for (int i = 0; i < steps_; ++i) {
      before(i);
      step(i);
      const World& first = std::as_const(batch_).world(0);
      out.contacts += double(first.report().contacts.size()) / steps_;
      out.penetration = std::max(out.penetration, first.report().penetration);
      out.residual = std::max(out.residual, first.report().residual);
      for (size_t k = 0; k < kContactTiers; ++k) out.tiers[k] += std::uint64_t(first.report().tiers[k]);
    }
    const WorldBatchReport& r = batch_.report();
    out.lanes = double(r.total_lanes - before_all.total_lanes) / (double(steps_) * batch_.size());
    return out;
  }

 private:
  WorldBatch batch_;
  bool lanes_;
  int steps_;
  std::vector<Snapshot> start_;
  std::vector<WorldBatch::Matrix> torque_;
};

std::vector<std::unique_ptr<Runner>> make_worlds(int worlds, double deviation) {
  World world = standing();
  world.advance(0.005);
  std::vector<std::unique_ptr<Runner>> out;
  out.push_back(std::make_unique<BatchRunner>(world, worlds, 1000, deviation, true));
  out.push_back(std::make_unique<BatchRunner>(world, worlds, 1000, deviation, false));
  return out;
}

std::string number(double x) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", x);
  return text;
}
std::string triple(const Vec3<>& a) { return number(a.x) + " " + number(a.y) + " " + number(a.z); }

/// human28 for MuJoCo: hinges without a mass between them become joints of one body. Only soles have shapes that touch.
void write_body(const Model& model, LinkId link, const std::string& joints, const Vec3<>& offset, std::string& out) {
  const LinkDescription& l = model.link(link);
  std::vector<JointId> children;
  for (int j = 0; j < model.joint_count(); ++j) {
    if (model.joint(JointId(j)).parent == l.name) children.push_back(JointId(j));
  }
  const auto go_on = [&](JointId id, const std::string& before, const Vec3<>& at) {
    const JointDescription& joint = model.joint(id);
    write_body(model, model.link_id(joint.child),
               before + "<joint name='" + joint.name + "' axis='" + triple(joint.axis) + "'/>", at + joint.socket.p,
               out);
  };
  if (!l.inertial || l.inertial->mass == 0) return go_on(children.at(0), joints, offset);
  out += "<body name='" + l.name + "' pos='" + triple(offset) + "'>" + joints;
  const Sym3<>& I = l.inertial->inertia;
  out += "<inertial mass='" + number(l.inertial->mass) + "' pos='" + triple(l.inertial->origin.p) + "' diaginertia='" +
         number(I.xx) + " " + number(I.yy) + " " + number(I.zz) + "'/>";
  for (const LinkShape& s : l.collisions) {
    if (const Box* box = std::get_if<Box>(&s.shape); box && l.name.rfind("Foot", 0) == 0)
      out += "<geom type='box' size='" + triple(0.5 * box->size) + "' pos='" + triple(s.origin.p) + "'/>";
  }
  for (const JointId id : children) go_on(id, "", {});
  out += "</body>";
}

std::vector<std::unique_ptr<Runner>> make_standing(double deviation, int steps) {
  std::vector<std::unique_ptr<Runner>> out;
  const std::vector<double> torque = standing_torque(steps, deviation);
  out.push_back(std::make_unique<WorldRunner>(standing(), steps, torque, kRestart));
  const Model model = human28();
  PeerInput peer;
  peer.steps = steps;
  peer.restart = kRestart;
  std::string bodies;
  write_body(model, LinkId(0), "<freejoint/>", {0, 0, 0.88}, bodies);
  peer.text =
      "<mujoco><compiler angle='radian'/><option timestep='0.001'/><worldbody><geom type='plane' size='9 9 1'/>" +
      bodies + "</worldbody></mujoco>";
  for (int k = 6; k < model.nv(); ++k) peer.joints.push_back(model.dof_names()[size_t(k)]);
  for (int i = 0; i < steps; ++i) {
    for (int k = 6; k < model.nv(); ++k) peer.torque.push_back(torque[size_t(i * model.nv() + k)]);
  }
  peer.kp.assign(peer.joints.size(), kStiffness);
  peer.kd.assign(peer.joints.size(), kDamping);
  if (auto runner = make_peer(peer)) out.push_back(std::move(runner));
  return out;
}

std::vector<std::unique_ptr<Runner>> make_grip(int steps) {
  std::vector<std::unique_ptr<Runner>> out;
  out.push_back(std::make_unique<WorldRunner>(standing(), steps, standing_torque(steps, 5)));
  out.push_back(std::make_unique<GripRunner>(standing(), steps, standing_torque(steps, 5)));
  return out;
}

Model box(const std::string& name, double side) {
  return value_or_throw(Model::build(make_body(name, Box{{side, side, side}}, 1, {}).model));
}

std::unique_ptr<Runner> make_stack() {
  WorldOptions options;
  options.time_step = 2e-3;
  World world(options);
  world.add_fixed(Plane{}, {}, {}, "floor");
  for (int i = 0; i < 16; ++i) {
    const Model model = box("box" + std::to_string(i), 0.2);
    State state(model);
    state.q[2] = 0.1 + 0.2 * i;
    world.add(model, state);
  }
  return std::make_unique<WorldRunner>(std::move(world), 5000, std::vector<double>());
}

/// A hundred boxes of 0.2 m fall into a pen of 2 m. @param landed  begins when they lie
std::unique_ptr<Runner> make_pile(bool landed) {
  WorldOptions options;
  options.time_step = 2e-3;
  World world(options);
  world.add_fixed(Plane{}, {}, {}, "floor");
  for (int k = 0; k < 4; ++k) {
    const bool along_x = k % 2 == 0;
    const double side = k < 2 ? 1.05 : -1.05;
    Transform<> X;
    X.p = {along_x ? side : 0, along_x ? 0 : side, 1};
    world.add_fixed(Box{{along_x ? 0.1 : 2.2, along_x ? 2.2 : 0.1, 2}}, X);
  }
  std::mt19937_64 rng(3);
  std::uniform_real_distribution<double> u(-0.7, 0.7);  // turned at will, in layers of nine that do not overlap
  for (int i = 0; i < 100; ++i) {
    const Model model = box("box" + std::to_string(i), 0.2);
    State state(model);
    const double a = u(rng), b = u(rng), c = u(rng), d = u(rng);
    state.q.head<3>() << 0.5 * (i % 3 - 1) + 0.05 * a, 0.5 * (i / 3 % 3 - 1) + 0.05 * b, 0.3 + 0.4 * (i / 9);
    state.q.segment<4>(3) = Eigen::Vector4d(a, b, c, d).normalized();
    world.add(model, state);
  }
  if (landed) world.advance(3);
  return std::make_unique<WorldRunner>(std::move(world), landed ? 1000 : 1500, std::vector<double>());
}

/// A wavy net of side × side bricks, neighbours tied by balls in the middle between them, hung by a corner: loops everywhere.
struct Net {
  int side;

  static std::string name(int i) { return "b" + std::to_string(i); }
  Vec3<> place(int i) const {
    const int x = i % side, y = i / side;
    return {0.1 * x, 0.1 * y, 0.02 * std::sin(1.3 * x + 0.7 * y)};
  }
  /// visit(i, j, half of the way from i to j) for all knots
  template <class Visit>
  void for_each_knot(Visit&& visit) const {
    for (int i = 0; i < side * side; ++i) {
      if ((i + 1) % side) visit(i, i + 1, 0.5 * (place(i + 1) - place(i)));
      if (i + side < side * side) visit(i, i + side, 0.5 * (place(i + side) - place(i)));
    }
  }
  /// In a tree rows of bricks hang on the first column.
  bool is_joint(int i, int j) const { return j == i + 1 || i % side == 0; }

  std::vector<BodyRef> add_bricks(World& world) const {
    std::vector<BodyRef> out;
    for (int i = 0; i < side * side; ++i) {
      const Model model = ModelBuilder(name(i)).base(Base::kFree).link("brick", brick()).build();
      State state(model);
      state.q.head<3>() << place(i).x, place(i).y, place(i).z;
      out.push_back({world.add(model, state), LinkId(0)});
    }
    return out;
  }
  std::vector<BodyRef> add_tree(World& world) const {
    ModelBuilder builder("net");
    builder.base(Base::kFree);
    for (int i = 0; i < side * side; ++i) builder.link(name(i), brick());
    for_each_knot([&](int i, int j, const Vec3<>& half) {
      if (!is_joint(i, j)) return;
      builder.joint({.name = "j" + name(j),
                     .type = JointType::kBall,
                     .parent = name(i),
                     .child = name(j),
                     .socket = {.p = half},
                     .plug = {.p = -half}});
    });
    const Model model = builder.build();
    State state(model);
    state.q.head<3>() << place(0).x, place(0).y, place(0).z;
    const FigureId id = world.add(model, state);
    std::vector<BodyRef> out;
    for (int i = 0; i < side * side; ++i) out.push_back({id, model.link_id(name(i))});
    return out;
  }
  std::string mjcf() const {
    const auto text = [](const Vec3<>& p) {
      return std::to_string(p.x) + " " + std::to_string(p.y) + " " + std::to_string(p.z);
    };
    std::string bodies, ties = "<connect body1='" + name(0) + "' anchor='0 0 0'/>";
    for (int i = 0; i < side * side; ++i) {
      bodies += "<body name='" + name(i) + "' pos='" + text(place(i)) +
                "'><freejoint/><inertial pos='0 0 0' mass='0.1' diaginertia='1e-4 1e-4 2e-4'/></body>";
    }
    for_each_knot([&](int i, int j, const Vec3<>& half) {
      ties += "<connect body1='" + name(i) + "' body2='" + name(j) + "' anchor='" + text(half) + "'/>";
    });
    return "<mujoco><option timestep='0.001'/><worldbody>" + bodies + "</worldbody><equality>" + ties +
           "</equality></mujoco>";
  }

 private:
  static Inertial brick() { return {.mass = 0.1, .inertia = {1e-4, 0, 0, 1e-4, 0, 2e-4}}; }
};

/// @param tree  one figure, and only what closes loops is tied; else every brick is a figure, beside the same in the peer
std::vector<std::unique_ptr<Runner>> make_net(int side, bool tree, int steps) {
  const Net net{side};
  World world;
  const std::vector<BodyRef> bricks = tree ? net.add_tree(world) : net.add_bricks(world);
  net.for_each_knot([&](int i, int j, const Vec3<>& half) {
    if (tree && net.is_joint(i, j)) return;
    ConnectionOptions knot;
    knot.mask = kPointMask;
    knot.X_AC.p = half, knot.X_BC.p = -half;
    world.connect(bricks[size_t(i)], bricks[size_t(j)], knot);
  });
  world.connect(kWorldBody, bricks[0], {.mask = kPointMask});
  std::vector<std::unique_ptr<Runner>> out;
  out.push_back(std::make_unique<WorldRunner>(std::move(world), steps, std::vector<double>()));
  if (tree) return out;
  PeerInput peer;
  peer.steps = steps;
  peer.text = net.mjcf();
  if (auto runner = make_peer(peer)) out.push_back(std::move(runner));
  return out;
}

std::vector<std::unique_ptr<Runner>> make_humanoid(const std::string& file) {
  SceneDescription scene = value_or_throw(io::read_scene(file));
  scene.controllers.clear();  // motors are driven from here
  World world = value_or_throw(World::build(scene));
  constexpr int kRuns = 4;  // falls of 10 s under different torques: a single one is not representative
  const int restart = int(std::lround(10 / world.time_step())), steps = kRuns * restart;
  const Model& model = world.model(FigureId(0));
  PeerInput peer;
  peer.file = file, peer.steps = steps, peer.time_step = world.time_step(), peer.restart = restart;
  std::vector<double> torque;
  for (int k = 6; k < model.nv(); ++k) peer.joints.push_back(model.dof_names()[size_t(k)]);
  const std::vector<double> draws = noise(steps * int(peer.joints.size()), 5, 1);
  for (int i = 0; i < steps; ++i) {
    torque.insert(torque.end(), 6, 0.0);
    torque.insert(torque.end(), draws.begin() + i * (model.nv() - 6), draws.begin() + (i + 1) * (model.nv() - 6));
  }
  peer.torque = draws;
  std::vector<std::unique_ptr<Runner>> out;
  out.push_back(std::make_unique<WorldRunner>(std::move(world), steps, torque, restart));
  if (auto runner = make_peer(peer)) out.push_back(std::move(runner));
  return out;
}

std::vector<std::unique_ptr<Runner>> one(std::unique_ptr<Runner> runner) {
  std::vector<std::unique_ptr<Runner>> out;
  out.push_back(std::move(runner));
  return out;
}

}  // namespace

std::vector<Scenario> scenarios(const std::string& humanoid) {
  std::vector<Scenario> out{{"standing, 5 N·m", [] { return make_standing(5, 5000); }},
                            {"standing, 25 N·m", [] { return make_standing(25, 5000); }},
                            {"8 worlds, 0 N·m", [] { return make_worlds(8, 0); }},
                            {"8 worlds, 5 N·m", [] { return make_worlds(8, 5); }},
                            {"64 worlds, 5 N·m", [] { return make_worlds(64, 5); }},
                            {"grip made and cut", [] { return make_grip(2000); }},
                            {"16 boxes stacked", [] { return one(make_stack()); }, true},
                            {"100 boxes falling", [] { return one(make_pile(false)); }, true},
                            {"100 boxes lying", [] { return one(make_pile(true)); }, true},
                            {"net of 10 x 10", [] { return make_net(10, false, 200); }, true},
                            {"net of 10 x 10, a tree", [] { return make_net(10, true, 200); }, true},
                            {"net of 20 x 20", [] { return make_net(20, false, 100); }, true},
                            {"net of 20 x 20, a tree", [] { return make_net(20, true, 100); }, true}};
  const auto add = [&](const char* name, TendonKind kind) {
    out.push_back({name, [kind] { return make_actuated(kind); }, false, Scenario::Compare::kAddedTime});
  };
  add("30 actuators, 10 sums", TendonKind::kSum);
  add("30 actuators, 10 paths", TendonKind::kPath);
  add("30 actuators, 10 wraps", TendonKind::kWrapped);
  if (!humanoid.empty()) out.push_back({"humanoid.xml", [humanoid] { return make_humanoid(humanoid); }});
  return out;
}

}  // namespace bench
