#include "constraint/column_steps.h"

#include <doctest/doctest.h>

#include "kansetsu/model/figures.h"
#include "random_models.h"

using namespace kansetsu;

TEST_CASE("column steps: every body once, the deepest first, only bodies without mass between a body and its carrier") {
  for (const auto& [seed, model] : test::invariant_models(40)) {
    CAPTURE(seed);
    const TreeView& tree = model.tree().view();
    std::vector<int> children(size_t(tree.body_count), 0), seen(size_t(tree.body_count), 0);
    for (int i = 0; i < tree.body_count; ++i) {
      if (tree.bodies[i].parent >= 0) ++children[size_t(tree.bodies[i].parent)];
    }
    int depth = 1 << 20;
    for (const ColumnStep& step : order_column_steps(tree)) {
      CHECK(step.depth <= depth);
      depth = step.depth;
      int columns = 0;
      for (int i = step.top; i <= step.tip; ++i) {
        ++seen[size_t(i)];
        columns += tree.bodies[i].nu;
        if (i < step.tip) {
          CHECK(tree.bodies[i].massless);
          CHECK(children[size_t(i)] == 1);
          CHECK(tree.bodies[i + 1].parent == i);
        }
      }
      CHECK((step.top == step.tip || columns <= 3));
    }
    for (const int count : seen) CHECK(count == 1);
  }
}

TEST_CASE("column steps: the hips, shoulders and spine of human28 are taken three columns at a time") {
  const Model model = human28();
  int three = 0;
  for (const ColumnStep& step : order_column_steps(model.tree().view())) three += step.tip - step.top == 2;
  CHECK(three >= 5);  // two hips, two shoulders, the waist
}
