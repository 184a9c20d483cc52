#include <doctest/doctest.h>

#include <cmath>
#include <fstream>
#include <sstream>

#include "data_dir.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"
#include "sanitized.h"

using namespace kansetsu;

/// Benchmarks A01, A02 and A03 of the IFToMM library of multibody problems, all planar in x–y. Limits of error: 1e-3 of a
/// metre for "high precision".
namespace {

struct Row {
  double t, x, y;
};

/// A reference file of the benchmarks.
std::vector<Row> reference(const char* file) {
  std::vector<Row> rows;
  std::ifstream in(test::data_dir() / "benchmarks" / file);
  std::string line;
  while (std::getline(in, line)) {
    std::istringstream text(line);
    Row row{};
    if (text >> row.t >> row.x >> row.y) rows.push_back(row);
  }
  REQUIRE(!rows.empty());
  return rows;
}

/// A link hinged about z at a point of its parent.
void add_bar(ModelBuilder& builder, const std::string& name, const std::string& parent, const Vec3<>& hinge,
             const Vec3<>& com, double mass, double inertia) {
  builder.link(name, Inertial{mass, {com, {}}, Sym3<>::diagonal(inertia, inertia, inertia)});
  JointDescription joint;
  joint.name = name + "_hinge";
  joint.type = JointType::kRevolute;
  joint.parent = parent;
  joint.child = name;
  joint.axis = {0, 0, 1};
  joint.socket.p = hinge;
  builder.joint(joint);
}

/// The place of b on its link stays at that of a, in the plane.
void pin(World& world, BodyRef a, const Vec3<>& p_A, BodyRef b, const Vec3<>& p_B) {
  ConnectionOptions options;
  options.mask = 0b011000;  // shifts along x and y
  options.hold = Hold::kTogether;
  options.X_AC.p = p_A;
  options.X_BC.p = p_B;
  world.connect(a, b, options);
}

WorldOptions planar(double h, const Vec3<>& gravity) {
  WorldOptions options;
  options.gravity = gravity;
  options.integrator = Integrator::kRk4;
  options.time_step = h;
  return options;
}

}  // namespace

TEST_CASE("[data] A01: the simple pendulum over 2000 s") {
  const std::vector<Row> rows = reference("A01_solution_data.txt");
  ModelBuilder builder("pendulum");
  builder.link("ground");
  add_bar(builder, "bar", "ground", {}, {-1, 0, 0}, 1, 0);
  World world(planar(5e-3, {0, -9.81, 0}));
  const FigureId id = world.add(builder.build());
  double worst = 0;
  for (const Row& row : rows) {
    if (test::kSanitized && row.t > 20) break;
    while (world.time() < row.t - 1e-4) world.step();
    const double angle = world.q(id)[0];
    worst = std::max({worst, std::abs(-std::cos(angle) - row.x), std::abs(-std::sin(angle) - row.y)});
  }
  MESSAGE("worst error " << worst << " m");
  CHECK(worst < 1e-3);
  CHECK(std::abs(world.kinetic_energy() + world.potential_energy()) < 5e-5 * 200);  // 5e-5 J in 10 s is asked for
}

TEST_CASE("[data] A02: forty four-bar linkages in a row, through the singular position, 20 s") {
  const std::vector<Row> rows = reference("A02_N40_solution_data.txt");
  constexpr int kN = 40;
  ModelBuilder builder("linkages");
  builder.link("ground");
  for (int i = 0; i <= kN; ++i) {
    const std::string crank = "crank" + std::to_string(i), coupler = "coupler" + std::to_string(i);
    add_bar(builder, crank, "ground", {double(i), 0, 0}, {0, 0.5, 0}, 1, 1.0 / 12);
    if (i < kN) add_bar(builder, coupler, crank, {0, 1, 0}, {0.5, 0, 0}, 1, 1.0 / 12);
  }
  const Model model = builder.build();
  World world(planar(5e-3, {0, -9.81, 0}));
  State state(model);
  for (int i = 0; i <= kN; ++i) {
    state.v[model.coordinates(model.joint_id("crank" + std::to_string(i) + "_hinge")).v] = -1;
    if (i < kN) state.v[model.coordinates(model.joint_id("coupler" + std::to_string(i) + "_hinge")).v] = 1;
  }
  const FigureId id = world.add(model, state);
  for (int i = 0; i < kN; ++i) {
    pin(world, {id, model.link_id("coupler" + std::to_string(i))}, {1, 0, 0},
        {id, model.link_id("crank" + std::to_string(i + 1))}, {0, 1, 0});
  }
  REQUIRE(world.assemble().ok);
  const int q = model.coordinates(model.joint_id("crank0_hinge")).q;
  double worst = 0, gap = 0;
  for (const Row& row : rows) {
    if (test::kSanitized && row.t > 0.5) break;
    while (world.time() < row.t - 1e-4) {
      world.step();
      gap = std::max(gap, world.report().loop_gap);
    }
    worst = std::max({worst, std::abs(-std::sin(world.q(id)[q]) - row.x), std::abs(std::cos(world.q(id)[q]) - row.y)});
  }
  MESSAGE("worst error " << worst << " m, largest gap " << gap << " m");
  CHECK(worst < 1e-3);
  CHECK(gap < 1e-6);
}

