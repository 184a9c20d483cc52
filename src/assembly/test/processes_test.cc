#include "kansetsu/assembly/processes.h"

#include <doctest/doctest.h>

#include <barrier>
#include <cmath>
#include <cstring>
#include <span>
#include <thread>

#include "kansetsu/base/error.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// Threads that talk as processes do: through all_gather alone.
Eigen::VectorXd by_processes(const Model& model, int size, const State& state, const Eigen::VectorXd& tau) {
  std::barrier meet(size);
  std::vector<double> board;
  Eigen::VectorXd vdot = Eigen::VectorXd::Constant(model.nv(), NAN);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      const auto gather = [&, rank](std::span<const double> mine, std::span<double> all) {
        if (rank == 0) board.resize(all.size());
        meet.arrive_and_wait();
        std::memcpy(board.data() + size_t(rank) * mine.size(), mine.data(), mine.size_bytes());
        meet.arrive_and_wait();
        std::memcpy(all.data(), board.data(), all.size_bytes());
        meet.arrive_and_wait();
      };
      ChainProcess process(model, {.rank = rank, .size = size, .all_gather = gather});
      Eigen::VectorXd own = Eigen::VectorXd::Zero(model.nv());
      process.solve(state, tau, own);
      vdot.segment(process.first_column(), process.columns()) = own.segment(process.first_column(), process.columns());
    });
  }
  for (std::thread& t : threads) t.join();
  return vdot;
}

}  // namespace

TEST_CASE("a chain shared out among 1, 2, 3 and 4 processes moves as in one, whatever its base and joints") {
  for (const std::uint64_t seed : {3u, 4u, 5u}) {
    CAPTURE(seed);
    for (const Base base : {Base::kFixed, Base::kFree}) {
      const Model model = chain(40, base);
      std::mt19937_64 rng(seed);
      State state(model);
      state.q = integrate(model, state.q, 0.3 * random_vector(model.nv(), rng));
      state.v = 0.3 * random_vector(model.nv(), rng);
      const Eigen::VectorXd tau = random_vector(model.nv(), rng);
      const Eigen::VectorXd one = by_processes(model, 1, state, tau), expected = aba(model, state, tau).vdot;
      const double scale = expected.cwiseAbs().maxCoeff();
      CHECK((one - expected).cwiseAbs().maxCoeff() < 1e-11 * scale);
      for (const int size : {2, 3, 4}) {
        CAPTURE(size);
        CHECK((by_processes(model, size, state, tau) - one).cwiseAbs().maxCoeff() < 1e-12 * scale);
      }
    }
  }
}

TEST_CASE("what cannot be shared out among processes is said") {
  CHECK(ChainProcess::unsupported(human28()));
  CHECK_FALSE(ChainProcess::unsupported(chain(5)));
  CHECK_THROWS_WITH_AS(ChainProcess(chain(3), {.rank = 0, .size = 9}), doctest::Contains("links"), Error);
  CHECK_THROWS_WITH_AS(ChainProcess(human28(), {}), doctest::Contains("has no mass"), Error);
}
