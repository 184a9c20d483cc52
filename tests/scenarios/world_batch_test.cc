#include "kansetsu/sim/world_batch.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/spatial/quaternion.h"
#include "no_alloc.h"
#include "posture.h"
#include "sanitized.h"

using namespace kansetsu;

namespace {

constexpr FigureId kFirst(0);

/// Worlds to compare with take the general step, whatever stands.
WorldOptions general() {
  WorldOptions options;
  options.standing_steps = false;
  return options;
}

/// human28 on two soles, held by PD control of every hinge.
World standing(bool limits = false, SelfCollision self_collision = SelfCollision::kNone) {
  World world(general());
  const Model model = human28();
  State state(model);
  state.q[2] = 0.88;
  world.add_fixed(Plane{}, {}, {}, "floor");
  FigureOptions options;
  options.switches.limits = limits;
  options.self_collision = self_collision;
  world.add(model, state, options);
  test::hold_posture(world, model);
  return world;
}

/// Noise on all columns but those of a free base.
class Noise {
 public:
  Noise(int worlds, const Model& model, double deviation, std::uint64_t seed)
      : tau_(worlds, model.nv()), first_(model.base() == Base::kFree ? 6 : 0), rng_(seed), normal_(0, deviation) {
    tau_.setZero();
  }
  const WorldBatch::Matrix& draw() {
    for (long i = 0; i < tau_.rows(); ++i) {
      for (long k = first_; k < tau_.cols(); ++k) tau_(i, k) = normal_(rng_);
    }
    return tau_;
  }

 private:
  WorldBatch::Matrix tau_;
  long first_;
  std::mt19937_64 rng_;
  std::normal_distribution<double> normal_;
};

/// A batch beside as many Worlds, both driven by the same torques.
struct Pair {
  Pair(const World& world, int count, int threads = 1)
      : batch(world, count, {.threads = threads}), alone(world, count, {.lanes = false}) {}

  /// The largest difference of a velocity or position after a step.
  double step(const WorldBatch::Matrix& tau) {
    batch.set_torques(kFirst, tau);
    alone.set_torques(kFirst, tau);
    batch.step();
    alone.step();
    double worst = 0;
    for (int i = 0; i < batch.size(); ++i) {
      const World &a = std::as_const(batch).world(i), &b = std::as_const(alone).world(i);
      worst = std::max(worst, (a.v(kFirst) - b.v(kFirst)).cwiseAbs().maxCoeff());
      worst = std::max(worst, (a.q(kFirst) - b.q(kFirst)).cwiseAbs().maxCoeff());
      if (a.status() != b.status() || std::abs(a.time() - b.time()) > 1e-12) worst = INFINITY;
    }
    return worst;
  }
  WorldBatch batch, alone;
};

/// Reports, totals and memories of a world that went through lanes are those of a World.
void check_same_account(const World& a, const World& b) {
  const double weight = 9.81 * a.model(kFirst).mass();
  REQUIRE(a.report().contacts.size() == b.report().contacts.size());
  for (size_t c = 0; c < a.report().contacts.size(); ++c) {
    const ContactReport &x = a.report().contacts[c], &y = b.report().contacts[c];
    CHECK(x.a == y.a);
    CHECK(x.b == y.b);
    CHECK(x.shape_a == y.shape_a);
    CHECK(x.shape_b == y.shape_b);
    CHECK(x.id == y.id);
    CHECK(x.mode == y.mode);
    CHECK(x.slip == y.slip);
    CHECK(x.tier == y.tier);
    CHECK(norm(x.p - y.p) < 1e-10);
    CHECK(norm(x.pressure - y.pressure) < 1e-9);
    CHECK(norm(x.normal - y.normal) < 1e-15);
    CHECK(norm(x.wrench.f - y.wrench.f) < 1e-9 * weight);
    CHECK(norm(x.wrench.t - y.wrench.t) < 1e-9 * weight);
    CHECK(x.gap == doctest::Approx(y.gap).epsilon(1e-9).scale(1e-3));
  }
  CHECK(a.totals().steps == b.totals().steps);
  CHECK(a.totals().contacts == b.totals().contacts);
  CHECK(a.totals().impacts == b.totals().impacts);
  for (int k = 0; k < kContactTiers; ++k) CHECK(a.totals().tiers[k] == b.totals().tiers[k]);
  const double scale = 1 + std::abs(b.totals().work_torque);
  CHECK(std::abs(a.totals().work_torque - b.totals().work_torque) < 1e-9 * scale);
  CHECK(std::abs(a.totals().work_contact - b.totals().work_contact) < 1e-9 * scale);
  CHECK(a.totals().worst_penetration == doctest::Approx(b.totals().worst_penetration).epsilon(1e-9).scale(1e-3));
  CHECK((a.vdot(kFirst) - b.vdot(kFirst)).cwiseAbs().maxCoeff() < 1e-8);
  CHECK((a.effort(kFirst) - b.effort(kFirst)).cwiseAbs().maxCoeff() < 1e-8);
}

}  // namespace

