#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "kansetsu/assembly/assembly.h"
#include "kansetsu/base/error.h"
#include "kansetsu/batch/batch.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/dynamics/response.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"

/// What a caller gets wrong is told, not followed by a crash or by numbers that are none.
namespace kansetsu {

TEST_CASE("forward dynamics of what is not finite has a status") {
  const Model model = human28();
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const Eigen::VectorXd rest = Eigen::VectorXd::Zero(model.nv());
  CHECK(aba(model, State(model), rest).status == Status::kOk);
  for (const double bad : {nan, inf, -inf}) {
    Eigen::VectorXd tau = rest;
    tau[10] = bad;
    CHECK(aba(model, State(model), tau).status == Status::kNotFinite);
    State turning(model);
    turning.v[7] = bad;
    CHECK(aba(model, turning, rest).status == Status::kNotFinite);
    State bent(model);
    bent.q[9] = bad;
    CHECK(aba(model, bent, rest).status != Status::kOk);
  }
  State nowhere(model);
  nowhere.q.segment(3, 4).setZero();
  CHECK(aba(model, nowhere, rest).status != Status::kOk);
}

TEST_CASE("a tolerance that is none crashes no assembly") {
  World world;
  world.add(pendulum());
  CHECK_THROWS_AS((void)world.assemble(std::nan("")), Error);
  CHECK_THROWS_AS((void)world.assemble(-1e-9), Error);
  CHECK_THROWS_AS((void)world.assemble(1e-9, -1), Error);
  CHECK(world.assemble(0, 0).ok);
}

TEST_CASE("objects that were moved from throw") {
  Model model = human28();
  const Model other = std::move(model);
  CHECK(other.nv() == 34);
  CHECK_THROWS_AS((void)model.nv(), Error);  // NOLINT(bugprone-use-after-move): that is what is tested, here and below
  CHECK_THROWS_AS(State{model}, Error);

  World world;
  world.add(pendulum());
  World moved = std::move(world);
  moved.step();
  CHECK_THROWS_AS(world.step(), Error);  // NOLINT(bugprone-use-after-move)
  CHECK_THROWS_AS((void)world.time(), Error);
  CHECK_THROWS_AS((void)world.save(), Error);
  world = std::move(moved);
  world.step();

  batch::Batch<double> batch(other);
  const batch::Batch<double> batch_moved = std::move(batch);
  std::vector<double> q(35), out(10000);
  CHECK_THROWS_AS(batch.fk(1, q.data(), out.data()), Error);  // NOLINT(bugprone-use-after-move)

  ik::Problem problem;
  problem.add(ik::PositionTask{ik::frame_on(other, "gripL"), {0.4, 0.2, 0.3}}, {});
  ik::Solver solver(other, problem);
  ik::Solver solver_moved = std::move(solver);
  CHECK_THROWS_AS((void)solver.solve(neutral(other)), Error);  // NOLINT(bugprone-use-after-move)

  Response response(other);
  const Response response_moved = std::move(response);
  CHECK_THROWS_AS((void)response.update(neutral(other)), Error);  // NOLINT(bugprone-use-after-move)

  Assembly assembly(other);
  const Assembly assembly_moved = std::move(assembly);
  CHECK_THROWS_AS((void)assembly.figure_count(), Error);  // NOLINT(bugprone-use-after-move)
  assembly = Assembly(other);                             // takes a new part, with what deletes it
  CHECK(assembly.figure_count() == 1);
}

}  // namespace kansetsu