TEST_CASE("A03: Andrews' squeezer mechanism at 0.03 s") {
  const double rr = 0.007, d = 0.028, ss = 0.035, e = 0.02, zt = 0.04, zf = 0.02, u = 0.04;
  const double beta = -0.0617138900142764496, theta = 0, gamma = 0.455279819163070380, phi = 0.222668390165885885,
               delta = 0.487364979543842550, omega = -0.222668390165885885, epsilon = 1.23054744454982119;
  const Vec3<> A{-0.06934, -0.00227, 0}, B{-0.03635, 0.03273, 0}, C{0.014, 0.072, 0};
  const Vec3<> F{rr * std::cos(beta), rr * std::sin(beta), 0};
  const Vec3<> E{F.x - d * std::cos(beta + theta), F.y - d * std::sin(beta + theta), 0};
  const Vec3<> G{A.x + zt * std::cos(delta), A.y + zt * std::sin(delta), 0};
  const Vec3<> H{A.x + u * std::sin(epsilon), A.y - u * std::cos(epsilon), 0};
  CHECK(norm(E - G) == doctest::Approx(e).epsilon(1e-9));
  CHECK(norm(E - H) == doctest::Approx(zf).epsilon(1e-9));
  const auto turned = [&](double x, double y) {
    return Vec3<>{std::cos(gamma) * x - std::sin(gamma) * y, std::sin(gamma) * x + std::cos(gamma) * y, 0};
  };
  const Vec3<> D = turned(0.02, -0.018);
  const auto along = [](const Vec3<>& from, const Vec3<>& to, double by) {
    return (by / norm(to - from)) * (to - from);
  };
  const auto beside = [&](const Vec3<>& from, const Vec3<>& to, double by, double across) {
    const Vec3<> t = along(from, to, 1);
    return by * t + across * Vec3<>{-t.y, t.x, 0};
  };

  // All links have the world's axes at the start.
  ModelBuilder builder("squeezer");
  builder.link("ground");
  add_bar(builder, "OF", "ground", {}, along({}, F, 0.00092), 0.04325, 2.194e-6);
  add_bar(builder, "FE", "OF", F, along(F, E, 0.0115), 0.00365, 4.410e-7);
  add_bar(builder, "BDE", "ground", B, turned(0.01043, -0.01874), 0.02373, 5.255e-6);
  add_bar(builder, "AG", "ground", A, beside(A, G, 0.02308, 0.00916), 0.07050, 1.169e-5);
  add_bar(builder, "EG", "AG", G - A, along(G, E, 0.00579), 0.00706, 5.667e-7);
  add_bar(builder, "AH", "ground", A, beside(A, H, 0.01228, 0.00449), 0.05498, 1.912e-5);
  add_bar(builder, "EH", "AH", H - A, along(H, E, 0.00579), 0.00706, 5.667e-7);
  const Model model = builder.build();

  World world(planar(1e-6, {}));
  const FigureId id = world.add(model);
  const auto link = [&](const char* name) { return BodyRef{id, model.link_id(name)}; };
  pin(world, link("BDE"), turned(0, -ss), link("FE"), E - F);
  pin(world, link("FE"), E - F, link("EG"), E - G);
  pin(world, link("FE"), E - F, link("EH"), E - H);
  SpringDescription spring;
  spring.stiffness = 4530;
  spring.rest_length = 0.07785;
  world.add_spring(kWorldBody, C, link("BDE"), D, spring);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(model.nv());
  tau[model.coordinates(model.joint_id("OF_hinge")).v] = 0.033;
  world.set_torque(id, tau);
  const World::AssemblyReport report = world.assemble();
  REQUIRE(report.ok);
  const double E0 = world.kinetic_energy() + world.potential_energy();

  double gap = 0;
  for (int i = 0; i < 30000; ++i) {
    world.step();
    gap = std::max(gap, world.report().loop_gap);
  }
  const auto q = [&](const char* joint) { return world.q(id)[model.coordinates(model.joint_id(joint)).q]; };
  const auto v = [&](const char* joint) { return world.v(id)[model.coordinates(model.joint_id(joint)).v]; };
  const double turn = q("OF_hinge");
  CHECK(beta + turn == doctest::Approx(15.81077119629904).epsilon(1e-6));
  CHECK(theta + q("FE_hinge") == doctest::Approx(-15.75637105984298).epsilon(1e-6));
  CHECK(gamma + q("BDE_hinge") == doctest::Approx(0.04082224013073101).epsilon(1e-5));
  CHECK(delta + q("AG_hinge") == doctest::Approx(0.5244099658805304).epsilon(1e-6));
  CHECK(phi + q("EG_hinge") == doctest::Approx(-0.5347301163226948).epsilon(1e-5));
  CHECK(epsilon + q("AH_hinge") == doctest::Approx(1.048080741042263).epsilon(1e-6));
  CHECK(omega + q("EH_hinge") == doctest::Approx(0.5347301163226948).epsilon(1e-5));
  CHECK(v("OF_hinge") == doctest::Approx(1139.920302151208).epsilon(1e-5));
  CHECK(std::abs(world.kinetic_energy() + world.potential_energy() - E0 - 0.033 * turn) < 1e-6);
  CHECK(gap < 1e-9);
}
