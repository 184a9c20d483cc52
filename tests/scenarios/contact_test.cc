#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <vector>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"
#include "kansetsu/spatial/rotations.h"
#include "model/random.h"
#include "sanitized.h"
#include "sim/contacts.h"

using namespace kansetsu;

/// Worlds whose motion is known: contacts found by geometry, never prescribed.
namespace {

constexpr double kG = 9.80665;

WorldOptions earth(double h = 1e-3) {
  WorldOptions options;
  options.gravity = {0, 0, -kG};
  options.time_step = h;
  return options;
}

Model body(const std::string& name, const Shape& shape, double mass) {
  return value_or_throw(Model::build(make_body(name, shape, mass, {}).model));
}
State at(const Model& model, double x, double y, double z) {
  State state(model);
  state.q.head<3>() << x, y, z;
  return state;
}

/// The torques that hold the human still, given the wrench of the ground on each sole.
struct Standing {
  explicit Standing(const WorldOptions& options) : world(options) {
    world.add_fixed(Plane{}, {}, {}, "floor");
    FigureOptions figure;
    figure.switches.limits = false;
    const Model model = human28();
    id = world.add(model, at(model, 0, 0, 0.88), figure);
    // Statics: τ = gravity torque minus what half the weight under each foot's share of the centre of mass does.
    ExternalForces ground(world.model(id));
    const LinkPoses poses = fk(model, world.q(id));
    const Vec3<> com = center_of_mass(model, world.q(id));
    for (const char* foot : {"FootL", "FootR"}) {
      const LinkId link = model.link_id(foot);
      const Vec3<> f{0, 0, 0.5 * model.mass() * kG};
      const Vec3<> p{com.x, poses[link].p.y, 0};
      ground[link] = {cross(p - poses[link].p, f), f};
    }
    State state(world.model(id));
    state.q = world.q(id);
    torque = rnea(world.model(id), state, Eigen::VectorXd::Zero(model.nv()), &ground);
  }
  World world;
  FigureId id{0};
  Eigen::VectorXd torque;
};

double vertical_force(const World& world) {
  double sum = 0;
  for (const ContactReport& c : world.report().contacts) sum += c.wrench.f.z;
  return sum;
}

}  // namespace

TEST_CASE("the frame of a contact: z is the normal, x and y lie in the surface and turn with its body") {
  std::mt19937_64 rng(2);
  MESSAGE("seed 2");
  const auto difference = [](const Mat3<>& A, const Mat3<>& B) {
    const Mat3<> D = A - B;
    return norm(D.x) + norm(D.y) + norm(D.z);
  };
  for (int i = 0; i < 100; ++i) {
    CAPTURE(i);
    const Vec3<> n = uniform_direction(rng);
    const Mat3<> R = to_mat3(uniform_rotation(rng)), turn = to_mat3(uniform_rotation(rng));
    const Mat3<> E = patch_axes(n, R);
    CHECK(norm(E.column_z() - n) == 0);
    CHECK(difference(times_transpose(E, E), Mat3<>::identity()) < 1e-14);  // rounding
    CHECK(norm(cross(E.column_x(), E.column_y()) - n) < 1e-14);            // right-handed
    CHECK(difference(patch_axes(turn * n, turn * R), turn * E) < 1e-14);   // body and surface turn together
    CHECK(difference(patch_axes(n, turn * R), E) > 1e-3);                  // the body alone
  }
}

