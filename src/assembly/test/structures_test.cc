#include <doctest/doctest.h>

#include <Eigen/LU>
#include <cmath>

#include "kansetsu/assembly/assembly.h"
#include "kansetsu/model/builder.h"
#include "no_alloc.h"
#include "random_models.h"

using namespace kansetsu;
using namespace kansetsu::test;

namespace {

double deviation(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return (a - b).lpNorm<Eigen::Infinity>() / std::max(1.0, b.lpNorm<Eigen::Infinity>());
}

const Inertial kBrick{.mass = 1, .origin = {.p = {0.1, 0.02, -0.05}}, .inertia = {0.02, 0.001, 0, 0.03, 0.002, 0.025}};

/// A tree of hinges by the parents of its links; link 0 hangs on the world if the base is fixed.
Model hinge_tree(const std::vector<int>& parents, Base base) {
  ModelBuilder builder("tree");
  builder.base(base);
  if (base == Base::kFixed) builder.link("world");
  const Vec3<> axes[] = {{1, 0, 0}, {0, 1, 0}, {0, 0.6, 0.8}};
  for (size_t i = 0; i < parents.size(); ++i) {
    builder.link("b" + std::to_string(i), kBrick);
    if (i == 0 && base == Base::kFree) continue;
    const std::string parent = parents[i] < 0 ? "world" : "b" + std::to_string(parents[i]);
    builder.joint({.name = "j" + std::to_string(i),
                   .type = JointType::kRevolute,
                   .parent = parent,
                   .child = "b" + std::to_string(i),
                   .socket = {.p = {0.2, 0.01 * double(i % 7), 0}},
                   .axis = axes[i % 3]});
  }
  return builder.build();
}

std::vector<int> parents_of(const std::string& shape, int n) {
  std::vector<int> out{-1};
  std::mt19937_64 rng(7);
  for (int i = 1; i < n; ++i) {
    if (shape == "chain") out.push_back(i - 1);
    if (shape == "star") out.push_back(0);
    if (shape == "caterpillar") out.push_back(i % 2 == 1 ? i - 1 : std::max(0, i - 2));
    if (shape == "broom") out.push_back(i < n / 2 ? i - 1 : n / 2 - 1);
    if (shape == "comb") out.push_back(i < n / 2 ? i - 1 : i - n / 2);
    if (shape == "binary") out.push_back((i - 1) / 2);
    if (shape == "random") out.push_back(int(rng() % std::uint64_t(i)));
  }
  return out;
}

/// Bricks that only closures hold: free bodies, all hanging on the world.
Model loose_bricks(int count) {
  ModelBuilder builder("bricks");
  builder.link("world");
  for (int i = 0; i < count; ++i) {
    builder.link("b" + std::to_string(i), kBrick);
    builder.joint({.name = "j" + std::to_string(i),
                   .type = JointType::kFree,
                   .parent = "world",
                   .child = "b" + std::to_string(i)});
  }
  return builder.build();
}
ClosureAnchor brick(int i, const Vec3<>& p) { return {0, LinkId(i + 1), {Mat3<>::identity(), p}}; }

State gentle_state(const Model& model, std::mt19937_64& rng) {
  State state(model);
  state.q = integrate(model, state.q, 0.3 * random_vector(model.nv(), rng));
  state.v = 0.1 * random_vector(model.nv(), rng);
  return state;
}

}  // namespace

TEST_CASE("long and bushy trees: articulated bodies, serial order and balanced order agree") {
  for (const char* shape : {"chain", "star", "caterpillar", "broom", "comb", "binary", "random"}) {
    for (int n : {2, 31, 1000, 5000}) {
      for (Base base : {Base::kFixed, Base::kFree}) {
        if (n == 1000 && base == Base::kFree) continue;
        const Model model = hinge_tree(parents_of(shape, n), base);
        std::mt19937_64 rng{std::uint64_t(n)};
        const State state = gentle_state(model, rng);
        const Eigen::VectorXd tau = random_vector(model.nv(), rng);
        const Eigen::VectorXd expected = aba(model, state, tau).vdot;
        CAPTURE(shape);
        CAPTURE(n);
        for (AssemblyOrder order : {AssemblyOrder::kBalanced, AssemblyOrder::kSerial}) {
          Assembly assembly(model, {.order = order});
          AssemblyResult result(assembly);
          assembly.solve(state, tau, result);
          // Rounding grows with length: ABA's own residual on such chains is 1e-12 per hundred links.
          CHECK(deviation(result.vdot(), expected) < 1e-10 * (1 + double(n) / 100));
          CHECK(result.residual < 1e-6);
          const Assembly::Shape made = assembly.shape();
          if (order == AssemblyOrder::kSerial) {
            if (shape == std::string("chain")) CHECK(made.levels >= n - 1);  // one link after the other
            continue;
          }
          CHECK(made.most_rows <= 20);  // two handles, the joint between, and the ground's
          CHECK(made.levels <= 3 * std::log2(n) + 4);
          CHECK(made.scan_levels <= std::log2(n));
          CHECK(made.scan_nodes <= 1.1 * n);  // a half and a 64th, a half and a 64th of that, …
        }
      }
    }
  }
}

