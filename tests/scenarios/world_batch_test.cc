#include "kansetsu/sim/world_batch.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>
#include <utility>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "no_alloc.h"
#include "sanitized.h"

using namespace kansetsu;

namespace {

constexpr FigureId kFirst(0);

/// human28 on two soles, held by PD control of every hinge.
World standing(bool limits = false, SelfCollision self_collision = SelfCollision::kNone) {
  World world;
  const Model model = human28();
  State state(model);
  state.q[2] = 0.88;
  world.add_fixed(Plane{}, {}, {}, "floor");
  FigureOptions options;
  options.switches.limits = limits;
  options.self_collision = self_collision;
  world.add(model, state, options);
  ControllerDescription pd;
  pd.name = "posture", pd.figure = model.name(), pd.kind = ControlKind::kPd;
  for (int j = 0; j < model.joint_count(); ++j)
    pd.joints.push_back({.dof = {model.joint(JointId(j)).name, 0}, .kp = 2000, .kd = 100});
  world.add_controller(pd);
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

  /// The largest difference of a velocity or position after a step; the Worlds go on from where the batch is, if they are told,
  /// so that errors do not add up.
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
  for (int k = 0; k < 5; ++k) CHECK(a.totals().tiers[k] == b.totals().tiers[k]);
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
  for (const Case& c : {Case{8, 0, 0.98}, Case{13, 5, 0.9}, Case{5, 25, 0}}) {
    CAPTURE(c.worlds);
    CAPTURE(c.deviation);
    const World world = standing();
    Pair pair(world, c.worlds);
    REQUIRE(pair.batch.obstacle() == "");
    Noise noise(c.worlds, world.model(kFirst), c.deviation, 7);
    double worst = 0;
    for (int i = 0; i < steps; ++i) worst = std::max(worst, pair.step(noise.draw()));
    CHECK(worst < 1e-9);
    const WorldBatchReport& r = pair.batch.report();
    CHECK(double(r.total_lanes) >= c.share * double(r.total_lanes + r.total_alone));
    for (int i = 0; i < c.worlds; ++i)
      check_same_account(std::as_const(pair.batch).world(i), std::as_const(pair.alone).world(i));
  }
}