TEST_CASE("scenario 1: a ball bounces to e^(2k) of its height, impacts located to a millionth") {
  WorldOptions options = earth();
  options.integrator = Integrator::kAdaptive;
  options.tolerance = 1e-10;
  World world(options);
  const ContactMaterial bouncy{.mu_s = 0.5, .mu_d = 0.5, .restitution = 0.7};
  const double radius = 0.1, h0 = 1;
  const Model ball = body("ball", Sphere{radius}, 1);
  FigureOptions figure;
  figure.material = bouncy;
  world.add_fixed(Plane{}, {}, bouncy);
  const FigureId id = world.add(ball, at(ball, 0, 0, radius + h0), figure);
  double peak = 0;
  std::vector<double> peaks, impacts;
  while (peaks.size() < 4 && world.time() < 3) {
    world.step();
    const double z = world.q(id)[2] - radius;
    peak = std::max(peak, z + std::max(world.v(id)[5], 0.0) * std::max(world.v(id)[5], 0.0) / (2 * kG));
    if (world.report().impacts > 0) {
      impacts.push_back(world.time() - world.time_step());
      if (impacts.size() > 1) peaks.push_back(peak);
      peak = 0;
    }
  }
  REQUIRE(peaks.size() >= 3);
  double expected = h0;
  for (const double p : peaks) {
    expected *= 0.7 * 0.7;
    CHECK(p == doctest::Approx(expected).epsilon(2e-3));  // the step that holds the impact is of first order
  }
  CHECK(impacts[0] == doctest::Approx(std::sqrt(2 * h0 / kG)).epsilon(1e-6));
}

TEST_CASE("scenario 25: a bouncing ball comes to rest") {
  World world(earth());
  const ContactMaterial bouncy{.restitution = 0.5};
  const Model ball = body("ball", Sphere{0.1}, 1);
  FigureOptions figure;
  figure.material = bouncy;
  world.add_fixed(Plane{}, {}, bouncy);
  const FigureId id = world.add(ball, at(ball, 0, 0, 0.3), figure);
  const double total = std::sqrt(2 * 0.2 / kG) * (1 + 0.5) / (1 - 0.5);
  world.advance(total + 10e-3);
  REQUIRE(world.report().contacts.size() == 1);
  CHECK(world.report().contacts[0].mode == ContactMode::kPoint);
  CHECK(vertical_force(world) == doctest::Approx(kG).epsilon(1e-2));
  world.advance(0.2);
  CHECK(vertical_force(world) == doctest::Approx(kG).epsilon(1e-6));
  CHECK(std::abs(world.v(id)[5]) < 1e-6);
}

TEST_CASE("scenario 6: a sliding ball rolls at 5/7 of its speed") {
  const double mu = 0.3, v0 = 2, h = 1e-4;
  World world(earth(h));
  const ContactMaterial rough{.mu_s = mu, .mu_d = mu};
  const Model ball = body("ball", Sphere{0.1}, 1);
  FigureOptions figure;
  figure.material = rough;
  world.add_fixed(Plane{}, {}, rough);
  State state = at(ball, 0, 0, 0.1);
  state.v[3] = v0;
  const FigureId id = world.add(ball, state, figure);
  world.advance(2 * v0 / (7 * mu * kG) + 0.05);
  const Motion<> V = world.velocity({id, LinkId(0)});
  CHECK(V.v.x == doctest::Approx(5 * v0 / 7).epsilon(1e-3));
  // It rolls on where it touches, which is less than 0.1 m below its centre by half the slop that is left alone.
  CHECK(V.w.y * world.q(id)[2] == doctest::Approx(V.v.x).epsilon(1e-3));
}

TEST_CASE("scenario 7: a tilted box falls, lands and comes to rest on its face") {
  World world(earth());
  world.add_fixed(Plane{}, {});
  const Model box = body("box", Box{{0.4, 0.3, 0.2}}, 2);
  State state = at(box, 0, 0, 0.5);
  const Quaternion<> tilt = exp_quaternion(Vec3<>{0.2, 0.3, 0});
  state.q.segment<4>(3) << tilt.x, tilt.y, tilt.z, tilt.w;
  const FigureId id = world.add(box, state);
  ContactMode first = ContactMode::kOpen;
  for (int i = 0; i < 2000; ++i) {
    world.step();
    REQUIRE(world.status() == WorldStatus::kRunning);
    if (first == ContactMode::kOpen && !world.report().contacts.empty()) first = world.report().contacts[0].mode;
  }
  CHECK(first == ContactMode::kPoint);
  REQUIRE(world.report().contacts.size() == 1);
  CHECK(world.report().contacts[0].mode == ContactMode::kSurface);
  CHECK(world.v(id).norm() < 1e-9);
  CHECK(vertical_force(world) == doctest::Approx(2 * kG).epsilon(1e-9));
  CHECK(world.totals().worst_penetration < 5e-3);
}