TEST_CASE("worlds in lanes stand as Worlds do, under noise of any size") {
  // Errors of a step are near 1e-16 of what moves; a figure that stands under PD control forgets them.
  const int steps = test::kSanitized ? 60 : 300;
  struct Case {
    int worlds;
    double deviation, share;
  };
  for (const Case& c : {Case{8, 0, 0.95}, Case{13, 5, 0.85}, Case{5, 25, 0}}) {
    CAPTURE(c.worlds);
    CAPTURE(c.deviation);
    const World world = standing();
    Pair pair(world, c.worlds);
    REQUIRE(pair.batch.obstacle() == "");
    Noise noise(c.worlds, world.model(kFirst), c.deviation, 7);
    double worst = 0;
    for (int i = 0; i < steps; ++i) worst = std::max(worst, pair.step(noise.draw()));
    // Under noise vertices slip. Lanes keep the wrench of a sole, Worlds the forces of its vertices, and where these decide which of
    // several solutions is found the runs part; single steps from one moment are compared below.
    CHECK(worst < (c.deviation == 0 ? 1e-9 : 0.1));
    const WorldBatchReport& r = pair.batch.report();
    CHECK(double(r.total_lanes) >= c.share * double(r.total_lanes + r.total_alone));
    if (c.deviation > 0) continue;
    for (int i = 0; i < c.worlds; ++i)
      check_same_account(std::as_const(pair.batch).world(i), std::as_const(pair.alone).world(i));
  }
}

namespace {

/// One step of a batch beside Worlds that begin with the same moment. @return the largest difference of a velocity, as a share
/// of the largest velocity (or of 1)
double compare_step(WorldBatch& batch, World& world, const WorldBatch::Matrix& tau) {
  std::vector<Snapshot> before = batch.save();
  batch.set_torques(kFirst, tau);
  batch.step();
  double worst = 0;
  for (int i = 0; i < batch.size(); ++i) {
    world.restore(before[size_t(i)]);
    world.set_torque(kFirst, tau.row(i).transpose());
    world.step();
    const World& other = std::as_const(batch).world(i);
    const double fastest = std::max(1.0, world.v(kFirst).cwiseAbs().maxCoeff());
    worst = std::max(worst, (other.v(kFirst) - world.v(kFirst)).cwiseAbs().maxCoeff() / fastest);
    worst = std::max(worst, (other.q(kFirst) - world.q(kFirst)).cwiseAbs().maxCoeff() / fastest);
    if (other.status() != world.status() || std::abs(other.time() - world.time()) > 1e-12 ||
        other.report().contacts.size() != world.report().contacts.size())
      worst = INFINITY;
  }
  return worst;
}

/// Steps of a batch, each compared with Worlds. The bound: forces come from systems whose condition is some 1e4.
void compare_steps(const World& prototype, World& world, int count, int steps, double deviation, double least_share,
                   double most_share = 1) {
  WorldBatch batch(prototype, count);
  REQUIRE(batch.obstacle() == "");
  Noise noise(count, prototype.model(kFirst), deviation, 11);
  double worst = 0;
  for (int i = 0; i < steps; ++i) worst = std::max(worst, compare_step(batch, world, noise.draw()));
  CHECK(worst < 1e-12);
  const WorldBatchReport& r = batch.report();
  const double share = double(r.total_lanes) / double(r.total_lanes + r.total_alone);
  CAPTURE(share);
  CHECK(share >= least_share);
  CHECK(share <= most_share);
}

int fewer(int steps) { return test::kSanitized ? steps / 10 : steps; }

World limp(double height, double speed) {
  World world(general());
  const Model model = human28();
  State state(model);
  state.q[2] = height;
  state.v[3] = speed;
  world.add_fixed(Plane{}, {}, {}, "floor");
  world.add(model, state);
  return world;
}

std::uint64_t hash_of(const WorldBatch& batch) {
  std::uint64_t hash = 0;
  for (int i = 0; i < batch.size(); ++i) hash = hash * 1099511628211ull + batch.world(i).hash();
  return hash;
}

}  // namespace

