#include <doctest/doctest.h>

#include "dynamics/kernel_table.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/builder.h"
#include "model/limbs.h"
#include "random_models.h"

/// Trees of hinges and balls take a short way through forward dynamics: nodes, and limbs side by side.
namespace kansetsu::test {
namespace {

/// A body with `limbs` chains of hinges about random coordinate axes or skew ones, of different lengths.
Model spider(std::uint64_t seed, int limbs, Base base, bool skew) {
  std::mt19937_64 rng(seed);
  const auto number = [&](double low, double high) { return std::uniform_real_distribution<double>(low, high)(rng); };
  ModelBuilder builder("spider");
  const auto link = [&](const std::string& name) {
    const double m = number(0.2, 2);
    return LinkDescription{.name = name,
                           .inertial = Inertial{m,
                                                {.p = {number(-0.1, 0.1), number(-0.1, 0.1), number(-0.1, 0.1)}},
                                                Sym3<>::diagonal(0.02 * m, 0.03 * m, 0.025 * m)}};
  };
  builder.base(base).link(link("hub"));
  for (int l = 0; l < limbs; ++l) {
    std::string parent = "hub";
    const int length = 1 + int(rng() % 5);
    for (int k = 0; k < length; ++k) {
      const std::string name = "l" + std::to_string(l) + "_" + std::to_string(k);
      const int axis = int(rng() % 3);
      Vec3<> a{axis == 0 ? 1.0 : 0.0, axis == 1 ? 1.0 : 0.0, axis == 2 ? -1.0 : 0.0};
      if (skew && rng() % 3 == 0) a = {0.6, 0, 0.8};
      builder.link(link(name));
      builder.joint({.name = "j" + name,
                     .type = JointType::kRevolute,
                     .parent = parent,
                     .child = name,
                     .socket = {.p = rng() % 3 == 0 ? Vec3<>{} : Vec3<>{number(-0.3, 0.3), number(-0.3, 0.3), 0.1}},
                     .axis = a,
                     .dofs = {{.rotor_inertia = rng() % 2 == 0 ? 0.0 : 0.01}}});
      parent = name;
    }
  }
  return builder.build();
}

void check_short_way(const Model& model, std::uint64_t seed) {
  CAPTURE(model.name());
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  Workspace work(model);
  const long nv = model.nv(), bodies = model.tree().body_count();
  Eigen::VectorXd quick(nv), general(nv), flags(nv), general_flags(nv);
  TreeView long_way = model.tree().view();
  long_way.nodes = nullptr;
  for (int n = 0; n < 10; ++n) {
    const State state = random_state(model, rng);
    const Eigen::VectorXd tau = random_vector(nv, rng), wrenches = random_vector(6 * bodies, rng);
    const double* fext = n % 2 == 0 ? nullptr : wrenches.data();
    const auto run = [&](const TreeView& tree, Eigen::VectorXd& vdot, Eigen::VectorXd& singular) {
      kernel::dynamics().aba(tree, state.q.data(), state.v.data(), tau.data(), fext, work.data(), vdot.data(),
                             singular.data());
    };
    run(model.tree().view(), quick, flags);
    run(long_way, general, general_flags);
    // Backward error: what both would need as torque. Both are backward stable sweeps over at most 60 links.
    const Eigen::VectorXd difference = crba(model, state.q) * (quick - general);
    const double forces = rnea(model, state, Eigen::VectorXd::Zero(nv)).cwiseAbs().maxCoeff();
    CHECK(difference.cwiseAbs().maxCoeff() < 1e-11 * (1 + tau.cwiseAbs().maxCoeff() + forces));  // rounding of so many
    CHECK(flags == general_flags);
  }
}

}  // namespace

TEST_CASE("the short way through forward dynamics agrees with the general one") {
  check_short_way(human28(), 1);
  check_short_way(human28_ball(), 2);
  check_short_way(chain(12), 3);
  for (const auto& [seed, model] : invariant_models(40)) {
    if (model.tree().nodes) check_short_way(model, seed);
  }
}

TEST_CASE("limbs of any axes and lengths go side by side") {
  int sets = 0;
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    const Model model = spider(seed, 1 + int(seed % 11), seed % 2 == 0 ? Base::kFree : Base::kFixed, seed % 3 == 0);
    REQUIRE(model.tree().nodes);
    sets += int(model.tree().nodes->limbs.size());
    check_short_way(model, seed);
  }
  CHECK(sets > 60);
}

TEST_CASE("no hinge ever sees more inertia than its rotor was weighed against") {
  int weighed = 0;
  for (std::uint64_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    const Model model = spider(seed, 1 + int(seed % 7), Base::kFree, false);
    std::mt19937_64 rng(seed);
    for (int n = 0; n < 20; ++n) {
      const Eigen::MatrixXd M = crba(model, random_state(model, rng).q);
      for (const NodeOf<double>& node : model.tree().nodes->whole.nodes) {
        if (node.rotor_share <= 0 || node.rotor_share >= 1) continue;
        const double largest = node.rotor[0] / node.rotor_share;
        const int column = model.tree().nodes->whole.coordinates[size_t(node.u)].column;
        CHECK(M(column, column) - node.rotor[0] <= largest);  // the moment about one axis, of all that hangs there
        ++weighed;
      }
    }
  }
  CHECK(weighed > 1000);
}

TEST_CASE("the limbs of the figure: legs and arms in one set, trunk and neck apart") {
  const Model model = human28();
  const Nodes& nodes = *model.tree().nodes;
  REQUIRE(nodes.limbs.size() == 1);
  CHECK(nodes.limbs[0].count == 4);
  CHECK(nodes.limbs[0].tree.nodes.size() == 7);
  CHECK(nodes.trunk.nodes.size() == 7);
}

}  // namespace kansetsu::test
