#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "kansetsu/model/builder.h"
#include "kansetsu/sim/world.h"
#include "no_alloc.h"
#include "sanitized.h"

using namespace kansetsu;

/// Nets: many loops in one island. More than 64 bilateral rows are eliminated part by part, fewer by one matrix
/// (docs/theory/loops.md).
namespace {

constexpr double kPitch = 0.1;

/// What the bodies of a net are, and what holds them.
enum class Form {
  kBricks,  ///< figures of their own; every knot a connection
  kLoose,   ///< one figure, every body free; every knot a connection
  kTree,    ///< one figure, a tree of ball joints; the knots that close loops are connections
};

struct NetOptions {
  int side = 5;
  Form form = Form::kBricks;
  /// Between neighbours a rod with a knot at either end. Without them it is a net of plates, which has few ways to move and many
  /// postures in which it has none.
  bool threads = false;
  bool hung = true;  ///< by a corner
  bool shapes = false;
  double height = 0;
  double damping = 0, stiffness = 0;  ///< of the joints of kTree
};

/// Bodies that hang together by balls. Wavy: a flat net cannot say how it shares out its forces.
struct Net {
  struct Tie {
    int a, b;
    Vec3<> p;
  };

  World world;
  NetOptions options;
  std::vector<Vec3<>> places{};
  std::vector<Tie> ties{};
  std::vector<BodyRef> bodies{};
  std::vector<ConnectionId> knots{};

  Net(const WorldOptions& world_options, const NetOptions& o) : world(world_options), options(o) {
    for (int i = 0; i < o.side * o.side; ++i) {
      const int x = i % o.side, y = i / o.side;
      places.push_back({kPitch * x, kPitch * y, o.height + 0.02 * std::sin(1.3 * x + 0.7 * y)});
    }
    for (int i = 0; i < o.side * o.side; ++i) {
      if ((i + 1) % o.side) join(i, i + 1);
      if (i + o.side < o.side * o.side) join(i, i + o.side);
    }
    if (o.form == Form::kBricks) add_bricks();
    if (o.form == Form::kLoose) add_loose();
    if (o.form == Form::kTree) add_tree();
    ConnectionOptions nail;
    nail.mask = kPointMask;
    if (o.hung) world.connect(kWorldBody, bodies[0], nail);
  }

  /// Two neighbours, by a knot or by a thread with two.
  void join(int i, int j) {
    const Vec3<> p = places[size_t(i)], q = places[size_t(j)];
    if (!options.threads) return ties.push_back({i, j, 0.5 * (p + q)});
    const int thread = int(places.size());
    places.push_back(0.5 * (p + q));
    ties.push_back({i, thread, 0.75 * p + 0.25 * q});
    ties.push_back({thread, j, 0.25 * p + 0.75 * q});
  }
  LinkDescription link(size_t i) const {
    LinkDescription out;
    out.name = "b" + std::to_string(i);
    out.inertial = Inertial{.mass = 0.1, .inertia = {1e-4, 0, 0, 1e-4, 0, 2e-4}};
    if (options.shapes && int(i) < options.side * options.side)
      out.collisions.push_back({.name = "brick", .shape = Sphere{0.02}});
    return out;
  }
  void add_bricks() {
    for (size_t i = 0; i < places.size(); ++i) {
      const Model model = ModelBuilder("brick").base(Base::kFree).link(link(i)).build();
      State state(model);
      state.q.head<3>() << places[i].x, places[i].y, places[i].z;
      bodies.push_back({world.add(model, state, {.name = "b" + std::to_string(i)}), LinkId(0)});
    }
    for (const Tie& t : ties) tie(t);
  }
  void add_loose() {
    ModelBuilder builder("bricks");
    builder.link("world");
    for (size_t i = 0; i < places.size(); ++i) {
      builder.link(link(i)).joint(
          {.name = "j" + std::to_string(i), .type = JointType::kFree, .parent = "world", .child = link(i).name});
    }
    const Model model = builder.build();
    State state(model);
    for (size_t i = 0; i < places.size(); ++i) {
      state.q.segment<3>(model.coordinates(JointId(int(i))).q) << places[i].x, places[i].y, places[i].z;
    }
    find_bodies(world.add(model, state, {.name = "net"}));
    for (const Tie& t : ties) tie(t);
  }
  /// Whatever is reached from the first body, nearest first, by a tie becomes a joint's child.
  void add_tree() {
    ModelBuilder builder("net");
    builder.base(Base::kFree).link(link(0));
    std::vector<bool> reached(places.size(), false), used(ties.size(), false);
    std::vector<int> queue{0};
    reached[0] = true;
    for (size_t n = 0; n < queue.size(); ++n) {
      for (size_t k = 0; k < ties.size(); ++k) {
        const Tie& t = ties[k];
        const int carrier = queue[n], child = t.a == carrier ? t.b : t.a;
        if ((t.a != carrier && t.b != carrier) || reached[size_t(child)]) continue;
        reached[size_t(child)] = used[k] = true;
        queue.push_back(child);
        JointDescription joint{.name = "j" + std::to_string(child),
                               .type = JointType::kBall,
                               .parent = link(size_t(carrier)).name,
                               .child = link(size_t(child)).name,
                               .socket = {.p = t.p - places[size_t(carrier)]},
                               .plug = {.p = t.p - places[size_t(child)]}};
        joint.dofs.assign(3, {.damping = options.damping, .stiffness = options.stiffness});
        builder.link(link(size_t(child))).joint(joint);
      }
    }
    const Model model = builder.build();
    State state(model);
    state.q.head<3>() << places[0].x, places[0].y, places[0].z;
    find_bodies(world.add(model, state, {.name = "net"}));
    for (size_t k = 0; k < ties.size(); ++k) {
      if (!used[k]) tie(ties[k]);
    }
  }
  void find_bodies(FigureId id) {
    for (size_t i = 0; i < places.size(); ++i) bodies.push_back({id, world.model(id).link_id(link(i).name)});
  }

