#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/io/scene.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"
#include "no_alloc.h"

using namespace kansetsu;

/// Connections that give way: springs and dampers in some of the six directions of a virtual link, [NY00] Fig. 1.
namespace {

const Sym3<> kInertia = Sym3<>::diagonal(0.1, 0.2, 0.3);

Model body(double mass = 2, const Sym3<>& I = kInertia) {
  ModelBuilder builder("body");
  builder.base(Base::kFree);
  builder.link("body", Inertial{mass, {}, I});
  return builder.build();
}

WorldOptions weightless(double h = 1e-3) {
  WorldOptions options;
  options.gravity = {0, 0, 0};
  options.time_step = h;
  return options;
}

/// Rigid but for one direction, a bit of the mask.
ConnectionOptions sprung(int bit, double stiffness, double damping) {
  ConnectionOptions o;
  o.compliance.stiffness[bit] = stiffness;
  o.compliance.damping[bit] = damping;
  return o;
}

double energy(World& world) { return world.kinetic_energy() + world.potential_energy(); }

}  // namespace

TEST_CASE("each of the six directions of a connection can be a spring and a damper: the closed form of an oscillator") {
  const double mass[6] = {0.1, 0.2, 0.3, 2, 2, 2};
  for (int bit = 0; bit < 6; ++bit) {
    CAPTURE(bit);
    const double m = mass[bit], w0 = 20, zeta = 0.1, k = m * w0 * w0, d = 2 * zeta * w0 * m, h = 1e-4;
    World world(weightless(h));
    const Model model = body();
    const FigureId id = world.add(model);
    ConnectionOptions o = sprung(bit, k, d);
    world.connect(kWorldBody, {id, LinkId(0)}, o);
    world.step();
    State state(model);
    state.v[bit] = 1;
    world.set_state(id, state);
    const double t = 0.2, w = w0 * std::sqrt(1 - zeta * zeta);
    world.advance(t);
    const double v = std::exp(-zeta * w0 * t) * (std::cos(w * t) - zeta * w0 / w * std::sin(w * t));
    CHECK(std::abs(world.v(id)[bit] - v) < 2e-3);  // first order in h·ω of the damper
    for (int i = 0; i < 6; ++i) {
      if (i != bit) CHECK(std::abs(world.v(id)[i]) < 1e-12);
    }
    CHECK(world.report().loop_gap < 1e-12);  // what a spring is stretched is no gap
    CHECK(world.report().loop_angle < 1e-12);
    CHECK(world.health().ok());
  }
}

TEST_CASE(
    "springs of a connection keep their energy to the bit of rounding along a line, and tell the wrench they carry") {
  World world(weightless());
  const Model model = body();
  State state(model);
  state.v << 0, 0, 0, 0.3, -0.5, 0.7;
  const FigureId id = world.add(model, state);
  ConnectionOptions o;
  o.mask = kPointMask;
  o.compliance.stiffness = std::array<double, 6>{kInfinity, kInfinity, kInfinity, 50, 200, 800};
  world.connect(kWorldBody, {id, LinkId(0)}, o);
  const double start = energy(world);
  double most = 0;
  for (int i = 0; i < 2000; ++i) {
    world.step();
    most = std::max(most, std::abs(energy(world) - start));
  }
  CHECK(most < 1e-12);
  const Vec3<> p = world.pose({id, LinkId(0)}).p;
  const Force<>& F = world.report().connections[0].wrench;
  CHECK(F.f.x == doctest::Approx(-50 * p.x).epsilon(2e-2));  // at the middle of the step
  CHECK(F.f.z == doctest::Approx(-800 * p.z).epsilon(2e-2));
  CHECK(std::abs(world.totals().work_connection) < 1e-12);
}

TEST_CASE("what dampers of a connection take is in its work: energy and works agree") {
  for (const Integrator integrator : {Integrator::kSemiImplicit, Integrator::kRk4, Integrator::kAdaptive}) {
    CAPTURE(int(integrator));
    WorldOptions options = weightless();
    options.integrator = integrator;
    options.gravity = {0, 0, -9.81};
    World world(options);
    const Model model = body();
    State state(model);
    state.v << 0.5, 1, -0.4, 0.3, -0.5, 0.7;
    const FigureId id = world.add(model, state);
    ConnectionOptions o;
    o.X_BC.p = {0.1, 0, 0.2};
    o.compliance.stiffness = std::array<double, 6>{20, 30, 40, 500, kInfinity, 800};
    o.compliance.damping = std::array<double, 6>{0.1, 0.2, 0.3, 5, 0, 8};
    world.connect(kWorldBody, {id, LinkId(0)}, o);
    world.step();  // the impact along y
    const double start = energy(world), before = world.totals().work_connection;
    world.advance(0.5);
    const double change = energy(world) - start, work = world.totals().work_connection - before;
    CHECK(work < -0.5);
    CHECK(std::abs(change - work) < 2e-3 * std::abs(work));
    CHECK(world.report().loop_gap < 1e-9);
  }
}

