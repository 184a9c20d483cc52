#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "crowd.h"
#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"
#include "no_alloc.h"
#include "sanitized.h"

using namespace kansetsu;

TEST_CASE("the same bits on 1, 2 and 4 threads, after save and restore, and in replay") {
  const int steps = test::kSanitized ? 200 : 800;  // they lie in heaps after 800; script/soak takes 10 000
  std::uint64_t hash = 0, contacts = 0;
  CHECK(test::crowd_differences(steps, hash, contacts) == "");
  CHECK(contacts > 0);
}

TEST_CASE("a NaN torque stops the world with its name, and the state stays finite") {
  World world = test::crowd(1, 1);
  const FigureId id = world.figure("figure0");
  world.advance(0.01);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(world.model(id).nv());
  tau[10] = std::nan("");
  world.set_torque(id, tau);
  world.step();
  CHECK(world.status() == WorldStatus::kFailed);
  CHECK(world.failure().find(world.model(id).dof_names()[10]) != std::string::npos);
  CHECK(world.q(id).allFinite());
  const double t = world.time();
  world.step();
  CHECK(world.time() == t);
}

TEST_CASE("a speed beyond all bounds stops the world with its name, and who pulls") {
  World world = test::crowd(1, 1);
  const FigureId id = world.figure("figure0");
  world.connect(kWorldBody, {id, LinkId(0)}, {.mask = kPointMask, .name = "grip"});
  world.advance(0.01);
  REQUIRE(world.status() == WorldStatus::kRunning);
  State state(world.model(id));
  state.q = world.q(id), state.v = world.v(id);
  state.v[10] = 1e9;
  world.set_state(id, state);
  state.q = world.q(id);
  world.step();
  CHECK(world.status() == WorldStatus::kFailed);
  CHECK(world.failure().find("figure0") != std::string::npos);
  CHECK(world.failure().find("grip") != std::string::npos);
  CHECK(world.q(id) == state.q);
  CHECK(world.v(id) == state.v);
}

TEST_CASE("a thousand steps with changing contacts do not allocate") {
  WorldOptions options;
  World world(options);
  world.add_fixed(Plane{}, {}, {}, "floor");
  const Model model = human28();
  State state(model);
  state.q.head<3>() << 0, 0, 0.9;
  state.v[3] = 0.8;  // it topples
  const FigureId id = world.add(model, state);
  const Snapshot start = world.save();
  world.advance(1.2);  // once to warm up: capacities grow when a step needs more than any before
  REQUIRE(world.status() == WorldStatus::kRunning);
  world.restore(start);
  std::size_t most = 0, changes = 0, last = 0;
  const std::size_t allocations = test::allocations_in([&] {
    for (int i = 0; i < 1000; ++i) {
      world.step();
      const std::size_t now = world.report().contacts.size();
      changes += now != last;
      last = now;
      most = std::max(most, now);
    }
  });
  CHECK(allocations == 0);
  CHECK(changes > 5);
  CHECK(most >= 3);
  CHECK(world.q(id).allFinite());
}

TEST_CASE("grab and release while swinging: the length of the state stays, nothing allocates, momentum is accounted") {
  WorldOptions options;
  options.gravity = {0, 0, -9.80665};
  options.time_step = 5e-4;
  World world(options);
  const Model model = human28();
  State state(model);
  // Hanging by both hands from a bar at 2.2 m, arms up, a little aside so that it swings.
  for (const char* joint : {"shoulderL_y", "shoulderR_y"}) {
    state.q[model.coordinates(model.joint_id(joint)).q] = -3.0;
  }
  state.q.head<3>() << 0, 0, 0.5;
  FigureOptions figure;
  figure.name = "human";
  figure.collides = false;
  const FigureId id = world.add(model, state, figure);
  const FrameId grips[2] = {model.frame_id("gripL"), model.frame_id("gripR")};
  const auto grab = [&](int side) {
    ConnectionOptions hand;
    hand.mask = kPointMask;
    hand.X_BC = to_transform(model.frame(grips[side]).origin);
    hand.name = side == 0 ? "left" : "right";
    return world.connect(kWorldBody, {id, model.frame_link(grips[side])}, hand);
  };
  ConnectionId hands[2] = {grab(0), grab(1)};
  world.advance(0.7);
  REQUIRE(world.status() == WorldStatus::kRunning);
  const long size = world.q(id).size() + world.v(id).size();
  CHECK(world.report().loop_gap < 1e-6);
  const double T = world.kinetic_energy();
  CHECK(T > 1);

  // Let go of both: nothing jumps, and the centre of mass falls on a parabola.
  const Vec3<> P = world.momentum();
  world.release(hands[0]);
  world.release(hands[1]);
  CHECK(world.kinetic_energy() == T);
  world.step();
  const Vec3<> expected = P + (model.mass() * world.time_step()) * options.gravity;
  CHECK(norm(world.momentum() - expected) < 1e-4 * norm(P));
  world.advance(0.05);

  // Grab again where the hands are: energy is lost to the impact, momentum changes by the impulses of the hands.
  const Vec3<> before = world.momentum();
  const double T_before = world.kinetic_energy();
  hands[0] = grab(0), hands[1] = grab(1);
  world.step();
  Vec3<> impulse{};
  for (const ConnectionReport& c : world.report().connections) impulse += c.impulse.f + world.time_step() * c.wrench.f;
  const Vec3<> change = world.momentum() - before - (model.mass() * world.time_step()) * options.gravity;
  CHECK(norm(change - impulse) < 1e-3 * norm(impulse));
  CHECK(world.kinetic_energy() < T_before);
  CHECK(world.report().impacts == 1);
  CHECK(world.q(id).size() + world.v(id).size() == size);

  const std::size_t allocations = test::allocations_in([&] {
    for (int i = 0; i < 100; ++i) {
      world.release(hands[0]);
      world.step();
      hands[0] = grab(0);
      world.step();
    }
  });
  CHECK(allocations == 0);
  CHECK(world.status() == WorldStatus::kRunning);
}

