#include "kansetsu/assembly/assembly.h"

#include <doctest/doctest.h>

#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

double deviation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}

}  // namespace

TEST_CASE("assembly gives the accelerations and reactions of the articulated-body algorithm") {
  int compared = 0;
  for (const SeededModel& m : invariant_models()) {
    CAPTURE(m.seed);
    CAPTURE(m.model.name());
    if (const auto reason = Assembly::unsupported(m.model)) {
      MESSAGE(m.seed << ": " << *reason);
      continue;
    }
    ++compared;
    std::mt19937_64 rng(m.seed);
    const State state = regular_state(m.model, rng);
    const Eigen::VectorXd tau = random_vector(m.model.nv(), rng);
    ExternalForces external(m.model);
    for (int l = 0; l < m.model.link_count(); ++l) {
      const Eigen::VectorXd w = random_vector(6, rng);
      external[LinkId(l)] = {{w[0], w[1], w[2]}, {w[3], w[4], w[5]}};
    }
    const AbaResult reference = aba(m.model, state, tau, &external);
    Workspace work(m.model);
    Reactions expected(m.model);
    reactions(m.model, state, reference.vdot, work, expected, &external);
    for (AssemblyOrder order : {AssemblyOrder::kBalanced, AssemblyOrder::kSerial}) {
      Assembly assembly(m.model, {.order = order});
      AssemblyResult result(assembly);
      assembly.solve(state, tau, result, &external);
      CHECK(deviation(result.vdot(), reference.vdot) < 1e-9);
      for (int l = 0; l < m.model.link_count(); ++l) {
        CAPTURE(l);
        const Force<> F = result.figures[0].reactions.wrench[size_t(l)], G = expected.wrench[size_t(l)];
        Eigen::VectorXd a(6), b(6);
        a << F.t.x, F.t.y, F.t.z, F.f.x, F.f.y, F.f.z;
        b << G.t.x, G.t.y, G.t.z, G.f.x, G.f.y, G.f.z;
        CHECK(deviation(a, b) < 1e-8);
      }
      CHECK(deviation(result.figures[0].reactions.torque, expected.torque) < 1e-8);
    }
  }
  CHECK(compared > 30);
}