  ConnectionId tie(const Tie& t) {
    ConnectionOptions knot;
    knot.mask = kPointMask;
    knot.X_AC.p = inverse(world.pose(bodies[size_t(t.a)])) * t.p;
    knot.X_BC.p = inverse(world.pose(bodies[size_t(t.b)])) * t.p;
    return knots.emplace_back(world.connect(bodies[size_t(t.a)], bodies[size_t(t.b)], knot));
  }
  double energy() const { return world.kinetic_energy() + world.potential_energy(); }
};

/// Some motion that the knots allow: what is left of random velocities.
void stir(Net& net, double speed) {
  std::mt19937_64 rng(17);
  std::normal_distribution<double> normal(0, speed);
  for (int f = 0; f < net.world.figure_count(); ++f) {
    State state(net.world.model(FigureId(f)));
    state.q = net.world.q(FigureId(f));
    state.v = Eigen::VectorXd::NullaryExpr(state.v.size(), [&](Eigen::Index) { return normal(rng); });
    net.world.set_state(FigureId(f), state);
  }
  CHECK(net.world.assemble().ok);
}

}  // namespace

TEST_CASE("a net moves alike as bricks, as one loose figure and as a tree with loops") {
  WorldOptions options;
  options.time_step = 1e-6;  // so short that it makes no difference which coordinates are integrated
  Net bricks(options, {.form = Form::kBricks}), loose(options, {.form = Form::kLoose}),
      tree(options, {.form = Form::kTree});
  CHECK(bricks.knots.size() == 40);  // 120 rows, and three of the corner: part by part
  CHECK(tree.knots.size() == 16);    // 48 and three: by one matrix
  for (Net* net : {&bricks, &loose, &tree}) net->world.step();
  for (size_t i = 0; i < bricks.bodies.size(); ++i) {
    const Motion<> a = bricks.world.velocity(bricks.bodies[i]), b = loose.world.velocity(loose.bodies[i]),
                   c = tree.world.velocity(tree.bodies[i]);
    // Velocities are near 1e-5 m/s and 1e-4 rad/s; six digits of that
    CHECK(norm(a.v - b.v) + norm(a.w - b.w) < 1e-11);
    CHECK(norm(a.v - c.v) + norm(a.w - c.w) < 1e-10);
  }
}

TEST_CASE("a net of 10 x 10 hangs by a corner for a second: its knots hold, what it gains is accounted for") {
  WorldOptions options;
  const int steps = test::kSanitized ? 100 : 1000;
  options.gravity = {0, 0, -1};  // with more, its end cracks like a whip: steps of 1 ms are too long for that
  for (const Form form : {Form::kBricks, Form::kLoose, Form::kTree}) {
    CAPTURE(int(form));
    Net net(options, {.side = 10, .form = form, .threads = true});
    CHECK(net.bodies.size() == 280);
    const double before = net.energy(), height = net.world.potential_energy();
    double worst = 0;
    for (int i = 0; i < steps; ++i) {
      net.world.step();
      worst = std::max({worst, net.world.report().loop_gap, net.world.report().loop_angle});
    }
    REQUIRE(net.world.status() == WorldStatus::kRunning);
    CHECK(worst < 1e-6);
    CHECK(net.world.report().rank_deficiency == 0);
    const double fallen = height - net.world.potential_energy();
    CHECK(fallen > (test::kSanitized ? 0.05 : 5));
    // Of first order in the step, as of a single pendulum.
    CHECK(std::abs(net.energy() - before) < 0.02 * fallen);
  }
}

