#include <algorithm>
#include <cstdio>

#include "kansetsu/base/error.h"
#include "support.h"

/// What single precision costs, by the depth of the tree. docs/theory/single_precision.md explains the numbers.
using namespace kansetsu;
using namespace kansetsu::batch;
using namespace kansetsu::batch::test;

namespace {

constexpr Options kAnyDepth{.threads = 1, .single_depth = 1000};

/// Stretched but for a tenth of a radian per joint: the worst posture of a chain.
State stretched_state(const Model& model, std::mt19937_64& rng) {
  State s(model);
  s.q = integrate(model, neutral(model), 0.1 * random_vector(model.nv(), rng));
  s.v = random_vector(model.nv(), rng);
  return s;
}

/// Over states, the error relative to the result's largest number.
struct ErrorOfStates {
  double median = 0, worst = 0;
};
template <class Draw>
ErrorOfStates error_of(const std::string& function, const Model& model, Draw&& draw) {
  const auto list = functions<float>();
  const Function<float>& f =
      *std::find_if(list.begin(), list.end(), [&](const auto& item) { return item.name == function; });
  Batch<float> batch(model, kAnyDepth);
  const States<float> states(model, 400, 1, draw);
  const long size = f.size(model);
  std::vector<float> out(size_t(states.count * size));
  f.many(batch, states, {out.data(), size});
  std::vector<double> errors;
  for (long i = 0; i < states.count; ++i) {
    const Eigen::VectorXd exact = f.one(model, states, i);
    const Eigen::VectorXd found = Eigen::Map<Eigen::VectorXf>(&out[size_t(i * size)], size).cast<double>();
    errors.push_back((found - exact).cwiseAbs().maxCoeff() / exact.cwiseAbs().maxCoeff());
  }
  std::sort(errors.begin(), errors.end());
  return {errors[errors.size() / 2], errors.back()};
}

}  // namespace

TEST_CASE("single precision: what the table promises for trees of the depth that is accepted") {
  for (const Model& model : {chain(8), chain(32), chain(27, Base::kFree), pendulum(8), pendulum(32), human28_ball()}) {
    CAPTURE(model.name());
    for (auto draw : {random_state, stretched_state}) {
      CHECK(error_of("fk", model, draw).worst < 1e-6);    // measured 5e-7
      CHECK(error_of("rnea", model, draw).worst < 1e-5);  // measured 4e-6
      CHECK(error_of("crba", model, draw).worst < 1e-6);  // measured 5e-7
      CHECK(error_of("aba", model, draw).worst < 1e-3);   // measured 1e-4
      CHECK(error_of("aba", model, draw).median < 1e-5);  // measured 2e-6
    }
  }
  CHECK(error_of("aba", human28(), stretched_state).worst < 1e-5);  // measured 2e-6
  CHECK(error_of("aba", human28(), random_state).median < 1e-6);    // measured 3e-7; gimbal lock is among the states
}

TEST_CASE("single precision: forward dynamics of deeper trees is refused") {
  const Model model = pendulum(33);
  const States<float> s(model, 5, 1);
  std::vector<float> out(s.v.size()), matrix(s.v.size() * size_t(model.nv()));
  Batch<float> batch(model, {.threads = 1});
  CHECK_NOTHROW(batch.rnea(5, s.q.data(), s.v.data(), s.a.data(), out.data()));
  CHECK_NOTHROW(batch.crba(5, s.q.data(), matrix.data()));
  std::string text;
  try {
    batch.aba(5, s.q.data(), s.v.data(), s.a.data(), out.data());
  } catch (const Error& e) {
    text = e.what();
  }
  CHECK(text ==
        "batch aba: the tree of 'pendulum33' is 33 joints deep, and single precision is trusted to 32; use "
        "Batch<double>, "
        "or raise Options::single_depth (docs/theory/single_precision.md)");
  CHECK_THROWS_AS(batch.mass_matrix_inverse(5, s.q.data(), matrix.data()), Error);
  CHECK_THROWS_AS(
      batch.aba_derivatives(5, s.q.data(), s.v.data(), s.a.data(), matrix.data(), matrix.data(), matrix.data()), Error);
  Batch<float> at_own_risk(model, kAnyDepth);
  CHECK_NOTHROW(at_own_risk.aba(5, s.q.data(), s.v.data(), s.a.data(), out.data()));
  const States<double> d(model, 5, 1);
  std::vector<double> exact(d.v.size());
  CHECK_NOTHROW(Batch<double>(model).aba(5, d.q.data(), d.v.data(), d.a.data(), exact.data()));
}

TEST_CASE("single precision: the table; kinematics and inverse dynamics at any depth") {
  std::vector<Model> models;
  for (int links : {4, 8, 16, 32, 64, 128, 256}) models.push_back(chain(links));
  for (int links : {4, 8, 16, 32, 48, 64}) models.push_back(pendulum(links));
  models.push_back(human28());
  models.push_back(human28_ball());
  for (const Model& model : models) {
    std::printf("| `%s` |", model.name().c_str());
    for (const char* name : {"fk", "rnea", "crba"}) {
      const double worst = error_of(name, model, random_state).worst;
      std::printf(" %.0e |", worst);
      CHECK(worst < 1e-5);  // measured 4e-6
    }
    for (auto draw : {random_state, stretched_state}) {
      const ErrorOfStates e = error_of("aba", model, draw);
      std::printf(" %.0e, %.0e |", e.median, e.worst);
    }
    std::printf("\n");
  }
}
