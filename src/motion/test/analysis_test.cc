#include "kansetsu/motion/analysis.h"

#include <doctest/doctest.h>

#include <random>

#include "kansetsu/base/error.h"
#include "kansetsu/ik/task.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/motion/parametric.h"
#include "kansetsu/spatial/eigen.h"

using namespace kansetsu;

namespace {

Vec3<> ground_force(const Analysis& a, std::size_t k) {
  Vec3<> sum{};
  for (const SupportForces& s : a.supports) sum += s.wrench[k].f;
  return sum;
}

/// Rate of the momentum [angular about the centre of mass; linear] of the analysed motion, by an algorithm of its own.
Force<> momentum_rate(const Model& model, const Analysis& a, int k) {
  State state(model);
  state.q = a.clip.q.col(k), state.v = a.v.col(k);
  const Centroidal c = centroidal(model, state);
  return to_force(c.A * a.vdot.col(k) + c.A_dot * state.v);
}

}  // namespace

TEST_CASE("a squat: forces are m(g + a), nothing is left over, and both feet carry all the time") {
  const Model model = human28();
  const Clip clip = squat(model, {.count = 1});
  const Analysis a = analyze(model, clip, find_supports(model, clip));
  REQUIRE(a.supports.size() == 2);
  REQUIRE(a.phases.size() == 1);
  CHECK(a.phases[0].kind == Phase::Kind::kDouble);
  CHECK(a.phases[0].end == doctest::Approx(clip.duration()));
  for (int k = 0; k < a.frames(); ++k) {
    const std::size_t i = std::size_t(k);
    const Force<> rate = momentum_rate(model, a, k);
    CHECK(norm(ground_force(a, i) - (rate.f - model.mass() * model.gravity())) < 1e-5);  // compliance of the fit
    CHECK(norm(a.residual[i].f) < 1e-5);
    CHECK(norm(a.residual[i].t) < 1e-5);
    // Left and right are alike, so half of the weight each, and the pressure of both is where the zero moment point is.
    REQUIRE(a.supports[0].pressure[i]);
    CHECK(a.supports[0].wrench[i].f.z == doctest::Approx(a.supports[1].wrench[i].f.z).epsilon(1e-6));
    const Vec3<> middle = 0.5 * (*a.supports[0].pressure[i] + *a.supports[1].pressure[i]);
    CHECK(norm(middle - a.zmp[i].value()) < 1e-6);
    CHECK(std::abs(middle.z) < 1e-7);
  }
  CHECK(a.summary.mean_vertical == doctest::Approx(a.summary.weight).epsilon(1e-3));          // at rest at both ends
  CHECK(a.summary.positive_work == doctest::Approx(-a.summary.negative_work).epsilon(1e-2));  // down and up again
}

TEST_CASE("the torques of an analysis move the figure as the clip does") {
  const Model model = human28();
  const Clip clip = reach(model);
  const std::vector<SupportHistory> supports = find_supports(model, clip);
  const Analysis a = analyze(model, clip, supports);
  for (int k = 0; k < a.frames(); k += 7) {
    const std::size_t i = std::size_t(k);
    State state(model);
    state.q = a.clip.q.col(k), state.v = a.v.col(k);
    ExternalForces external(model);
    for (std::size_t s = 0; s < supports.size(); ++s) external[supports[s].support.link] += a.supports[s].wrench[i];
    external[LinkId(0)] += a.residual[i];
    CHECK((aba(model, state, a.tau.col(k), &external).vdot - a.vdot.col(k)).norm() < 1e-8);
  }
  CHECK(a.tau.topRows<6>().norm() == 0);
}

TEST_CASE("hands on a bar are found and carry the swing; about the bar nothing is left over") {
  const Model model = human28();
  double moment[2];
  for (const int fine : {0, 1}) {
    const Clip clip = bar_swing(model, {.duration = 2.5, .rate = fine ? 400.0 : 200.0});
    const Analysis a = analyze(model, clip, find_supports(model, clip));
    REQUIRE(a.supports.size() == 4);
    REQUIRE(a.phases.size() == 1);
    CHECK(a.supports[2].name == "left hand");
    CHECK(a.phases[0].supports == std::vector{2, 3});
    CHECK(a.summary.worst_force < 1);  // at the ends, where differences are of first order
    double most = 0;
    for (std::size_t k = 0; k < clip.times.size(); ++k) most = std::max(most, norm(ground_force(a, k)));
    CHECK(most > 1.2 * a.summary.weight);  // at the bottom
    // The hips begin to pump at once, which differences over the ends do not see.
    moment[fine] = 0;
    for (std::size_t k = 2; k + 2 < clip.times.size(); ++k)
      moment[fine] = std::max(moment[fine], norm(a.residual[k].t));
  }
  // The swing obeys gravity, so that two points can hold it; the rest is the error of differences, of second order.
  CHECK(moment[0] < 0.5);
  CHECK(moment[1] < 0.3 * moment[0]);
}

