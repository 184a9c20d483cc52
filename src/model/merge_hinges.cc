#include <algorithm>

#include "model/compile.h"

namespace kansetsu {
namespace {

/// Whether the hinge of step n may join the node that ends with the step before it: it hangs on that step's body, at the
/// same point, and nothing else does or has mass there.
bool continues(const Tree& tree, size_t n) {
  const Step &step = tree.steps[n], &before = tree.steps[n - 1];
  if (step.group >= 0 || before.group >= 0 || step.parent != before.body || step.body != before.body + 1) return false;
  const Body &b = tree.bodies[size_t(step.body)], &between = tree.bodies[size_t(before.body)];
  const auto children =
      std::count_if(tree.steps.begin(), tree.steps.end(), [&](const Step& s) { return s.parent == before.body; });
  return b.concurrent && between.massless && children == 1 && b.aligned_axis != between.aligned_axis;
}

}  // namespace

void merge_hinges(Tree& tree) {
  constexpr int kMost = 3;
  for (size_t n = 0; n < tree.steps.size(); ++n) {
    if (n > 0 && tree.merged_steps.back().hinges < kMost && continues(tree, n)) {
      ++tree.merged_steps.back().hinges;
    } else {
      tree.merged_steps.push_back(tree.steps[n]);
    }
  }
}

}  // namespace kansetsu