TEST_CASE("a closed ring: what its closure exerts explains its motion") {
  for (int n : {3, 8, 100, 2000}) {
    CAPTURE(n);
    const Model model = hinge_tree(parents_of("chain", n), Base::kFree);
    std::mt19937_64 rng(11);
    const State state = gentle_state(model, rng);
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    Assembly assembly(model);
    const ClosureId ring =
        assembly.connect({{0, LinkId(n - 1), {Mat3<>::identity(), {0.2, 0, 0}}}, {0, LinkId(0), {}}, 0b111011});
    AssemblyResult result(assembly);
    assembly.solve(state, tau, result);
    CHECK(result.rank == std::min(5, n - 1));  // the open chain has n − 1 joints
    CHECK(result.rows == 5);
    // the same wrenches from outside give the same motion of the open chain
    const LinkPoses poses = fk(model, state.q);
    const Force<> on_b = assembly.wrench_on_b(ring);
    ExternalForces external(model);
    const auto world = [](const Mat3<>& R, const Force<>& F) { return Force<>{R * F.t, R * F.f}; };
    external[LinkId(0)] = world(poses[LinkId(0)].R, on_b);
    const Transform<> X_ab = inverse(poses[LinkId(n - 1)]) * poses[LinkId(0)];
    external[LinkId(n - 1)] = world(poses[LinkId(n - 1)].R, -(X_ab * on_b));
    CHECK(deviation(aba(model, state, tau, &external).vdot, result.vdot()) < 1e-9 * (1 + double(n) / 100));
  }
}

