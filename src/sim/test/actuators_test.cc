#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"

namespace kansetsu {
namespace {

/// Three pendulums with a motor, a servo and a filtered motor; a sprung tendon over two of them.
World driven() {
  FigureOptions options;
  options.name = "arm";
  ActuationDescription& all = options.actuation;
  all.actuators = {{.name = "motor", .dof = {"hinge1", 0}, .gear = 2, .control_range = {-1, 1}},
                   {.name = "servo", .dof = {"hinge2", 0}},
                   {.name = "slow", .dof = {"hinge3", 0}, .activation = ActivationLaw::kFilter}};
  make_position_servo(all.actuators[1], 50, 2);
  all.actuators[2].activation_numbers = {0.05, 0, 0};
  all.tendons = {{.name = "tendon", .terms = {{{"hinge1", 0}, 1}, {{"hinge3", 0}, -0.5}}, .stiffness = 3}};
  World world;
  world.add(pendulum(3), options);
  return world;
}

using Numbers = std::vector<double>;

Numbers reports_of(const World& world) {
  Numbers out;
  for (const ActuatorReport& r : world.actuators(FigureId(0)))
    out.insert(out.end(), {r.control, r.activation, r.length, r.velocity, r.force, r.power, double(r.clamped)});
  return out;
}

void drive(World& world, int step) {
  world.set_control(FigureId(0), Eigen::Vector3d(0.02 * step, 0.3, 1 - 0.01 * step));
  world.step();
}

}  // namespace

TEST_CASE("reports of actuators are those of the last step, whenever and how often they are asked for") {
  World often = driven(), once = driven();
  Numbers now;
  for (int i = 0; i < 40; ++i) {
    drive(often, i);
    drive(once, i);
    now = reports_of(often);
  }
  CHECK(now[4] != 0);
  SUBCASE("after nothing else") {}
  SUBCASE("after an energy, for which tendons are placed") { once.potential_energy(); }
  SUBCASE("after another control") { once.set_control(FigureId(0), "servo", -1); }
  SUBCASE("after another state") {
    State state(once.model(FigureId(0)));
    state.q << 0.1, 0.2, 0.3;
    once.set_state(FigureId(0), state);
  }
  CHECK(reports_of(once) == now);
  CHECK(reports_of(once) == now);
}

}  // namespace kansetsu
