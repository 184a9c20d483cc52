#include <doctest/doctest.h>

#include "../../../tests/vectors/dyn_case.h"
#include "assembly/kernel_table.h"
#include "kansetsu/assembly/assembly.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

constexpr double kTolerance = 1e-9;  // spec/dynamics.md §15: vectors agree to 3e-13, tree_broom40 to 6e-11

std::vector<std::filesystem::path> cases() {
  return vector_files({"tree_", "pair_", "gear_", "response_", "chain_", "chain_fixed_fixed", "loop_"});
}

RowMask mask(const std::string& joint) {
  if (joint == "revolute") return 0b111011;
  if (joint == "prismatic") return 0b011111;
  return joint == "fixed" ? kAllRows : RowMask(0b111000);
}

Eigen::VectorXd six(const Force<>& F) {
  Eigen::VectorXd out(6);
  out << F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z;
  return out;
}
Eigen::VectorXd six(const Json& n, const Json& f) {
  Eigen::VectorXd out(6);
  out << vector(n), vector(f);
  return out;
}

void check_reactions(const DynCase& c, const AssemblyResult& result) {
  for (int i = 1; i < c.body_count(); ++i) {
    CAPTURE(i);
    CHECK(deviation(c.joint_rate(i, result.vdot()), vector(c.expected(i).at("qdd"))) < kTolerance);
    if (!c.expected(i).contains("joint_wrench")) continue;
    const Json& expected = c.expected(i).at("joint_wrench");
    const Force<>& F = result.figures[0].reactions.wrench[size_t(c.link(i).value())];
    CHECK(deviation(six(F), six(expected.at("n"), expected.at("f"))) < kTolerance);
  }
  if (!c.json.at("expect").contains("gear_torque")) return;
  const Reactions& reaction = result.figures[0].reactions;
  for (const Json& gear : c.json.at("expect").at("gear_torque")) {
    for (const auto& [body, lambda] : gear.items()) {
      const Eigen::VectorXd motor = vector(c.body(std::stoi(body)).at("tau"));
      const int start = reaction.torque_start[size_t(c.joint(std::stoi(body)).value())];
      CHECK(deviation(Eigen::VectorXd(reaction.torque.segment(start, motor.size()) - motor),
                      lambda.is_array() ? vector(lambda) : Eigen::VectorXd::Constant(1, lambda.get<double>())) <
            kTolerance);
    }
  }
}

}  // namespace

TEST_CASE("reference trees, chains and loops") {
  int loops = 0;
  for (const auto& path : cases()) {
    CAPTURE(path.filename().string());
    const DynCase c(path);
    for (AssemblyOrder order : {AssemblyOrder::kBalanced, AssemblyOrder::kSerial}) {
      Assembly assembly(c.model, {.order = order});
      std::vector<ClosureId> closures;
      for (const Json& loop : c.json.value("loops", Json::array())) {
        closures.push_back(assembly.connect({{0, c.link(loop.at("a")), pose(loop.at("socket"))},
                                             {0, c.link(loop.at("b")), pose(loop.at("plug"))},
                                             mask(loop.at("joint"))}));
        ++loops;
      }
      AssemblyResult result(assembly);
      assembly.solve(c.state, c.tau, result, &c.external);
      CHECK(result.status == Status::kOk);
      check_reactions(c, result);
      for (size_t k = 0; k < closures.size(); ++k) {
        const Json& wrench = c.json.at("expect").at("loops").at(k).at("wrench_on_b");
        if (wrench.is_null()) continue;
        CHECK(deviation(six(assembly.wrench_on_b(closures[k])), six(wrench.at("n"), wrench.at("f"))) < kTolerance);
      }
      if (closures.empty()) continue;
      CHECK(result.rows == c.json.at("expect").at("loop_rows").get<int>());
      CHECK(result.rank == c.json.at("expect").at("loop_rank").get<int>());
    }
  }
  CHECK(loops >= 14);
}

TEST_CASE("one join and its split, with all matrices") {
  const Json json = load(dynamics_vectors() / "assembly_join.json");
  const auto matrix_of = [&](const char* object, const char* name) { return matrix(json.at(object).at(name)); };
  const Eigen::MatrixXd A = matrix_of("A", "Lambda"), B = matrix_of("B", "Lambda");
  const Eigen::MatrixXd Hp = matrix_of("joint", "H_p"), Hc = matrix_of("joint", "H_c");
  const Eigen::VectorXd h = vector(json.at("joint").at("h")), beta_A = vector(json.at("A").at("beta")),
                        beta_B = vector(json.at("B").at("beta"));
  const int n = int(h.size());
  // kept: the six rows of each outer handle (A's first, B's second); closed: the joint's
  Eigen::MatrixXd pivot = Eigen::MatrixXd::Zero(n, 13 + n), kept = Eigen::MatrixXd::Zero(12, 13);
  pivot.leftCols(6) = Hp * A.block(6, 0, 6, 6);
  pivot.middleCols(6, 6) = Hc * B.block(0, 6, 6, 6);
  pivot.col(12) = h - Hp * beta_A.tail(6) - Hc * beta_B.head(6);
  pivot.rightCols(n) = Hp * A.block(6, 6, 6, 6) * Hp.transpose() + Hc * B.block(0, 0, 6, 6) * Hc.transpose();
  kept.block(0, 0, 6, 6) = A.block(0, 0, 6, 6);
  kept.block(6, 6, 6, 6) = B.block(6, 6, 6, 6);
  kept.col(12) << -beta_A.head(6), -beta_B.tail(6);

  const int ld_pivot = padded(13 + n), ld_kept = padded(13);
  alignas(64) double pivot_rows[6 * 24] = {}, kept_rows[12 * 16] = {};
  REQUIRE(ld_pivot <= 24);
  for (int r = 0; r < n; ++r) {
    for (int k = 0; k < 13 + n; ++k) pivot_rows[r * ld_pivot + k] = pivot(r, k);
  }
  for (int r = 0; r < 12; ++r) {
    for (int k = 0; k < 13; ++k) kept_rows[r * ld_kept + k] = kept(r, k);
  }
  const PivotRows P{pivot_rows, n, 12, ld_pivot};
  const KeptRows G{kept_rows, 12, ld_kept};
  CHECK(kernel::assembly().close(P, 0, nullptr, nullptr, G) == 0);

  const Eigen::MatrixXd Lambda = matrix_of("result", "Lambda");
  const Eigen::VectorXd beta = vector(json.at("result").at("beta"));
  for (int r = 0; r < 12; ++r) {
    for (int k = 0; k < 12; ++k) CHECK(std::abs(G.row(r)[k] - Lambda(r, k)) < 1e-10);  // 1e-10: as the file was made
    CHECK(std::abs(-G.row(r)[12] - beta[r]) < 1e-10 * std::max(1.0, beta.lpNorm<Eigen::Infinity>()));
  }
  // split: the ends' wrenches act as forces of the kept rows
  Eigen::VectorXd F(12);
  F << vector(json.at("F_ends").at("0")), vector(json.at("F_ends").at("5"));
  const Eigen::VectorXd expected = vector(json.at("n"));
  alignas(64) double forces[24] = {};
  for (int k = 0; k < 12; ++k) forces[k] = F[k];
  kernel::assembly().substitute(P, nullptr, P.a + P.right(), P.ld, forces);
  const Eigen::VectorXd force = Eigen::Map<const Eigen::VectorXd>(forces + P.closed(0), n);
  CHECK(deviation(force, expected) < 1e-10);
}
