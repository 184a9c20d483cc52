#include <doctest/doctest.h>

#include <cmath>
#include <string>

#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/sim/world.h"

using namespace kansetsu;

/// Rolling friction against closed forms.
namespace {

constexpr double kG = 9.81;

Model body(const std::string& name, const Shape& shape, double mass) {
  return value_or_throw(Model::build(make_body(name, shape, mass, {}).model));
}

struct Rolling {
  Rolling(double rolling, double speed, double slope = 0) {
    WorldOptions options;
    options.gravity = {kG * std::sin(slope), 0, -kG * std::cos(slope)};
    world = World(options);
    const ContactMaterial material{.rolling_radius = rolling};
    world.add_fixed(Plane{}, {}, material);
    const Model ball = body("ball", Sphere{kRadius}, 2);
    State state(ball);
    state.q[2] = kRadius;
    state.v[3] = speed, state.v[1] = speed / kRadius;
    id = world.add(ball, state, {.material = material});
  }
  static constexpr double kRadius = 0.1;
  World world;
  FigureId id{0};
};

}  // namespace

TEST_CASE("a ball slows down by 5/7·g·ρ/r and stops, without it it rolls on") {
  const double rho = 2e-3, speed = 1, brake = 5.0 / 7 * kG * rho / Rolling::kRadius;
  Rolling braked(rho, speed), free(0, speed);
  braked.world.advance(2), free.world.advance(2);
  const auto forward = [](const Rolling& r) { return r.world.velocity({r.id, LinkId(0)}).v.x; };
  CHECK(forward(braked) == doctest::Approx(speed - 2 * brake).epsilon(2e-3));  // the first step knows no pressure yet
  CHECK(forward(free) == doctest::Approx(speed).epsilon(1e-9));
  // The moment is part of what the contact does: about the axis of rolling, ρ times the weight.
  REQUIRE(braked.world.report().contacts.size() == 1);
  CHECK(braked.world.report().contacts[0].wrench.t.y == doctest::Approx(-rho * 2 * kG).epsilon(1e-6));
  braked.world.advance(speed / brake);
  CHECK(std::abs(forward(braked)) < 1e-9);  // it stops and stays
  const double stopped = braked.world.q(braked.id)[0];
  CHECK(stopped == doctest::Approx(speed * speed / (2 * brake)).epsilon(5e-3));
  braked.world.advance(1);
  CHECK(braked.world.q(braked.id)[0] == doctest::Approx(stopped).epsilon(1e-9));
}

TEST_CASE("a ball stays on a slope of tan α < ρ/r and rolls down a steeper one") {
  const double rho = 5e-3, limit = std::atan(rho / Rolling::kRadius);
  Rolling flat(rho, 0, 0.95 * limit), steep(rho, 0, 1.2 * limit);
  flat.world.advance(1), steep.world.advance(1);
  CHECK(std::abs(flat.world.q(flat.id)[0]) < 1e-5);  // the first step knows no pressure yet
  const double alpha = 1.2 * limit;
  const double a = 5.0 / 7 * kG * (std::sin(alpha) - rho / Rolling::kRadius * std::cos(alpha));
  CHECK(steep.world.velocity({steep.id, LinkId(0)}).v.x == doctest::Approx(a).epsilon(0.02));
}

TEST_CASE("rolling is resisted along the way, not across it") {
  Rolling ball(5e-3, 2);
  const double push = 0.5;  // [N] across, less than would start a ball at rest: ρ·N/r = 0.98 N
  for (int i = 0; i < 300; ++i) {
    ball.world.apply_wrench({ball.id, LinkId(0)}, {{}, {0, push, 0}}, ball.world.pose({ball.id, LinkId(0)}).p);
    ball.world.step();
  }
  const double sideways = ball.world.velocity({ball.id, LinkId(0)}).v.y;
  CHECK(sideways > 0.8 * 5.0 / 7 * push / 2 * 0.3);
}

TEST_CASE("a row of balls, solved as heaps are, slows down likewise") {
  World world;
  const double rho = 2e-3, brake = 5.0 / 7 * kG * rho / 0.1;
  const ContactMaterial material{.rolling_radius = rho};
  world.add_fixed(Plane{}, {}, material);
  for (int i = 0; i < 50; ++i) {  // side by side, touching: one island of more rows than a matrix takes
    const Model ball = body("ball" + std::to_string(i), Sphere{0.1}, 2);
    State state(ball);
    state.q[1] = 0.2 * i, state.q[2] = 0.1;
    state.v[3] = 1, state.v[1] = 10;
    world.add(ball, state, {.material = material});
  }
  world.advance(1);
  REQUIRE(world.status() == WorldStatus::kRunning);
  for (const int i : {0, 25, 49})
    CHECK(world.velocity({FigureId(i), LinkId(0)}).v.x == doctest::Approx(1 - brake).epsilon(5e-3));
}

TEST_CASE("rolling friction comes from scenes and from MJCF") {
  const Loaded<SceneDescription> scene = io::parse_scene(R"(
[[surface]]
name = "felt"
rolling_radius = 0.003
spin_radius = 0.001
)");
  REQUIRE(scene);
  CHECK(scene.value->surfaces.at(0).material.rolling_radius == 0.003);
  const auto speed = [](const char* condim) {
    const std::string text = std::string("<mujoco><worldbody><geom type='plane' size='9 9 1' condim='") + condim +
                             "'/><body pos='0 0 0.1'><freejoint/><geom size='0.1' condim='" + condim +
                             "' friction='1 0.005 0.002'/></body></worldbody></mujoco>";
    const Loaded<SceneDescription> read = io::parse_mjcf(text);
    REQUIRE(read);
    Loaded<World> world = World::build(*read.value);
    REQUIRE(world);
    State state(world.value->model(FigureId(0)));
    state.q = world.value->q(FigureId(0));
    state.v[3] = 1, state.v[1] = 10, state.v[2] = 4;  // it rolls and spins
    world.value->set_state(FigureId(0), state);
    world.value->advance(0.5);
    return world.value->velocity({FigureId(0), LinkId(0)});
  };
  const double rolled = 1 - 0.5 * 5.0 / 7 * kG * 0.002 / 0.1, spun = 4 - 0.5 * 0.005 * kG / (0.4 * 0.01);
  CHECK(speed("3").v.x == doctest::Approx(1).epsilon(1e-6));
  CHECK(speed("3").w.z == doctest::Approx(4).epsilon(1e-6));
  CHECK(speed("4").v.x > 0.99);
  CHECK(speed("4").w.z < 4);
  CHECK(speed("6").v.x == doctest::Approx(rolled).epsilon(5e-3));
  MESSAGE("spin: " << speed("4").w.z << ", alone it would be " << spun);
}
