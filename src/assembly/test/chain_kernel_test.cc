#define KANSETSU_ISA baseline
#include <doctest/doctest.h>

#include "assembly/chain.h"
#include "kansetsu/dynamics/dynamics.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// The phases of the device, on one thread.
Eigen::VectorXd solve_in_pieces(const Chain& chain, int pieces, const State& state, const Eigen::VectorXd& tau) {
  const ChainView view = chain.view(pieces);
  const kernel::SerialBlock block;
  const size_t count = size_t(pieces), links = chain.links.size();
  std::vector<std::vector<double>> memory(count);
  std::vector<ChainPiece> piece(count);
  std::vector<ChainCarry> totals(count), room(2 * count);
  std::vector<double> clusters(count * kChainOut), pivot(count * kChainPivot), h(count * 5), n((count + 1) * 5),
      s(links * 6), T(60);
  Eigen::VectorXd vdot(chain.nv);
  const double *q = state.q.data(), *v = state.v.data();
  for (int p = 0; p < pieces; ++p) {
    memory[size_t(p)].resize(size_t(chain_piece_numbers(view.size(p))));
    piece[size_t(p)] = carve_chain_piece(memory[size_t(p)].data(), view.size(p));
    kernel::place_chain(block, view, p, q, v, piece[size_t(p)], &totals[size_t(p)]);
  }
  for (int p = 0; p < pieces; ++p) {
    const Motion<> V = kernel::velocity_before(block, p, totals.data(), room.data());
    kernel::reduce_chain(block, view, p, V, v, tau.data(), piece[size_t(p)], T.data(),
                         clusters.data() + size_t(p) * kChainOut, h.data() + 5 * size_t(p));
  }
  kernel::top_chain(block, view, h.data(), clusters.data(), pivot.data(), n.data());
  for (int p = 0; p < pieces; ++p) kernel::expand_chain(block, view, p, n.data(), piece[size_t(p)], s.data());
  for (int p = 0; p < pieces; ++p) kernel::finish_chain(block, view, p, piece[size_t(p)], s.data(), vdot.data());
  return vdot;
}

}  // namespace

TEST_CASE("a chain in pieces moves as by the articulated-body algorithm") {
  const std::vector<JointType> types{JointType::kRevolute, JointType::kPrismatic, JointType::kHelical};
  for (Base base : {Base::kFixed, Base::kFree}) {
    for (int links : {2, 3, 9, 40}) {
      const std::uint64_t seed = std::uint64_t(100 * links + int(base));
      CAPTURE(seed);
      const Model model =
          random_tree(seed, {.links = links, .base = base, .types = types, .branching = 0, .rotors = false});
      const Chain chain = make_chain(model);
      std::mt19937_64 rng(seed);
      const State state = random_state(model, rng);
      const Eigen::VectorXd tau = random_vector(model.nv(), rng);
      const Eigen::VectorXd expected = aba(model, state, tau).vdot;
      for (int pieces : {1, 2, 3, 7}) {
        if (pieces > int(chain.links.size())) continue;
        CAPTURE(pieces);
        const Eigen::VectorXd vdot = solve_in_pieces(chain, pieces, state, tau);
        // 1e-8: no refinement, and ABA itself loses digits on random chains
        CHECK((vdot - expected).lpNorm<Eigen::Infinity>() < 1e-8 * std::max(1.0, expected.lpNorm<Eigen::Infinity>()));
      }
    }
  }
}

TEST_CASE("what is no chain of simple joints is named") {
  CHECK(!chain_problem(chain(8)));
  CHECK(chain_problem(human28()).has_value());
  CHECK(*chain_problem(random_tree(3, {.links = 9, .types = {JointType::kRevolute}, .branching = 0})) ==
        "it has rotors");
  CHECK(*chain_problem(random_tree(4, {.links = 5, .types = {JointType::kBall}, .branching = 0, .rotors = false})) ==
        "it has joints of several coordinates");
}