TEST_CASE("scenario 13: the standing human, 338.329425 N on each foot") {
  Standing s(earth());
  s.world.set_torque(s.id, s.torque);
  s.world.step();
  REQUIRE(s.world.report().contacts.size() == 2);
  for (const ContactReport& c : s.world.report().contacts) {
    CHECK(c.wrench.f.z == doctest::Approx(338.329425).epsilon(1e-8));
    CHECK(c.mode == ContactMode::kSurface);
    CHECK(c.tier == ContactTier::kNewton);
    const Vec3<> com = center_of_mass(s.world.model(s.id), s.world.q(s.id));
    CHECK(std::abs(c.pressure.x - com.x) < 1e-8);
  }
  CHECK(vertical_force(s.world) == doctest::Approx(676.65885).epsilon(1e-10));
  CHECK(s.world.vdot(s.id).cwiseAbs().maxCoeff() < 1e-9);
}

TEST_CASE("scenario 28: two feet under random torques of 5 and 25 N·m: every load is accepted") {
  constexpr std::uint64_t kSeed = 28;
  MESSAGE("seed " << kSeed);
  for (const double sigma : {5.0, 25.0}) {
    std::mt19937_64 rng(kSeed);
    std::normal_distribution<double> normal(0, sigma);
    std::uint64_t tiers[kContactTiers] = {};
    double worst = 0;
    for (int load = 0; load < 200; ++load) {
      Standing s(earth());
      Eigen::VectorXd tau = s.torque;
      for (int k = 6; k < tau.size(); ++k) tau[k] += normal(rng);
      s.world.set_torque(s.id, tau);
      s.world.step();
      REQUIRE(s.world.status() == WorldStatus::kRunning);
      worst = std::max(worst, s.world.report().residual);
      ContactTier tier = ContactTier::kNone;
      for (const ContactReport& c : s.world.report().contacts) tier = std::max(tier, c.tier);
      ++tiers[int(tier)];
    }
    MESSAGE("sigma " << sigma << " N·m: Newton " << tiers[int(ContactTier::kNewton)] << ", proximal "
                     << tiers[int(ContactTier::kProximal)] << ", unsolved " << tiers[int(ContactTier::kUnsolved)]
                     << ", worst residual " << worst);
    CHECK(worst < 1e-6);
    CHECK(tiers[int(ContactTier::kUnsolved)] == 0);
    CHECK(tiers[int(ContactTier::kNewton)] >= (sigma < 10 ? 190 : 145));  // Newton steps alone
  }
}

TEST_CASE("a capsule pinched between two pads: no creep at 1.2 of what its weight needs, free fall at 0.8") {
  const double mass = 0.5, mu_s = 0.8, mu_d = 0.6, radius = 0.03;
  const auto run = [&](double share, double seconds) {
    const double push = share * mass * kG / (2 * mu_s);
    World world(earth());
    const auto pad = [&](const char* name, double x, double towards) {
      ModelBuilder builder(name);
      builder.link("ground");
      LinkDescription link;
      link.name = "pad";
      link.inertial = Inertial{0.2, {}, Sym3<>::diagonal(1e-3, 1e-3, 1e-3)};
      link.collisions.push_back({.name = "pad", .shape = Box{{0.02, 0.1, 0.1}}});
      builder.link(link);
      JointDescription joint;
      joint.name = "slide", joint.type = JointType::kPrismatic;
      joint.parent = "ground", joint.child = "pad";
      joint.axis = {1, 0, 0};
      joint.socket.p = {x, 0, 1};
      builder.joint(joint);
      const FigureId id = world.add(builder.build(), {.material = {.mu_s = mu_s, .mu_d = mu_d}});
      world.set_torque(id, Eigen::VectorXd::Constant(1, towards * push));
    };
    pad("left", -radius - 0.01, 1);
    pad("right", radius + 0.01, -1);
    const Model capsule = body("capsule", Capsule{radius, 0.06}, mass);
    const FigureId id = world.add(capsule, at(capsule, 0, 0, 1), {.material = {.mu_s = mu_s, .mu_d = mu_d}});
    world.advance(seconds);
    REQUIRE(world.status() == WorldStatus::kRunning);
    return std::pair(world.q(id)[2], world.v(id)[5]);
  };
  constexpr double kLong = test::kSanitized ? 3 : 60;         // [s]
  CHECK(std::abs(run(1.2, kLong).first - 1) / kLong < 1e-6);  // [m/s]
  const double push = 0.8 * mass * kG / (2 * mu_s), seconds = 0.05;
  const double expected = kG - 2 * mu_d * push / mass;
  CHECK(-run(0.8, seconds).second / seconds == doctest::Approx(expected).epsilon(0.01));
}

