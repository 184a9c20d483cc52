#include "loop_robots.h"

#include <fmt/format.h>

#include "kansetsu/base/error.h"
#include "kansetsu/io/urdf.h"
#include "kansetsu/model/builder.h"

namespace kansetsu::test {

const std::vector<LoopRobot>& loop_robots() {
  // The balls of the 5-bar weigh 654 tonnes each, as its file has it: its motors are as strong.
  static const std::vector<LoopRobot> robots = {
      {"four_bar", {}, {"hinge0"}, 2, 0.05},
      {"5bar_linkage", {{"closedloop1_A", "closedloop1_B"}}, {"mot1", "mot2"}, 5e5, 5e4},
      {"cassie_like",
       {{"closedloop1_B", "closedloop1_A"}, {"closedloop2_A", "closedloop2_B"}},
       {"motor_hip1", "motor_hip2", "motor_tigh", "motor_knee", "motor_ankle"},
       2,
       0.05},
      {"digit_like",
       {{"closedloop1_B", "closedloop1_A"}, {"closedloop2_B", "closedloop2_A"}, {"closedloop3_B", "closedloop3_A"}},
       {"motor_hip_x", "motor_hip_y", "motor_hip_z", "motor_knee", "motor_shin1", "motor_shin2"},
       2,
       0.05}};
  return robots;
}

Model four_bar_linkage(const Vec3<>& gravity) {
  ModelBuilder builder("four_bar");
  builder.gravity(gravity);
  builder.link("ground");
  const double lengths[3] = {0.4, 1.0, 0.7};
  std::string parent = "ground";
  for (int i = 0; i < 3; ++i) {
    const double l = lengths[i], I = l * l / 12;
    const std::string name = "bar" + std::to_string(i);
    builder.link(name, Inertial{1, {{l / 2, 0, 0}, {}}, Sym3<>::diagonal(1e-4, I, I)});
    JointDescription joint;
    joint.name = "hinge" + std::to_string(i);
    joint.type = JointType::kRevolute;
    joint.parent = parent;
    joint.child = name;
    joint.axis = {0, 1, 0};
    joint.socket.p = {i == 0 ? 0 : lengths[i - 1], 0, 0};
    builder.joint(joint);
    parent = name;
  }
  return builder.build();
}

LinkId loop_end(const Model& model, const char* name) {
  const auto link = model.find_link(name);
  return link ? *link : model.child_link(model.joint_id(name));
}

namespace {

void close_loops(World& world, FigureId id, const LoopRobot& robot) {
  const Model& model = world.model(id);
  ConnectionOptions loop;
  loop.hold = Hold::kTogether;
  for (const LoopEnds& names : robot.loops) {
    world.connect({id, loop_end(model, names.a)}, {id, loop_end(model, names.b)}, loop);
  }
  if (!robot.loops.empty()) return;
  loop.mask = 0b111101;  // the four-bar: a hinge about y
  loop.X_AC.p = {0.9, 0, 0};
  loop.X_BC.p = {0.7, 0, 0};
  world.connect(kWorldBody, {id, model.link_id("bar2")}, loop);
}

}  // namespace

World loop_world(const LoopRobot& robot, const std::filesystem::path& data, bool damped) {
  WorldOptions options;
  options.seed = 4;
  options.integrator = Integrator::kAdaptive;  // linkages whip through dead centres
  options.tolerance = 1e-7;
  World world(options);
  FigureOptions figure;
  figure.name = "robot";
  figure.collides = false;
  figure.switches.effort_limits = false;
  const bool built_in = robot.loops.empty();
  const Model model = built_in
                          ? four_bar_linkage(options.gravity)
                          : value_or_throw(io::load_urdf(data / "robots" / "closed_loop" / robot.name / "robot.urdf"));
  State state(model);
  if (built_in) state.q << -1.2, 1.0, 1.0;
  const FigureId id = world.add(model, state, figure);
  close_loops(world, id, robot);
  if (const World::AssemblyReport report = world.assemble(); !report.ok)
    throw Error(
        fmt::format("{}: the loops do not close, {} m and {} rad are left", robot.name, report.gap, report.angle));

  ControllerDescription motors{.name = "motors", .figure = "robot", .period = 0.05};
  ControllerDescription friction{.name = "friction", .figure = "robot", .kind = ControlKind::kPd};
  for (const char* motor : robot.motors) {
    motors.joints.push_back({.dof = {motor, 0}, .deviation = robot.torque});
    friction.joints.push_back({.dof = {motor, 0}, .kd = robot.damping});
  }
  world.add_controller(motors);
  if (damped) world.add_controller(friction);
  return world;
}

double unexplained_energy(const World& world, double start) {
  const WorldTotals& t = world.totals();
  return world.kinetic_energy() + world.potential_energy() - start - t.work_torque - t.work_contact -
         t.work_connection - t.impact_energy;
}

}  // namespace kansetsu::test
