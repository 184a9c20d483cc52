#define KANSETSU_ISA baseline
#include <doctest/doctest.h>

#include <limits>
#include <numbers>

#include "assembly/chain.h"
#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/builder.h"
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
                                const Eigen::VectorXd& tau, double* rank = nullptr) {
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
  each([&](int p, ChainPiece& own) { kernel::finish_chain(block, view, p, own, mail, vdot.data(), rank); });
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

namespace {

struct Ring {
  std::string name;
  Model model;
  Closure closure;
};

/// The same chain held in every way that a ring may be.
std::vector<Ring> rings_of(int links) {
  const Model fixed = chain(links), free = chain(links, Base::kFree);
  const ClosureAnchor tip{0, LinkId(links), {Mat3<>::identity(), {0, 0, 0.3}}}, world{};
  const ClosureAnchor end{0, LinkId(links - 1), {Mat3<>::identity(), {0, 0, 0.3}}};
  const ClosureAnchor first{0, LinkId(0), {rotation_x(std::sin(0.3), std::cos(0.3)), {0.02, -0.01, 0}}};
  return {{"hinge to the base", free, {end, first, 0b111011}},
          {"hinge to the base, plug on the tip", free, {first, end, 0b111011}},
          {"ball to the base", free, {end, first, 0b111000}},
          {"hinge to the world", fixed, {world, tip, 0b111011}},
          {"weld to the world", fixed, {world, tip, kAllRows}},
          {"weld to the world, plug there", fixed, {tip, world, kAllRows}},
          {"free, welded to the world", free, {world, end, kAllRows}}};
}

struct RingProblem {
  State state;
  Eigen::VectorXd tau;

  RingProblem(const Model& model, std::mt19937_64& rng) : state(model) {
    state.q = integrate(model, state.q, 0.3 * random_vector(model.nv(), rng));
    state.v = 0.1 * random_vector(model.nv(), rng);
    tau = random_vector(model.nv(), rng);
  }
};

/// How far the frames that a closure holds together are apart [m].
double gap_of(const Ring& ring, const State& state) {
  const LinkPoses poses = fk(ring.model, state.q);
  const auto frame = [&](const ClosureAnchor& at) { return at.link ? poses[*at.link] * at.X_LJ : at.X_LJ; };
  return norm(frame(ring.closure.a).p - frame(ring.closure.b).p);
}

/// No refinement: rounding grows with length, and with the square of the lever (in links) at which a ring that is far from closed is
/// held; assembly refines.
double tolerance(int links, double lever) { return 2e-13 * (100 + links + 2 * lever * lever); }

/// Greatest difference from assembly in every way to cut the ring, in parts of the greatest acceleration.
double worst_difference(const Chain& made, const State& state, const Eigen::VectorXd& tau,
                        const AssemblyResult& expected) {
  const int links = int(made.links.size());
  double worst = 0;
  for (int pieces : {1, 2, 5, chain_pieces(links, 132)}) {
    if (pieces > links) continue;
    CAPTURE(pieces);
    for (int group : {std::min(2, pieces), chain_group(pieces)}) {
      CAPTURE(group);
      double rank = -1;
      const Eigen::VectorXd vdot = solve_in_pieces(made, pieces, group, state, tau, &rank);
      CHECK(int(rank) == expected.rank);
      CHECK(vdot.allFinite());
      const double largest = std::max(1.0, expected.vdot().lpNorm<Eigen::Infinity>());
      worst = std::max(worst, (vdot - expected.vdot()).lpNorm<Eigen::Infinity>() / largest);
    }
  }
  return worst;
}

}  // namespace

TEST_CASE("a ring in pieces moves as by assembly") {
  for (int links : {2, 3, 8, 13, 64, 300, 2000}) {
    for (const Ring& ring : rings_of(links)) {
      CAPTURE(ring.name);
      const std::uint64_t seed = std::uint64_t(links);
      CAPTURE(seed);
      const Chain made = make_chain(ring.model, ring.closure);
      Assembly assembly(ring.model);
      assembly.connect(ring.closure);
      assembly.rebuild();
      AssemblyResult expected(assembly);
      std::mt19937_64 rng(seed);
      for (int trial = 0; trial < 3; ++trial) {
        RingProblem p(ring.model, rng);
        assembly.solve(p.state, p.tau, expected);
        if (expected.rank < expected.rows) {  // redundant rows agree with each other at rest only
          p.state.v.setZero();
          assembly.solve(p.state, p.tau, expected);
        }
        CHECK(worst_difference(made, p.state, p.tau, expected) < tolerance(links, gap_of(ring, p.state) / 0.3));
      }
    }
  }
}

TEST_CASE("a planar ring: redundant rows are found and get no force") {
  for (int links : {4, 9, 100, 1000}) {
    CAPTURE(links);
    ModelBuilder builder("planar");
    builder.base(Base::kFree);
    const double turn = 2 * std::numbers::pi / links, length = 0.2;
    for (int i = 0; i < links; ++i) {
      builder.link("b" + std::to_string(i),
                   {.mass = 1, .origin = {.p = {0.1, 0, 0}}, .inertia = {2e-4, 0, 0, 3e-3, 0, 3e-3}});
      if (i == 0) continue;
      builder.joint({.name = "j" + std::to_string(i),
                     .type = JointType::kRevolute,
                     .parent = "b" + std::to_string(i - 1),
                     .child = "b" + std::to_string(i),
                     .socket = {.p = {length, 0, 0}},
                     .axis = {0, 0, 1}});
    }
    const Model model = builder.build();
    const Closure closure{{0, LinkId(links - 1), {Mat3<>::identity(), {length, 0, 0}}}, {0, LinkId(0), {}}, 0b111011};
    std::mt19937_64 rng(5);
    State state(model);  // a regular polygon, at rest in its plane
    for (int k = 7; k < model.nq(); ++k) state.q[k] = turn;
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    Assembly assembly(model);
    assembly.connect(closure);
    assembly.rebuild();
    AssemblyResult expected(assembly);
    assembly.solve(state, tau, expected);
    CHECK(expected.rank == 2);
    const double off = worst_difference(make_chain(model, closure), state, tau, expected);
    MESSAGE("a polygon of " << links << " links differs from assembly by " << off);
    CHECK(off < tolerance(links, 0));
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

TEST_CASE("what makes no ring is named") {
  const Model fixed = chain(8), free = chain(8, Base::kFree);
  const ClosureAnchor world{}, last{0, LinkId(8)}, tip{0, LinkId(7)};
  CHECK(!ring_problem(fixed, {world, last, kAllRows}));
  CHECK(!ring_problem(fixed, {{0, LinkId(0)}, last, kAllRows}));  // the ground
  CHECK(!ring_problem(free, {tip, {0, LinkId(0)}, 0b111011}));
  CHECK(ring_problem(free, {tip, {0, LinkId(0)}, kAllRows}).has_value());
  CHECK(ring_problem(free, {tip, tip, 0b111}).has_value());
  CHECK(ring_problem(free, {tip, {0, LinkId(3)}, 0b111}).has_value());
  CHECK(*ring_problem(fixed, {{0, LinkId(1)}, last, 0b111}) ==
        "it holds the last link neither to the world nor to a free base");
  CHECK(*ring_problem(fixed, {world, last, 0}) == "its mask of rows is empty");
  CHECK(*ring_problem(fixed, {world, {0, LinkId(9)}, 1}) == "it names link 9 of 9");
  CHECK(*ring_problem(fixed, {world, {1, LinkId(8)}, 1}) == "it names figure 1 of 1");
  CHECK_THROWS_AS(make_chain(free, Closure{tip, {0, LinkId(0)}, kAllRows}), Error);
}
