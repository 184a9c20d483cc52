#pragma once

#include "kansetsu/spatial/small_matrix.h"
#include "kinematics/joint_kernel.h"

/// The columns of a step, three at a time, are eliminated at once: one after the other each would wait for the division of the one
/// before. Numbers may be those of one state (recursion_kernel.h) or packs of states (sim/lane_tree_kernel.h).
namespace kansetsu::kernel::inline KANSETSU_ISA {

/// Calls visit(k, Constant<n>) for the columns k, k − 1, … (n of them) that are eliminated at once, from the last on.
template <class Visit>
KANSETSU_HD void visit_groups_inward(int first, int last, const Visit& visit) {
  int k = last;
  for (; k - 2 >= first; k -= 3) visit(k, detail::Constant<3>{});
  if (k - 1 == first) visit(k, detail::Constant<2>{});
  if (k == first) visit(k, detail::Constant<1>{});
}
/// The same groups the other way round.
template <class Visit>
KANSETSU_HD void visit_groups_outward(int first, int last, const Visit& visit) {
  int k = first - 1;
  if ((last - k) % 3 == 1) visit(k += 1, detail::Constant<1>{});
  if ((last - k) % 3 == 2) visit(k += 2, detail::Constant<2>{});
  while (k < last) visit(k += 3, detail::Constant<3>{});
}

/// LDLᵀ of the projected inertia g = Sᵀ·P·S + added of such a group, column k first.
/// @param g  lower triangle; is overwritten
/// @param invert  called with i and the pivot, gives its inverse, or 0 where nothing resists
/// @param reduce  called with j > i and the share of column i in column j: whatever has a number per column has to follow
template <int kCount, class P, class Invert, class Reduce>
KANSETSU_HD void factor_group(P (&g)[kCount][kCount], P (&inverse)[kCount], P (&share)[kCount][kCount],
                              const Invert& invert, const Reduce& reduce) {
#pragma GCC unroll 3
  for (int i = 0; i < kCount; ++i) {
    inverse[i] = invert(i, g[i][i]);
#pragma GCC unroll 3
    for (int j = i + 1; j < kCount; ++j) {
      share[j][i] = g[j][i] * inverse[i];
#pragma GCC unroll 3
      for (int l = j; l < kCount; ++l) g[l][j] = msub(g[l][i], share[j][i], g[l][j]);
      reduce(j, i, share[j][i]);
    }
  }
}

/// What the sweeps need of the shares: three of the four numbers of column k.
template <int kCount, class P>
KANSETSU_HD void keep_shares(const P (&share)[kCount][kCount], P* of_k) {
  if constexpr (kCount > 1) of_k[0] = share[1][0];
  if constexpr (kCount > 2) of_k[1] = share[2][0], of_k[2] = share[2][1];
}

}  // namespace kansetsu::kernel::inline KANSETSU_ISA