TEST_CASE("shapes of one link on a plane are one contact, whose force is known") {
  ModelBuilder builder("sled");
  LinkDescription link;
  link.name = "sled";
  link.inertial = Inertial{10, {}, Sym3<>::diagonal(0.1, 0.2, 0.2)};
  const double kQuarter = 0.5 * std::numbers::pi;
  for (const double y : {0.1, -0.1}) {  // two runners along x
    link.collisions.push_back(
        {.name = y > 0 ? "left" : "right", .origin = {{0, y, -0.05}, {0, kQuarter, 0}}, .shape = Capsule{0.02, 0.4}});
  }
  builder.link(link);
  const Model model = builder.base(Base::kFree).build();
  SceneDescription scene;
  scene.figures.push_back({.name = "sled", .model = model.description()});
  scene.figures[0].initial.base.p = {0, 0, 0.07};
  scene.environment.push_back({.shape = {.name = "floor", .shape = Plane{}}});
  scene.events.push_back({.name = "right touches",
                          .trigger = TriggerKind::kTouch,
                          .a = {.shape = "right", .figure = "sled"},
                          .b = {.shape = "floor"}});
  World world = value_or_throw(World::build(scene));
  Eigen::VectorXd torque = Eigen::VectorXd::Zero(6);
  torque[2] = 3;  // [N·m] turns it; friction holds it
  torque[3] = 20;
  world.set_torque(FigureId(0), torque);
  for (int i = 0; i < 500; ++i) {
    world.step();
    REQUIRE(world.report().contacts.size() == 1);
    REQUIRE(world.report().contacts[0].tier == ContactTier::kNewton);
    REQUIRE(world.report().residual < 1e-9);
  }
  const ContactReport& c = world.report().contacts[0];
  CHECK(c.mode == ContactMode::kSurface);
  CHECK(c.wrench.f.z == doctest::Approx(98.1).epsilon(1e-9));
  CHECK(c.wrench.f.x == doctest::Approx(-20).epsilon(1e-9));
  CHECK(world.v(FigureId(0)).norm() < 1e-12);  // held: nothing creeps
  REQUIRE(!world.events().empty());            // also by the name of the second shape
  CHECK(world.events()[0].kind == EventKind::kTouch);
  CHECK(world.events()[0].name == "right touches");
}

