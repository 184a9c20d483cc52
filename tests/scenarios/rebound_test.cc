#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "kansetsu/io/scene.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"

using namespace kansetsu;

/// Restitution of connections, [NY00] (15): a direction that rebounds is not held from then on.
namespace {

Model body(double mass, const Sym3<>& I = Sym3<>::diagonal(0.1, 0.2, 0.3), const Vec3<>& com = {}) {
  ModelBuilder builder("body");
  builder.base(Base::kFree);
  builder.link("body", Inertial{mass, {com, {}}, I});
  return builder.build();
}

WorldOptions weightless() {
  WorldOptions options;
  options.gravity = {0, 0, 0};
  return options;
}

PerDirection along_z(double e) { return std::array<double, 6>{0, 0, 0, 0, 0, e}; }

}  // namespace

TEST_CASE("a connection with restitution rebounds: v = 2, e = 0.5 gives v = −1, an impulse of 3 and no force after") {
  World world(weightless());
  const Model model = body(1);
  State state(model);
  state.v[5] = 2;
  const FigureId id = world.add(model, state);
  const ConnectionId held =
      world.connect(kWorldBody, {id, LinkId(0)}, {.break_force = 350, .restitution = 0.5, .name = "bar"});
  const double before = world.kinetic_energy() + world.potential_energy();
  world.step();
  REQUIRE(world.report().connections.size() == 1);
  CHECK(std::abs(world.v(id)[5] + 1) < 1e-14);
  CHECK(std::abs(world.report().connections[0].impulse.f.z + 3) < 1e-14);
  CHECK(norm(world.report().connections[0].wrench.f) == 0);
  CHECK(std::abs(world.report().impact_energy + 0.5 * (4 - 1)) < 1e-14);
  CHECK(std::abs(world.kinetic_energy() - before - world.report().impact_energy) < 1e-14);
  // Its other directions met at rest: they hold. 3 N·s count as 300 N, below what it bears; no false force adds to that.
  CHECK(world.connected(held));
  world.advance(0.1);
  CHECK(world.connected(held));
  CHECK(std::abs(world.v(id)[5] + 1) < 1e-13);
  CHECK(norm(world.report().connections[0].wrench.f) == 0);
  CHECK(world.health().ok());
}

TEST_CASE("a connection of which every direction has rebounded is cut") {
  World world(weightless());
  const Model model = body(1);
  State state(model);
  state.v[5] = 2;
  const FigureId id = world.add(model, state);
  const ConnectionId held = world.connect(kWorldBody, {id, LinkId(0)},
                                          {.mask = kPointInPlaneMask, .restitution = along_z(1), .name = "wall"});
  world.step();
  CHECK(std::abs(world.v(id)[5] + 2) < 1e-14);
  CHECK(std::abs(world.report().impact_energy) < 1e-14);
  CHECK_FALSE(world.connected(held));
  REQUIRE(world.events().size() == 1);
  CHECK(world.events()[0].kind == EventKind::kCut);
  CHECK(world.events()[0].detail == "rebounded");
}

TEST_CASE("each direction of a connection has its own restitution") {
  // The frames join at the centre of mass, so that directions are not coupled.
  World world(weightless());
  const Model model = body(2);
  State state(model);
  state.v << 0.3, -0.4, 0.5, 1, -2, 3;
  const FigureId id = world.add(model, state);
  const std::array<double, 6> e{0.1, 0, 0.9, 0.25, 0, 0.75};
  world.connect(kWorldBody, {id, LinkId(0)}, {.restitution = e});
  const double before = world.kinetic_energy();
  world.step();
  const Eigen::VectorXd& v = world.v(id);
  const double I[3] = {0.1, 0.2, 0.3};
  double change = 0;
  for (int k = 0; k < 6; ++k) {
    CAPTURE(k);
    const double after = -e[size_t(k)] * state.v[k], mass = k < 3 ? I[k] : 2;
    change += 0.5 * mass * (after * after - state.v[k] * state.v[k]);
    const Force<>& J = world.report().connections[0].impulse;
    const double impulse[6] = {J.t.x, J.t.y, J.t.z, J.f.x, J.f.y, J.f.z};
    CHECK(impulse[k] == doctest::Approx(mass * (after - state.v[k])).epsilon(1e-13));
    CHECK(std::abs(v[k] - after) < 2e-3);  // free directions go on: velocity products of one step
  }
  CHECK(world.report().impact_energy == doctest::Approx(change).epsilon(1e-13));
  CHECK(world.kinetic_energy() == doctest::Approx(before + change).epsilon(1e-6));
}

