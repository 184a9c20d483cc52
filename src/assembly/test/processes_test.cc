#include "kansetsu/assembly/processes.h"

#include <doctest/doctest.h>

#include <barrier>
#include <cmath>
#include <cstring>
#include <span>
#include <thread>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

struct Shared {
  Eigen::VectorXd vdot;
  std::vector<int> links;  ///< of each process
};

/// Threads that talk as processes do: through all_gather alone.
Shared by_processes(const Model& model, int size, const State& state, const Eigen::VectorXd& tau,
                    const std::vector<Closure>& closures = {}) {
  std::barrier meet(size);
  std::vector<double> board;
  Shared out{Eigen::VectorXd::Constant(model.nv(), NAN), std::vector<int>(size_t(size))};
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
      AssemblyProcess process(model, {.rank = rank, .size = size, .all_gather = gather}, {.closures = closures});
      Eigen::VectorXd own = Eigen::VectorXd::Constant(model.nv(), NAN);
      process.solve(state, tau, own);
      for (const int c : process.columns()) out.vdot[c] = own[c];
      out.links[size_t(rank)] = process.links();
    });
  }
  for (std::thread& t : threads) t.join();
  return out;
}

struct Case {
  State state;
  Eigen::VectorXd tau;
};
Case gentle(const Model& model, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  Case out{State(model), {}};
  out.state.q = integrate(model, out.state.q, 0.3 * random_vector(model.nv(), rng));
  out.state.v = 0.3 * random_vector(model.nv(), rng);
  out.tau = random_vector(model.nv(), rng);
  return out;
}

/// Every number of processes gives what one gives. 1e-12: rounding of some hundred links and of the small system between pieces.
void check_all(const Model& model, const Case& c, const std::vector<Closure>& closures = {}) {
  const Eigen::VectorXd one = by_processes(model, 1, c.state, c.tau, closures).vdot;
  REQUIRE(one.allFinite());
  for (const int size : {2, 3, 4}) {
    CAPTURE(size);
    CHECK((by_processes(model, size, c.state, c.tau, closures).vdot - one).cwiseAbs().maxCoeff() <
          1e-12 * std::max(1.0, one.cwiseAbs().maxCoeff()));
  }
}

ClosureAnchor on(const Model& model, int link, const Transform<>& X = {}) {
  return {.figure = 0, .link = LinkId(link < 0 ? model.link_count() + link : link), .X_LJ = X};
}

}  // namespace

TEST_CASE("a chain shared out among 1, 2, 3 and 4 processes moves as in one, whatever its base") {
  for (const std::uint64_t seed : {3u, 4u, 5u}) {
    CAPTURE(seed);
    for (const Base base : {Base::kFixed, Base::kFree}) {
      const Model model = chain(40, base);
      const Case c = gentle(model, seed);
      const Eigen::VectorXd expected = aba(model, c.state, c.tau).vdot;
      CHECK((by_processes(model, 1, c.state, c.tau).vdot - expected).cwiseAbs().maxCoeff() <
            1e-11 * expected.cwiseAbs().maxCoeff());  // assembly beside ABA
      check_all(model, c);
      for (const int links : by_processes(model, 4, c.state, c.tau).links) CHECK(std::abs(links - 10) <= 1);
    }
  }
}

TEST_CASE("trees with branches, rotors and any joints shared out among processes move as in one") {
  for (const std::uint64_t seed : {11u, 12u, 13u, 14u}) {
    CAPTURE(seed);
    for (const Base base : {Base::kFixed, Base::kFree}) {
      for (const double branching : {0.3, 0.8}) {
        CAPTURE(branching);
        const Model model = random_tree(seed, {.links = 60, .base = base, .branching = branching});
        REQUIRE(AssemblyProcess::most_processes(model) >= 4);
        check_all(model, gentle(model, seed));
      }
    }
  }
}

TEST_CASE("gears stay in one piece") {
  int shared = 0;
  for (const std::uint64_t seed : {21u, 22u, 23u, 24u, 25u, 26u}) {
    CAPTURE(seed);
    const Model model = random_tree(seed, {.links = 40, .types = {JointType::kRevolute}, .branching = 0.8, .gears = 3});
    if (Assembly::unsupported(model) || AssemblyProcess::most_processes(model) < 4) continue;
    check_all(model, gentle(model, seed));
    ++shared;
  }
  CHECK(shared >= 2);
}

