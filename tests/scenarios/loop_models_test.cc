#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "kansetsu/io/urdf.h"
#include "kansetsu/sim/world.h"
#include "sanitized.h"

using namespace kansetsu;

/// Robots with closed loops, let go away from equilibrium while their motors push at random. KANSETSU_SOAK=1 simulates an
/// hour of each instead of a minute.
namespace {

struct Loop {
  const char *a, *b;  ///< links that coincide, or joints whose children do
};
struct Robot {
  const char* name;
  std::vector<Loop> loops;
  std::vector<const char*> motors;
  double torque;  ///< standard deviation [N·m]
};

const Robot kRobots[] = {
    {"5bar_linkage", {{"closedloop1_A", "closedloop1_B"}}, {"mot1", "mot2"}, 0.5},
    {"cassie_like",
     {{"closedloop1_B", "closedloop1_A"}, {"closedloop2_A", "closedloop2_B"}},
     {"motor_hip1", "motor_hip2", "motor_tigh", "motor_knee", "motor_ankle"},
     2},
    {"digit_like",
     {{"closedloop1_B", "closedloop1_A"}, {"closedloop2_B", "closedloop2_A"}, {"closedloop3_B", "closedloop3_A"}},
     {"motor_hip_x", "motor_hip_y", "motor_hip_z", "motor_knee", "motor_shin1", "motor_shin2"},
     2}};

LinkId place(const Model& model, const char* name) {
  const auto link = model.find_link(name);
  return link ? *link : model.child_link(model.joint_id(name));
}

}  // namespace

TEST_CASE("loops of robots stay closed under random motor torques, and the ledger of energy is balanced") {
  const char* folder = std::getenv("KANSETSU_DATA_DIR");
  if (!folder) {
    MESSAGE("skipped: KANSETSU_DATA_DIR is not set");
    return;
  }
  const double seconds = std::getenv("KANSETSU_SOAK") ? 3600 : test::kSanitized ? 3 : 60;
  for (const Robot& robot : kRobots) {
    const std::string name = robot.name;
    CAPTURE(name);
    const auto file = std::filesystem::path(folder) / "robots" / "closed_loop" / robot.name / "robot.urdf";
    const Model model = value_or_throw(io::load_urdf(file));
    WorldOptions options;
    options.seed = 4;
    options.integrator = Integrator::kAdaptive;  // the linkages whip through dead centres
    options.tolerance = 1e-7;
    World world(options);
    FigureOptions figure;
    figure.name = "robot";
    figure.collides = false;
    const FigureId id = world.add(model, figure);
    for (const Loop& loop : robot.loops) {
      ConnectionOptions weld;
      weld.hold = Hold::kTogether;
      world.connect({id, place(model, loop.a)}, {id, place(model, loop.b)}, weld);
    }
    const World::AssemblyReport report = world.assemble();
    CHECK(report.ok);
    ControllerDescription control;
    control.name = "motors";
    control.figure = "robot";
    control.period = 0.05;
    for (const char* motor : robot.motors) control.joints.push_back({.dof = {motor, 0}, .deviation = robot.torque});
    world.add_controller(control);
    const double start = world.kinetic_energy() + world.potential_energy();
    world.advance(seconds);
    REQUIRE(world.status() == WorldStatus::kRunning);
    const WorldTotals& t = world.totals();
    const double end = world.kinetic_energy() + world.potential_energy();
    const double explained = t.work_torque + t.work_contact + t.work_connection + t.impact_energy;
    MESSAGE(std::string(robot.name) << ": " << seconds << " s, rank deficiency " << report.rank_deficiency << ", gap "
                                    << t.worst_gap << " m, " << t.worst_angle << " rad, energy " << start << " -> "
                                    << end << " J, works " << t.work_torque << " + " << t.work_contact << " + "
                                    << t.work_connection << " J, unexplained " << end - start - explained
                                    << " J, speed " << world.v(id).cwiseAbs().maxCoeff());
    // The integrator keeps 1e-7 of the speeds per step; energies of millions of joules (the linkage) keep six digits.
    CHECK(std::abs(end - start - explained) < 1e-4 * (1 + std::abs(t.work_torque)) + 2e-6 * std::abs(start));
    CHECK(t.worst_gap < 1e-6);
    CHECK(t.worst_angle < 1e-6);
  }
}
