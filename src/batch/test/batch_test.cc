#include "support.h"

/// The results of a batch are those of the functions for one state.
using namespace kansetsu;
using namespace kansetsu::batch;
using namespace kansetsu::batch::test;

namespace {

/// M⁻¹ of one state comes from a factorised M, that of many from articulated inertias: they part by the condition of M.
template <class Real>
double tolerance(const std::string& function, const Model& model, const Eigen::VectorXd& q) {
  if (sizeof(Real) == 4 || (function != "mass_matrix_inverse" && function != "aba_derivatives"))
    return kTolerance<Real>;
  return kTolerance<Real> * std::max(1.0, 0.1 / smallest_pivot(model, q));
}

template <class Real>
void check_against_single_states(const Model& model, long count, std::uint64_t seed) {
  CAPTURE(model.name());
  CAPTURE(count);
  CAPTURE(seed);
  const States<Real> states(model, count, seed);
  Batch<Real> batch(model, {.threads = 1});
  for (const Function<Real>& f : functions<Real>()) {
    CAPTURE(f.name);
    const long size = f.size(model);
    std::vector<Real> out(size_t(count * size), Real(NAN));
    f.many(batch, states, {out.data(), size});
    for (long i = 0; i < count; ++i) {
      CAPTURE(i);
      REQUIRE(close(f.one(model, states, i), out.data() + i * size,
                    tolerance<Real>(f.name, model, states.state(model, i).q)));
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("batch: every function, every joint type, gears, fixed and free", Real, double, float) {
  const int largest = sizeof(Real) == 8 ? 60 : 12;  // single precision has its limits, see single_precision_test.cc
  for (const auto& [seed, model] : invariant_models(largest)) check_against_single_states<Real>(model, 19, seed);
}

TEST_CASE_TEMPLATE("batch: any number of states", Real, double, float) {
  for (long count : {1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 1000}) {
    check_against_single_states<Real>(human28(), count, std::uint64_t(count));
  }
}
