#define KANSETSU_ISA baseline
#include "assembly/device_tree.h"

#include <doctest/doctest.h>

#include <atomic>
#include <barrier>
#include <bit>
#include <limits>
#include <thread>

#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/figures.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();

/// Memory of a block and of its teams; nothing in it is a number before the kernel has written it.
struct BlockMemory {
  std::vector<TreeEntry> entries;
  std::vector<ChainCarry> carries;
  std::vector<double> numbers, base;
  std::vector<TreeRoom> rooms;

  explicit BlockMemory(const DeviceTree& tree)
      : entries(size_t(tree.most_entries)),
        carries(size_t(tree.most_carries)),
        numbers(size_t(tree.most_numbers), kNothing),
        base(19, kNothing),
        rooms(size_t(tree.teams)) {
    for (TreeRoom& room : rooms) {
      for (double& x : room.numbers) x = kNothing;
      for (double& x : room.taken) x = kNothing;
    }
    for (TreeEntry& entry : entries) {
      for (double& x : entry.A) x = kNothing;
    }
  }
};

/// Threads as blocks of teams of one lane.
struct ThreadBlock {
  kernel::SerialBlock::Lanes lanes;
  int team, teams;
  std::barrier<>* meeting;
  int thread() const { return team; }
  int threads() const { return teams; }
  int warp() const { return team; }
  int warps() const { return teams; }
  void sync() const { meeting->arrive_and_wait(); }
};
struct ThreadGrid {
  ThreadBlock block;
  int number, blocks;
  BlockMemory* memory;
  std::vector<std::uint64_t>* posts;
  int index() const { return number; }
  int count() const { return blocks; }
  TreeRoom& room() const { return memory->rooms[size_t(block.team)]; }
  TreeEntry* entries() const { return memory->entries.data(); }
  ChainCarry* carries() const { return memory->carries.data(); }
  double* numbers() const { return memory->numbers.data(); }
  double* base() const { return memory->base.data(); }
  void note(TreePhase) const {}
  void post(int place, double x) const {
    std::atomic_ref(posts->at(size_t(place))).store(std::bit_cast<std::uint64_t>(x), std::memory_order_relaxed);
  }
  template <class From, class Put>
  void take(int first, int step, int count, const From& from, const Put& put) const {
    for (int k = first; k < count; k += step) {
      std::uint64_t seen;
      while ((seen = std::atomic_ref(posts->at(size_t(from(k)))).load(std::memory_order_relaxed)) == kPending)
        std::this_thread::yield();
      put(k, std::bit_cast<double>(seen));
    }
  }
};

Eigen::VectorXd solve_serially(const DeviceTree& tree, const State& state, const Eigen::VectorXd& tau) {
  BlockMemory memory(tree);
  std::vector<double> posts(size_t(tree.posts), kNothing);
  Eigen::VectorXd vdot = Eigen::VectorXd::Constant(tree.nv, kNothing);
  kernel::solve_tree(kernel::SerialGrid{{},
                                        memory.rooms.data(),
                                        memory.entries.data(),
                                        memory.carries.data(),
                                        memory.numbers.data(),
                                        memory.base.data(),
                                        posts.data()},
                     tree.problem(), state.q.data(), state.v.data(), tau.data(), vdot.data());
  return vdot;
}

Eigen::VectorXd solve_as_device(const DeviceTree& tree, const State& state, const Eigen::VectorXd& tau) {
  if (tree.blocks * tree.teams == 1) return solve_serially(tree, state, tau);
  const TreeProblem problem = tree.problem();
  Eigen::VectorXd vdot = Eigen::VectorXd::Constant(tree.nv, kNothing);
  std::vector<std::uint64_t> posts(size_t(tree.posts), kPending);
  std::vector<BlockMemory> memory(size_t(tree.blocks), BlockMemory(tree));
  std::vector<std::unique_ptr<std::barrier<>>> of_block;
  std::vector<std::thread> threads;
  for (int b = 0; b < tree.blocks; ++b) {
    of_block.push_back(std::make_unique<std::barrier<>>(tree.teams));
    for (int t = 0; t < tree.teams; ++t) {
      threads.emplace_back([&, b, t, own = of_block.back().get()] {
        const ThreadGrid grid{{{}, t, tree.teams, own}, b, tree.blocks, &memory[size_t(b)], &posts};
        kernel::solve_tree(grid, problem, state.q.data(), state.v.data(), tau.data(), vdot.data());
      });
    }
  }
  for (std::thread& thread : threads) thread.join();
  return vdot;
}