TEST_CASE("worlds in lanes: figures that fall over, fly and land") {
  SUBCASE("limp, they fall over") {  // straight knees and elbows are at their limits: nothing for lanes
    World world = limp(0.88, 0.3);
    compare_steps(limp(0.88, 0.3), world, 3, fewer(600), 2, 0, 0.5);
  }
  SUBCASE("they fly, and land") {
    const auto make = [] {
      World w = standing();
      State state(w.model(kFirst));
      state.q[2] = 0.95;
      w.set_state(kFirst, state);
      return w;
    };
    World world = make();
    compare_steps(make(), world, 4, 300, 2, 0.2);
  }
}

TEST_CASE("worlds in lanes: a box that slides to rest, other planes, shapes of the figure that meet") {
  const Model box = value_or_throw(Model::build(make_body("box", Box{{0.3, 0.2, 0.1}}, 2, {}).model));
  SUBCASE("a box on a slope with two walls") {
    const auto make = [&] {
      World w(general());
      const Quaternion<> tilt{0, std::sin(0.1), 0, std::cos(0.1)};
      w.add_fixed(Plane{}, {to_mat3(tilt), {0, 0, 0.5}}, {}, "slope");
      w.add_fixed(Plane{}, {to_mat3(Quaternion<>{0, std::sqrt(0.5), 0, std::sqrt(0.5)}), {-3, 0, 0}}, {}, "wall");
      w.add_fixed(Box{{0.5, 0.5, 0.5}}, {Mat3<>::identity(), {0, 3, 0.5}}, {}, "block");
      State state(box);
      const Vec3<> p = Vec3<>{0, 0, 0.5} + to_mat3(tilt) * Vec3<>{0, 0, 0.05};
      state.q.head<3>() << p.x, p.y, p.z;
      state.q.segment<4>(3) << tilt.x, tilt.y, tilt.z, tilt.w;
      state.v[3] = 0.5;
      w.add(box, state);
      return w;
    };
    World world = make();
    compare_steps(make(), world, 9, 300, 0, 0.5, 0.95);
  }
  SUBCASE("self-collision") {
    World world = standing(false, SelfCollision::kNotNeighbours);
    compare_steps(standing(false, SelfCollision::kNotNeighbours), world, 3, fewer(150), 3, 0);
  }
}

TEST_CASE("worlds in lanes: other figures: balls, fixed bases, slides") {
  SUBCASE("ball joints, standing") {
    const auto make = [] {
      World w(general());
      w.add_fixed(Plane{}, {}, {}, "floor");
      const Model model = human28_ball();
      State state(model);
      state.q[2] = 0.88;
      w.add(model, state, {.self_collision = SelfCollision::kNone, .switches = {.limits = false}});
      return w;
    };
    World world = make();
    compare_steps(make(), world, 3, fewer(100), 0.2, 0.2);
  }
  SUBCASE("a chain that hangs") {
    World world(general()), prototype(general());
    for (World* w : {&world, &prototype}) w->add(chain(6));
    compare_steps(prototype, world, 5, fewer(200), 0.02, 0.3);
  }
  SUBCASE("random trees of all joints, in flight") {
    int tried = 0;
    for (const std::uint64_t seed : {1u, 2u, 3u, 4u, 5u, 6u}) {
      CAPTURE(seed);
      RandomTreeOptions options;
      options.base = seed % 2 == 0 ? Base::kFree : Base::kFixed;
      options.types = {JointType::kRevolute, JointType::kPrismatic, JointType::kHelical, JointType::kBall};
      const Model model = random_tree(seed, options);
      World world(general()), prototype(general());
      FigureOptions figure;
      figure.switches = {.limits = false, .friction = false, .damping = true, .springs = false};
      for (World* w : {&world, &prototype}) w->add(model, figure);
      if (WorldBatch(prototype, 1).obstacle() != "") continue;
      ++tried;
      compare_steps(prototype, world, 3, 5, 0.01, options.base == Base::kFree ? 0 : 0.1);  // what flies goes by World
    }
    CHECK(tried >= 3);
  }
}