TEST_CASE("turning springs of different stiffness keep their energy over large turns") {
  for (const double h : {1e-3, 5e-4}) {
    World world(weightless(h));
    const Model model = body();
    State state(model);
    state.v << 6, -5, 4, 0, 0, 0;
    const FigureId id = world.add(model, state);
    ConnectionOptions o;
    o.compliance.stiffness = std::array<double, 6>{5, 9, 14, kInfinity, kInfinity, kInfinity};
    world.connect(kWorldBody, {id, LinkId(0)}, o);
    const double start = energy(world);
    double most = 0, widest = 0;
    for (int i = 0; i < int(1 / h); ++i) {
      world.step();
      most = std::max(most, std::abs(energy(world) - start));
      widest = std::max(widest, world.potential_energy());
    }
    CHECK(widest > 4);  // of 7.3 J: turns of about 1 rad
    CHECK(most < 400 * h * h * start);
  }
}

TEST_CASE("a spring about one axis of a hinge, and about the two that tilt it") {
  const double h = 1e-4, t = 0.1;
  SUBCASE("two: the tilt of a shaft that spins freely") {
    World world(weightless(h));
    const Model model = body(2, Sym3<>::diagonal(0.2, 0.2, 0.3));
    State state(model);
    state.v[0] = 3;
    const FigureId id = world.add(model, state);
    ConnectionOptions o;
    o.mask = kHingeMask;  // free about z
    o.compliance.stiffness = std::array<double, 6>{7, 7, kInfinity, kInfinity, kInfinity, kInfinity};
    world.connect(kWorldBody, {id, LinkId(0)}, o);
    world.advance(t);
    CHECK(world.v(id)[0] == doctest::Approx(3 * std::cos(std::sqrt(7 / 0.2) * t)).epsilon(1e-4));
  }
  SUBCASE("one: the turn between the axes of a universal joint") {
    World world(weightless(h));
    const Model model = body();
    State state(model);
    state.v[0] = 1;
    const FigureId id = world.add(model, state);
    ConnectionOptions o;
    o.mask = kUniversalMask;  // free about y and z
    o.compliance.stiffness[0] = 7;
    world.connect(kWorldBody, {id, LinkId(0)}, o);
    world.advance(t);
    CHECK(world.v(id)[0] == doctest::Approx(std::cos(std::sqrt(7 / 0.1) * t)).epsilon(1e-4));
  }
}

TEST_CASE("stiff springs of connections are stable at any step, and come to what is rigid") {
  for (const double stiffness : {1e4, 1e7, 1e10}) {
    CAPTURE(stiffness);
    World world;
    const Model model = body();
    const FigureId id = world.add(model);
    ConnectionOptions o;
    o.X_BC.p = {0.2, 0, 0};
    o.compliance.stiffness = stiffness;
    o.compliance.damping = 2 * std::sqrt(stiffness);
    world.connect(kWorldBody, {id, LinkId(0)}, o);
    world.advance(0.5);
    CHECK(world.status() == WorldStatus::kRunning);
    const Force<>& F = world.report().connections[0].wrench;
    CHECK(F.f.z == doctest::Approx(2 * 9.81).epsilon(1e-3));
    CHECK(F.t.y == doctest::Approx(0.2 * 2 * 9.81).epsilon(1e-3));
    // Sinks by m·g/k, and turns by 0.2·m·g/k at an arm of 0.2.
    CHECK(std::abs(world.pose({id, LinkId(0)}).p.z + 2 * 9.81 * (1 + 0.04) / stiffness) < 1e-5 / stiffness + 1e-12);
    CHECK(world.health().ok());
  }
  // Without a damper it rings, but gains nothing.
  World world(weightless());
  const Model model = body();
  State state(model);
  state.v[5] = 1;
  const FigureId id = world.add(model, state);
  world.connect(kWorldBody, {id, LinkId(0)}, sprung(5, 1e9, 0));
  const double start = energy(world);
  for (int i = 0; i < 1000; ++i) {
    world.step();
    REQUIRE(std::abs(energy(world) - start) < 1e-6);
  }
}