TEST_CASE("a net on its own keeps momentum and energy") {
  WorldOptions options;
  options.gravity = {0, 0, 0};
  options.integrator = Integrator::kRk4;
  for (const Form form : {Form::kBricks, Form::kTree}) {
    CAPTURE(int(form));
    Net net(options, {.side = 7, .form = form, .hung = false});
    stir(net, 0.3);
    const Vec3<> P = net.world.momentum(), L = net.world.angular_momentum();
    const double T = net.world.kinetic_energy();
    net.world.advance(0.1);
    REQUIRE(net.world.status() == WorldStatus::kRunning);
    CHECK(norm(P) > 1e-2);
    // Sums over 49 bricks and hundreds of forces, and the error of fourth order that a hundred steps make.
    CHECK(norm(net.world.momentum() - P) < 1e-8 * norm(P));
    CHECK(norm(net.world.angular_momentum() - L) < 1e-8 * norm(P));
    CHECK(std::abs(net.world.kinetic_energy() - T) < 1e-6 * T);
  }
}

TEST_CASE("knots that are tied twice are told, and move nothing") {
  for (const Form form : {Form::kBricks, Form::kTree}) {
    CAPTURE(int(form));
    Net once({}, {.side = 8, .form = form}), twice({}, {.side = 8, .form = form});
    int more = 0;
    for (size_t k = 0; k < twice.ties.size(); k += 3, ++more) twice.tie(twice.ties[k]);
    for (Net* net : {&once, &twice}) net->world.advance(0.05);
    CHECK(once.world.report().rank_deficiency == 0);
    CHECK(twice.world.report().rank_deficiency == 3 * more);
    CHECK(twice.world.report().inconsistency < 1e-6);
    for (size_t i = 0; i < once.bodies.size(); ++i) {
      CHECK(norm(once.world.pose(once.bodies[i]).p - twice.world.pose(twice.bodies[i]).p) < 1e-8);
    }
    // Whichever of two knots carries it: what holds the corner is the same.
    const auto held = [](const World& world) {
      Vec3<> sum{};
      for (const ConnectionReport& c : world.report().connections) {
        if (c.a.is_world()) sum += c.wrench.f;
      }
      return sum;
    };
    CHECK(norm(held(once.world) - held(twice.world)) < 1e-5 * norm(held(once.world)));
  }
}

TEST_CASE("the nail's force is reported, and it breaks when it is too much") {
  for (const Form form : {Form::kBricks, Form::kTree}) {
    CAPTURE(int(form));
    Net net({}, {.side = 7, .form = form, .hung = false});
    ConnectionOptions nail;
    nail.mask = kPointMask;
    nail.break_force = 20;
    nail.name = "nail";
    const ConnectionId id = net.world.connect(kWorldBody, net.bodies[0], nail);
    const double h = net.world.time_step();
    const Vec3<> weight{0, 0, -4.9 * 9.81};
    // Forces turn with free bodies for half a step, at a few rad/s; in joint coordinates a step keeps momentum to first order.
    const double tolerance = form == Form::kBricks ? 1e-3 : 5e-2;
    double most = 0;
    while (net.world.connected(id) && net.world.time() < 1) {
      const Vec3<> P = net.world.momentum();
      net.world.step();
      Force<> held{}, blow{};
      for (const ConnectionReport& c : net.world.report().connections) {
        if (c.id == id) held = c.wrench, blow = c.impulse;
      }
      most = std::max(most, norm(held.f));
      CHECK(norm(net.world.momentum() - P - h * (weight + held.f) - blow.f) < tolerance * h * norm(weight));
    }
    REQUIRE(net.world.events().size() == 1);
    CHECK(net.world.events()[0].kind == EventKind::kBroken);
    CHECK(net.world.events()[0].name == "nail");
    CHECK(most > 20);
    const Vec3<> P = net.world.momentum();
    net.world.step();
    CHECK(norm(net.world.momentum() - P - h * weight) < tolerance * h * norm(weight));
  }
}

