#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"
#include "no_alloc.h"
#include "posture.h"
#include "sanitized.h"

/// Steps of a figure that stands, WorldOptions::standing_steps, beside the general ones.
using namespace kansetsu;

namespace {

constexpr FigureId kFirst(0);

World on_floor(const Model& model, double height, bool standing_steps) {
  WorldOptions options;
  options.standing_steps = standing_steps;
  World world(options);
  State state(model);
  state.q[2] = height;
  world.add_fixed(Plane{}, {}, {}, "floor");
  world.add(model, state, {.self_collision = SelfCollision::kNone, .switches = {.limits = false}});
  test::hold_posture(world, model);
  return world;
}

/// A trunk on one foot, with two hinges and a shank between them.
Model one_leg() {
  const Inertial trunk{.mass = 20, .inertia = {0.4, 0, 0, 0.3, 0, 0.2}},
      shank{.mass = 3, .inertia = {0.03, 0, 0, 0.03, 0, 0.01}};
  const Inertial foot{.mass = 1, .inertia = {0.004, 0, 0, 0.01, 0, 0.012}};
  return ModelBuilder("leg")
      .base(Base::kFree)
      .link("trunk", trunk)
      .link("shank", shank)
      .link({.name = "foot", .inertial = foot, .collisions = {{.shape = Box{{0.3, 0.2, 0.06}}}}})
      .joint({.name = "knee",
              .type = JointType::kRevolute,
              .parent = "trunk",
              .child = "shank",
              .socket = {.p = {0, 0, -0.3}},
              .axis = {0, 1, 0}})
      .joint({.name = "ankle",
              .type = JointType::kRevolute,
              .parent = "shank",
              .child = "foot",
              .socket = {.p = {0, 0, -0.4}},
              .axis = {1, 0, 0}})
      .build();
}

struct Differences {
  double velocity = 0, force = 0;  ///< the largest, as shares of the largest velocity (or 1) and of the weight
  int steps = 0;                   ///< that have other bits: the ways differ
};

/// Every step from the same moment by both ways, under noise on all columns.
Differences compare(const Model& model, double height, double deviation, int steps) {
  World world = on_floor(model, height, true), other = on_floor(model, height, false);
  std::mt19937_64 rng(5);
  std::normal_distribution<double> normal(0, deviation);
  Eigen::VectorXd tau(model.nv());
  Differences out;
  for (int i = 0; i < steps; ++i) {
    for (double& x : tau) x = normal(rng);
    world.set_torque(kFirst, tau);
    other.restore(world.save());
    world.step();
    other.step();
    const double fastest = std::max(1.0, other.v(kFirst).cwiseAbs().maxCoeff()), weight = 9.81 * model.mass();
    out.velocity = std::max(out.velocity, (world.v(kFirst) - other.v(kFirst)).cwiseAbs().maxCoeff() / fastest);
    out.velocity = std::max(out.velocity, (world.q(kFirst) - other.q(kFirst)).cwiseAbs().maxCoeff() / fastest);
    out.steps += world.hash() != other.hash();
    REQUIRE(world.report().contacts.size() == other.report().contacts.size());
    for (size_t k = 0; k < world.report().contacts.size(); ++k) {
      const ContactReport &a = world.report().contacts[k], &b = other.report().contacts[k];
      CHECK(a.id == b.id);
      CHECK(a.mode == b.mode);
      CHECK(a.slip == b.slip);
      const Force<> F = a.wrench - b.wrench;
      out.force = std::max({out.force, norm(F.f) / weight, norm(F.t) / weight});
    }
    CHECK(world.totals().steps == other.totals().steps);
    CHECK(world.totals().contacts == other.totals().contacts);
    CHECK(std::abs(world.totals().work_contact - other.totals().work_contact) < 1e-9 * weight);
    CHECK(std::abs(world.totals().work_torque - other.totals().work_torque) < 1e-9 * weight);
  }
  return out;
}

}  // namespace