TEST_CASE("gravity and controllers change while the world runs, and snapshots keep them") {
  const auto make = [](const Vec3<>& gravity, double kp) {
    WorldOptions options;
    options.gravity = gravity;
    World world(options);
    State state(human28());
    state.q[2] = 2;
    world.add(human28(), state, {.name = "human"});
    ControllerDescription control{.name = "posture", .figure = "human", .kind = ControlKind::kPd};
    for (const char* joint : {"kneeL_y", "elbowR_y"}) {
      control.joints.push_back({.dof = {joint, 0}, .value = 0.5, .kp = kp, .kd = 1});
    }
    world.add_controller(control);
    return world;
  };
  const Vec3<> moon{0, 0, -1.62};
  World told = make(moon, 40), changed = make({0, 0, -9.81}, 10);
  changed.set_gravity(moon);
  ControllerDescription control = changed.controller("posture");
  for (JointControl& joint : control.joints) joint.kp = 40;
  changed.set_controller(control);
  CHECK(changed.gravity() == moon);
  CHECK(changed.potential_energy() == told.potential_energy());
  told.advance(0.2), changed.advance(0.2);
  CHECK(changed.hash() == told.hash());  // as if it had always been so, to the bit

  const Snapshot snapshot = changed.save();
  changed.advance(0.1);
  const std::uint64_t later = changed.hash();
  changed.set_gravity({0, 0, 5});
  control.active = false;
  changed.set_controller(control);
  CHECK_FALSE(changed.controller("posture").active);
  CHECK(changed.events().back().kind == EventKind::kControllerStopped);
  changed.restore(snapshot);
  CHECK(changed.controller("posture").active);
  CHECK(changed.gravity() == moon);
  changed.advance(0.1);
  CHECK(changed.hash() == later);

  CHECK(changed.controller_names() == std::vector<std::string>{"posture"});
  CHECK_THROWS_AS(changed.controller("walk"), Error);
  control.joints.pop_back();
  CHECK_THROWS_AS(changed.set_controller(control), Error);
  CHECK_THROWS_AS(changed.set_gravity({0, 0, kInfinity}), Error);
}

TEST_CASE("a rope between two points, one lets go: gaps closed, energy accounted for") {
  const int links = 100;  // examples/scenes/rope.toml has 2000
  WorldOptions options;
  options.time_step = 2e-4;
  options.integrator = Integrator::kRk4;
  World world(options);
  const Model model = rope(links);
  const FigureId id = world.add(model, {.name = "rope", .collides = false});
  const Transform<> X_LE = to_transform(model.frame(model.frame_id("end")).origin);
  const BodyRef last{id, LinkId(links - 1)};
  const Vec3<> end = world.pose(last) * X_LE.p;
  CHECK(norm(end - Vec3<>{0, -RopeOptions{}.chord, 0}) < 1e-9);  // 200 halvings; the rest is rounding over 100 links
  world.connect(kWorldBody, BodyRef{id, LinkId(0)}, {.mask = kPointMask});
  const ConnectionId right = world.connect(kWorldBody, last, {.mask = kPointMask, .X_AC = {.p = end}, .X_BC = X_LE});
  const auto energy = [&] { return world.kinetic_energy() + world.potential_energy(); };
  const double start = energy();
  world.advance(0.5);
  CHECK(world.totals().worst_gap < 1e-9);
  world.release(right);
  world.advance(1);
  REQUIRE(world.status() == WorldStatus::kRunning);
  const WorldTotals& t = world.totals();
  CHECK(world.kinetic_energy() > 0.1);  // it swings: m·g·length is 4 J
  CHECK(std::abs(energy() - start - t.work_torque - t.work_connection) < 1e-3 * 4);
}

TEST_CASE("a limp figure passes the singular postures of its shoulders, hips and neck") {
  // Three hinges meet in a point there, without mass between them: speeds grow beyond any bound, for a moment.
  const int falls = test::kSanitized ? 6 : 60;
  double fastest = 0, worst = 0;
  for (int seed = 1; seed <= falls; ++seed) {
    CAPTURE(seed);
    WorldOptions options;
    options.seed = std::uint64_t(seed);
    options.time_step = seed % 3 == 0 ? 2e-3 : 1e-3;
    World world(options);
    world.add_fixed(Plane{}, {}, {}, "floor");
    const Model model = human28();
    State state(model);
    state.q[2] = 1.2;
    std::mt19937_64 random{std::uint64_t(seed)};
    for (int k = 6; k < model.nv(); ++k) {
      state.q[k + 1] = std::uniform_real_distribution(-0.3, 0.3)(random);
      state.v[k] = std::uniform_real_distribution(-8.0, 8.0)(random);
    }
    for (const auto& [joint, angle] : {std::pair{"shoulderL_x", 1.5}, {"shoulderR_x", -1.5}}) {
      state.q[model.coordinates(model.joint_id(joint)).q] = angle;
    }
    FigureOptions figure;
    figure.name = "limp";
    figure.self_collision = SelfCollision::kNone;
    const FigureId id = world.add(model, state, figure);
    ControllerDescription noise;
    noise.name = "noise";
    noise.figure = figure.name;
    noise.kind = ControlKind::kTorque;
    noise.period = 0.01;
    for (int j = 0; j < model.joint_count(); ++j) {
      noise.joints.push_back({.dof = {model.joint(JointId(j)).name, 0}, .deviation = 5});
    }
    world.add_controller(noise);
    const auto unexplained = [&] {
      const WorldTotals& t = world.totals();
      return world.kinetic_energy() + world.potential_energy() - t.work_torque - t.work_contact - t.work_connection -
             t.impact_energy;
    };
    double before = unexplained();
    while (world.time() < 3) {
      world.step();
      REQUIRE(world.status() == WorldStatus::kRunning);
      const double now = unexplained();
      worst = std::max(worst, now - before);
      before = now;
      fastest = std::max(fastest, world.v(id).cwiseAbs().maxCoeff());
    }
  }
  MESSAGE("gained in a step: ", worst, " J, fastest ", fastest, " rad/s");
  CHECK(worst < 30);  // J, as docs/theory/contact.md says; it falls from 800 J, and where it went wrong it gained 10⁵ J
  CHECK(fastest > 200);  // rad/s: they came near
}

