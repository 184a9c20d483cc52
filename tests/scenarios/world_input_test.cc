#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"

/// What a user gets wrong, or asks for at the edge of what there is.
namespace kansetsu {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

Model ball(const std::string& name) { return value_or_throw(Model::build(make_body(name, Sphere{0.1}, 1, {}).model)); }
State at(const Model& model, double z) {
  State state(model);
  state.q[2] = z;
  return state;
}
/// A rod of 1 m that hangs from the ground by a hinge about y.
ModelDescription hanging_rod() {
  return ModelBuilder("rod")
      .link("ground")
      .link("rod", {.mass = 1, .origin = {.p = {0, 0, -0.5}}, .inertia = Sym3<>::diagonal(0.1, 0.1, 0.01)})
      .joint({.name = "hinge", .type = JointType::kRevolute, .parent = "ground", .child = "rod", .axis = {0, 1, 0}})
      .description();
}
SceneDescription scene_with(std::vector<FigureDescription> figures) {
  SceneDescription scene;
  scene.figures = std::move(figures);
  return scene;
}
EnvironmentShape floor() { return {.shape = {.name = "floor", .shape = Plane{}}}; }
int count(const World& world, EventKind kind) {
  return int(
      std::count_if(world.events().begin(), world.events().end(), [&](const Event& e) { return e.kind == kind; }));
}

}  // namespace

TEST_CASE("a handle that outlives its connection does not name the next one") {
  World world;
  const Model a = ball("a"), b = ball("b");
  const BodyRef first{world.add(a, at(a, 1))}, second{world.add(b, at(b, 2))};
  const ConnectionId old = world.grab(kWorldBody, first);
  world.release(old);
  const ConnectionId next = world.grab(kWorldBody, second);
  CHECK_FALSE(world.connected(old));
  world.release(old);
  CHECK(world.connected(next));
  world.step();
  REQUIRE(world.report().connections.size() == 1);
  CHECK(world.report().connections[0].id == next);
}

TEST_CASE("a world refuses numbers and bodies that cannot be, and stays as it was") {
  const Model model = ball("ball");
  World world;
  CHECK_THROWS_AS(world.add(model, at(model, kNan)), Error);
  CHECK_THROWS_AS(world.add(model, at(model, 1), {.material = {.mu_s = -1}}), Error);
  CHECK(world.figure_count() == 0);
  const BodyRef body{world.add(model, at(model, 1))}, nobody{body.figure, LinkId(9)};
  CHECK_THROWS_AS(world.pose(nobody), Error);
  CHECK_THROWS_AS(world.apply_wrench(nobody, {}, {}), Error);
  CHECK_THROWS_AS(world.connect(body, body), Error);
  CHECK_THROWS_AS(world.connect(kWorldBody, body, {.break_force = kNan}), Error);
  CHECK_THROWS_AS(world.connect(kWorldBody, body, {.restitution = 2}), Error);
  CHECK_THROWS_AS(world.connect(kWorldBody, body, {.motion = PrescribedMotion{.velocity = {kNan, 0, 0}}}), Error);
  CHECK_THROWS_AS(world.add_moving(Plane{}, {}, {}, {kNan, 0, 0}), Error);
  CHECK_THROWS_AS(world.add_spring(body, {}, kWorldBody, {}, {.stiffness = -1}), Error);
  CHECK_THROWS_AS(world.add_spring(kWorldBody, {}, kWorldBody, {}, {.stiffness = 1}), Error);
  CHECK_THROWS_AS(World({.gravity = {0, 0, kNan}}), Error);
  CHECK_THROWS_AS(World({.tolerance = 0}), Error);
  CHECK_THROWS_AS(World({.threads = -1}), Error);

  World driven;
  driven.add(value_or_throw(Model::build(hanging_rod())));
  ControllerDescription pd{
      .name = "pd", .figure = "rod", .kind = ControlKind::kPd, .joints = {{.dof = {"hinge", 0}, .kp = kNan}}};
  CHECK_THROWS_AS(driven.add_controller(pd), Error);
  pd.joints[0].kp = 1;
  driven.add_controller(pd);
  CHECK_THROWS_AS(driven.add_controller(pd), Error);
}

TEST_CASE("a wrench that waits for the next step belongs to the moment") {
  World world;
  const Model model = ball("ball");
  const FigureId id = world.add(model, at(model, 1));
  const Snapshot calm = world.save();
  world.apply_wrench({id}, {{}, {0, 0, kNan}}, {});
  world.step();
  CHECK(world.status() == WorldStatus::kFailed);
  world.restore(calm);
  world.step();
  CHECK(world.status() == WorldStatus::kRunning);
  CHECK(world.v(id)[3] == 0);

  world.apply_wrench({id}, {{}, {5, 0, 0}}, world.pose({id}).p);
  const Snapshot pushed = world.save();
  world.step();
  const std::uint64_t hash = world.hash();
  world.restore(pushed);
  world.step();
  CHECK(world.hash() == hash);
  world.add_fixed(Plane{}, {});
  CHECK_THROWS_AS(world.restore(pushed), Error);  // there is a shape more
}

