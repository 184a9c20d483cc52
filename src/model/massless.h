#pragma once

#include <vector>

#include "model/tree.h"

namespace kansetsu {

/// Columns of v along which the mechanism moves no inertia, so that the mass matrix is singular in every posture: massless
/// leaves, point masses on their own axis, two hinges on one axis with nothing between them. Couplings and rotors are
/// respected: a massless finger geared to a massive one is none of these. Ascending.
std::vector<int> massless_columns(const Tree& tree);

/// By column of v: the tree coordinate that is the column itself up to its sign, the first that follows it alone and one to one; −1: none.
std::vector<int> own_rows(const Tree& tree);

}  // namespace kansetsu
