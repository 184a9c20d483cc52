#include "kansetsu/assembly/forward.h"

#include <doctest/doctest.h>

#include "no_alloc.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

double deviation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}
State gentle_state(const Model& model, std::mt19937_64& rng) {
  State state(model);
  state.q = integrate(model, state.q, 0.3 * random_vector(model.nv(), rng));
  state.v = 0.1 * random_vector(model.nv(), rng);
  return state;
}

}  // namespace

TEST_CASE(
    "segments move a chain as the articulated-body algorithm does, with the same bits on every number of threads") {
  const std::vector<JointType> types{JointType::kRevolute, JointType::kPrismatic, JointType::kHelical};
  for (Base base : {Base::kFixed, Base::kFree}) {
    for (int links : {40, 129, 1000, 5000}) {
      for (bool mixed : {false, true}) {
        const std::uint64_t seed = std::uint64_t(links + mixed);
        CAPTURE(seed);
        if (mixed && links > 200) continue;  // random inertias over a thousand links: ABA itself has no digits left
        const Model model =
            mixed
                ? random_tree(seed, {.links = links + 1, .base = base, .types = types, .branching = 0, .rotors = false})
                : chain(links, base);
        REQUIRE(!SegmentDynamics::unsupported(model));
        std::mt19937_64 rng(seed);
        const State state = gentle_state(model, rng);
        const Eigen::VectorXd tau = random_vector(model.nv(), rng);
        const Eigen::VectorXd expected = aba(model, state, tau).vdot;
        Eigen::VectorXd one(model.nv()), vdot(model.nv());
        SegmentDynamics single(model, 1, 16);
        single.solve(state, tau, one);
        CHECK(deviation(one, expected) < 1e-9 * (1 + links / 100));  // 1e-11 was found on 29 links
        CHECK(allocations_in([&] { single.solve(state, tau, one); }) == 0);
        for (int threads : {2, 3}) {
          SegmentDynamics many(model, threads, 16);
          CHECK(many.segments() == single.segments());
          many.solve(state, tau, vdot);
          CHECK(vdot == one);
        }
      }
    }
  }
  CHECK(SegmentDynamics::unsupported(human28()).has_value());
  CHECK(SegmentDynamics::unsupported(chain(3)).has_value());
}

TEST_CASE("assembly has the same bits on every number of threads") {
  for (const Model& model : {chain(700), human28(), random_tree(77, {.links = 300, .base = Base::kFree})}) {
    CAPTURE(model.name());
    if (Assembly::unsupported(model)) continue;
    std::mt19937_64 rng(4);
    const State state = gentle_state(model, rng);
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    Assembly one(model);
    AssemblyResult expected(one);
    one.solve(state, tau, expected);
    for (int threads : {2, 3, 5}) {
      Assembly many(model, {.threads = threads});
      AssemblyResult result(many);
      for (int repeat = 0; repeat < 20; ++repeat) {
        many.solve(state, tau, result);
        CHECK(result.vdot() == expected.vdot());
      }
      CHECK(result.residual == expected.residual);
    }
  }
}

TEST_CASE("every method of forward dynamics gives the same, and the choice follows the table") {
  const Model model = chain(600);
  std::mt19937_64 rng(8);
  const State state = gentle_state(model, rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  const Eigen::VectorXd expected = aba(model, state, tau).vdot;
  AbaResult result(model);
  for (ForwardMethod method : {ForwardMethod::kAuto, ForwardMethod::kAba, ForwardMethod::kSegments,
                               ForwardMethod::kSerialAssembly, ForwardMethod::kAssembly}) {
    AutoForwardDynamics forward(model, 2, method);
    if (method != ForwardMethod::kAuto) CHECK(forward.method() == method);
    forward.solve(state, tau, result);
    CHECK(deviation(result.vdot, expected) < 1e-8);  // six hundred links
    CHECK(result.status == Status::kOk);
    ExternalForces external(model);
    external[LinkId(3)].f.z = 1;
    forward.solve(state, tau, result, &external);
    CHECK(deviation(result.vdot, aba(model, state, tau, &external).vdot) < 1e-8);
  }
  CHECK(choose_forward_method(human28(), 1) == ForwardMethod::kAba);
  CHECK(choose_forward_method(chain(16), 16) == ForwardMethod::kAba);
  CHECK(choose_forward_method(chain(4096), 1) == ForwardMethod::kAba);
  CHECK(choose_forward_method(chain(4096), 8) == ForwardMethod::kSegments);
}

TEST_CASE(
    "assembly of long chains and bushy trees: poses and velocities by stretches, the same bits for every number of "
    "threads") {
  for (const std::uint64_t seed : {71u, 72u}) {
    CAPTURE(seed);
    for (const int links : {511, 512, 513, 1500}) {  // either side of where stretches begin
      CAPTURE(links);
      const Model model =
          seed == 71 ? chain(links) : random_tree(seed, {.links = links, .types = {JointType::kRevolute}});
      if (Assembly::unsupported(model)) continue;
      std::mt19937_64 rng(seed);
      const State state = gentle_state(model, rng);
      const Eigen::VectorXd tau = random_vector(model.nv(), rng);
      const Eigen::VectorXd expected = aba(model, state, tau).vdot;
      Assembly one(model, {.threads = 1}), three(model, {.threads = 3});
      AssemblyResult a(one), b(three);
      one.solve(state, tau, a);
      three.solve(state, tau, b);
      CHECK((a.vdot() - expected).cwiseAbs().maxCoeff() < 1e-7 * (1 + expected.cwiseAbs().maxCoeff()));
      CHECK(a.vdot() == b.vdot());
      for (size_t l = 0; l < a.figures[0].reactions.wrench.size(); ++l)
        CHECK(a.figures[0].reactions.wrench[l] == b.figures[0].reactions.wrench[l]);
      ExternalForces external(model);
      for (int l = 0; l < model.link_count(); ++l) external[LinkId(l)].f = {0.1, 0, 0.01 * (l % 7)};
      one.solve(state, tau, a, &external);
      three.solve(state, tau, b, &external);
      const Eigen::VectorXd pushed = aba(model, state, tau, &external).vdot;
      CHECK((a.vdot() - pushed).cwiseAbs().maxCoeff() < 1e-7 * (1 + pushed.cwiseAbs().maxCoeff()));
      CHECK(a.vdot() == b.vdot());
    }
  }
}
