#include "no_alloc.h"

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
