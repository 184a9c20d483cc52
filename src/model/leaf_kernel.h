#pragma once

#include "kansetsu/spatial/inertia.h"

/// The last hinge of a limb moves one rigid body: what its elimination leaves is known before any state is.
namespace kansetsu {

template <class Const>
struct LeafOf {
  ArticulatedInertia<Const> P;  ///< M − U·D⁻¹·Uᵀ: what is left when the hinge yields
  Force<Const> k;               ///< U/D, axes renamed (cyclically) so that the hinge is about z
  Const D_inv = Const(0);       ///< zero if the hinge moves no inertia
};

/// @param axis   of the hinge: 0, 1, 2
/// @param noise  D at or below this share of tr(I) counts as zero
template <class Const>
KANSETSU_HD LeafOf<Const> eliminate_leaf(const Inertia<Const>& M, int axis, const Const& rotor,
                                         const scalar_t<Const>& noise) {
  const Const o = Const(scalar_t<Const>(0)), one = Const(scalar_t<Const>(1));
  const Vec3<Const>& h = M.h;
  const Const I[3][3] = {{M.I.xx, M.I.xy, M.I.xz}, {M.I.xy, M.I.yy, M.I.yz}, {M.I.xz, M.I.yz, M.I.zz}};
  const Const B[3][3] = {{o, -h.z, h.y}, {h.z, o, -h.x}, {-h.y, h.x, o}};
  const Const* U[2] = {I[axis], B[axis]};
  const Const D = I[axis][axis] + rotor;
  const auto regular = D > Const(noise) * (M.I.xx + M.I.yy + M.I.zz);
  const Const D_inv = select(regular, one / D, o);
  // What remains along the axis is the rotor's share, exactly zero without a rotor.
  const Const rest = select(regular, rotor * D_inv, one);
  const auto A = [&](int i, int j) __attribute__((always_inline)) {
    return i == axis || j == axis ? rest * I[i][j] : msub(U[0][i], D_inv * U[0][j], I[i][j]);
  };
  const auto C = [&](int i) __attribute__((always_inline)) {
    const auto c = [&](int j) __attribute__((always_inline)) {
      return i == axis ? rest * B[i][j] : msub(U[0][i], D_inv * U[1][j], B[i][j]);
    };
    return Vec3<Const>{c(0), c(1), c(2)};
  };
  const auto m = [&](int i, int j)
                     __attribute__((always_inline)) { return msub(U[1][i], D_inv * U[1][j], i == j ? M.m : o); };
  const int x = (axis + 1) % 3, y = (axis + 2) % 3;
  return {{{A(0, 0), A(0, 1), A(0, 2), A(1, 1), A(1, 2), A(2, 2)},
           {C(0), C(1), C(2)},
           {m(0, 0), m(0, 1), m(0, 2), m(1, 1), m(1, 2), m(2, 2)}},
          {D_inv * Vec3<Const>{U[0][x], U[0][y], U[0][axis]}, D_inv * Vec3<Const>{U[1][x], U[1][y], U[1][axis]}},
          D_inv};
}

}  // namespace kansetsu
