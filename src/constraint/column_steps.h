#pragma once

#include <vector>

#include "model/tree.h"

namespace kansetsu {

/// A body, and the bodies without mass between it and what carries it that nothing else hangs on. Their columns, three at most
/// unless the body alone has more, are eliminated at once.
struct ColumnStep {
  int top, tip;  ///< the first and the last of the bodies
  int depth;     ///< columns from the base to the tip, both included
};

/// All bodies of a tree without gears as steps, the deepest first: steps of different limbs do not wait for each other.
std::vector<ColumnStep> order_column_steps(const TreeView& tree);

}  // namespace kansetsu
