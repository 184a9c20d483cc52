#include "dynamics/lean_aba_kernel.h"

#include <doctest/doctest.h>

#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/spatial/pack.h"
#include "random_models.h"

/// The forward dynamics for threads with little memory against that for single states.
using namespace kansetsu;
using namespace kansetsu::test;

namespace {

std::vector<SeededModel> hinged_models() {
  std::vector<SeededModel> out;
  std::uint64_t seed = 4711;
  for (int links : {2, 3, 8, 25, 60}) {
    for (Base base : {Base::kFixed, Base::kFree}) {
      for (double branching : {0.0, 0.5, 1.0}) {
        for (bool aligned : {false, true}) {
          ++seed;
          out.push_back({seed, random_tree(seed, {.links = links,
                                                  .base = base,
                                                  .types = {JointType::kRevolute, JointType::kFixed},
                                                  .branching = branching,
                                                  .aligned = aligned})});
        }
      }
    }
  }
  out.push_back({0, human28()});
  out.push_back({0, chain(30)});
  out.push_back({0, chain(1, Base::kFree)});
  return out;
}

/// v̇ and flags of one state, by kernels for T on constants of its own kind.
template <class T>
std::pair<Eigen::VectorXd, Eigen::VectorXd> lean(const Model& model, const State& state, const Eigen::VectorXd& tau) {
  using Real = scalar_t<T>;
  const auto tree = make_lean_tree<Real>(model.tree());
  REQUIRE(tree.has_value());
  const LeanTreeViewOf<Real> view = tree->view();
  const auto lifted = [](const Eigen::VectorXd& x) {
    std::vector<T> out;
    for (double value : x) out.push_back(T(Real(value)));
    return out;
  };
  const std::vector<T> q = lifted(state.q), v = lifted(state.v), torque = lifted(tau);
  std::vector<T> vdot(size_t(model.nv()), T(Real(NAN))), singular = vdot;
  std::vector<std::byte> memory(kernel::LeanMemory<T>::bytes(view) + 64);
  void* scratch = memory.data();
  std::size_t space = memory.size();
  std::align(64, kernel::LeanMemory<T>::bytes(view), scratch, space);
  kernel::lean_aba<T>(view, q.data(), v.data(), torque.data(), scratch, vdot.data(), singular.data());
  Eigen::VectorXd a(model.nv()), flags(model.nv());
  for (int i = 0; i < model.nv(); ++i) {
    if constexpr (std::is_floating_point_v<T>) {
      a[i] = double(vdot[size_t(i)]);
      flags[i] = double(singular[size_t(i)]);
    } else {
      a[i] = double(vdot[size_t(i)][T::width - 1]);
      flags[i] = double(singular[size_t(i)][T::width - 1]);
    }
  }
  return {a, flags};
}

}  // namespace

TEST_CASE("forward dynamics in little memory is forward dynamics") {
  for (const auto& [seed, model] : hinged_models()) {
    CAPTURE(seed);
    CAPTURE(model.name());
    if (model.nv() == 0) continue;  // all links fixed
    std::mt19937_64 rng(seed);
    for (int n = 0; n < 3; ++n) {
      const State state = random_state(model, rng);
      const Eigen::VectorXd tau = random_vector(model.nv(), rng);
      const AbaResult expected = aba(model, state, tau);
      const double scale = 1 + expected.vdot.lpNorm<Eigen::Infinity>();
      const auto [a, flags] = lean<double>(model, state, tau);
      // Rounding differs: trees of 60 links without much rotor inertia amplify it.
      CHECK((a - expected.vdot).lpNorm<Eigen::Infinity>() / scale < 1e-8);
      CHECK(flags == expected.singular);
    }
  }
}

TEST_CASE("a lane of packs and a float come near") {
  const Model model = human28();
  std::mt19937_64 rng(5);
  const State state = random_state(model, rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  const Eigen::VectorXd expected = aba(model, state, tau).vdot;
  const double scale = expected.lpNorm<Eigen::Infinity>();
  CHECK((lean<NativePack<double>>(model, state, tau).first - lean<double>(model, state, tau).first).norm() == 0);
  CHECK((lean<float>(model, state, tau).first - expected).lpNorm<Eigen::Infinity>() / scale < 1e-3);  // condition 1e4
  CHECK((lean<NativePack<float>>(model, state, tau).first - lean<float>(model, state, tau).first).norm() == 0);
}

TEST_CASE("what moves no inertia is flagged") {
  RandomTreeOptions options{.links = 4, .base = Base::kFixed, .types = {JointType::kRevolute}, .rotors = false};
  ModelDescription d = random_tree(9, options).description();
  for (LinkDescription& link : d.links) link.inertial = {};
  const Model model = value_or_throw(Model::build(d));
  std::mt19937_64 rng(1);
  const State state = random_state(model, rng);
  const auto [a, flags] = lean<double>(model, state, Eigen::VectorXd::Ones(model.nv()));
  CHECK(flags == Eigen::VectorXd::Ones(model.nv()));
  CHECK(a == Eigen::VectorXd::Zero(model.nv()));
}

TEST_CASE("trees with other joints or gears have no lean form") {
  CHECK(!make_lean_tree<double>(human28_ball().tree()));
  CHECK(!make_lean_tree<double>(random_tree(1, {.links = 4, .types = {JointType::kPrismatic}}).tree()));
  CHECK(!make_lean_tree<double>(random_tree(1, {.links = 9, .types = {JointType::kRevolute}, .gears = 3}).tree()));
}
