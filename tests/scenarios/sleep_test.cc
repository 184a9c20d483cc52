#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"
#include "kansetsu/sim/world_batch.h"
#include "sanitized.h"

using namespace kansetsu;

/// What has come to rest is computed no more, and wakes when something happens to it.
namespace {

Model body(const std::string& name, const Shape& shape, double mass) {
  return value_or_throw(Model::build(make_body(name, shape, mass, {}).model));
}
State at(const Model& model, double x, double y, double z) {
  State state(model);
  state.q.head<3>() << x, y, z;
  return state;
}

Transform<> place(double x, double y, double z) {
  Transform<> X;
  X.p = {x, y, z};
  return X;
}

/// Towers of boxes that stand apart, a little above each other; the last box of all by itself.
World towers(int count, int height, WorldOptions options = {}) {
  options.time_step = 2e-3;
  World world(options);
  world.add_fixed(Plane{}, {}, {}, "floor");
  for (int t = 0; t < count; ++t) {
    for (int i = 0; i < height; ++i) {
      const Model box = body("box" + std::to_string(t) + "_" + std::to_string(i), Box{{0.2, 0.2, 0.2}}, 1);
      world.add(box, at(box, t, 0, 0.1001 + 0.2001 * i));
    }
  }
  return world;
}

int asleep(const World& world) {
  int count = 0;
  for (int i = 0; i < world.figure_count(); ++i) count += world.asleep(FigureId(i));
  return count;
}

}  // namespace

TEST_CASE("towers fall asleep, keep their forces, and a step of sleepers changes nothing") {
  World world = towers(3, 4);
  world.advance(2);
  REQUIRE(asleep(world) == 12);
  CHECK(world.report().asleep == 12);
  CHECK(world.kinetic_energy() == 0);
  const Eigen::VectorXd q = world.q(FigureId(3));
  const std::uint64_t steps = world.totals().steps;
  world.advance(1);
  CHECK(world.q(FigureId(3)) == q);
  CHECK(world.time() == doctest::Approx(3));
  CHECK(world.totals().steps == steps + 500);
  REQUIRE(world.report().contacts.size() == 12);
  double on_floor = 0;
  for (const ContactReport& c : world.report().contacts) {
    CHECK(c.tier == ContactTier::kNone);
    CHECK(c.mode == ContactMode::kSurface);
    if (c.a.is_world()) on_floor += c.wrench.f.z;
  }
  CHECK(on_floor == doctest::Approx(12 * 9.81).epsilon(1e-6));
}

TEST_CASE("sleepers wake when they are touched, and only those") {
  World world = towers(2, 3);
  const Model ball = body("ball", Sphere{0.05}, 0.5);
  State state = at(ball, -3, 0, 0.5);
  state.v[3] = 2;
  const FigureId id = world.add(ball, at(ball, -3, 0, 0.05));
  world.advance(2);
  REQUIRE(asleep(world) == 7);
  world.set_state(id, state);  // it flies to the first tower
  CHECK(!world.asleep(id));
  CHECK(asleep(world) == 6);
  world.advance(0.5);
  CHECK(asleep(world) == 6);
  bool hit = false;
  for (int i = 0; i < 1000 && !hit; ++i) {
    world.step();
    hit = !world.asleep(FigureId(1)) || !world.asleep(FigureId(2)) || !world.asleep(FigureId(0));
  }
  REQUIRE(hit);
  for (int i = 0; i < 3; ++i) CHECK(!world.asleep(FigureId(i)));  // a tower wakes as a whole
  for (int i = 3; i < 6; ++i) CHECK(world.asleep(FigureId(i)));   // the other sleeps on
}

