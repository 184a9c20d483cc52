#include <doctest/doctest.h>

#include <Eigen/LU>

#include "../../../tests/vectors/dyn_case.h"
#include "assembly/kernel_table.h"
#include "base/aligned_memory.h"
#include "kansetsu/assembly/assembly.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

constexpr double kTolerance = 1e-9;  // docs/theory/assembly.md: vectors agree to 3e-13, tree_broom40 to 6e-11

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
    // Without refinement, too: it repairs right sides that are wrong.
    for (const AssemblyOptions& options :
         {AssemblyOptions{}, AssemblyOptions{.refinements = 0}, AssemblyOptions{.order = AssemblyOrder::kSerial},
          AssemblyOptions{.order = AssemblyOrder::kSerial, .refinements = 0}}) {
      CAPTURE(int(options.order));
      CAPTURE(options.refinements);
      Assembly assembly(c.model, options);
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
  CHECK(loops >= 28);
}

/// The recursion of [Yama01] §2.2 by the kernels of assembly, one joint of the file after the other. A row of the file is a row of
/// ours, so every matrix between is as the file has it: S (14), M (16), provisional forces (15), forces (17), accelerations (19).
TEST_CASE("the serial method, with all that is between") {
  int joints = 0;
  for (const auto& path : vector_files({"chain_"})) {
    const Json json = load(path);
    if (!json.contains("yn_serial")) continue;
    CAPTURE(path.filename().string());
    const Json &links = json.at("yn_serial").at("links"), &rows = json.at("yn_serial").at("constraints");
    const auto near = [](const auto& x, const auto& y) { return deviation(x, y) < kTolerance; };
    const auto link = [&](size_t k, const char* name) { return matrix(links.at(k).at(name)); };
    const size_t count = rows.size();
    // What is left of the rows of joint m when all joints before it are closed: P − S·M·Sᵀ, and its right side.
    Eigen::MatrixXd left;
    Eigen::VectorXd right;
    struct Closed {
      std::vector<double> numbers;
      PivotRows P;
    };
    std::vector<Closed> closed(count);
    for (size_t m = 0; m < count; ++m) {
      CAPTURE(m);
      const Json& now = rows.at(m);
      const Eigen::MatrixXd H_prev = matrix(now.at("H_prev")), H_own = matrix(now.at("H_own"));
      const Eigen::MatrixXd P =
          H_prev * link(m, "Ainv") * H_prev.transpose() + H_own * link(m + 1, "Ainv") * H_own.transpose();
      const Eigen::VectorXd a = vector(now.at("h")) - H_prev * link(m, "Ainv") * vector(links.at(m).at("t")) -
                                H_own * link(m + 1, "Ainv") * vector(links.at(m + 1).at("t"));
      CHECK(near(a, vector(now.at("a"))));
      if (m == 0) {
        left = P, right = a;
      } else {
        left += P, right += a;
      }
      CHECK(near(Eigen::MatrixXd(left.inverse()), matrix(now.at("M"))));                  // (12), (16)
      CHECK(near(Eigen::VectorXd(left.inverse() * right), vector(now.at("n_partial"))));  // (11), (15)
      if (m + 1 == count) break;
      // Joint m is closed, the rows of the next one are kept.
      const Eigen::MatrixXd S = matrix(rows.at(m + 1).at("H_prev")) * link(m + 1, "Ainv") * H_own.transpose();  // (14)
      CHECK(near(S, matrix(rows.at(m + 1).at("S"))));
      const int n = int(left.rows()), k = int(S.rows()), ld_pivot = padded(k + 1 + n), ld_kept = padded(k + 1);
      closed[m].numbers.resize(size_t(n * ld_pivot) + 8);
      std::vector<double> kept_numbers(size_t(k * ld_kept) + 8);
      double *pivot = aligned(closed[m].numbers.data()), *kept = aligned(kept_numbers.data());
      for (int r = 0; r < n; ++r) {
        for (int c = 0; c < k; ++c) pivot[r * ld_pivot + c] = S(c, r);
        pivot[r * ld_pivot + k] = right[r];
        for (int c = 0; c < n; ++c) pivot[r * ld_pivot + k + 1 + c] = left(r, c);
      }
      closed[m].P = {pivot, n, k, ld_pivot};
      REQUIRE(kernel::assembly().close(closed[m].P, 0, nullptr, nullptr, {kept, k, ld_kept}) == 0);
      left.resize(k, k), right.resize(k);
      for (int r = 0; r < k; ++r) {
        for (int c = 0; c < k; ++c) left(r, c) = kept[r * ld_kept + c];
        right[r] = kept[r * ld_kept + k];
      }
      ++joints;
    }
    std::vector<Eigen::VectorXd> force(count);
    force[count - 1] = left.inverse() * right;  // (18)
    for (size_t m = count - 1; m-- > 0;) {      // (17), from the tip to the base
      const PivotRows& P = closed[m].P;
      std::vector<double> numbers(size_t(P.ld) + 8);
      double* x = aligned(numbers.data());
      for (int c = 0; c < force[m + 1].size(); ++c) x[c] = force[m + 1][c];
      kernel::assembly().substitute(P, nullptr, P.a + P.right(), P.ld, x);
      force[m] = Eigen::Map<const Eigen::VectorXd>(x + P.closed(0), P.count);
    }
    for (size_t m = 0; m < count; ++m) CHECK(near(force[m], vector(rows.at(m).at("n"))));
    for (size_t k = 0; k < links.size(); ++k) {  // (19)
      Eigen::VectorXd t = vector(links.at(k).at("t"));
      if (k > 0) t += matrix(rows.at(k - 1).at("H_own")).transpose() * force[k - 1];
      if (k < count) t += matrix(rows.at(k).at("H_prev")).transpose() * force[k];
      CHECK(near(Eigen::VectorXd(link(k, "Ainv") * t), vector(links.at(k).at("acc_spatial"))));
    }
  }
  CHECK(joints >= 10);
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