TEST_CASE("rings and loops, within a piece, between pieces and to the world, move as in one process") {
  constexpr RowMask kHinge = 0b111011;
  for (const std::uint64_t seed : {31u, 32u}) {
    CAPTURE(seed);
    const Transform<> tip{Mat3<>::identity(), {0, 0, 0.3}};
    const Model ring = chain(40, Base::kFree);
    check_all(ring, gentle(ring, seed), {{on(ring, -1, tip), on(ring, 0), kHinge}});
    const Model light = rope(40);  // links of 5 g: what rows yield differs by ten orders of magnitude
    check_all(light, gentle(light, seed), {{{}, on(light, -1), kHinge}, {on(light, 0), on(light, 20), kHinge}});
    const Model held = chain(40);
    check_all(held, gentle(held, seed), {{{}, on(held, -1, tip), 0b111000}});
    const Model tree =
        random_tree(seed, {.links = 60, .types = {JointType::kRevolute, JointType::kPrismatic}, .branching = 0.5});
    check_all(tree, gentle(tree, seed), {{on(tree, 7), on(tree, -1), 0b111000}, {on(tree, 20), on(tree, 40), kHinge}});
  }
}

/// Links of 0.2 m that turn about one axis.
Model planar_chain(int links, Base base, const Vec3<>& axis) {
  ModelBuilder builder("planar");
  builder.base(base);
  if (base == Base::kFixed) builder.link("ground");
  for (int i = 0; i < links; ++i) {
    const std::string name = "l" + std::to_string(i);
    builder.link(
        {.name = name,
         .inertial = Inertial{.mass = 1, .origin = {.p = {0.1, 0, 0}}, .inertia = Sym3<>::diagonal(0.01, 0.01, 0.01)}});
    if (i == 0 && base == Base::kFree) continue;
    builder.joint({.name = "j" + std::to_string(i),
                   .type = JointType::kRevolute,
                   .parent = i > 0 ? "l" + std::to_string(i - 1) : "ground",
                   .child = name,
                   .socket = {.p = {i > 0 ? 0.2 : 0, 0, 0}},
                   .axis = axis});
  }
  return builder.build();
}
const Transform<> kPlanarEnd{Mat3<>::identity(), {0.2, 0, 0}};

TEST_CASE("a planar ring between processes: rows that others imply change nothing") {
  const Model model = planar_chain(24, Base::kFree, {0, 0, 1});
  Case c = gentle(model, 41);
  const Eigen::VectorXd turn = Eigen::VectorXd::Constant(model.nv() - 6, 2 * M_PI / 24);
  c.state.q = State(model).q;
  c.state.q.tail(model.nv() - 6) = turn;  // a closed polygon, and it turns as a whole
  c.state.v.setZero();
  c.state.v[2] = 0.5;
  check_all(model, c, {{on(model, -1, kPlanarEnd), on(model, 0), 0b111011}});
}

TEST_CASE(
    "a planar linkage between processes, hinged to the world at both ends: what holds it out of its plane holds every "
    "piece") {
  for (const Vec3<>& axis :
       {Vec3<>{0, 0, 1}, Vec3<>{1. / 3, -2. / 3, 2. / 3}}) {  // in the rows' axes, and across all of them
    const Model model = planar_chain(5, Base::kFixed, axis);
    Case c = gentle(model, 42);
    c.state.v.setZero();
    const Transform<> end = fk(model, c.state.q)[LinkId(model.link_count() - 1)] * kPlanarEnd;
    REQUIRE(AssemblyProcess::most_processes(model) >= 4);
    const ClosureAnchor world{.figure = 0, .link = {}, .X_LJ = end}, tip = on(model, -1, kPlanarEnd);
    for (const RowMask rows : {RowMask(0b111000), kAllRows}) {
      check_all(model, c, {{world, tip, rows}});
      check_all(model, c, {{tip, world, rows}});
    }
  }
}

TEST_CASE("what cannot be shared out among processes is said, in every process alike") {
  CHECK(AssemblyProcess::most_processes(chain(5)) == 5);  // five joints, but the first hangs on the ground
  CHECK(AssemblyProcess::most_processes(pendulum(1)) == 1);
  const Model model = chain(3);
  for (const int rank : {0, 3}) {
    CHECK_THROWS_WITH_AS(AssemblyProcess(model, {.rank = rank, .size = 4}), doctest::Contains("2 joints"), Error);
    const auto with = [&](const Closure& closure) {
      return AssemblyProcess(chain(20), {.rank = rank, .size = 4}, {.closures = {closure}});
    };
    CHECK_THROWS_WITH_AS(with({{}, on(model, 99)}), doctest::Contains("link 99"), Error);
    CHECK_THROWS_WITH_AS(with({{}, on(model, 0)}), doctest::Contains("fixed to the world"), Error);
    CHECK_THROWS_WITH_AS(with({{}, on(model, 2), 0}), doctest::Contains("mask"), Error);
  }
  CHECK_THROWS_WITH_AS(AssemblyProcess(model, {.rank = 4, .size = 4}), doctest::Contains("process 4 of 4"), Error);
}