TEST_CASE("a capsule that touches with one end is a point contact until the other lands, whatever else is near") {
  constexpr double kRadius = 0.02, kLength = 0.4, kMass = 1, kLift = 1e-3;
  for (const double side : {-1.0, 1.0}) {
    CAPTURE(side);
    const Model capsule = body("capsule", Capsule{kRadius, kLength}, kMass);
    State state = at(capsule, 0, 0, kRadius + 0.5 * kLift);
    const double angle = 0.5 * M_PI + side * std::asin(kLift / kLength);  // about y: the axis of the shape is its z
    state.q[4] = std::sin(0.5 * angle), state.q[6] = std::cos(0.5 * angle);
    // The far end is in sight of one world and out of that of the other.
    std::vector<World> worlds;
    for (const double margin : {2 * kLift, 0.5 * kLift}) {
      WorldOptions options = earth();
      options.contact_margin = margin;
      World& world = worlds.emplace_back(options);
      world.add_fixed(Plane{}, {}, {}, "floor");
      world.add(capsule, state);
      world.step();
      REQUIRE(world.report().contacts.size() == 1);
      const ContactReport& first = world.report().contacts[0];
      CHECK(first.mode == ContactMode::kPoint);
      CHECK(std::abs(first.pressure.x) == doctest::Approx(0.5 * kLength).epsilon(1e-5));
      // It turns about that end, which rolls: N = m·g·(1 − m·d²/I), I about the point on the floor.
      const double d = 0.5 * kLength, across = capsule.link(LinkId(0)).inertial->inertia.xx;
      const double inertia = across + kMass * (d * d + kRadius * kRadius);
      CHECK(first.wrench.f.z == doctest::Approx(kMass * kG * (1 - kMass * d * d / inertia)).epsilon(1e-2));  // tilted
    }
    for (int i = 0; i < 200; ++i) {
      for (World& world : worlds) world.step();
      // Both pass through the same states; what rounds differently stays within what the solver leaves.
      CHECK((worlds[0].q(FigureId(0)) - worlds[1].q(FigureId(0))).norm() < 1e-9);
    }
    CHECK(worlds[0].totals().impacts == worlds[1].totals().impacts);
    for (World& world : worlds) {
      CHECK(world.report().contacts[0].mode == ContactMode::kLine);
      CHECK(world.report().contacts[0].wrench.f.z == doctest::Approx(kMass * kG).epsilon(1e-6));
      CHECK(world.v(FigureId(0)).norm() < 1e-6);
    }
  }
}

TEST_CASE("sixteen stacked boxes stand for ten seconds") {
  World world(earth(2e-3));
  world.add_fixed(Plane{}, {});
  std::vector<FigureId> boxes;
  for (int i = 0; i < 16; ++i) {
    const Model box = body("box" + std::to_string(i), Box{{0.2, 0.2, 0.2}}, 1);
    boxes.push_back(world.add(box, at(box, 1e-3 * (i % 3), 0, 0.1 + 0.2 * i)));
  }
  world.advance(10);
  REQUIRE(world.status() == WorldStatus::kRunning);
  for (int i = 0; i < 16; ++i) {
    CHECK(std::abs(world.q(boxes[size_t(i)])[2] - 0.1 - 0.2 * i) < 1e-4);
    CHECK(std::abs(world.q(boxes[size_t(i)])[0] - 1e-3 * (i % 3)) < 1e-4);
  }
}

