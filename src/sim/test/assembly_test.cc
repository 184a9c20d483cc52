#include "sim/assembly.h"

#include <doctest/doctest.h>

#include <numbers>

#include "kansetsu/model/figures.h"
#include "stage_support.h"

namespace kansetsu {
namespace {

using namespace stage;

struct AssemblyWorld : WorldState {
  AssemblyWorld() : WorldState(world_options()) {}
  Islands islands{options.contact};
  RowBuilder rows{*this};
  BilateralSolver bilateral{*this, rows};
  Assembler assembler{*this, islands, bilateral};

  /// The end of the last rod of a pendulum is to be at p.
  void hold_end(int links, const Vec3<>& p) {
    ConnectionOptions pin{.mask = 0b101000, .hold = Hold::kTogether};  // x and z
    pin.X_AC.p = p;
    pin.X_BC.p = {0, 0, -1};
    ConnectionData& c = join(*this, -1, 0, pin);
    c.b.link = figure(0).model.child_link(JointId(links - 1));
  }
};

}  // namespace

TEST_CASE("a pendulum of two rods reaches what is within its length, and says what it cannot reach") {
  for (const double far : {1.2, 2.5}) {
    AssemblyWorld world;
    FigureData& f = add(world, pendulum(2));
    f.q << 0.3, 0.4;
    f.set_mechanics();
    world.hold_end(2, {far, 0, 0});
    const World::AssemblyReport report = world.assembler.assemble(1e-12, 100);
    CHECK(report.ok == (far < 2));
    CHECK((report.gap < 1e-12) == report.ok);
  }
}

TEST_CASE("where Newton's method ends beyond a limit, a posture within the limits is searched for") {
  AssemblyWorld world;
  ModelDescription description = pendulum(2).description();
  description.joints[1].dofs = {{.lower = -3, .upper = -0.1}};  // the elbow bends one way only
  FigureData& f = add(world, value_or_throw(Model::build(description)));
  f.q << 0.5, -0.1;
  f.set_mechanics();
  world.hold_end(2, {1.2, 0, 0});
  CHECK(world.assembler.assemble(1e-12, 100).ok);
  CHECK(f.q[1] <= -0.1 + 1e-9);
}

TEST_CASE("a loop is closed where no more than kClosedGap of the mechanism's size is left") {
  for (const double side : {0.9, 1.1}) {
    AssemblyWorld world;
    FigureData& f = add(world, pendulum(2));
    f.q << -std::numbers::pi / 2, 0;  // stretched along x: it cannot reach further
    f.set_mechanics();
    world.hold_end(2, {2 + 2 * side * threshold::kClosedGap, 0, 0});
    CHECK(world.assembler.assemble(0, 1).ok == (side < 1));
  }
}

TEST_CASE("the size of a mechanism is that of the links that connections hold") {
  AssemblyWorld world;
  FigureData& f = add(world, pendulum(2));
  CHECK(mechanism_size(world) == 1);  // nothing is held
  f.set_mechanics();
  world.hold_end(2, {0, 0, -2});
  CHECK(mechanism_size(world) == doctest::Approx(2));
}

}  // namespace kansetsu