TEST_CASE("whatever somebody does to a sleeper wakes it") {
  const auto slept = [] {
    World world = towers(2, 1);
    world.advance(1.5);
    REQUIRE(asleep(world) == 2);
    return world;
  };
  const FigureId first{0}, second{1};
  const BodyRef box{first, LinkId(0)};
  {
    World world = slept();
    world.apply_wrench(box, {{}, {0, 0, 20}}, {0, 0, 0.1});
    CHECK(!world.asleep(first));
    CHECK(world.asleep(second));
    const double before = world.q(first)[2];
    world.step();
    CHECK(world.v(first)[5] > 0.01);
    CHECK(world.q(first)[2] > before);
  }
  {
    World world = slept();
    Eigen::VectorXd torque = Eigen::VectorXd::Zero(6);
    world.set_torque(first, torque);
    CHECK(world.asleep(first));  // the same as before
    torque[5] = 20;
    world.set_torque(first, torque);
    CHECK(!world.asleep(first));
    world.advance(1);
    CHECK(world.v(first)[5] > 1);
  }
  {
    World world = slept();
    const ConnectionId grip = world.grab(kWorldBody, box);
    CHECK(!world.asleep(first));
    world.advance(1.5);
    CHECK(world.asleep(first));  // what is held rests, too
    world.release(grip);
    CHECK(!world.asleep(first));
  }
  {
    World world = slept();
    world.set_gravity({0, 0, 5});
    CHECK(asleep(world) == 0);
    world.advance(0.2);
    CHECK(world.q(first)[2] > 0.11);
  }
  {
    World world = slept();
    world.add_fixed(Box{{1, 1, 1}}, place(0, 5, 0));
    CHECK(asleep(world) == 0);
  }
  {
    World world = slept();
    world.wake(second);
    CHECK(world.asleep(first));
    CHECK(!world.asleep(second));
  }
}

TEST_CASE("a platform that moves wakes what it meets; what stands on a conveyor does not sleep") {
  World world = towers(1, 1);
  world.add_moving(Box{{0.1, 1, 0.1}}, place(-2, 0, 0.1), PrescribedMotion{.velocity = {0.5, 0, 0}}, {});
  world.advance(2);
  CHECK(world.asleep(FigureId(0)));
  world.advance(2.5);
  CHECK(!world.asleep(FigureId(0)));
  CHECK(world.q(FigureId(0))[0] > 0.1);

  World belt;
  belt.add_moving(Plane{}, {}, std::nullopt, {1e-5, 0, 0});
  const Model box = body("box", Box{{0.2, 0.2, 0.2}}, 1);
  belt.add(box, at(box, 0, 0, 0.1));
  belt.advance(1.5);
  CHECK(!belt.asleep(FigureId(0)));
}

TEST_CASE("figures that are driven, fly or creep do not sleep; nor does anything where it is turned off") {
  WorldOptions off;
  off.sleeping = false;
  World never = towers(1, 2, off);
  never.advance(2);
  CHECK(asleep(never) == 0);

  World world;
  world.add_fixed(Plane{}, {});
  const Model human = human28();
  const FigureId man = world.add(human, at(human, 0, 0, 0.88));
  world.stand(man);
  world.advance(1.5);
  CHECK(!world.asleep(man));

  WorldOptions space;
  space.gravity = {};
  World far(space);
  const Model box = body("box", Box{{0.2, 0.2, 0.2}}, 1);
  State slow = at(box, 0, 0, 0);
  slow.v[3] = 2e-4;
  const FigureId creeps = far.add(box, slow);
  far.advance(2);
  CHECK(!far.asleep(creeps));
  CHECK(far.q(creeps)[0] == doctest::Approx(4e-4));
  slow.v[3] = 0.5e-4;
  far.set_state(creeps, slow);
  far.advance(2);
  CHECK(far.asleep(creeps));
}

TEST_CASE("sleep is part of snapshots and copies, to the bit, on any number of threads") {
  for (const int threads : {1, 2}) {
    CAPTURE(threads);
    WorldOptions options;
    options.threads = threads;
    World world = towers(3, 3, options);
    const Model ball = body("ball", Sphere{0.1}, 2);
    State state = at(ball, -4, 0, 0.101);
    state.v[3] = 3.5, state.v[1] = 35;  // it rolls into the first tower while others sleep
    world.add(ball, state);
    world.advance(0.6);
    Snapshot middle = world.save();
    int most = 0;
    std::vector<std::uint64_t> hashes;
    for (int i = 0; i < 800; ++i) {
      world.step();
      most = std::max(most, asleep(world));
      hashes.push_back(world.hash());
      if (i == 100) middle = world.save();
    }
    CHECK(most >= 6);
    World twin = towers(3, 3);
    twin.add(ball, state);
    twin.restore(Snapshot::from_bytes(middle.to_bytes()));
    bool same = true;
    for (size_t i = 101; i < hashes.size(); ++i) {
      twin.step();
      same = same && twin.hash() == hashes[i];
    }
    CHECK(same);
    CHECK(asleep(twin) == asleep(world));
    REQUIRE(twin.report().contacts.size() == world.report().contacts.size());
    for (size_t i = 0; i < twin.report().contacts.size(); ++i)
      CHECK(twin.report().contacts[i].wrench.f == world.report().contacts[i].wrench.f);
  }
}