TEST_CASE("what lanes cannot do is done by Worlds, to the bit") {
  const auto same = [](const World& prototype, const char* obstacle) {
    CAPTURE(obstacle);
    Pair pair(prototype, 3);
    CHECK(pair.batch.obstacle().find(obstacle) != std::string::npos);
    Noise noise(3, prototype.model(kFirst), 1, 5);
    double worst = 0;
    for (int i = 0; i < 60; ++i) worst = std::max(worst, pair.step(noise.draw()));
    CHECK(worst == 0);
    CHECK(pair.batch.report().total_lanes == 0);
  };
  SUBCASE("two figures") {
    World w = standing();
    const Model box = value_or_throw(Model::build(make_body("box", Box{{0.3, 0.2, 0.1}}, 2, {}).model));
    State state(box);
    state.q.head<3>() << 1, 0, 0.06;
    w.add(box, state);
    same(w, "2 figures");
  }
  SUBCASE("another integrator") {
    WorldOptions options;
    options.integrator = Integrator::kRk4;
    World w(options);
    w.add(human28());
    same(w, "integrator");
  }
  SUBCASE("a conveyor") {
    World w = standing();
    w.add_moving(Box{{1, 1, 0.1}}, {Mat3<>::identity(), {5, 0, 0}}, std::nullopt, {0.1, 0, 0});
    same(w, "moves");
  }
}

TEST_CASE("a batch: the same bits on 1, 2 and 4 threads, whoever stands beside, after save and restore") {
  constexpr int kWorlds = 13;
  const World world = standing();
  const auto run = [&](WorldBatch& batch, int first, int end) {
    Noise noise(kWorlds, world.model(kFirst), 6, 3);
    for (int i = 0; i < end; ++i) {
      const WorldBatch::Matrix& tau = noise.draw();
      if (i < first) continue;
      batch.set_torques(kFirst, tau.topRows(batch.size()));
      batch.step();
    }
  };
  const int steps = fewer(300);
  WorldBatch one(world, kWorlds), few(world, 3);
  run(one, 0, steps);
  run(few, 0, steps);
  const std::uint64_t hash = hash_of(one);
  for (int i = 0; i < 3; ++i) CHECK(std::as_const(one).world(i).hash() == std::as_const(few).world(i).hash());
  CHECK(one.report().total_alone > 0);
  for (const int threads : {2, 4}) {
    WorldBatch several(world, kWorlds, {.threads = threads});
    run(several, 0, steps);
    CHECK(hash_of(several) == hash);
    CHECK(several.report().total_lanes == one.report().total_lanes);
  }
  WorldBatch halves(world, kWorlds), other(world, kWorlds);
  run(halves, 0, steps / 2);
  const std::vector<Snapshot> middle = halves.save();
  run(halves, steps / 2, steps);
  CHECK(hash_of(halves) == hash);
  other.restore(middle);
  run(other, steps / 2, steps);
  CHECK(hash_of(other) == hash);
}

TEST_CASE("a batch does not allocate") {
  World world = standing();
  world.advance(0.005);
  WorldBatch batch(world, 9);
  WorldBatch::Matrix q(9, world.model(kFirst).nq()), v(9, world.model(kFirst).nv());
  Noise noise(9, world.model(kFirst), 6, 9);
  const auto run = [&] {
    for (int i = 0; i < 200; ++i) {
      batch.set_torques(kFirst, noise.draw());
      batch.step();
      batch.states(kFirst, q, v);
    }
  };
  for (int i = 0; i < 3; ++i) batch.step();  // the stance becomes known
  CHECK(test::allocations_in(run) == 0);
  CHECK(batch.report().total_alone > 9);
  CHECK(q.row(4).transpose() == std::as_const(batch).world(4).q(kFirst));
  CHECK(v.row(4).transpose() == std::as_const(batch).world(4).v(kFirst));
}

TEST_CASE("any world of a batch can be changed by itself") {
  const World world = standing();
  WorldBatch batch(world, 4);
  for (int i = 0; i < 10; ++i) batch.step();
  CHECK(batch.report().lanes == 4);
  const World& looked_at = std::as_const(batch).world(1);
  CHECK(looked_at.report().contacts.size() == 2);
  CHECK(looked_at.time() == doctest::Approx(0.01));
  batch.step();
  CHECK(batch.report().lanes == 4);  // looking changes nothing
  const ConnectionId grip = batch.world(2).grab(kWorldBody, {kFirst, world.model(kFirst).link_id("UpperBody")});
  batch.world(3).apply_wrench({kFirst, world.model(kFirst).link_id("UpperBody")}, {{}, {1, 0, 0}}, {0, 0, 1.2});
  batch.step();
  CHECK(batch.report().lanes == 2);
  batch.step();
  CHECK(batch.report().lanes == 3);
  batch.world(2).release(grip);
  for (int i = 0; i < 4; ++i) batch.step();  // the soles have to carry him again
  CHECK(batch.report().lanes == 4);
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(34);
  tau[8] = std::nan("");
  batch.world(0).set_torque(kFirst, tau);
  batch.step();
  CHECK(batch.world(0).status() == WorldStatus::kFailed);
  batch.step();
  CHECK(batch.report().stopped == 1);
  CHECK(batch.report().lanes == 3);
  CHECK_THROWS_AS(batch.world(4), Error);
  CHECK_THROWS_AS(batch.set_torques(kFirst, WorldBatch::Matrix::Zero(3, 34)), Error);
  CHECK_THROWS_AS(batch.set_torques(kFirst, WorldBatch::Matrix::Zero(4, 33)), Error);
  CHECK_THROWS_AS(batch.restore({}), Error);
  CHECK_THROWS_AS(WorldBatch(world, -1), Error);
}

