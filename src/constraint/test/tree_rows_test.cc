#include <random>

#include <doctest/doctest.h>

#include "constraint/island.h"
#include "kansetsu/constraint/contact_solver.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/rotations.h"

using namespace kansetsu;

namespace {

constexpr double kStep = 1e-3, kGravity = 9.81;

/// human28 with dry friction in all joints and contacts at random places of its bodies, against the world and against each other: the same
/// rows by one matrix and by the recursion.
struct Figure {
  Model model = human28();
  Mechanics mechanics{model};
  Mechanics* figures[1] = {&mechanics};
  Island island;
  std::vector<ContactPatch> patches;
  std::vector<BoundedRow> bounded;

  Figure(std::uint64_t seed, int contacts, int joining, int least_tree) {
    std::mt19937_64 rng(seed);
    std::uniform_real_distribution<double> any(-1, 1);
    const Eigen::VectorXd q = random_configuration(model, rng);
    Eigen::VectorXd v(model.nv()), tau(model.nv());
    for (int k = 0; k < model.nv(); ++k) v[k] = any(rng), tau[k] = k < 6 ? 0 : 20 * any(rng);
    mechanics.set_pose(q.data());
    mechanics.set_motion(v.data());
    mechanics.factorise(nullptr, tau.data());
    const int joints = model.nv() - 6, rows = joints + 1 + 6 * contacts + 3 * joining;
    island.least_tree = least_tree;
    island.begin(figures, 0, rows, rows);  // also where contacts join bodies, which worlds leave to a matrix
    for (int k = 0; k < joints; ++k) {
      island.add_dof(k, mechanics, 6 + k, 1, v[6 + k]);
      bounded.push_back(BoundedRow::friction(k, 2));
    }
    island.add_dof(joints, mechanics, 8, 0.7, v[8]);  // a row on two coordinates
    island.add_dof(joints, mechanics, 12, -0.4, v[12]);
    bounded.push_back(BoundedRow::friction(joints, 3));
    int row = joints + 1;
    std::uniform_int_distribution<int> body(0, mechanics.tree().body_count - 1);
    for (int i = 0; i < contacts + joining; ++i) {
      const bool joins = i >= contacts;
      ContactPatch& p = patches.emplace_back();
      p.row = row, p.row_count = joins ? 3 : 6, p.vertex_count = joins ? 1 : 4;
      p.vertices[0] = {0.1, 0.05, 0};
      if (!joins) p.vertices[1] = {-0.1, 0.05, 0}, p.vertices[2] = {-0.1, -0.05, 0}, p.vertices[3] = {0.1, -0.05, 0};
      if (joins) p.vertices[0] = {};
      p.mu_static = p.mu_dynamic = 0.5;
      p.arm = joins ? 0 : friction_arm_rectangle(0.2, 0.1);
      const Mat3<> E = to_mat3(exp_quaternion(Vec3<>{any(rng), any(rng), any(rng)}));
      const Vec3<> place = mechanics.origin() + Vec3<>{0.3 * any(rng), 0.3 * any(rng), any(rng)};
      const RowEnd world{.rests = true}, one{.figure = &mechanics, .body = body(rng)},
          other{.figure = &mechanics, .body = body(rng)};
      island.add_frame(row, joins ? 0b111 : 0b111111, joins ? other : world, one, E, place, Rate::kPlace);
      row += p.row_count;
    }
    island.assemble();
    island.hold_accelerations();
  }
  ContactProblem problem() {
    return {.rows = island.rows(),
            .G = island.G(),
            .stride = island.stride(),
            .padded = island.padded(),
            .tree = island.tree(),
            .a = island.reduced_a(),
            .u = island.reduced_u(),
            .h = kStep,
            .gravity = kGravity,
            .patches = patches,
            .bounded = bounded};
  }
  ContactResult solve() {
    ContactSolver solver;
    std::vector<ContactMemory> memory(patches.size());
    ContactResult out;
    solver.solve_contact(problem(), memory, out);
    return out;
  }
  Eigen::VectorXd rates(const ContactResult& r) {
    Eigen::VectorXd out = Eigen::VectorXd::Zero(model.nv());
    island.complete(r.force.data(), 1);
    island.respond(0, out.data());
    return out;
  }
};

constexpr int kNever = 1 << 20;

}  // namespace

