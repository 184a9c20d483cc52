#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <span>

#include "kansetsu/base/error.h"
#include "kansetsu/model/builder.h"
#include "support.h"

/// What is wrong with a call is said in one sentence.
using namespace kansetsu;
using namespace kansetsu::batch;
using namespace kansetsu::batch::test;

namespace {

template <class F>
std::string error_of(F&& call) {
  try {
    call();
  } catch (const Error& e) {
    return e.what();
  }
  return "no error";
}

}  // namespace

TEST_CASE("batch: wrong arguments are named") {
  const Model model = human28();
  const States<double> s(model, 4, 1);
  std::vector<double> out(4 * 12 * size_t(model.link_count()));
  Batch<double> batch(model, {.threads = 1});
  const double* none = nullptr;
  CHECK(error_of([&] { batch.fk(-1, s.q.data(), out.data()); }) == "batch fk: the count is -1, expected 0 or more");
  CHECK(error_of([&] { batch.aba(4, s.q.data(), none, s.a.data(), out.data()); }) ==
        "batch aba: v is null, expected 4 rows of 34 numbers");
  CHECK(error_of([&] { batch.rnea(4, s.q.data(), s.v.data(), s.a.data(), {nullptr, 34}); }) ==
        "batch rnea: tau is null, expected 4 rows of 34 numbers");
  CHECK(error_of([&] { batch.fk(4, {s.q.data(), 34}, out.data()); }) ==
        "batch fk: q has row stride 34, but rows of 35 numbers must not overlap");
  CHECK(error_of([&] { batch.rnea(4, s.q.data(), s.v.data(), s.a.data(), {out.data(), 0}); }) ==
        "batch rnea: tau has row stride 0, but rows of 34 numbers must not overlap");
  CHECK(error_of([&] { batch.jacobian(4, s.q.data(), LinkId(99), {}, JacobianAxes::kLocal, out.data()); }) ==
        "batch jacobian: the model 'human28' has no link 99");
  CHECK(error_of([&] { batch.integrate(4, s.q.data(), s.v.data(), NAN, out.data()); }) ==
        "batch integrate: dt is nan, expected a finite time");
  CHECK(error_of([&] { Batch<double>(model, {.threads = -2}); }) ==
        "batch: threads is -2, expected 0 (all cores) or more");
}

TEST_CASE_TEMPLATE("batch: a number that is not finite is found, and no other state notices", Real, double, float) {
  const Model model = human28();
  const long count = 50, bad = 21, nv = model.nv();
  States<Real> s(model, count, 2);
  std::vector<Real> expected(size_t(count * nv)), out = expected;
  Batch<Real> batch(model, {.threads = 2}), lenient(model, {.threads = 1, .non_finite = NonFinite::kAllow});
  batch.aba(count, s.q.data(), s.v.data(), s.a.data(), expected.data());
  for (Real wrong : {Real(NAN), Real(INFINITY), Real(-INFINITY)}) {
    s.v[size_t(bad * nv + 33)] = wrong;
    const std::string text = error_of([&] { batch.aba(count, s.q.data(), s.v.data(), s.a.data(), out.data()); });
    CHECK(text == "batch aba: v[33] of state 21 is " +
                      std::string(std::isnan(wrong) ? "nan"
                                  : wrong > 0       ? "inf"
                                                    : "-inf") +
                      ", expected finite numbers; all other states are computed");
    for (long i = 0; i < count; ++i) {
      if (i != bad) CHECK(std::equal(&out[size_t(i * nv)], &out[size_t(i * nv)] + nv, &expected[size_t(i * nv)]));
    }
    std::fill(out.begin(), out.end(), Real(0));
    lenient.aba(count, s.q.data(), s.v.data(), s.a.data(), out.data());
    CHECK_FALSE(std::isfinite(out[size_t(bad * nv)]));
    CHECK(out[0] == expected[0]);
  }
}