TEST_CASE("what is no pose is refused where it is given") {
  World world;
  CHECK_THROWS_WITH_AS(
      world.add_fixed(Box{{1, 1, 1}}, {{}, {0, 0, 1}}),
      "World::add_fixed, add_moving: X_WS is not a pose: the axes of its R have lengths 0, 0, 0, its p is (0 0 1)",
      Error);
  const FigureId id = world.add(pendulum());
  ConnectionOptions options;
  options.X_BC.p.x = std::nan("");
  CHECK_THROWS_AS(world.connect(kWorldBody, {id, LinkId(1)}, options), Error);
}

namespace {

/// Of radius 0.1 m, its axis along the world's y, rolling along x without slip.
State rolling_state(const Model& model, double y) {
  State state(model);
  state.q << 0, y, 0.1, -std::sqrt(0.5), 0, 0, std::sqrt(0.5);
  state.v << 0, 0, 20, 2, 0, 0;
  return state;
}

}  // namespace

TEST_CASE("what rolls so fast that its rim leaves the floor with more than gravity is carried nevertheless") {
  const double weight = 9.80665;
  for (const Shape& shape : {Shape(Sphere{0.1}), Shape(Capsule{0.1, 0.3}), Shape(Cylinder{0.1, 0.3})}) {
    CAPTURE(shape.index());
    World world;
    world.set_gravity({0, 0, -weight});
    world.add_fixed(Plane{}, {}, {}, "floor");
    const Model model = value_or_throw(Model::build(make_body("roller", shape, 1, {}).model));
    const FigureId id = world.add(model, rolling_state(model, 0));
    for (int i = 0; i < 500; ++i) {
      world.step();
      REQUIRE(world.report().contacts.size() == 1);
      CHECK(world.report().contacts[0].wrench.f.z == doctest::Approx(weight).epsilon(0.01));
    }
    CHECK(std::abs(world.q(id)[2] - 0.1) < 1e-6);               // within the slop
    CHECK(world.q(id)[0] == doctest::Approx(1).epsilon(1e-3));  // 0.5 s at 2 m/s
  }
}

TEST_CASE("a long row of balls that touch rolls as each of them would: islands of many contacts") {
  World world;
  world.add_fixed(Plane{}, {}, {}, "floor");
  const int count = 40;  // 3 rows for the floor and 3 for the next ball: more than a dense island has
  for (int i = 0; i < count; ++i) {
    const Model model = value_or_throw(Model::build(make_body("ball" + std::to_string(i), Sphere{0.1}, 1, {}).model));
    world.add(model, rolling_state(model, 0.2 * i));
  }
  for (int i = 0; i < 200; ++i) world.step();
  for (int i = 0; i < count; ++i) {
    const Eigen::VectorXd& q = world.q(FigureId(i));
    CHECK(std::abs(q[2] - 0.1) < 1e-5);
    CHECK(q[0] == doctest::Approx(0.4).epsilon(1e-2));
  }
}

TEST_CASE("between two steps poses are those of the present state, and a grip takes hold there") {
  World world;
  const Model model = value_or_throw(Model::build(make_body("ball", Sphere{0.1}, 1, {}).model));
  State state(model);
  state.v << 3, 0, 0, 2, 0, 0;
  const FigureId id = world.add(model, state);
  const BodyRef ball{id, LinkId(0)};
  world.on_step([&](World& w, double) { CHECK(w.pose(ball).p.x == w.q(id)[0]); });
  for (int i = 0; i < 10; ++i) {
    world.step();
    CHECK(world.pose(ball).p.x == world.q(id)[0]);
    CHECK(norm(world.velocity(ball).v) == doctest::Approx(world.v(id).tail<3>().norm()).epsilon(1e-14));
  }
  const Vec3<> held = world.pose(ball).p;
  world.grab(kWorldBody, ball);
  world.step();
  CHECK(norm(world.pose(ball).p - held) < 1e-15);  // rounding: it stops where it was, not a step behind
}