TEST_CASE("torques that are added to an island that is assembled change it as those given before") {
  for (const int least_tree : {1, 10000}) {
    CAPTURE(least_tree);
    Figure plain(5, 3, 1, least_tree), driven(5, 3, 1, least_tree);
    Eigen::VectorXd torques(plain.model.nv()), rates = Eigen::VectorXd::Zero(torques.size()), before = rates;
    for (int k = 0; k < torques.size(); ++k) torques[k] = std::sin(1.0 + k);
    Eigen::VectorXd x = torques;
    plain.mechanics.solve(x.data());
    driven.island.add_drive(0, torques.data());
    const std::vector<double> none(size_t(plain.island.rows()), 0.0);
    plain.island.complete(none.data(), 1), plain.island.respond(0, before.data());
    driven.island.complete(none.data(), 1), driven.island.respond(0, rates.data());
    CHECK((rates - before - x).norm() < 1e-10 * x.norm());  // M⁻¹·torques, through the factor of 28 hinges
    for (int r = 0; r < 28; ++r) {                          // rows of joints measure their coordinates
      CHECK(driven.island.a()[r] - plain.island.a()[r] == doctest::Approx(x[6 + r]).epsilon(1e-9));
    }
  }
}

TEST_CASE("rows by the recursion answer as their matrix does") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Figure matrix(seed, 4, 3, kNever), tree(seed, 4, 3, 1);
    REQUIRE(matrix.island.tree() == nullptr);
    REQUIRE(tree.island.tree() != nullptr);
    const int n = tree.island.rows();
    const kernel::TreeRowsView& view = *tree.island.tree();
    Eigen::Map<const Eigen::VectorXd> a(matrix.island.reduced_a(), n), b(tree.island.reduced_a(), n);
    CHECK((a - b).norm() <
          1e-10 * a.norm());  // rounding of two recursions over 28 coordinates, hips near their singular postures
    const auto G = [&](int i, int j) { return matrix.island.G()[i * matrix.island.stride() + j]; };
    Eigen::VectorXd r = Eigen::VectorXd::Zero(kernel::padded_rows(n)), w = r;
    for (int i = 0; i < n; ++i) {
      r.setZero();
      r[i] = 1;
      kernel::tree_rows_kernels().answer(view, r.data(), w.data());
      for (int j = 0; j < n; ++j)
        CHECK(std::abs(w[j] - G(i, j)) < 1e-10 * std::sqrt(G(i, i) * G(j, j)) + 1e-14);  // as above
    }
    for (const ContactPatch& p : tree.patches) {
      for (int i = 0; i < p.row_count; ++i) {
        for (int j = 0; j < p.row_count; ++j) {
          const double expected = G(p.row + i, p.row + j),
                       scale = std::sqrt(G(p.row + i, p.row + i) * G(p.row + j, p.row + j));
          CHECK(std::abs(view.own[8 * (p.row + i) + j] - expected) < 1e-10 * scale + 1e-14);  // as above
        }
      }
    }
    for (const BoundedRow& c : tree.bounded)
      CHECK(std::abs(view.own[8 * c.row] - G(c.row, c.row)) < 1e-10 * G(c.row, c.row));
  }
}

TEST_CASE(
    "contacts, joint friction and rows that join bodies: systems by the recursion and by a matrix have one answer") {
  int solved = 0, slides = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    const int contacts = int(seed % 5), joining = int(seed % 4);
    Figure matrix(seed, contacts, joining, kNever), tree(seed, contacts, joining, 1);
    const ContactResult a = matrix.solve(), b = tree.solve();
    CHECK(a.status == b.status);
    if (a.status != ContactStatus::kOk) continue;  // bodies jammed between planes that ask for what no force gives
    ++solved;
    for (const PatchReport& p : b.patches) slides += p.slip == SlipMode::kSlide;
    const Eigen::VectorXd change = kStep * (matrix.rates(a) - tree.rates(b));
    CHECK(change.cwiseAbs().maxCoeff() <
          1e-6);  // [m/s, rad/s] a hundred times the residual that is accepted of speeds of 1: light hands
  }
  CHECK(solved > 40);
  CHECK(slides > 10);  // where H is not symmetric
}

TEST_CASE("figures with many rows are taken by the recursion, on either side of kLeastTree") {
  const int rows = human28().nv() - 5;
  Figure at(1, 0, 0, rows), above(1, 0, 0, rows + 1);
  CHECK(at.island.tree() != nullptr);
  CHECK(above.island.tree() == nullptr);
}
