#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/constraint/contact_solver.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/sim/world.h"

using namespace kansetsu;

/// Friction and spin of patches as [NY00] has them, sections 4.3 to 4.5, in worlds: ContactLaw::kNakamuraYamane.
namespace {

constexpr double kGravity = 9.81, kMass = 3, kA = 0.4, kB = 0.3, kC = 0.2;

/// A box on a plane; the slope is that of gravity, towards +x.
struct BoxOnSlope {
  World world;
  FigureId box{-1};

  static WorldOptions options(double slope) {
    WorldOptions o;
    o.gravity = {kGravity * std::sin(slope), 0, -kGravity * std::cos(slope)};
    o.contact.take_law_of_2000();
    return o;
  }
  BoxOnSlope(double slope, double mu_s, double mu_d, const Vec3<>& v, double spin) : world(options(slope)) {
    world.add_fixed(Plane{}, {}, {mu_s, mu_d});
    const Model model = value_or_throw(Model::build(make_body("box", Box{{kA, kB, kC}}, kMass, {}).model));
    State state(model);
    state.q[2] = kC / 2;
    state.v << 0, 0, spin, v.x, v.y, v.z;
    box = world.add(model, state, {.material = {mu_s, mu_d}});
  }
  Vec3<> p() const { return world.pose({box, LinkId(0)}).p; }
  double spin() const { return world.v(box)[2]; }
  SlipMode slip() const { return world.report().contacts[0].slip; }
};

/// Deceleration of a spin about the middle: μ_D·m·g·cos α·d / I, (30).
double braking(double slope, double mu_d) {
  const double I = kMass * (kA * kA + kB * kB) / 12;
  return mu_d * kMass * kGravity * std::cos(slope) * friction_arm_rectangle(kA, kB) / I;
}

}  // namespace

TEST_CASE("a box that spins on a slope holds its place by friction of rest, and stops after ω·I/(μ_D·m·g·cos α·d)") {
  const double slope = 0.3, mu_s = 0.8, mu_d = 0.6, spin = 5;
  BoxOnSlope k(slope, mu_s, mu_d, {}, spin);
  const double stop = spin / braking(slope, mu_d);
  for (int i = 1; i < int(stop / 1e-3) - 2; ++i) {
    k.world.step();
    CAPTURE(i);
    REQUIRE(k.slip() == SlipMode::kSpin);
    REQUIRE(k.spin() == doctest::Approx(spin - i * 1e-3 * braking(slope, mu_d)).epsilon(1e-9));
  }
  CHECK(norm(k.p() - Vec3<>{0, 0, kC / 2}) < 1e-6);
  const Force<>& F = k.world.report().contacts[0].wrench;
  CHECK(F.f.x == doctest::Approx(-kMass * kGravity * std::sin(slope)).epsilon(1e-9));
  k.world.advance(0.2);
  CHECK(std::abs(k.spin()) < 1e-12);
  CHECK(k.slip() == SlipMode::kStick);
  CHECK(norm(k.p() - Vec3<>{0, 0, kC / 2}) < 1e-5);  // the steps in which it stops are those of the engine's law
  CHECK(k.world.health().unsolved == 0);
}

TEST_CASE("a box that spins on a slope steeper than friction of rest begins to slide") {
  const double slope = 0.6, mu = 0.5;  // tan 0.6 = 0.68
  BoxOnSlope k(slope, mu, mu, {}, 3);
  k.world.step();
  CHECK(k.slip() == SlipMode::kSlide);  // at once, although its centre of rotation is inside
  k.world.advance(0.3);
  CHECK(k.p().x > 0.02);
  CHECK(k.slip() == SlipMode::kSlide);
  CHECK(k.world.health().unsolved == 0);
}

TEST_CASE("a box slides, stops and stays, by the law of 2000") {
  const double mu = 0.4, v = 1.5;
  BoxOnSlope k(0, mu, mu, {v, 0, 0}, 0);
  const double stop = v / (mu * kGravity);
  k.world.advance(stop + 0.2);
  CHECK(std::abs(k.p().x - v * v / (2 * mu * kGravity)) < v * 1e-3);
  CHECK(norm(k.world.velocity({k.box, LinkId(0)}).v) < 1e-9);
  CHECK(k.slip() == SlipMode::kStick);
  CHECK(k.world.health().unsolved == 0);
}

TEST_CASE("a box that slides and spins comes to rest, by the law of 2000") {
  for (const double spin : {0.5, 3.0, 8.0}) {
    CAPTURE(spin);
    BoxOnSlope k(0, 0.5, 0.4, {1.0, 0.2, 0}, spin);
    k.world.advance(2.0);
    CHECK(norm(k.world.velocity({k.box, LinkId(0)}).v) < 1e-9);
    CHECK(std::abs(k.spin()) < 1e-9);
    CHECK(k.world.health().unsolved == 0);
  }
}

TEST_CASE("scenes name the law of 2000") {
  const auto scene = io::parse_scene(R"(
[scene]
contact_law = "nakamura_yamane"
gravity = [2.899, 0.0, -9.372]
[[environment]]
name = "floor"
type = "plane"
[[body]]
name = "box"
type = "box"
size = [0.4, 0.3, 0.2]
mass = 3.0
pose = {p = [0.0, 0.0, 0.1]}
velocity = {omega = [0.0, 0.0, 5.0]}
)");
  REQUIRE(scene.value);
  CHECK(scene.value->contact_law == ContactLaw::kNakamuraYamane);
  const auto again = io::parse_scene(io::to_scene(*scene.value).value.value());
  CHECK(again.value->contact_law == ContactLaw::kNakamuraYamane);
  auto loaded = World::build(*again.value);
  REQUIRE(loaded.value);
  World& world = *loaded.value;
  world.advance(0.05);
  REQUIRE(world.report().contacts.size() == 1);
  CHECK(world.report().contacts[0].slip == SlipMode::kSpin);
  CHECK(norm(world.pose(world.body("box", "box")).p - Vec3<>{0, 0, 0.1}) < 1e-6);
  CHECK(io::parse_scene("[scene]\ncontact_law = \"coulomb\"\n").diagnostics.size() == 1);
}
