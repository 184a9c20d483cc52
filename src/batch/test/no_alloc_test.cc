#include "no_alloc.h"

#include <vector>

#include "kansetsu/base/error.h"
#include "kansetsu/model/figures.h"
#include "sanitized.h"
#include "support.h"

using namespace kansetsu;
using namespace kansetsu::batch;
using namespace kansetsu::batch::test;

TEST_CASE_TEMPLATE("batch: no call allocates", Real, double, float) {
  const Model model = human28();
  const States<Real> states(model, 500, 4);
  for (int threads : {1, 3}) {
    Batch<Real> batch(model, {.threads = threads});
    for (const Function<Real>& f : functions<Real>()) {
      CAPTURE(f.name);
      const long size = f.size(model);
      std::vector<Real> out(size_t(states.count * size));
      const Rows<Real> rows{out.data(), size};
      CHECK(allocations_in([&] { f.many(batch, states, rows); }) == 0);
    }
  }
}

TEST_CASE_TEMPLATE("batch: memory for matrices of many columns waits for the first call with one", Real, double,
                   float) {
  const Model model = chain(1500);  // more than 64 MB for a worker, whatever the width of a pack
  const size_t nv = size_t(model.nv());
  const std::vector<Real> q(nv, Real(0.01)), v(nv, Real(0.1));
  std::vector<Real> c(nv), M(nv * nv);
  Batch<Real> batch(model, {.threads = 1});
  CHECK(allocations_in([&] { batch.bias(1, q.data(), v.data(), c.data()); }) == 0);
  const auto first = allocations_in([&] { batch.crba(1, q.data(), M.data()); });
  if constexpr (!kansetsu::test::kSanitized)
    CHECK(first > 0);  // sanitizers count nothing
  else
    CHECK(first == 0);
  CHECK(allocations_in([&] { batch.crba(1, q.data(), M.data()); }) == 0);
  const std::vector<Real> before = c;
  CHECK(allocations_in([&] { batch.bias(1, q.data(), v.data(), c.data()); }) == 0);
  CHECK(c == before);
  const Eigen::MatrixXd expected = crba(model, Eigen::VectorXd::Constant(model.nv(), double(Real(0.01))));
  CHECK(close(expected.reshaped(), M.data()));
}

TEST_CASE("batch: matrices of too many columns are refused, vectors are not") {
  const Model model = chain(11586);
  Batch<double> batch(model, {.threads = 1});
  const State rest(model);
  std::vector<double> tau(size_t(model.nv())), M(1);
  batch.bias(1, rest.q.data(), rest.v.data(), tau.data());
  CHECK(close(bias(model, rest), tau.data()));
  CHECK_THROWS_WITH_AS(batch.crba(1, rest.q.data(), M.data()),
                       "batch crba: the model 'chain11586' has 11586 velocities, but matrices are limited to 11585",
                       Error);
}
