#define KANSETSU_ISA baseline
#include "assembly/device_tree.h"

#include <doctest/doctest.h>

#include <limits>

#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/figures.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// Memory of a tree on the host; nothing in it is a number before the kernel has written it.
struct TreeMemory {
  static constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  std::vector<Transform<>> X;
  std::vector<ChainState> state;
  std::vector<ChainCarry> carry[2];
  std::vector<int> ancestor[2];
  std::vector<Motion<>> C;
  std::vector<double> base, h, t, own, y, n, s, numbers, room;

  explicit TreeMemory(const DeviceTree& tree)
      : X(tree.links.size()),
        state(tree.links.size()),
        carry{std::vector<ChainCarry>(tree.links.size()), std::vector<ChainCarry>(tree.links.size())},
        ancestor{std::vector<int>(tree.links.size()), std::vector<int>(tree.links.size())},
        C(tree.links.size()),
        base(19, kNothing),
        h(5 * tree.links.size(), kNothing),
        t(6 * tree.links.size(), kNothing),
        own(36 * tree.links.size(), kNothing),
        y(6 * tree.links.size(), kNothing),
        n(5 * tree.links.size(), kNothing),
        s(6 * tree.links.size(), kNothing),
        numbers(size_t(tree.numbers), kNothing),
        room(kTreeRoom, kNothing) {}

  TreeProblem problem(const DeviceTree& tree) {
    TreeProblem p = tree.problem();
    p.X = X.data();
    p.state = state.data();
    p.base = base.data();
    for (int k = 0; k < 2; ++k) p.carry[k] = carry[k].data(), p.ancestor[k] = ancestor[k].data();
    p.C = C.data();
    p.h = h.data();
    p.t = t.data();
    p.own = own.data();
    p.y = y.data();
    p.n = n.data();
    p.s = s.data();
    p.numbers = numbers.data();
    return p;
  }
};

Eigen::VectorXd solve_as_device(const DeviceTree& tree, const State& state, const Eigen::VectorXd& tau) {
  TreeMemory memory(tree);
  const TreeProblem problem = memory.problem(tree);
  Eigen::VectorXd vdot = Eigen::VectorXd::Constant(tree.nv, TreeMemory::kNothing);
  kernel::solve_tree(kernel::SerialGrid{{}, memory.room.data()}, problem, state.q.data(), state.v.data(), tau.data(),
                     vdot.data());
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

TEST_CASE("a tree of thousands of links as a device joins it: levels, ports and accelerations") {
  const Model model = random_tree(5, {.links = 3000, .types = {JointType::kRevolute}, .rotors = false});
  const DeviceTree tree = make_device_tree(model);
  for (const TreeOperation& op : tree.operations) CHECK(op.ports <= (op.kind == TreeOperationKind::kBody ? 3 : 2));
  CHECK(tree.level_begin.size() < 40);  // 3·log₂ N + 4
  CHECK(tree.narrow < int(tree.level_begin.size()) - 1);
  std::mt19937_64 rng(5);
  State state(model);
  state.q = integrate(model, state.q, 0.3 * random_vector(model.nv(), rng));
  state.v = 0.1 * random_vector(model.nv(), rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng), expected = aba(model, state, tau).vdot;
  CHECK(greatest_difference(solve_as_device(tree, state, tau), expected) < 1e-9);  // no refinement
}

TEST_CASE("what a device cannot take as a tree is named") {
  CHECK(device_tree_problem(human28()).value_or("") == "it has massless links");
  CHECK_THROWS_AS(make_device_tree(human28()), Error);
}