TEST_CASE("a figure that stands makes the step that the general way makes") {
  struct Case {
    const char* name;
    Model model;
    double height, deviation;
    int least;  ///< steps of 200 by the short way
  };
  const Model box = value_or_throw(Model::build(make_body("box", Box{{0.3, 0.2, 0.1}}, 2, {}).model));
  for (const Case& c :
       {Case{"two soles", human28(), 0.88, 0, 150}, Case{"two soles, noise", human28(), 0.88, 4, 150},
        Case{"two soles, strong noise", human28(), 0.88, 25, 0}, Case{"one sole", one_leg(), 0.73, 0.5, 150},
        Case{"the base is the sole", box, 0.05, 0.01, 100}}) {
    CAPTURE(c.name);
    const int steps = test::kSanitized ? 20 : 200;
    const Differences d = compare(c.model, c.height, c.deviation, steps);
    // Forces come from systems whose condition is some 1e4.
    CHECK(d.velocity < 1e-12);
    CHECK(d.force < 1e-11);
    if (!test::kSanitized) CHECK(d.steps >= c.least);
  }
}

TEST_CASE("a figure that stands goes on to the bit after save and restore, and whoever looks") {
  const Model model = human28();
  World world = on_floor(model, 0.88, true), other = on_floor(model, 0.88, true);
  Eigen::VectorXd tau(model.nv());
  const auto run = [&](World& w, int first, int end, bool looks) {
    std::mt19937_64 rng(7);
    std::normal_distribution<double> normal(0, 6);
    for (int i = 0; i < end; ++i) {
      for (double& x : tau) x = normal(rng);
      tau.head<6>().setZero();
      if (i < first) continue;
      w.set_torque(kFirst, tau);
      w.step();
      if (looks) w.pose({kFirst, LinkId(3)}), w.set_controller(w.controller("posture"));
    }
  };
  run(world, 0, 100, false);
  const Snapshot middle = world.save();
  run(world, 100, 200, false);
  other.restore(middle);
  run(other, 100, 200, true);
  CHECK(world.hash() == other.hash());
}

TEST_CASE("a figure that stands does not allocate; a grip or a callback takes the general step") {
  const Model model = human28();
  World world = on_floor(model, 0.88, true), general = on_floor(model, 0.88, false);
  for (World* w : {&world, &general}) w->advance(0.01);
  const auto run = [&] {
    for (int i = 0; i < 100; ++i) world.step();
  };
  CHECK(test::allocations_in(run) == 0);
  const BodyRef trunk{kFirst, model.link_id("UpperBody")};
  const auto same_bits = [&](const Vec3<>& push = {}) {
    general.restore(world.save());
    for (World* w : {&world, &general}) {
      if (push != Vec3<>{}) w->apply_wrench(trunk, {{}, push}, {0, 0, 1.2});
      w->step();
    }
    return world.hash() == general.hash();
  };
  CHECK_FALSE(same_bits());
  CHECK(same_bits({1, 0, 0}));
  const ConnectionId grip = world.grab(kWorldBody, trunk);
  CHECK(same_bits());
  world.release(grip);
  for (int i = 0; i < 5; ++i) world.step();
  CHECK_FALSE(same_bits());
  int steps = 0;
  for (World* w : {&world, &general}) w->on_step([&](World&, double) { ++steps; });
  CHECK(same_bits());
  CHECK(steps == 2);
}

TEST_CASE("a figure that stood and is put elsewhere makes the general step from there") {
  const Model model = human28();
  World world = on_floor(model, 0.88, true), general = on_floor(model, 0.88, false);
  for (World* w : {&world, &general}) w->advance(0.05);
  for (const double height : {2.0, 0.9, 0.87}) {  // in the air, just above the floor, in it
    CAPTURE(height);
    general.restore(world.save());
    for (World* w : {&world, &general}) {
      State state(model);
      state.q = w->q(kFirst), state.v = w->v(kFirst);
      state.q[2] = height;
      w->set_state(kFirst, state);
      w->step();
    }
    CHECK(world.report().contacts.size() == general.report().contacts.size());
    CHECK((world.v(kFirst) - general.v(kFirst)).cwiseAbs().maxCoeff() < 1e-12);
  }
}
