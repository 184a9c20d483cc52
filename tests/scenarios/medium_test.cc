#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/model/solid.h"
#include "kansetsu/sim/world.h"
#include "kansetsu/sim/world_batch.h"

using namespace kansetsu;

namespace {

/// A falling cube of edge 0.2 m in a medium.
SceneDescription cube_in(const Medium& medium, double mass) {
  SceneDescription scene;
  scene.medium = medium;
  scene.time_step = 1e-3;
  scene.figures.push_back(make_body("cube", Box{{0.2, 0.2, 0.2}}, mass, {{0, 0, 100}, {}}));
  return scene;
}

World built(const SceneDescription& scene) {
  Loaded<World> world = World::build(scene);
  INFO(to_string(world.diagnostics));
  REQUIRE(world);
  return std::move(*world.value);
}

}  // namespace

TEST_CASE("what falls in a medium reaches the speed at which drag is its weight") {
  World world = built(cube_in({.density = 1000}, 2));
  world.advance(5);
  const double speed = std::sqrt(2 * 2 * 9.81 / (1000 * 0.04));  // m·g = ½·ρ·A·v²
  CHECK(world.v(FigureId(0))[5] == doctest::Approx(-speed).epsilon(1e-6));
}

TEST_CASE("copies of a world and its restored moments are in the same medium") {
  World world = built(cube_in({.density = 1.2, .viscosity = 1, .wind = {1, 2, 0}}, 2));
  WorldBatch copies(world, 2);
  const Snapshot start = world.save();
  for (int k = 0; k < 500; ++k) world.step(), copies.step();
  const Eigen::VectorXd v = world.v(FigureId(0));
  for (int i = 0; i < 2; ++i) CHECK(v == copies.world(i).v(FigureId(0)));
  world.restore(start);
  for (int k = 0; k < 500; ++k) world.step();
  CHECK(v == world.v(FigureId(0)));
}

TEST_CASE("wind takes along what floats, and ends at its speed") {
  SceneDescription scene = cube_in({.viscosity = 20, .wind = {3, 0, 0}}, 0.5);
  scene.figures[0].gravity_compensation["cube"] = 1;
  World world = built(scene);
  world.advance(1);
  const double rate = 3 * M_PI * 0.2 * 20 / 0.5;
  const Eigen::VectorXd &q = world.q(FigureId(0)), &v = world.v(FigureId(0));
  CHECK(v[3] == doctest::Approx(3 * (1 - std::exp(-rate))).epsilon(1e-6));
  CHECK(std::abs(q[2] - 100) < 1e-9);  // all of its weight is taken off
}

TEST_CASE("shapes with a clearance come to rest that far apart") {
  for (const double clearance : {0.0, 0.01, 0.1}) {
    CAPTURE(clearance);
    SceneDescription scene;
    scene.surfaces = {{"thick", {.mu_s = 1, .mu_d = 1, .clearance = clearance}}};
    scene.environment.push_back({.shape = {.name = "floor", .shape = Plane{}}});
    scene.figures.push_back(make_body("box", Box{{0.2, 0.2, 0.2}}, 1, {{0, 0, 0.3}, {}}));
    scene.figures.push_back(make_body("ball", Sphere{0.1}, 1, {{1, 0, 0.3}, {}}));
    scene.figures.push_back(make_body("top", Box{{0.2, 0.2, 0.2}}, 1, {{0, 0, 0.7}, {}}));
    for (FigureDescription& f : scene.figures) f.surface = "thick";
    World world = built(scene);
    world.advance(2);
    constexpr double kGap = 1e-5;  // [m] what is left of a gap counts as closed
    CHECK(std::abs(world.q(FigureId(0))[2] - (0.1 + clearance)) < kGap);
    CHECK(std::abs(world.q(FigureId(1))[2] - (0.1 + clearance)) < kGap);
    CHECK(std::abs(world.q(FigureId(2))[2] - (0.3 + 3 * clearance)) < 2 * kGap);  // those of two add up
  }
}

TEST_CASE("an ellipsoid takes the place of the box of its link") {
  SceneDescription scene = cube_in({.density = 1000}, 2);
  FluidEllipsoid ball{.link = "cube", .drag = {.radii = {0.1, 0.1, 0.1}}};
  scene.figures[0].ellipsoids = {ball};
  World world = built(scene);
  world.advance(5);
  const double speed = std::sqrt(2 * 9.81 / (1000 * 0.5 * M_PI * 0.01));  // m·g = ρ·C·A·v²
  CHECK(world.v(FigureId(0))[5] == doctest::Approx(-speed).epsilon(1e-6));
  scene.figures[0].ellipsoids[0].link = "sphere";
  CHECK_FALSE(World::build(scene));
  scene.figures[0].ellipsoids[0] = {.link = "cube", .drag = {.radii = {0.1, 0, 0.1}}};
  CHECK_FALSE(World::build(scene));
}
