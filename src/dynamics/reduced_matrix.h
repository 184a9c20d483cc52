#pragma once

#include "kinematics/joint_kernel.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Adds an entry of a matrix over tree coordinates to the matrix over v, column by column: M += Gᵀ·(…)·G. M is a pointer or a
/// type with an operator[].
template <class T, class Matrix, class Const>
KANSETSU_HD void add_reduced(const TreeViewOf<Const>& tree, int row, int column, const T& value, const Matrix& M) {
  if (tree.simple) {
    const CoordinateTermOf<Const>&r = tree.terms[row], &c = tree.terms[column];
    M[c.column * tree.nv + r.column] = T(r.ratio * c.ratio) * value;
    return;
  }
  for (int s = tree.rows[column].begin; s < tree.rows[column].end; ++s) {
    for (int t = tree.rows[row].begin; t < tree.rows[row].end; ++t) {
      T& entry = M[tree.terms[s].column * tree.nv + tree.terms[t].column];
      entry = madd(T(tree.terms[t].ratio * tree.terms[s].ratio), value, entry);
    }
  }
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
