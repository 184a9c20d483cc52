// Steps with actuators and tendons, compared with the same steps under the torques that these exert.
#include <utility>

#include "kansetsu/actuation/actuation.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"
#include "world_runners.h"

namespace bench {

using namespace kansetsu;

namespace {

enum class DriveKind { kActuators, kTorques };

constexpr int kSteps = 400;    // as long as the figure is in the air
constexpr double kForce = 20;  // of an actuator, its deviation [N·m, N]

/// human28 above the floor, every hinge sprung: 20 actuators at hinges and 10 at tendons.
SceneDescription actuated_scene(TendonKind kind, DriveKind drive) {
  SceneDescription scene;
  scene.name = "actuated";
  FigureDescription figure;
  figure.model = human28().description();
  figure.name = figure.model.name;
  figure.initial.base = Pose{.p = {0, 0, 3}};
  figure.self_collision = SelfCollision::kNone;
  figure.switches.limits = false;
  std::vector<std::string> hinges;
  for (JointDescription& joint : figure.model.joints) {
    if (joint.type != JointType::kRevolute) continue;
    if (joint.dofs.empty()) joint.dofs.resize(1);
    joint.dofs[0].stiffness = 20, joint.dofs[0].damping = 1;
    hinges.push_back(joint.name);
  }
  if (drive == DriveKind::kTorques) {
    scene.figures.push_back(std::move(figure));
    return scene;
  }
  ActuationDescription& all = figure.actuation;
  for (size_t i = 0; i < 20; ++i) {
    ActuatorDescription& a = all.actuators.emplace_back();
    a.name = "motor_" + hinges[i], a.dof = {hinges[i], 0};
    a.control_range = {-100, 100};
  }
  for (size_t i = 0; i < 10; ++i) {
    TendonDescription& t = all.tendons.emplace_back();
    t.name = "tendon" + std::to_string(i);
    if (kind == TendonKind::kSum) {
      t.terms = {{{hinges[2 * i], 0}, 0.05}, {{hinges[2 * i + 1], 0}, -0.03}};
    } else {
      const Model model = human28();
      const JointDescription& joint = model.joint(model.joint_id(hinges[2 * i + 2]));
      const auto put = [&](const std::string& link, Vec3<> p, TendonPartKind part, double radius) {
        t.path.push_back({.kind = part, .at = {link, {.p = p}}, .radius = radius});
      };
      put(joint.parent, joint.socket.p + Vec3<>{0.04, 0.03, 0.1}, TendonPartKind::kPoint, 0);
      if (kind == TendonKind::kWrapped) put(joint.child, {}, TendonPartKind::kSphere, 0.05);
      put(joint.child, {0.04, -0.03, -0.1}, TendonPartKind::kPoint, 0);
    }
    ActuatorDescription& a = all.actuators.emplace_back();
    a.name = "pull" + std::to_string(i), a.transmission = Transmission::kTendon, a.target = t.name;
  }
  scene.figures.push_back(std::move(figure));
  return scene;
}

class ActuatedRunner : public Runner {
 public:
  ActuatedRunner(const SceneDescription& scene, std::string name, std::vector<double> rows)
      : world_(value_or_throw(World::build(scene))),
        name_(std::move(name)),
        rows_(std::move(rows)),
        start_(world_.save()),
        driven_(!world_.actuators(FigureId(0)).empty()) {}
  std::string engine() const override { return name_; }
  int steps() const override { return kSteps; }
  double time_step() const override { return world_.time_step(); }
  void reset() override { world_.restore(start_); }
  void step(int i) override {
    const long n = long(rows_.size()) / kSteps;
    const Eigen::Map<const Eigen::VectorXd> row(rows_.data() + i * n, n);
    if (driven_)
      world_.set_control(FigureId(0), row);
    else
      world_.set_torque(FigureId(0), row);
    world_.step();
  }
  Quality observe() override {
    reset();
    const double before = world_.kinetic_energy() + world_.potential_energy();
    const WorldTotals start = world_.totals();
    Quality out;
    out.tiers.assign(kContactTiers, 0);
    for (int i = 0; i < kSteps; ++i) step(i);
    out.energy_error =
        world_.kinetic_energy() + world_.potential_energy() - before - world_.totals().work_torque + start.work_torque;
    return out;
  }
  World& world() { return world_; }

 private:
  World world_;
  std::string name_;
  std::vector<double> rows_;
  Snapshot start_;
  bool driven_;  ///< by actuators
};

/// Torques of the actuators at each hinge in each step, for the same motion without actuators.
std::vector<double> torques_of(const SceneDescription& scene, const std::vector<double>& controls) {
  ActuatedRunner run(scene, "", controls);
  World& world = run.world();
  const Model& model = world.model(FigureId(0));
  Actuation actuation(model, scene.figures[0].actuation);
  const long n = actuation.actuator_count();
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(n);
  std::vector<double> out;
  for (int i = 0; i < kSteps; ++i) {
    State state(model);
    state.q = world.q(FigureId(0)), state.v = world.v(FigureId(0));
    actuation.place(state);
    const Eigen::VectorXd tau = actuation.torques(Eigen::Map<const Eigen::VectorXd>(controls.data() + i * n, n), none);
    out.insert(out.end(), tau.begin(), tau.end());
    run.step(i);
  }
  return out;
}

}  // namespace

std::vector<std::unique_ptr<Runner>> make_actuated(TendonKind kind) {
  const SceneDescription driven = actuated_scene(kind, DriveKind::kActuators);
  const SceneDescription plain = actuated_scene(kind, DriveKind::kTorques);
  const int count = int(driven.figures[0].actuation.actuators.size());
  const std::vector<double> controls = noise(kSteps * count, kForce, 1);
  const std::vector<double> torques = torques_of(driven, controls);
  std::vector<std::unique_ptr<Runner>> out;
  out.push_back(std::make_unique<ActuatedRunner>(driven, "actuators", controls));
  out.push_back(std::make_unique<ActuatedRunner>(plain, "torques", torques));
  const Model model = human28();
  PeerInput peer;
  peer.steps = kSteps, peer.name = "M. act.", peer.controls = controls;
  peer.text = value_or_throw(io::to_mjcf(driven));
  if (auto runner = make_peer(peer)) out.push_back(std::move(runner));
  peer.controls.clear(), peer.name = "M. torq.";
  peer.text = value_or_throw(io::to_mjcf(plain));
  for (int k = 6; k < model.nv(); ++k) peer.joints.push_back(model.dof_names()[size_t(k)]);
  for (int i = 0; i < kSteps; ++i) {
    for (int k = 6; k < model.nv(); ++k) peer.torque.push_back(torques[size_t(i * model.nv() + k)]);
  }
  if (auto runner = make_peer(peer)) out.push_back(std::move(runner));
  return out;
}

}  // namespace bench