/// Lengths whose squares are just normal numbers, and those just beyond.
TEST_CASE_TEMPLATE("batch: quaternions that are no rotation are found, and no other state notices", Real, double,
                   float) {
  const Model model = human28_ball();
  const long count = 50, nq = model.nq(), nv = model.nv();
  States<Real> s(model, count, 4);
  std::vector<Real> expected(size_t(count * nv)), out = expected, moved(size_t(count * nq));
  Batch<Real> batch(model, {.threads = 2}), lenient(model, {.threads = 1, .non_finite = NonFinite::kAllow});
  batch.rnea(count, s.q.data(), s.v.data(), s.a.data(), expected.data());
  const Real shortest = std::sqrt(std::numeric_limits<Real>::min()),
             longest = std::sqrt(std::numeric_limits<Real>::max());
  const int ball = model.coordinates(model.joint_id("shoulderL")).q;
  for (const int at : {3, ball}) {
    for (const long bad : {0L, 21L, count - 1}) {
      Real* turn = &s.q[size_t(bad * nq + at)];
      const std::array<Real, 4> before{turn[0], turn[1], turn[2], turn[3]};
      for (const Real length : {Real(0), Real(0.99) * shortest, Real(1.01) * longest}) {
        std::ranges::fill(std::span(turn, 4), Real(0));
        turn[1] = length;
        const std::string message = fmt::format(
            "the quaternion q[{}:{}] of state {} is no rotation: its length is zero, or no number holds its "
            "square; all other states are computed",
            at, at + 4, bad);
        CHECK(error_of([&] { batch.rnea(count, s.q.data(), s.v.data(), s.a.data(), out.data()); }) ==
              "batch rnea: " + message);
        for (long i = 0; i < count; ++i) {
          if (i != bad) REQUIRE(std::equal(&out[size_t(i * nv)], &out[size_t(i * nv)] + nv, &expected[size_t(i * nv)]));
        }
        CHECK(error_of([&] { batch.integrate(count, s.q.data(), s.v.data(), Real(0.1), moved.data()); }) ==
              "batch integrate: " + message);
        CHECK(error_of([&] { lenient.rnea(count, s.q.data(), s.v.data(), s.a.data(), out.data()); }) == "no error");
      }
      for (const Real length : {Real(1.01) * shortest, Real(0.99) * longest}) {
        std::ranges::fill(std::span(turn, 4), Real(0));
        turn[1] = length;
        batch.rnea(count, s.q.data(), s.v.data(), s.a.data(), out.data());
        CHECK(std::isfinite(out[size_t(bad * nv)]));
      }
      std::ranges::copy(before, turn);
    }
  }
}

TEST_CASE("batch: a quaternion that a result has overwritten is told all the same") {
  const Model model = human28();
  States<double> s(model, 5, 5);
  for (int k = 3; k < 7; ++k) s.q[size_t(3 * model.nq() + k)] = 0;
  Batch<double> batch(model, {.threads = 1});
  CHECK(error_of([&] {
          batch.integrate(5, s.q.data(), s.v.data(), 0.1, s.q.data());
        }).find("q[3:7] of state 3 is no rotation") != std::string::npos);
}

TEST_CASE_TEMPLATE("batch: coordinates that move no inertia are marked", Real, double, float) {
  ModelBuilder builder("tip");
  builder.link("ground")
      .link({.name = "arm", .inertial = Inertial{1, {.p = {0, 0, 0.5}}, Sym3<>::diagonal(1, 1, 1)}})
      .link("tip");
  builder.joint(
      {.name = "shoulder", .type = JointType::kRevolute, .parent = "ground", .child = "arm", .axis = {0, 1, 0}});
  builder.joint({.name = "wrist", .type = JointType::kRevolute, .parent = "arm", .child = "tip", .axis = {0, 1, 0}});
  const Model model = builder.build();
  const States<Real> s(model, 11, 3);
  std::vector<Real> vdot(22), singular(22, Real(NAN));
  Batch<Real> batch(model, {.threads = 1});
  CHECK(batch.aba(11, s.q.data(), s.v.data(), s.a.data(), vdot.data(), {}, singular.data()));
  for (size_t i = 0; i < 11; ++i) {
    CHECK(singular[2 * i] == 0);
    CHECK(singular[2 * i + 1] != 0);
    CHECK(vdot[2 * i + 1] == 0);
  }
  const Model human = human28();
  const States<Real> moving(human, 11, 3);
  vdot.resize(size_t(11 * human.nv()));
  Batch<Real> of_human(human, {.threads = 2});
  CHECK_FALSE(of_human.aba(11, moving.q.data(), moving.v.data(), moving.a.data(), vdot.data()));
}