TEST_CASE("a soft direction takes no impulse; rigid ones beside it do") {
  World world(weightless());
  const Model model = body();
  State state(model);
  state.v << 0, 0, 0, 1, 0, 1;
  const FigureId id = world.add(model, state);
  world.connect(kWorldBody, {id, LinkId(0)}, sprung(5, 1e6, 10));
  world.step();
  const ConnectionReport& r = world.report().connections[0];
  CHECK(std::abs(r.impulse.f.x + 2) < 1e-13);
  CHECK(r.impulse.f.z == 0);
  CHECK(world.report().impact_energy == doctest::Approx(-1));
}

TEST_CASE("many soft connections, eliminated part by part: a row of bodies on springs carries its weight") {
  // 15 bodies side by side, 90 rows: more than one matrix takes (Island::most_dense).
  constexpr int kCount = 15;
  World world;
  const Model model = body();
  BodyRef before = kWorldBody;
  for (int i = 0; i < kCount; ++i) {
    State state(model);
    state.q[0] = 0.5 * i;
    const FigureId id = world.add(model, state, {.name = "body" + std::to_string(i)});
    ConnectionOptions o = sprung(5, 5e4, 6e3);
    o.X_AC.p = {i == 0 ? -0.25 : 0.25, 0, 0}, o.X_BC.p = {-0.25, 0, 0};
    world.connect(before, {id, LinkId(0)}, o);
    before = {id, LinkId(0)};
  }
  world.advance(1.5);
  CHECK(world.report().connections[0].wrench.f.z == doctest::Approx(kCount * 2 * 9.81).epsilon(1e-3));
  double sag = 0;  // each spring carries all that comes after it
  for (int i = 0; i < kCount; ++i) sag += (kCount - i) * 2 * 9.81 / 5e4;
  CHECK(world.pose(before).p.z == doctest::Approx(-sag).epsilon(1e-3));
  CHECK(world.health().ok());
}

TEST_CASE("steps with soft connections allocate nothing, and go on from a snapshot to the bit") {
  World world;
  const Model model = body();
  const FigureId id = world.add(model);
  ConnectionOptions o = sprung(5, 900, 3);
  o.compliance.stiffness[0] = 4;
  world.connect(kWorldBody, {id, LinkId(0)}, o);
  world.advance(0.02);
  const Snapshot moment = Snapshot::from_bytes(world.save().to_bytes());
  CHECK(test::allocations_in([&] { world.step(); }) == 0);
  world.advance(0.05);
  const std::uint64_t hash = world.hash();
  world.restore(moment);
  world.step();
  world.advance(0.05);
  CHECK(world.hash() == hash);
}

TEST_CASE("scenes have soft connections, written and read again; what makes no sense is refused") {
  const std::string head = R"(
[scene]
gravity = [0.0, 0.0, -10.0]
[[body]]
name = "ball"
type = "sphere"
radius = 0.1
mass = 1.0
pose = {p = [0.0, 0.0, 1.0]}
[[connection]]
name = "bungee"
a = {p = [0.0, 0.0, 1.0]}
b = {figure = "ball"}
)";
  const auto scene = io::parse_scene(head + "stiffness = {z = 1000.0}\ndamping = {z = 60.0}\n");
  REQUIRE(scene.value);
  const auto again = io::parse_scene(io::to_scene(*scene.value).value.value());
  REQUIRE(again.value);
  CHECK(again.value->connections[0].compliance == scene.value->connections[0].compliance);
  auto loaded = World::build(*again.value);
  REQUIRE(loaded.value);
  loaded.value->advance(1.0);
  CHECK(loaded.value->pose(loaded.value->body("ball", "ball")).p.z == doctest::Approx(1 - 0.01).epsilon(1e-6));

  for (const char* bad :
       {"stiffness = 1000.0\n", "stiffness = {z = -1.0}\n", "damping = {z = 1.0}\n", "stiffness = {w = 1.0}\n",
        "stiffness = {z = 0.0}\n", "restitution = {z = 0.5}\nstiffness = {z = 1.0}\n", "restitution = {z = 2.0}\n",
        "kind = \"point\"\nstiffness = {rz = 1.0}\n"}) {
    CAPTURE(bad);
    const auto refused = io::parse_scene(head + bad);
    bool error = false;
    for (const Diagnostic& d : refused.diagnostics) error |= d.severity == Severity::kError && d.line > 0;
    if (refused.value) {
      for (const Diagnostic& d : validate(*refused.value)) error |= d.severity == Severity::kError && d.line > 0;
    }
    CHECK(error);
  }
}
