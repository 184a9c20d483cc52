#pragma once

#include "kansetsu/model/model.h"
#include "model/scratch.h"
#include "model/tree.h"

/// The one place where the body frames of the compiled tree become link frames of the user.
namespace kansetsu {

inline Transform<> link_pose(const LinkPlacement& link, const Transform<>* X_WB) {
  return link.body < 0 ? link.X_BL : X_WB[link.body] * link.X_BL;
}
/// A motion of the body at the link's origin, in link axes.
inline Motion<> link_motion(const LinkPlacement& link, const Motion<>* V_B) {
  return link.body < 0 ? Motion<>{} : inverse_times(link.X_BL, V_B[link.body]);
}

/// Numbers of a kernel's argument.
inline double* numbers(Transform<>* X) { return &X->R.x.x; }
inline double* numbers(Motion<>* V) { return &V->w.x; }
inline double* numbers(Force<>* F) { return &F->t.x; }

}  // namespace kansetsu
