#include <doctest/doctest.h>

#include <cmath>

#include "data_dir.h"
#include "loop_robots.h"
#include "sanitized.h"

using namespace kansetsu;

/// Robots with closed loops, let go away from equilibrium while their motors push at random. script/soak runs them for an hour.
TEST_CASE("[data] loops of robots stay closed under random motor torques, and the ledger of energy is balanced") {
  const std::filesystem::path folder = test::data_dir();
  const double seconds = test::kSanitized ? 3 : 60;
  for (const test::LoopRobot& robot : test::loop_robots()) {
    const std::string name = robot.name;
    CAPTURE(name);
    World world = test::loop_world(robot, folder, true);
    const double start = world.kinetic_energy() + world.potential_energy();
    double pushed = 0, last = 0, most = 0;
    while (world.time() < seconds && world.status() == WorldStatus::kRunning) {
      world.step();
      pushed += std::abs(world.totals().work_torque - last), last = world.totals().work_torque;
      most = std::max(most, world.kinetic_energy());
    }
    REQUIRE(world.status() == WorldStatus::kRunning);
    const WorldTotals& t = world.totals();
    const double left = test::unexplained_energy(world, start);
    MESSAGE(name << ": " << seconds << " s, gap " << t.worst_gap << " m, " << t.worst_angle << " rad, up to " << most
                 << " J, through the motors " << pushed << " J, unexplained " << left << " J");
    CHECK(pushed > most);  // the motors matter
    // The integrator keeps 1e-7 of the speeds per step, most of it by chance.
    CHECK(std::abs(left) < 1e-6 * (most + pushed));
    CHECK(t.worst_gap < 1e-6);
    CHECK(t.worst_angle < 1e-6);
  }
}
