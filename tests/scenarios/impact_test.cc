#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "kansetsu/model/figures.h"
#include "kansetsu/sim/health.h"
#include "kansetsu/sim/world.h"
#include "kansetsu/spatial/rotations.h"

using namespace kansetsu;

/// What is fast, at default settings: walls, bounces, blows.
namespace {

constexpr double kG = 9.81;

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

struct Thrown {
  const char* name;
  Model model;
};
std::vector<Thrown> thrown() {
  return {{"ball", body("ball", Sphere{0.02}, 0.1)},
          {"pellet", body("pellet", Sphere{0.003}, 0.001)},
          {"box", body("box", Box{{0.04, 0.06, 0.05}}, 0.3)},
          {"capsule", body("capsule", Capsule{0.01, 0.08}, 0.1)},
          {"man", human28()}};
}

}  // namespace

/// The impact takes energy in the frame of the bat only: in that of the world the ball gains most of what it has.
TEST_CASE("a moving bat gives a ball the speed of Newton's law of impact, and its work is in the energy balance") {
  for (const double speed : {2.0, 20.0, 100.0}) {
    for (const double restitution : {0.0, 0.5, 1.0}) {
      CAPTURE(speed);
      CAPTURE(restitution);
      const ContactMaterial material{.restitution = restitution};
      WorldOptions options;
      options.gravity = {};
      World world(options);
      world.add_moving(Box{{0.1, 1, 1}}, place(-1, 0, 0), PrescribedMotion{.velocity = {speed, 0, 0}}, {}, material);
      const Model ball = body("ball", Sphere{0.05}, 0.2);
      const FigureId id = world.add(ball, at(ball, 0, 0, 0), {.material = material});
      world.advance(1.2 / speed);
      const double after = speed * (1 + restitution);
      CHECK(world.v(id)[3] == doctest::Approx(after).epsilon(1e-3));  // h·v of the way may be left to close
      const WorldHealth health = world.health();                      // the work of the bat is in the balance
      CHECK(std::abs(health.energy_drift) <= 1e-12 * std::max(health.energy, 1.0));  // rounding
    }
  }
}

TEST_CASE("nothing flies through a wall: 20 and 100 m/s against 1 and 10 mm, with and without a bounce") {
  int runs = 0;
  for (const Thrown& t : thrown()) {
    for (const double speed : {20.0, 100.0}) {
      for (const double thickness : {1e-3, 1e-2}) {
        for (const double restitution : {0.0, 0.6}) {
          const std::string name = t.name;
          CAPTURE(name);
          CAPTURE(speed);
          CAPTURE(thickness);
          CAPTURE(restitution);
          const ContactMaterial material{.restitution = restitution};
          World world;
          world.add_fixed(Box{{thickness, 8, 8}}, place(3, 0, 0), material, "wall");
          State state = at(t.model, 0.1 * runs / 40.0, 0, 0);
          const Quaternion<> turn = exp_quaternion(Vec3<>{0.3, 0.1 * (runs % 7), -0.2});
          state.q.segment<4>(3) << turn.x, turn.y, turn.z, turn.w;
          const Vec3<> v = transpose_times(to_mat3(turn), Vec3<>{speed, 0.1, 0});
          state.v.head<6>() << 3, -2, 5, v.x, v.y, v.z;  // it tumbles
          const FigureId id = world.add(t.model, state, {.material = material});
          world.advance(3.5 / speed + 0.01);
          CHECK(world.status() == WorldStatus::kRunning);
          double foremost = -1;
          for (int i = 0; i < t.model.link_count(); ++i) {
            const LinkId link{i};
            if (!t.model.link(link).collisions.empty())
              foremost = std::max(foremost,
                                  (world.pose({id, link}) * to_transform(t.model.link(link).collisions[0].origin)).p.x);
          }
          CHECK(foremost < 3);
          CHECK(foremost > 0);
          ++runs;
        }
      }
    }
  }
  CHECK(runs == 40);
}

TEST_CASE("a ball that loses nothing keeps its speed between walls for a minute, at any time step") {
  for (const double h : {1e-3, 4e-3}) {
    CAPTURE(h);
    WorldOptions options;
    options.time_step = h;
    options.gravity = {};
    World world(options);
    const ContactMaterial elastic{.restitution = 1};
    for (const double x : {-1.0, 1.0}) world.add_fixed(Box{{0.01, 2, 2}}, place(x, 0, 0), elastic);
    const Model ball = body("ball", Sphere{0.1}, 1);
    State state = at(ball, 0.3, 0, 0);
    state.v[3] = 4.4;
    const FigureId id = world.add(ball, state, {.material = elastic});
    world.advance(60);
    const std::uint64_t bounces = world.totals().impacts;
    CHECK(std::abs(world.v(id)[3]) == doctest::Approx(4.4).epsilon(1e-9));
    CHECK(bounces > 140);  // 264 m in ways of 1.79 m: 147
    CHECK(bounces < 150);
  }
}