TEST_CASE("touch and lift: what bounces has touched, and what has not touched cannot lift") {
  SceneDescription scene = scene_with({make_body("ball", Sphere{0.1}, 1, {.p = {0, 0, 0.3}})});
  scene.environment.push_back(floor());
  scene.default_surface.restitution = 0.9;
  for (const TriggerKind trigger : {TriggerKind::kTouch, TriggerKind::kLift}) {
    scene.events.push_back({.name = trigger == TriggerKind::kTouch ? "down" : "up",
                            .trigger = trigger,
                            .a = {.figure = "ball"},
                            .b = {.shape = "floor"},
                            .once = false});
  }
  World world = value_or_throw(World::build(scene));
  world.advance(0.15);
  CHECK(world.events().empty());
  world.advance(0.85);  // falls for 0.2 s, flies for 0.36 s and 0.33 s
  CHECK(count(world, EventKind::kTouch) == 3);
  CHECK(count(world, EventKind::kLift) == 3);
}

TEST_CASE("links that cannot move have names and filters like others") {
  FigureDescription table;
  table.name = "table";
  table.model = ModelBuilder("table")
                    .link({.name = "top", .collisions = {{.name = "board", .shape = Box{{1, 1, 0.1}}}}})
                    .description();
  SceneDescription scene = scene_with({table, make_body("ball", Sphere{0.1}, 1, {.p = {0, 0, 0.2}})});
  scene.events.push_back(
      {.name = "hit", .trigger = TriggerKind::kTouch, .a = {.figure = "ball"}, .b = {.figure = "table"}});
  scene.sensors.push_back({.name = "load", .kind = SensorKind::kContact, .contact = {.figure = "table"}});
  World world = value_or_throw(World::build(scene));
  world.advance(0.5);
  CHECK(count(world, EventKind::kTouch) == 1);
  CHECK(world.sensor("load")[6] == doctest::Approx(-9.81));
  scene.exclusions.push_back({.a = {.figure = "ball"}, .b = {.figure = "table"}});
  World apart = value_or_throw(World::build(scene));
  apart.advance(0.5);
  CHECK(count(apart, EventKind::kTouch) == 0);
  CHECK(apart.q(apart.figure("ball"))[2] < -0.9);
}

TEST_CASE("a fixed base does not touch its neighbour unless it is told to") {
  FigureDescription arm;
  arm.name = "arm";
  arm.model = hanging_rod();
  for (LinkDescription& link : arm.model.links) link.collisions = {{.name = link.name, .shape = Box{{0.2, 0.2, 0.2}}}};
  const auto contacts = [&](SelfCollision self) {
    arm.self_collision = self;
    World world = value_or_throw(World::build(scene_with({arm})));
    world.step();
    return world.report().contacts.size();
  };
  CHECK(contacts(SelfCollision::kNone) == 0);
  CHECK(contacts(SelfCollision::kNotNeighbours) == 0);
  CHECK(contacts(SelfCollision::kAll) == 1);
  arm.model.collision_filters.push_back({"ground", "rod"});
  CHECK(contacts(SelfCollision::kAll) == 0);
}

TEST_CASE("pairs of a scene touch whatever masks say, each with its surface") {
  SceneDescription scene = scene_with({make_body("a", Box{{0.2, 0.2, 0.2}}, 1, {.p = {0, 0, 0.1}}),
                                       make_body("b", Box{{0.2, 0.2, 0.2}}, 1, {.p = {1, 0, 0.1}})});
  scene.environment.push_back(floor());
  scene.environment[0].shape.contype = scene.environment[0].shape.conaffinity = 0;
  scene.surfaces = {{"ice", {.mu_s = 0, .mu_d = 0}}, {"rubber", {.mu_s = 1, .mu_d = 1}}};
  scene.pairs = {{.a = {.figure = "a"}, .b = {.shape = "floor"}, .surface = "ice"},
                 {.a = {.figure = "b"}, .b = {.shape = "floor"}, .surface = "rubber"}};
  for (FigureDescription& f : scene.figures) f.initial.velocity.v = {1, 0, 0};
  World world = value_or_throw(World::build(scene));
  world.advance(0.5);
  CHECK(world.q(FigureId(0))[2] == doctest::Approx(0.1).epsilon(1e-3));
  CHECK(world.v(FigureId(0))[3] == doctest::Approx(1));
  CHECK(std::abs(world.v(FigureId(1))[3]) < 1e-9);
}

