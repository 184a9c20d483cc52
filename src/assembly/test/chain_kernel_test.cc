#define KANSETSU_ISA baseline
#include <doctest/doctest.h>

#include <limits>

#include "assembly/chain.h"
#include "kansetsu/dynamics/dynamics.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

/// Numbers that pieces send each other; what nobody has posted is not a number.
struct Letters {
  std::vector<double>& posts;

  void post(const kernel::SerialBlock&, int at, const double* numbers, int count) const {
    std::copy_n(numbers, count, posts.begin() + at);
  }
  void take(const kernel::SerialBlock&, int at, double* numbers, int count) const {
    std::copy_n(posts.begin() + at, count, numbers);
  }
};

/// The phases of the device, on one thread.
Eigen::VectorXd solve_in_pieces(const Chain& chain, int pieces, int group, const State& state,
                                const Eigen::VectorXd& tau) {
  constexpr double kNothing = std::numeric_limits<double>::quiet_NaN();
  const ChainView view = chain.view(pieces, group);
  const kernel::SerialBlock block;
  std::vector<double> posts(size_t(view.posts()), kNothing);
  const Letters mail{posts};
  std::vector<std::vector<double>> memory;
  std::vector<ChainPiece> piece(static_cast<size_t>(pieces));
  for (int p = 0; p < pieces; ++p) {
    ChainPiece& own = piece[size_t(p)];
    memory.emplace_back(size_t(carve_chain_piece(view, view.size(p), 1, nullptr, own)), kNothing);
    carve_chain_piece(view, view.size(p), 1, memory.back().data(), own);
    own.links = view.links + view.first(p);
  }
  Eigen::VectorXd vdot = Eigen::VectorXd::Constant(chain.nv, kNothing);
  const auto each = [&](const auto& phase) {
    for (int p = 0; p < pieces; ++p) phase(p, piece[size_t(p)]);
  };
  each([&](int p, ChainPiece& own) {
    kernel::place_chain(block, view, p, state.q.data(), state.v.data(), tau.data(), own, mail);
  });
  each([&](int p, ChainPiece& own) { kernel::reduce_chain(block, view, p, own, mail); });
  each([&](int p, ChainPiece& own) { kernel::gather_chain(block, view, p, own, mail); });
  each([&](int p, ChainPiece& own) { kernel::finish_chain(block, view, p, own, mail, vdot.data()); });
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
        for (int group : {1, 2, 3, pieces}) {
          CAPTURE(group);
          const Eigen::VectorXd vdot = solve_in_pieces(chain, pieces, std::min(group, pieces), state, tau);
          // 1e-8: no refinement, and ABA itself loses digits on random chains
          CHECK((vdot - expected).lpNorm<Eigen::Infinity>() < 1e-8 * std::max(1.0, expected.lpNorm<Eigen::Infinity>()));
        }
      }
    }
  }
}

TEST_CASE("a long chain in the pieces a device makes of it") {
  const Model model = chain(5000);
  const Chain made = make_chain(model);
  std::mt19937_64 rng(17);
  State state(model);
  state.q = integrate(model, state.q, 0.3 * random_vector(model.nv(), rng));
  state.v = 0.1 * random_vector(model.nv(), rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  const Eigen::VectorXd expected = aba(model, state, tau).vdot;
  const int pieces = chain_pieces(5000, 132);
  CHECK(pieces == 128);
  const Eigen::VectorXd vdot = solve_in_pieces(made, pieces, chain_group(pieces), state, tau);
  const double off = (vdot - expected).lpNorm<Eigen::Infinity>() / expected.lpNorm<Eigen::Infinity>();
  MESSAGE("5000 links differ from ABA by " << off);
  CHECK(off < 1e-9);  // no refinement; rounding grows with length
}

TEST_CASE("what is no chain of simple joints is named") {
  CHECK(!chain_problem(chain(8)));
  CHECK(chain_problem(human28()).has_value());
  CHECK(*chain_problem(random_tree(3, {.links = 9, .types = {JointType::kRevolute}, .branching = 0})) ==
        "it has rotors");
  CHECK(*chain_problem(random_tree(4, {.links = 5, .types = {JointType::kBall}, .branching = 0, .rotors = false})) ==
        "it has joints of several coordinates");
}