TEST_CASE("many steps at once are steps one after the other, to the bit, in lanes and out of them, on any threads") {
  const World world = standing();
  const auto push = [](WorldBatch& batch) {  // some keep standing, some fall
    for (int i = 0; i < batch.size(); ++i) {
      State state(std::as_const(batch).world(i).model(kFirst));
      state.q = std::as_const(batch).world(i).q(kFirst), state.v = std::as_const(batch).world(i).v(kFirst);
      state.v[3] = 0.1 * i;
      batch.world(i).set_state(kFirst, state);
    }
  };
  for (const bool lanes : {true, false}) {
    CAPTURE(lanes);
    WorldBatch one(world, 11, {.lanes = lanes}), many(world, 11, {.threads = 3, .lanes = lanes});
    push(one), push(many);
    for (int k = 0; k < 300; ++k) one.step();
    many.step(120), many.step(180), many.step(0);
    for (int i = 0; i < one.size(); ++i)
      CHECK(std::as_const(one).world(i).hash() == std::as_const(many).world(i).hash());
    CHECK(one.report().total_lanes == many.report().total_lanes);
    CHECK(one.report().total_alone == many.report().total_alone);
    CHECK((one.report().total_lanes > 0) == lanes);
  }
  WorldBatch batch(world, 2);
  CHECK_THROWS_AS(batch.step(-1), Error);
}

TEST_CASE("a rollout is torques and steps in turn, to the bit") {
  const World world = standing();
  const int n = 9, steps = 40, substeps = 3, nq = world.model(kFirst).nq(), nv = world.model(kFirst).nv();
  std::vector<double> controls(size_t(n * steps * nv)), q(size_t(n * steps * nq)), v(size_t(n * steps * nv));
  WorldBatch one(world, n), many(world, n, {.threads = 2});
  Noise noise(n, world.model(kFirst), 20, 3);
  WorldBatch::Matrix at_q(n, nq), at_v(n, nv);
  double worst = 0;
  std::vector<WorldBatch::Matrix> Q, V;
  for (int t = 0; t < steps; ++t) {
    const WorldBatch::Matrix& tau = noise.draw();
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < nv; ++k) controls[size_t((i * steps + t) * nv + k)] = tau(i, k);
    }
    one.set_torques(kFirst, tau);
    for (int s = 0; s < substeps; ++s) one.step();
    one.states(kFirst, at_q, at_v);
    Q.push_back(at_q), V.push_back(at_v);
  }
  for (const int from : {0, 15}) {  // in two parts
    const int count = from == 0 ? 15 : steps - 15;
    many.rollout(kFirst, count, substeps,
                 {.controls = controls.data() + from * nv,
                  .controls_stride = steps * nv,
                  .q = q.data() + from * nq,
                  .q_stride = steps * nq,
                  .v = v.data() + from * nv,
                  .v_stride = steps * nv});
  }
  for (int t = 0; t < steps; ++t) {
    for (int i = 0; i < n; ++i) {
      for (int k = 0; k < nq; ++k)
        worst = std::max(worst, std::abs(q[size_t((i * steps + t) * nq + k)] - Q[size_t(t)](i, k)));
      for (int k = 0; k < nv; ++k)
        worst = std::max(worst, std::abs(v[size_t((i * steps + t) * nv + k)] - V[size_t(t)](i, k)));
    }
  }
  CHECK(worst == 0);
  CHECK_THROWS_AS(many.rollout(FigureId(1), 1, 1, {}), Error);
  CHECK_THROWS_AS(many.rollout(kFirst, 1, 0, {}), Error);
}
