#include <doctest/doctest.h>

#include <cmath>
#include <utility>

#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world_batch.h"
#include "kansetsu/spatial/quaternion.h"
#include "posture.h"

using namespace kansetsu;

namespace {

constexpr FigureId kFirst(0);

World standing(const Model& model) {
  World world;
  State state(model);
  state.q[2] = 0.88;
  world.add_fixed(Plane{}, {}, {}, "floor");
  world.add(model, state, {.switches = {.limits = false}});  // at a limit nothing goes in a lane
  test::hold_posture(world, model);
  return world;
}

/// A box of 1 kg on a slope of 0.3 rad.
World on_slope() {
  World world;
  const Mat3<> R = rotation_y(std::sin(0.3), std::cos(0.3));
  world.add_fixed(Plane{}, {R, {}}, {.mu_s = 1, .mu_d = 1});
  const Model box = ModelBuilder("box")
                        .base(Base::kFree)
                        .link({.name = "box",
                               .inertial = Inertial{1, {}, Sym3<>::diagonal(1e-2, 1e-2, 1e-2)},
                               .collisions = {{.shape = Box{{0.2, 0.2, 0.2}}}}})
                        .build();
  State state(box);
  const Vec3<> p = R * Vec3<>{0, 0, 0.1};
  state.q << p.x, p.y, p.z, 0, std::sin(0.15), 0, std::cos(0.15);
  world.add(box, state);
  return world;
}

double distance_slid(World& world) {
  const Eigen::Vector3d from = world.q(kFirst).head<3>();
  world.advance(0.5);
  return (world.q(kFirst).head<3>() - from).norm();
}

}  // namespace

TEST_CASE("a figure with other masses goes as one that was built with them, to the bit") {
  const Model model = human28();
  Eigen::VectorXd parameters = inertial_parameters(model);
  parameters.segment<10>(10 * model.link_id("Body").value()) *= 1.4;
  World changed = standing(model), built = standing(with_inertial_parameters(model, parameters));
  changed.set_inertial_parameters(kFirst, parameters);
  CHECK(changed.model(kFirst).mass() == built.model(kFirst).mass());
  changed.advance(0.3), built.advance(0.3);
  CHECK(changed.hash() == built.hash());

  // They are no part of a snapshot: a restored world keeps its own.
  const Snapshot before = standing(model).save();
  changed.restore(before), built.restore(before);
  changed.advance(0.1), built.advance(0.1);
  CHECK(changed.hash() == built.hash());

  parameters[0] = -1;
  CHECK_THROWS_AS(changed.set_inertial_parameters(kFirst, parameters), Error);
  CHECK_THROWS_AS(changed.set_inertial_parameters(FigureId(1), inertial_parameters(model)), Error);
  changed.advance(0.1), built.advance(0.1);
  CHECK(changed.hash() == built.hash());
}

TEST_CASE("friction of a figure is changed between steps: above the slope it holds, below it slides") {
  const double steep = std::tan(0.3);
  World world = on_slope();
  world.advance(0.1);
  // Friction of a pair is the geometric mean; that of the slope is 1.
  const auto material = [&](double mu) { return ContactMaterial{.mu_s = mu * mu, .mu_d = mu * mu}; };
  world.set_material(kFirst, material(1.02 * steep));
  CHECK(distance_slid(world) < 1e-6);
  world.set_material(kFirst, material(0.9 * steep));
  const double expected = 0.5 * 9.81 * (std::sin(0.3) - 0.9 * steep * std::cos(0.3)) * 0.25;
  CHECK(distance_slid(world) == doctest::Approx(expected).epsilon(0.02));
  CHECK_THROWS_AS(world.set_material(kFirst, {.mu_s = -1}), Error);
}

TEST_CASE(
    "worlds of a batch with masses and friction of their own: the others go on in lanes, none changes a bit of "
    "another") {
  const Model model = human28();
  const World prototype = standing(model);
  const auto vary = [&](WorldBatch& batch, int i, double by) {
    batch.world(i).set_inertial_parameters(kFirst, by * inertial_parameters(model));
    batch.world(i).set_material(kFirst, {.mu_s = 0.5 * by, .mu_d = 0.5 * by});
  };
  WorldBatch plain(prototype, 9), batch(prototype, 9), threads(prototype, 9, {.threads = 3});
  vary(batch, 4, 1.2), vary(threads, 4, 1.2);
  World alone = standing(model);
  alone.set_inertial_parameters(kFirst, 1.2 * inertial_parameters(model));
  alone.set_material(kFirst, {.mu_s = 0.6, .mu_d = 0.6});
  for (int k = 0; k < 200; ++k) plain.step(), batch.step(), threads.step(), alone.step();
  CHECK(plain.report().lanes == 9);
  CHECK(batch.report().lanes == 8);
  CHECK(batch.report().alone == 1);
  for (int i = 0; i < 9; ++i) {
    CAPTURE(i);
    const std::uint64_t hash = std::as_const(batch).world(i).hash();
    CHECK(hash == std::as_const(threads).world(i).hash());
    CHECK((hash == std::as_const(plain).world(i).hash()) == (i != 4));
  }
  CHECK(std::as_const(batch).world(4).hash() == alone.hash());
}

TEST_CASE("controls of actuators are set for all worlds at once") {
  const Model arm =
      ModelBuilder("arm")
          .link("base")
          .link({.name = "rod", .inertial = Inertial{1, {.p = {0, 0, -0.5}}, Sym3<>::diagonal(0.1, 0.1, 0.1)}})
          .joint({.name = "pivot", .type = JointType::kRevolute, .parent = "base", .child = "rod", .axis = {0, 1, 0}})
          .actuator({.name = "motor", .dof = {"pivot", 0}, .gear = 2})
          .build();
  World prototype(WorldOptions{.gravity = {}});
  prototype.add(arm);
  WorldBatch batch(prototype, 3);
  WorldBatch::Matrix u(3, 1);
  u << 0, 1, -2;
  batch.set_controls(kFirst, u);
  for (int k = 0; k < 50; ++k) batch.step();
  for (int i = 0; i < 3; ++i) {
    World alone(WorldOptions{.gravity = {}});
    alone.add(arm);
    alone.set_control(kFirst, "motor", u(i, 0));
    for (int k = 0; k < 50; ++k) alone.step();
    CHECK(std::as_const(batch).world(i).hash() == alone.hash());
    CHECK((alone.v(kFirst)[0] == 0) == (i == 0));
  }
  u(1, 0) = std::nan("");
  CHECK_THROWS_AS(batch.set_controls(kFirst, u), Error);
  CHECK_THROWS_AS(batch.set_controls(kFirst, u.topRows(2)), Error);
}