double greatest_difference(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}

}  // namespace

TEST_CASE("a tree as a device joins it moves as by the articulated-body algorithm") {
  const std::vector<JointType> types{JointType::kRevolute, JointType::kPrismatic, JointType::kHelical};
  for (const Base base : {Base::kFixed, Base::kFree}) {
    for (const double branching : {0.0, 0.3, 0.7, 1.0}) {
      for (const int links : {2, 3, 9, 40, 150}) {
        const std::uint64_t seed = std::uint64_t(1000 * links + 10 * int(10 * branching) + int(base));
        CAPTURE(seed);
        const Model model =
            random_tree(seed, {.links = links, .base = base, .types = types, .branching = branching, .rotors = false});
        REQUIRE(!device_tree_problem(model));
        const DeviceTree tree = make_device_tree(model);
        std::mt19937_64 rng(seed);
        const State state = random_state(model, rng);
        const Eigen::VectorXd tau = random_vector(model.nv(), rng);
        // 1e-8: no refinement, and ABA itself loses digits on random trees
        CHECK(greatest_difference(solve_as_device(tree, state, tau), aba(model, state, tau).vdot) < 1e-8);
      }
    }
  }
}

TEST_CASE("every number of blocks and teams gives a tree's accelerations, in few levels") {
  const Model model = random_tree(5, {.links = 3000, .types = {JointType::kRevolute}, .rotors = false});
  std::mt19937_64 rng(5);
  State state(model);
  state.q = integrate(model, state.q, 0.3 * random_vector(model.nv(), rng));
  state.v = 0.1 * random_vector(model.nv(), rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng), expected = aba(model, state, tau).vdot;
  for (const TreeProcessors& on : {TreeProcessors{}, TreeProcessors{1, 3, 1}, TreeProcessors{4, 2, 8},
                                   TreeProcessors{7, 1, 0}, TreeProcessors{16, 2, 30}}) {
    CAPTURE(on.blocks);
    CAPTURE(on.teams);
    CAPTURE(on.branch);
    const DeviceTree tree = make_device_tree(model, on);
    size_t links = 0;
    for (const TreeOperation& op : tree.operations) {
      CHECK(op.ports <= (op.kind == TreeOperationKind::kBody ? 3 : 2));
      links += op.link >= 0 ? 1 : 0;
    }
    CHECK(links == tree.links.size());
    CHECK(tree.piece_levels + tree.shared_levels + tree.narrow_levels < 39);    // 3·log₂ N + 4
    if (tree.blocks == 1) CHECK(tree.shared_levels + tree.narrow_levels == 0);  // one piece: nothing is left to share
    CHECK(greatest_difference(solve_as_device(tree, state, tau), expected) < 1e-9);  // no refinement
  }
}

TEST_CASE("a small tree is one block's work, a large one shared among blocks; branches go to single teams") {
  const auto tree_of = [](int links) {
    return make_device_tree(random_tree(3, {.links = links, .types = {JointType::kRevolute}, .rotors = false}),
                            {.blocks = 8, .teams = 4, .branch = 12});
  };
  CHECK(tree_of(95).blocks == 1);  // kFewestLinks = 48 for each
  CHECK(tree_of(97).blocks == 2);
  const DeviceTree tree = tree_of(2000);
  CHECK(tree.blocks == 8);
  REQUIRE(tree.team_begin.size() == 33);
  int least = tree.team_begin[1], most = 0;
  for (size_t k = 0; k < 32; ++k) {
    const int own = tree.team_begin[k + 1] - tree.team_begin[k];
    least = std::min(least, own), most = std::max(most, own);
  }
  CHECK(least > 20);  // 2000 links, most of them in branches, over 32 teams
  CHECK(most < 2 * least);
}

TEST_CASE("what a device cannot take as a tree is named") {
  CHECK(device_tree_problem(human28()).value_or("") == "it has massless links");
  CHECK_THROWS_AS(make_device_tree(human28()), Error);
}