TEST_CASE("in flight nothing pushes and nothing is missing") {
  const Model model = human28();
  Clip clip{.name = "fall", .q = Eigen::MatrixXd(model.nq(), 50)};
  for (int k = 0; k < 50; ++k) {
    const double t = 0.01 * k;
    clip.times.push_back(t);
    clip.q.col(k) = neutral(model);
    clip.q(0, k) = 2 * t;
    clip.q(2, k) = 5 + t - 0.5 * 9.81 * t * t;
  }
  const Analysis a = analyze(model, clip, find_supports(model, clip));
  REQUIRE(a.phases.size() == 1);
  CHECK(a.phases[0].kind == Phase::Kind::kFlight);
  CHECK(a.summary.worst_force < 1e-6);  // parabolas have no error of differences, rounding is 1e-12/h²·m
  CHECK(a.summary.mean_vertical == 0);
  CHECK(!a.zmp[20]);
  CHECK(!a.supports[0].pressure[20]);
}

TEST_CASE("what a floor cannot give is the residual, and a floor gives only what it can") {
  // A figure that slides forward with 12 m/s² on its soles: friction gives 0.8 g at most.
  const Model model = human28();
  Clip clip{.name = "shove", .q = Eigen::MatrixXd(model.nq(), 9)};
  for (int k = 0; k < 9; ++k) {
    clip.times.push_back(0.01 * k);
    clip.q.col(k) = neutral(model);
    clip.q(0, k) = 6 * clip.times.back() * clip.times.back();
    clip.q(2, k) = 0.88;
  }
  const Analysis a = analyze(model, clip, find_supports(model, clip));
  for (std::size_t k = 1; k < 8; ++k) {
    const Vec3<> f = ground_force(a, k);
    CHECK(f.z >= 0);
    CHECK(std::hypot(f.x, f.y) <= 0.8 * f.z + 1e-9);
    for (const SupportForces& s : a.supports) {
      if (!s.pressure[k]) continue;
      CHECK(s.pressure[k]->x >= clip.q(0, long(k)) - 0.05 - 1e-9);
      CHECK(s.pressure[k]->x <= clip.q(0, long(k)) + 0.14 + 1e-9);
    }
    const Vec3<> all = f + a.residual[k].f;
    CHECK(norm(all - model.mass() * (Vec3<>{12, 0, 0} - model.gravity())) < 1e-6);
    CHECK(norm(a.residual[k].f) > 100);
  }
  CHECK(a.summary.largest_friction <= 0.8 + 1e-9);
}

TEST_CASE("a fixed base: torques only") {
  const Model model = chain(5);
  Clip clip{.name = "wave", .q = Eigen::MatrixXd(model.nq(), 200)};
  for (int k = 0; k < 200; ++k) {
    clip.times.push_back(0.005 * k);
    for (int j = 0; j < model.nq(); ++j) clip.q(j, k) = std::sin(2 * clip.times.back() + j);
  }
  const Analysis a = analyze(model, clip, {});
  State state(model);
  for (int k = 1; k < 199; k += 20) {
    Eigen::VectorXd vdot(model.nv());
    for (int j = 0; j < model.nv(); ++j) {
      state.v[j] = 2 * std::cos(2 * clip.times[std::size_t(k)] + j);
      vdot[j] = -4 * std::sin(2 * clip.times[std::size_t(k)] + j);
    }
    state.q = clip.q.col(k);
    CHECK((rnea(model, state, vdot) - a.tau.col(k)).norm() < 2e-3);  // differences: h²/6·8 of v, times 5 kg
  }
  CHECK_THROWS_WITH_AS(
      analyze(model, clip,
              std::vector<SupportHistory>{
                  {.name = "foot", .support = {.corners = {{}}}, .touching = std::vector<std::uint32_t>(200, 1)}}),
      doctest::Contains("fixed base"), Error);
}

TEST_CASE("clips and histories that do not fit are told") {
  const Model model = human28();
  Clip clip = squat(model, {.count = 1, .rate = 20});
  std::vector<SupportHistory> supports = find_supports(model, clip);
  supports[1].touching.pop_back();
  CHECK_THROWS_WITH_AS(analyze(model, clip, supports), doctest::Contains("support 'right' has"), Error);
  supports = find_supports(model, clip);
  supports[0].support.corners.clear();
  CHECK_THROWS_WITH_AS(analyze(model, clip, supports), doctest::Contains("0 corners"), Error);
  clip.times.resize(2);
  clip.q.conservativeResize(model.nq(), 2);
  CHECK_THROWS_WITH_AS(analyze(model, clip, {}), doctest::Contains("three are needed"), Error);
  CHECK_THROWS_AS(analyze(chain(3), clip, {}), Error);
}