TEST_CASE("a net is cut in two and tied again while it moves; nothing allocates") {
  WorldOptions options;
  options.gravity = {0, 0, 0};
  Net net(options, {.side = 8, .hung = false});
  stir(net, 0.2);
  net.world.advance(0.02);
  // All knots between the fourth and the fifth row of bricks.
  std::vector<std::pair<BodyRef, BodyRef>> seam;
  std::vector<ConnectionId> ids;
  for (size_t k = 0; k < net.ties.size(); ++k) {
    const Net::Tie& t = net.ties[k];
    if (t.a / 8 == 3 && t.b / 8 == 4)
      seam.emplace_back(net.bodies[size_t(t.a)], net.bodies[size_t(t.b)]), ids.push_back(net.knots[k]);
  }
  REQUIRE(seam.size() == 8);
  const double T = net.world.kinetic_energy();
  for (const ConnectionId id : ids) net.world.release(id);
  CHECK(net.world.kinetic_energy() == T);
  net.world.advance(0.01);
  const Vec3<> P = net.world.momentum(), L = net.world.angular_momentum();
  const double T_cut = net.world.kinetic_energy();
  ids.clear();
  for (const auto& [a, b] : seam) ids.push_back(net.world.connect(a, b, {.mask = kPointMask}));
  net.world.step();
  CHECK(net.world.report().impacts == 1);
  CHECK(net.world.report().impact_energy < 0);
  // Forces turn with their bodies for half a step, 1 ms at up to 1 rad/s, and some of them are far larger than P/s.
  CHECK(norm(net.world.momentum() - P) < 1e-4 * norm(P));
  CHECK(norm(net.world.angular_momentum() - L) < 1e-4 * norm(P));
  CHECK(net.world.kinetic_energy() < T_cut);
  double worst = 0;
  const auto turns = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      net.world.release(ids[size_t(i) % 8]);
      net.world.step();
      const auto& [a, b] = seam[size_t(i) % 8];
      ids[size_t(i) % 8] = net.world.connect(a, b, {.mask = kPointMask});
      net.world.step();
      worst = std::max(worst, net.world.report().loop_gap);
    }
  };
  turns(8);
  const std::size_t allocations = test::allocations_in([&] { turns(8); });
  CHECK(allocations == 0);
  CHECK(worst < 1e-6);
  CHECK(net.world.status() == WorldStatus::kRunning);
}

TEST_CASE(
    "a net falls on a ball and a floor: no gap, no gain of energy, the same bits on any threads and after restore") {
  std::uint64_t hash = 0;
  for (const int threads : {1, 2, 4}) {
    CAPTURE(threads);
    WorldOptions options;
    options.threads = threads;
    Net net(options, {.side = 7, .hung = false, .shapes = true, .height = 0.5});
    net.world.add_fixed(Sphere{0.15}, {Mat3<>::identity(), {0.3, 0.3, 0.3}}, {}, "ball");
    net.world.add_fixed(Plane{}, {}, {}, "floor");
    const double before = net.energy();
    double worst = 0, gain = 0;
    size_t contacts = 0;
    Snapshot middle;
    for (int i = 0; i < 400; ++i) {
      if (i == 200) middle = net.world.save();
      net.world.step();
      worst = std::max(worst, net.world.report().loop_gap);
      contacts = std::max(contacts, net.world.report().contacts.size());
      gain = std::max(gain, net.energy() - before);
    }
    REQUIRE(net.world.status() == WorldStatus::kRunning);
    CHECK(contacts >= 4);
    CHECK(worst < 1e-6);
    CHECK(gain < 1e-3 * std::abs(before));
    CHECK(net.world.totals().worst_penetration < 2e-3);  // the way of one step, after a fall of 0.2 m
    const std::uint64_t end = net.world.hash();
    if (threads == 1) hash = end;
    CHECK(end == hash);
    net.world.restore(middle);
    for (int i = 200; i < 400; ++i) net.world.step();
    CHECK(net.world.hash() == end);
  }
}

TEST_CASE("a net with stiff springs and dampers in its joints stays as it is while it swings") {
  // Explicitly, gains of this size would blow up within a few steps of 1 ms: k·h²/I and d·h/I are near 10 and 100.
  Net net({}, {.side = 7, .form = Form::kTree, .damping = 10, .stiffness = 1000});
  CHECK(3 * net.knots.size() > 64);
  const double before = net.energy();
  net.world.advance(0.5);
  REQUIRE(net.world.status() == WorldStatus::kRunning);
  CHECK(net.world.report().loop_gap < 1e-6);
  CHECK(net.world.kinetic_energy() > 1);
  CHECK(net.energy() < before);
  const Transform<> X = net.world.pose(net.bodies[0]);
  for (size_t i = 0; i < net.bodies.size(); ++i) {
    // 5 kg at 0.4 m bend the two joints next to the nail by some 0.05 rad, at 0.8 m.
    CHECK(norm(inverse(X) * net.world.pose(net.bodies[i]).p - (net.places[i] - net.places[0])) < 0.1);
  }
}