TEST_CASE("a ball that spins on the spot is braked by its spin radius, and not without one") {
  const double radius = 0.1, spin_radius = 0.01, mu = 0.5, mass = 1, omega = 5;
  for (const double spin : {0.0, spin_radius}) {
    CAPTURE(spin);
    const ContactMaterial material{.mu_s = mu, .mu_d = mu, .spin_radius = spin};
    World world(earth());
    world.add_fixed(Plane{}, {}, material);
    const Model ball = body("ball", Sphere{radius}, mass);
    State state = at(ball, 0, 0, radius);
    state.v[2] = omega;
    const FigureId id = world.add(ball, state, {.material = material});
    world.advance(0.5);
    const double inertia = 0.4 * mass * radius * radius, brake = mu * mass * kG * (2.0 / 3) * spin / inertia;
    CHECK(world.v(id)[2] == doctest::Approx(omega - 0.5 * brake).epsilon(1e-6));  // a constant moment
    world.advance(3);
    CHECK(std::abs(world.v(id)[2] - (spin > 0 ? 0 : omega)) < 1e-6);  // it stops, and stays so
  }
}

TEST_CASE("stand: the torques that hold the human where it stands; in the air there are none") {
  World world(earth());
  world.add_fixed(Plane{}, {});
  const Model model = human28();
  FigureOptions figure;
  figure.switches.limits = false;
  const FigureId id = world.add(model, at(model, 0, 0, 0.88), figure);
  const World::StandReport report = world.stand(id);
  CHECK(report.feasible);
  CHECK(report.contacts == 2);
  for (int i = 0; i < 100; ++i) world.step();
  CHECK(world.v(id).cwiseAbs().maxCoeff() < 1e-6);
  CHECK(vertical_force(world) == doctest::Approx(676.65885).epsilon(1e-6));

  world.set_state(id, at(model, 0, 0, 1.5));
  CHECK_FALSE(world.stand(id).feasible);
}

TEST_CASE("a fall ends at the surface where contacts are anticipated, and within v·h of it where they are not") {
  double depth[2] = {0, 0};
  for (const bool anticipate : {false, true}) {
    CAPTURE(anticipate);
    WorldOptions options = earth();
    options.contact.anticipate = anticipate;
    World world(options);
    world.add_fixed(Plane{}, {});
    const Model box = body("box", Box{{0.2, 0.2, 0.2}}, 1), ball = body("ball", Sphere{0.1}, 1);
    State tilted = at(box, 1, 0, 1.1);
    const Quaternion<> turn = exp_quaternion(Vec3<>{0.3, -0.2, 0.1});
    tilted.q.segment<4>(3) << turn.x, turn.y, turn.z, turn.w;
    world.add(box, at(box, 0, 0, 1.1));
    FigureOptions second;
    second.name = "tilted";
    world.add(box, tilted, second);
    world.add(ball, at(ball, 2, 0, 1.1));
    world.advance(2);
    CHECK(world.status() == WorldStatus::kRunning);
    depth[anticipate] = world.totals().worst_penetration;
    for (int i = 0; i < 3; ++i) {
      CHECK(std::abs(world.q(FigureId(i))[2] - 0.1) < 2e-4);  // slop and tol_gap
      CHECK(world.v(FigureId(i)).norm() < 1e-6);
    }
  }
  MESSAGE("deepest: " << depth[0] << " m, anticipated " << depth[1] << " m");
  const double speed = std::sqrt(2 * kG);  // after 1 m
  CHECK(depth[0] > 1e-3);
  CHECK(depth[0] < 1.1 * speed * 1e-3);
  CHECK(depth[1] < 1e-4);  // what turns on its way passes the surface to second order in h
}