TEST_CASE("a net of 20 x 20 links, and one with redundant knots") {
  const int side = 20;
  const Model model = loose_bricks(side * side);
  std::mt19937_64 rng(5);
  const State state = gentle_state(model, rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  Assembly assembly(model);
  std::vector<Closure> closures;
  for (int y = 0; y < side; ++y) {
    for (int x = 0; x < side; ++x) {
      const int i = y * side + x;
      if (x + 1 < side) closures.push_back({brick(i, {0.3, 0, 0}), brick(i + 1, {-0.3, 0, 0}), 0b111000});
      if (y + 1 < side) closures.push_back({brick(i, {0, 0.3, 0}), brick(i + side, {0, -0.3, 0}), 0b111000});
    }
  }
  std::vector<ClosureId> ids;
  for (const Closure& c : closures) ids.push_back(assembly.connect(c));
  assembly.rebuild();
  AssemblyResult result(assembly);
  assembly.solve(state, tau, result);
  CHECK(result.rows == 3 * 2 * side * (side - 1));
  CHECK(result.rank == result.rows);
  MESSAGE("net: levels " << assembly.shape().levels << ", most rows " << assembly.shape().most_rows);

  // the knots' wrenches from outside move the loose bricks likewise
  const LinkPoses poses = fk(model, state.q);
  ExternalForces external(model);
  for (size_t k = 0; k < closures.size(); ++k) {
    const LinkId a = *closures[k].a.link, b = *closures[k].b.link;
    const Force<> on_b = assembly.wrench_on_b(ids[k]);
    const Force<> on_a = -((inverse(poses[a]) * poses[b]) * on_b);
    external[a] += Force<>{poses[a].R * on_a.t, poses[a].R * on_a.f};
    external[b] += Force<>{poses[b].R * on_b.t, poses[b].R * on_b.f};
  }
  CHECK(deviation(aba(model, state, tau, &external).vdot, result.vdot()) < 1e-9);  // sums of hundreds of forces
  CHECK(result.residual < 1e-8);

  // every third knot tied twice: the same motion, the second knots carry nothing that matters
  const Eigen::VectorXd once = result.vdot();
  int twice = 0;
  for (size_t k = 0; k < closures.size(); k += 3, ++twice) assembly.connect(closures[k]);
  assembly.solve(state, tau, result);
  CHECK(result.rows == 3 * 2 * side * (side - 1) + 3 * twice);
  CHECK(result.rank == 3 * 2 * side * (side - 1));
  CHECK(deviation(result.vdot(), once) < 1e-9);
}

TEST_CASE("random cuts and connections give what a fresh build gives") {
  for (std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
    CAPTURE(seed);
    std::mt19937_64 rng(seed);
    const bool loose = seed % 2 == 0;
    const int n = 60;
    const Model model =
        loose ? loose_bricks(n) : hinge_tree(parents_of(seed == 1 ? "random" : "broom", n), Base::kFree);
    State state = gentle_state(model, rng);
    state.v.setZero();  // at rest every closure agrees with every other, however many there are
    const Eigen::VectorXd tau = random_vector(model.nv(), rng);
    const auto pick = [&](int count) { return int(rng() % std::uint64_t(count)); };
    Assembly edited(model);
    std::vector<std::pair<Closure, ClosureId>> alive;
    AssemblyResult result(edited);
    // welds and hinges between links of a tree of hinges leave it next to no freedom, and no digits to compare
    const RowMask masks[] = {0b111000, 0b111011, kAllRows, 0b100000};
    for (int step = 0; step < 150; ++step) {
      CAPTURE(step);
      if (alive.size() > (loose ? 25u : 8u) || (alive.size() > 3 && pick(3) == 0)) {
        const int k = pick(int(alive.size()));
        edited.cut(alive[size_t(k)].second);
        alive.erase(alive.begin() + k);
      } else {
        const int first = loose ? 1 : 0, a = first + pick(n), b = first + pick(n);
        if (a == b) continue;
        ClosureAnchor on_a{0, LinkId(a), {Mat3<>::identity(), {0.1 * pick(5), 0.3, 0}}};
        if (pick(8) == 0) on_a.link.reset();  // to the world
        const Closure closure{
            on_a, {0, LinkId(b), {Mat3<>::identity(), {0, -0.2, 0.1 * pick(4)}}}, masks[loose ? pick(4) : 3 * pick(2)]};
        alive.emplace_back(closure, edited.connect(closure));
      }
      if (step % 5 != 0) continue;
      edited.solve(state, tau, result);
      Assembly fresh(model);
      for (const auto& [closure, id] : alive) fresh.connect(closure);
      fresh.rebuild();
      AssemblyResult expected(fresh);
      fresh.solve(state, tau, expected);
      CHECK(result.rank == expected.rank);
      CHECK(result.rows == expected.rows);
      CHECK(deviation(result.vdot(), expected.vdot()) < 1e-10);
    }
  }
}

TEST_CASE("an edit touches few clusters and allocates nothing after warm-up") {
  const int n = 4096;
  const Model model = hinge_tree(parents_of("chain", n), Base::kFixed);
  Assembly assembly(model);
  const Closure hold{{0, std::nullopt, {Mat3<>::identity(), {1, 0, 0}}}, {0, LinkId(n), {}}, 0b111000};
  const Closure knot{{0, LinkId(n / 3), {}}, {0, LinkId(n / 2), {}}, 0b111000};
  const auto edit = [&](const Closure& c) {
    const ClosureId id = assembly.connect(c);
    const int touched = assembly.last_edit();
    assembly.cut(id);
    return std::max(touched, assembly.last_edit());
  };
  edit(hold);
  edit(knot);
  int touched = 0;
  const std::size_t allocations = allocations_in([&] { touched = std::max(edit(hold), edit(knot)); });
  CHECK(allocations == 0);
  CHECK(touched <= 4 * 12 + 8);  // two paths of log2(4096) levels, and what stands beside them

  std::mt19937_64 rng(3);
  const State state = gentle_state(model, rng);
  const Eigen::VectorXd tau = random_vector(model.nv(), rng);
  AssemblyResult result(assembly);
  assembly.connect(hold);
  assembly.solve(state, tau, result);
  CHECK(allocations_in([&] { assembly.solve(state, tau, result); }) == 0);
}

TEST_CASE("open rows answer like the closed ones they stand for") {
  const int n = 50;
  const Model rope = hinge_tree(parents_of("chain", n), Base::kFree);
  std::mt19937_64 rng(9);
  const State state = gentle_state(rope, rng);
  const Eigen::VectorXd tau = random_vector(rope.nv(), rng);
  const Closure left{{0, std::nullopt, {}}, {0, LinkId(0), {}}, 0b111000},
      right{{0, std::nullopt, {}}, {0, LinkId(n - 1), {Mat3<>::identity(), {0.2, 0, 0}}}, 0b111000};
  Assembly closed(rope);
  closed.connect(left);
  const ClosureId held = closed.connect(right);
  AssemblyResult expected(closed);
  closed.solve(state, tau, expected);

  Assembly open(rope);
  open.connect(left, ClosureRole::kOpen);
  const ClosureId end = open.connect(right, ClosureRole::kOpen);
  const FigureInput input{&state, &tau, nullptr};
  open.assemble({&input, 1});
  REQUIRE(open.open_rows() == 6);
  CHECK(open.open_row(end) == 3);
  Eigen::MatrixXd D(6, 6);
  Eigen::VectorXd a(6);
  open.delassus(D);
  open.free_acceleration(a);
  CHECK((D - D.transpose()).norm() < 1e-12 * D.norm());
  const Eigen::VectorXd forces = -D.inverse() * a;
  AssemblyResult result(open);
  open.apply(forces, result);
  CHECK(deviation(result.vdot(), expected.vdot()) < 1e-9);  // forces of a long rope, through a 6 × 6 inverse
  const Force<> F = open.wrench_on_b(end), G = closed.wrench_on_b(held);
  CHECK(std::abs(F.f.x - G.f.x) + std::abs(F.f.y - G.f.y) + std::abs(F.f.z - G.f.z) < 1e-8);
  open.apply(Eigen::VectorXd::Zero(6), result);  // again, without forces
  CHECK(deviation(result.vdot(), aba(rope, state, tau).vdot) < 1e-10);
}

TEST_CASE("two figures become one when they are connected") {
  const Model rope = hinge_tree(parents_of("chain", 30), Base::kFree), figure = human28();
  std::mt19937_64 rng(2);
  const State rope_state = gentle_state(rope, rng), figure_state = gentle_state(figure, rng);
  const Eigen::VectorXd tau = random_vector(figure.nv(), rng);
  const FigureInput inputs[] = {{&rope_state, nullptr, nullptr}, {&figure_state, &tau, nullptr}};
  Assembly assembly({rope, figure});
  AssemblyResult result(assembly);
  assembly.solve(inputs, result);
  CHECK(deviation(result.figures[1].vdot, aba(figure, figure_state, tau).vdot) < 1e-10);
  const LinkId hand = figure.frame_link(figure.frame_id("gripL"));
  const ClosureId grip = assembly.connect({{1, hand, {}}, {0, LinkId(0), {}}, 0b111000});
  assembly.solve(inputs, result);
  CHECK(result.rank == 3);
  // the grip's force from outside gives both motions
  const Force<> on_rope = assembly.wrench_on_b(grip);
  const LinkPoses rope_poses = fk(rope, rope_state.q), poses = fk(figure, figure_state.q);
  ExternalForces on_figure(figure);
  const Force<> on_hand = -((inverse(poses[hand]) * rope_poses[LinkId(0)]) * on_rope);
  on_figure[hand] = {poses[hand].R * on_hand.t, poses[hand].R * on_hand.f};
  CHECK(deviation(aba(figure, figure_state, tau, &on_figure).vdot, result.figures[1].vdot) < 1e-9);
  assembly.cut(grip);
  assembly.solve(inputs, result);
  CHECK(deviation(result.figures[1].vdot, aba(figure, figure_state, tau).vdot) < 1e-10);
}

TEST_CASE("springs and dampers act on the joints that have them") {
  ModelBuilder builder("spring");
  builder.link("world").link("bob", kBrick);
  builder.joint({.name = "j",
                 .type = JointType::kRevolute,
                 .parent = "world",
                 .child = "bob",
                 .axis = {0, -1, 0},
                 .dofs = {{.damping = 0.7, .stiffness = 5, .rest = 0.4}}});
  const Model model = builder.build();
  State state(model);
  state.q[0] = 1.1;
  state.v[0] = -0.6;
  Assembly assembly(model, {.springs_and_dampers = true});
  AssemblyResult result(assembly);
  assembly.solve(state, Eigen::VectorXd::Constant(1, 0.2), result);
  const Eigen::VectorXd torque = Eigen::VectorXd::Constant(1, 0.2 - 5 * (1.1 - 0.4) - 0.7 * -0.6);
  CHECK(deviation(result.vdot(), aba(model, state, torque).vdot) < 1e-12);
}