TEST_CASE("copies of a world that sleeps sleep, and wake by themselves") {
  World world = towers(1, 2);
  world.advance(2);
  REQUIRE(asleep(world) == 2);
  WorldBatch batch(world, 2);
  batch.world(0).apply_wrench({FigureId(1), LinkId(0)}, {{}, {4, 0, 0}}, {0, 0, 0.4});
  for (int i = 0; i < 200; ++i) batch.step();
  CHECK(asleep(batch.world(1)) == 2);
  CHECK(batch.world(1).q(FigureId(1)) == world.q(FigureId(1)));
  CHECK(batch.world(0).time() == batch.world(1).time());
}

namespace {

/// A pen in which bodies of one shape fall on each other.
World pen(const Shape& shape, int count, int seed, const ContactMaterial& material = {}) {
  WorldOptions options;
  options.time_step = 2e-3;
  World world(options);
  world.add_fixed(Plane{}, {}, material, "floor");
  for (int k = 0; k < 4; ++k) {
    const double angle = 1.5707963267948966 * k, c = std::cos(angle), s = std::sin(angle);
    world.add_fixed(Plane{}, {Mat3<>{{0, s, c}, {0, -c, s}, {1, 0, 0}}, {-0.5 * c, -0.5 * s, 0}}, material);
  }
  std::mt19937_64 rng(static_cast<std::uint64_t>(seed));
  for (int i = 0; i < count; ++i) {
    const Model model = body("b" + std::to_string(i), shape, 1);
    State state(model);
    state.q = random_configuration(model, rng);
    state.q.head<3>() << -0.28 + 0.4 * (i % 2), -0.28 + 0.4 * (i / 2 % 2), 0.3 + 0.4 * (i / 4);
    world.add(model, state, {.material = material});
  }
  return world;
}

void check_that_all_rest(World world, double seconds) {
  world.advance(seconds);
  REQUIRE(world.status() == WorldStatus::kRunning);
  CHECK(asleep(world) == world.figure_count());
  CHECK(world.kinetic_energy() < 1e-8);        // [J] what counts as rest
  CHECK(world.report().penetration < 1.5e-4);  // [m] slop is 1e-4
  CHECK(world.report().tiers[int(ContactTier::kUnsolved)] == 0);
}

}  // namespace

TEST_CASE("forty boxes dropped into a pen all come to rest, hardly inside each other, and sleep") {
  MESSAGE("seed 1000");
  check_that_all_rest(pen(Box{{0.2, 0.2, 0.2}}, 40, 1000), 6);
}

/// Spheres are the hardest of heaps: forces go a long way through chains of balls that stick and slide.
TEST_CASE("contacts of a hundred balls that fall into a pen are solved") {
  MESSAGE("seed 1000");
  World world = pen(Sphere{0.1}, test::kSanitized ? 40 : 100, 1000);
  long contacts = 0, unsolved = 0;
  while (world.time() < 2) {
    world.step();
    contacts += long(world.report().contacts.size());
    unsolved += world.report().tiers[int(ContactTier::kUnsolved)];
  }
  CHECK(contacts > 10'000);
  CHECK(unsolved < 0.002 * double(contacts));  // a fifth of what a heap may leave; none is left here
}

/// One that hangs on two points swings about them, for minutes if nothing resists. Rolling friction ends that.
TEST_CASE("so do tetrahedra: hulls lie on faces, not on the point where two edges cross") {
  const ConvexHull hull{{{.12, .12, .12}, {-.12, -.12, .12}, {-.12, .12, -.12}, {.12, -.12, -.12}}};
  for (const int seed : {1000, 1001, 1002, 1003}) {
    CAPTURE(seed);
    check_that_all_rest(pen(hull, 20, seed, {.spin_radius = 5e-3, .rolling_radius = 2e-3}), 10);
  }
}