TEST_CASE("the force across a joint counts springs, applied wrenches and what broke in the step") {
  FigureDescription rod;
  rod.name = "rod";
  rod.model = hanging_rod();
  SceneDescription scene = scene_with({rod});
  scene.sensors.push_back(
      {.name = "force", .kind = SensorKind::kJointForce, .at = {.figure = "rod"}, .joint = "hinge"});
  const double weight = 9.81;
  {
    SceneDescription sprung = scene;
    sprung.springs.push_back({.name = "spring",
                              .a = {.figure = "rod", .link = "rod", .pose = {.p = {0, 0, -1}}},
                              .b = {.pose = {.p = {0, 0, -2}}},
                              .stiffness = 10,
                              .rest_length = 0});
    World world = value_or_throw(World::build(sprung));
    world.step();
    CHECK(world.sensor("force")[5] == doctest::Approx(weight + 10));
  }
  World world = value_or_throw(World::build(scene));
  world.apply_wrench(world.body("rod", "rod"), {{}, {0, 0, -7}}, {0, 0, -1});
  world.step();
  CHECK(world.sensor("force")[5] == doctest::Approx(weight + 7));
  world.step();
  CHECK(world.sensor("force")[5] == doctest::Approx(weight));
}

TEST_CASE("a figure hangs still from a grip, and on springs in its joints") {
  World world;
  const Model human = human28();
  const FigureId id = world.add(human, at(human, 2));
  CHECK_FALSE(world.stand(id).feasible);
  world.grab(kWorldBody, world.body("human28", "UpperBody"));
  CHECK(world.stand(id).feasible);
  world.advance(0.2);
  CHECK(world.v(id).cwiseAbs().maxCoeff() < 1e-6);  // an unstable posture multiplies the rounding of the start

  ModelDescription sprung = hanging_rod();
  sprung.joints[0].dofs = {{.stiffness = 50}};
  World other;
  const Model model = value_or_throw(Model::build(sprung));
  State state(model);
  state.q[0] = 1;
  const FigureId rod = other.add(model, state);
  CHECK(other.stand(rod).feasible);
  other.advance(0.5);
  CHECK(other.q(rod)[0] == doctest::Approx(1).epsilon(1e-9));
}

TEST_CASE("limits of a ball joint are events; couplings hold from the start; what is inside is told") {
  FigureDescription top;
  top.name = "top";
  top.model = ModelBuilder("top")
                  .link("ground")
                  .link("rod", {.mass = 1, .origin = {.p = {0, 0, 0.5}}, .inertia = Sym3<>::diagonal(0.1, 0.1, 0.01)})
                  .joint({.name = "ball",
                          .type = JointType::kBall,
                          .parent = "ground",
                          .child = "rod",
                          .swing_twist = SwingTwistLimit{.swing = 0.5}})
                  .description();
  top.initial.v["ball"] = {1, 0, 0};
  SceneDescription scene = scene_with({top});
  scene.events.push_back({.name = "stop", .trigger = TriggerKind::kLimit, .figure = "top", .dof = {"ball", 0}});
  World world = value_or_throw(World::build(scene));
  world.advance(2);
  CHECK(count(world, EventKind::kLimit) == 1);

  FigureDescription pair;
  pair.name = "pair";
  pair.model = hanging_rod();
  pair.model.links.push_back(pair.model.links[1]);
  pair.model.links[2].name = "other";
  pair.model.joints.push_back(pair.model.joints[0]);
  pair.model.joints[1].name = "follower", pair.model.joints[1].child = "other";
  pair.initial.q["hinge"] = {0.4};
  pair.couplings.push_back({.name = "cam", .dependent = {"follower", 0}, .driver = DofRef{"hinge", 0}});
  pair.couplings[0].coefficient = {0.1, 0.5, 0.3};
  const World coupled = value_or_throw(World::build(scene_with({pair})));
  const double x = coupled.q(FigureId(0))[0], y = coupled.q(FigureId(0))[1];
  CHECK(y == doctest::Approx(0.1 + 0.5 * x + 0.3 * x * x).epsilon(1e-9));

  SceneDescription deep = scene_with({make_body("ball", Sphere{0.1}, 1, {.p = {0, 0, -0.4}})});
  deep.environment.push_back(floor());
  const Loaded<World> sunk = World::build(deep);
  REQUIRE(sunk);
  REQUIRE(sunk.diagnostics.size() == 1);
  CHECK(sunk.diagnostics[0].code == "WORLD004");
  CHECK(sunk.diagnostics[0].message == "at the start 'ball' is 0.5 m deep in 'floor'");
}

TEST_CASE("what begins inside the floor comes out and stays on it") {
  for (const double depth : {0.001, 0.01, 0.05, 0.2, 5.0}) {
    CAPTURE(depth);
    World world;
    world.add_fixed(Plane{}, {});
    const Model model = ball("ball");
    const FigureId id = world.add(model, at(model, 0.1 - depth));
    double highest = -kInfinity;
    // At half of gravity it is out after √(8·depth/g), twice that with the way up to that speed.
    const double time = 1 + 2 * std::sqrt(8 * depth / 9.81);
    for (int i = 0; i < int(time / world.time_step()); ++i) {
      world.step();
      highest = std::max(highest, world.q(id)[2] - 0.1);
    }
    CHECK(highest < 1e-6);
    CHECK(world.q(id)[2] - 0.1 > -1.1e-4);  // the slop that is left alone
  }
}

}  // namespace kansetsu
