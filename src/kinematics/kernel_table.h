#pragma once

#include "kansetsu/base/cpu.h"
#include "kansetsu/kinematics/jacobian_axes.h"
#include "model/tree.h"

/// Entry points of the kinematic kernels of one instruction set, for single states (width 1) or packs: then every number
/// below is a pack of `width` contiguous numbers, on a 64-byte boundary. Motions, forces and poses are passed as arrays of
/// numbers: [w v], [t f], [R row-major, p].
namespace kansetsu::kernel {

using Axes = JacobianAxes;

template <class Real>
struct KinematicsKernels {
  int width;
  /// X_WB per body
  void (*poses)(const TreeViewOf<Real>&, const Real* q, void* scratch, Real* X);
  /// X_WL per link
  void (*fk)(const TreeViewOf<Real>&, const LinkPlacement* links, int link_count, const Real* q, void* scratch,
             Real* X);
  /// X_WB, V_WB_B and spatial acceleration A_WB_B per body; a may be null, then A is the drift
  void (*motions)(const TreeViewOf<Real>&, const Real* q, const Real* v, const Real* a, void* scratch, Real* X, Real* V,
                  Real* A);
  /// Jacobian (and its rate, if v is given) of the frame X_BF on a body; 6 × nv, column by column
  void (*jacobian)(const TreeViewOf<Real>&, const Real* q, const Real* v, int body, const Transform<>& X_BF, Axes,
                   void* scratch, Real* J, Real* J_dot);
  /// Motion subspaces of all columns of v in world axes at the world origin; 6 × nv
  void (*subspaces)(const TreeViewOf<Real>&, const Real* q, void* scratch, Real* S);
  /// [kinetic, potential]
  void (*energy)(const TreeViewOf<Real>&, const Real* q, const Real* v, void* scratch, Real* out);
  /// [mass, com, com velocity, momentum about the com]; A and A_dot are 6 × nv and may be null
  void (*centroidal)(const TreeViewOf<Real>&, const Real* q, const Real* v, void* scratch, Real* out, Real* A,
                     Real* A_dot);
};

const KinematicsKernels<double>& kinematics();
template <class Real>
const KinematicsKernels<Real>& kinematics_packs();

}  // namespace kansetsu::kernel
