#include "kansetsu/base/error.h"
#include "support.h"

/// Masses and inertias of each state's own: the same as a model built with them.
using namespace kansetsu;
using namespace kansetsu::batch;
using namespace kansetsu::batch::test;

namespace {

Model with_other_masses(const Model& model, std::mt19937_64& rng) {
  std::uniform_real_distribution<double> scale(0.5, 2), shift(-0.05, 0.05);
  ModelDescription d = model.description();
  for (LinkDescription& link : d.links) {
    if (!link.inertial || link.inertial->mass == 0) continue;
    link.inertial->mass *= scale(rng);
    link.inertial->inertia = scale(rng) * link.inertial->inertia;
    link.inertial->origin.p.x += shift(rng);
  }
  return value_or_throw(Model::build(std::move(d)));
}

template <class Real>
void check_own_masses(const Model& model, long count, std::uint64_t seed) {
  CAPTURE(model.name());
  CAPTURE(seed);
  std::mt19937_64 rng(seed);
  const States<Real> s(model, count, seed);
  std::vector<Model> models;
  std::vector<Real> inertias;
  for (long i = 0; i < count; ++i) {
    models.push_back(with_other_masses(model, rng));
    States<Real>::append(inertias, inertial_parameters(models.back()));
  }
  const Extras<Real> own{.wrenches = s.wrenches.data(), .inertias = inertias.data()};
  const long nv = model.nv();
  std::vector<Real> tau(size_t(count * nv)), c = tau, vdot = tau, M(size_t(count * nv * nv));
  Batch<Real> batch(model, {.threads = 2});
  batch.rnea(count, s.q.data(), s.v.data(), s.a.data(), tau.data(), own);
  batch.bias(count, s.q.data(), s.v.data(), c.data(), {.inertias = inertias.data()});
  batch.crba(count, s.q.data(), M.data(), inertias.data());
  batch.aba(count, s.q.data(), s.v.data(), s.a.data(), vdot.data(), own);
  for (long i = 0; i < count; ++i) {
    CAPTURE(i);
    const Model& m = models[size_t(i)];
    const ExternalForces external = s.external(m, i);
    const State state = s.state(m, i);
    CHECK(close(rnea(m, state, s.row(s.a, i), &external), &tau[size_t(i * nv)]));
    CHECK(close(rnea(m, state, Eigen::VectorXd::Zero(nv)), &c[size_t(i * nv)]));
    CHECK(close(row_major(crba(m, state.q)), &M[size_t(i * nv * nv)]));
    CHECK(close(aba(m, state, s.row(s.a, i), &external).vdot, &vdot[size_t(i * nv)]));
  }
}

}  // namespace

TEST_CASE_TEMPLATE("batch: masses of each state's own", Real, double, float) {
  for (const auto& [seed, model] : invariant_models(12)) check_own_masses<Real>(model, 19, seed + 1);
}

TEST_CASE_TEMPLATE("batch: masses given do not stay for the next call", Real, double, float) {
  const Model model = human28();
  std::mt19937_64 rng(7);
  const States<Real> s(model, 40, 7);
  std::vector<Real> other, before(s.v.size()), after = before;
  States<Real>::append(other, inertial_parameters(with_other_masses(model, rng)));
  Batch<Real> batch(model, {.threads = 2});
  batch.rnea(40, s.q.data(), s.v.data(), s.a.data(), before.data());
  batch.rnea(40, s.q.data(), s.v.data(), s.a.data(), after.data(), {.inertias = {other.data(), 0}});
  CHECK(after != before);
  batch.rnea(40, s.q.data(), s.v.data(), s.a.data(), after.data());
  CHECK(after == before);
}

TEST_CASE("batch: a link without mass in the model is refused one") {
  const Model model = human28();
  const long count = 30, links = model.link_count();
  const States<double> s(model, count, 3);
  std::vector<double> inertias, out(s.v.size());
  for (long i = 0; i < count; ++i) States<double>::append(inertias, inertial_parameters(model));
  int massless = 0;
  while (inertias[size_t(10 * massless)] != 0) ++massless;
  inertias[size_t((17 * links + massless) * 10)] = 0.1;
  Batch<double> batch(model, {.threads = 1});
  std::string text;
  try {
    batch.aba(count, s.q.data(), s.v.data(), s.a.data(), out.data(), {.inertias = inertias.data()});
  } catch (const Error& e) {
    text = e.what();
  }
  CHECK(text ==
        "batch aba: the inertias of state 17 give a mass to link '" + model.link(LinkId(massless)).name +
            "', which has none in the model 'human28' and is merged with others; give it one there, however small");
}