TEST_CASE("a ball rises to e² of its height: it bounces where it touches") {
  for (const double e : {1.0, 0.5}) {
    CAPTURE(e);
    World world;
    const ContactMaterial material{.restitution = e};
    world.add_fixed(Plane{}, {}, material);
    const Model ball = body("ball", Sphere{0.1}, 1);
    const FigureId id = world.add(ball, at(ball, 0, 0, 1.1), {.material = material});
    double highest = 0;
    for (int i = 0; i < 950; ++i) {
      world.step();
      if (world.totals().impacts == 1) highest = std::max(highest, world.q(id)[2] - 0.1);
    }
    CHECK(highest == doctest::Approx(e * e).epsilon(6e-3));  // ½·g²·h² a step is what flying loses
  }
}

TEST_CASE("what does not bounce meets the floor in an impact from ten times g·h on; slower, the step stops it") {
  for (const double factor : {9.0, 11.0}) {
    CAPTURE(factor);
    WorldOptions options;
    World world(options);
    const ContactMaterial material{.restitution = 0};
    world.add_fixed(Plane{}, {}, material);
    const Model ball = body("ball", Sphere{0.1}, 1);
    State state = at(ball, 0, 0, 0.1 + 1e-9);
    state.v[5] = -factor * kG * options.time_step;
    const FigureId id = world.add(ball, state, {.material = material});
    world.step();
    CHECK(world.totals().impacts == (factor > 10 ? 1u : 0u));
    world.step();
    CHECK(std::abs(world.v(id)[5]) < 1e-12);  // either way it rests then
  }
}

TEST_CASE("a connection breaks by a blow, whatever the time step, as by a force of J / 10 ms") {
  const double mass = 0.5, speed = 4, blow = mass * speed;
  for (const double h : {2.5e-4, 1e-3, 2e-3}) {
    for (const double restitution : {0.0, 0.5}) {
      for (const bool strong : {false, true}) {
        CAPTURE(h);
        CAPTURE(restitution);
        CAPTURE(strong);
        WorldOptions options;
        options.time_step = h;
        options.gravity = {};
        World world(options);
        const ContactMaterial material{.restitution = restitution};
        const Model plate = body("plate", Box{{0.1, 1, 1}}, 1), ball = body("ball", Sphere{0.05}, mass);
        const FigureId held = world.add(plate, at(plate, 1, 0, 0), {.material = material});
        State state = at(ball, 0, 0, 0);
        state.v[3] = speed;
        world.add(ball, state, {.material = material});
        ConnectionOptions grip;
        grip.break_force = (strong ? 1.1 : 0.8) * (1 + restitution) * blow / 0.01;
        const ConnectionId id = world.connect(kWorldBody, {held, LinkId(0)}, grip);
        world.advance(0.4);
        CHECK(world.connected(id) == strong);
      }
    }
  }
}

TEST_CASE("a connection holds a force below its limit and breaks above, within a few times 10 ms") {
  for (const double share : {0.95, 1.05}) {
    CAPTURE(share);
    World world;
    const Model ball = body("ball", Sphere{0.05}, 1);
    const FigureId id = world.add(ball, at(ball, 0, 0, 0));
    ConnectionOptions grip;
    grip.break_force = kG / share;
    const ConnectionId hold = world.connect(kWorldBody, {id, LinkId(0)}, grip);
    world.advance(0.05);
    CHECK(world.connected(hold) == (share < 1));
    world.advance(1);
    CHECK(world.connected(hold) == (share < 1));
  }
}

/// Velocity products of the rest of the step belong to the velocities that a blow leaves, not to those before it.
TEST_CASE("a figure with swinging limbs that strikes a wall loses what the impact takes, and nothing else") {
  const Model man = human28_ball();
  const ContactMaterial smooth{.mu_s = 0, .mu_d = 0, .restitution = 0.5};
  State state(man);
  state.q[0] = 1;
  for (int k = 0; k < man.nv(); ++k) state.v[k] = 3 * std::sin(1 + 2.4 * k);
  state.v.segment<3>(3) << -6, 0, 0;
  double off[2];
  for (const int n : {0, 1}) {
    WorldOptions options;
    options.gravity = {};
    options.time_step = n == 0 ? 2e-3 : 1e-3;
    World world(options);
    world.add_fixed(Plane{}, {Mat3<>{{0, 0, 1}, {0, 1, 0}, {-1, 0, 0}}, {}}, smooth);
    world.add(man, state, {.self_collision = SelfCollision::kNone, .material = smooth});
    const double start = world.kinetic_energy();
    world.advance(0.4);
    REQUIRE(world.totals().impact_energy < -50);  // [J] it has struck hard
    const WorldTotals& t = world.totals();
    off[n] = world.kinetic_energy() - start - t.impact_energy - t.work_contact - t.work_torque;
  }
  MESSAGE("unexplained ", off[0], " and ", off[1], " J at 2 and 1 ms");
  CHECK(std::abs(off[1]) < 0.2);  // [J] of 2000; products of the motion after the blow alone leave 1.5
}