TEST_CASE("coupled directions that would gain energy by their restitutions rebound less") {
  // A slender rod at 45°, held at its end, scenario 22: e = 0.9 along z and 0 along x would give 0.053125·m·v².
  const double m = 2, l = 0.5, vn = 1.5;
  const Model model = body(m, Sym3<>::diagonal(1e-9, m * l * l / 3, m * l * l / 3));
  State state(model);
  const double half = std::sqrt(0.5);
  state.q.segment<4>(3) << 0, std::sin(std::numbers::pi / 8), 0,
      std::cos(std::numbers::pi / 8);  // 45° about y: the end is at +x, below
  // World velocity (−0.6 vn, 0, −vn), in the rod's axes.
  const double vx = -0.6 * vn, vz = -vn;
  state.v << 0, 0, 0, half * (vx - vz), 0, half * (vx + vz);
  for (const double e : {0.7, 0.9}) {
    CAPTURE(e);
    World w(weightless());
    const FigureId id = w.add(model, state);
    ConnectionOptions o;
    o.mask = kPointMask;
    o.restitution = along_z(e);
    o.X_BC.p = {l, 0, 0};
    o.X_BC.R = transpose(w.pose({id, LinkId(0)}).R);  // the frame has the axes of the world
    const double before = w.kinetic_energy();
    w.connect(kWorldBody, {id, LinkId(0)}, o);
    w.step();
    // In closed form: B of the end, its velocity c, c⁺ = (0, −s·e·c_z); ΔT = ½·(c⁺ᵀB⁻¹c⁺ − cᵀB⁻¹c).
    const double rx = l * half, rz = -l * half, I = m * l * l / 3;
    const double Bxx = 1 / m + rz * rz / I, Bzz = 1 / m + rx * rx / I, Bxz = -rx * rz / I, D = Bxx * Bzz - Bxz * Bxz;
    const double lost = 0.5 * (Bzz * vx * vx - 2 * Bxz * vx * vz + Bxx * vz * vz) / D;
    const double full = 0.5 * Bxx * e * e * vz * vz / D;
    const double share = std::min(1.0, std::sqrt(lost / full));
    CHECK(w.report().impact_energy == doctest::Approx(share * share * full - lost).epsilon(1e-9));
    CHECK(w.report().impact_energy <= 1e-12);
    CHECK(std::abs(w.kinetic_energy() - before - w.report().impact_energy) < 2e-5);  // of one step
    CHECK(share * e == doctest::Approx(std::min(e, 0.8)).epsilon(1e-12));
  }
}

TEST_CASE("what comes together slower than bodies at rest do is held, whatever its restitution") {
  const double rest = ContactOptions{}.rest_speed(9.81, 1e-3);
  for (const double factor : {0.99, 1.01}) {
    CAPTURE(factor);
    WorldOptions options = weightless();
    options.contact.v_rest = rest;
    World world(options);
    const Model model = body(1);
    State state(model);
    state.v[5] = factor * rest;
    const FigureId id = world.add(model, state);
    world.connect(kWorldBody, {id, LinkId(0)}, {.restitution = 0.5});
    world.step();
    CHECK(std::abs(world.v(id)[5] - (factor < 1 ? 0 : -0.5 * factor * rest)) < 1e-15);
  }
}

TEST_CASE("scenes make connections that rebound, from the start and by events") {
  for (const bool from_start : {true, false}) {
    CAPTURE(from_start);
    const std::string text = std::string(R"(
[scene]
gravity = [0.0, 0.0, 0.0]
[[body]]
name = "ball"
type = "sphere"
radius = 0.1
mass = 1.0
velocity = {v = [0.0, 0.0, 2.0]}
[[connection]]
name = "bar"
a = {}
b = {figure = "ball"}
kind = "point"
restitution = {z = 0.5}
)") + (from_start ? ""
                  : "active = false\n[[event]]\nname = \"now\"\nwhen = \"time\"\ntime = 0\ndo = \"connect\"\ntarget = "
                    "\"bar\"\n");
    CAPTURE(text);
    const auto scene = io::parse_scene(text);
    REQUIRE(scene.value);
    CHECK(scene.value->connections[0].restitution == along_z(0.5));
    auto loaded = World::build(*scene.value);
    REQUIRE(loaded.value);
    World& world = *loaded.value;
    world.step();
    const FigureId ball = world.figure("ball");
    CHECK(std::abs(world.velocity({ball, LinkId(0)}).v.z + 1) < 1e-12);
    world.advance(0.05);
    CHECK(std::abs(world.velocity({ball, LinkId(0)}).v.z + 1) < 1e-12);
  }
}
