#pragma once

#include "kansetsu/base/cpu.h"
#include "model/tree.h"

/// Entry points of the kinematic kernels of one instruction set, for single states (width 1) or packs: then every number
/// below stands for `width` numbers side by side, on 64-byte boundaries. Motions, forces and poses are passed as their
/// numbers: [w v], [t f], [R row-major, p].
namespace kansetsu::kernel {

enum class Axes { kWorld, kLocal, kLocalWorldAligned };

struct KinematicsKernels {
  int width;
  /// X_WB per body
  void (*poses)(const TreeView&, const double* q, void* scratch, double* X);
  /// X_WB, V_WB_B and spatial acceleration A_WB_B per body; a may be null, then A is the drift
  void (*motions)(const TreeView&, const double* q, const double* v, const double* a, void* scratch, double* X,
                  double* V, double* A);
  /// Jacobian (and its rate, if v is given) of the frame X_BF on a body; 6 × nv, column by column
  void (*jacobian)(const TreeView&, const double* q, const double* v, int body, const Transform<>& X_BF, Axes,
                   void* scratch, double* J, double* J_dot);
  /// Motion subspaces of all columns of v in world axes at the world origin; 6 × nv
  void (*subspaces)(const TreeView&, const double* q, void* scratch, double* S);
  /// [kinetic, potential]
  void (*energy)(const TreeView&, const double* q, const double* v, void* scratch, double* out);
  /// [mass, com, com velocity, momentum about the com]; A and A_dot are 6 × nv and may be null
  void (*centroidal)(const TreeView&, const double* q, const double* v, void* scratch, double* out, double* A,
                     double* A_dot);
};

/// Tables of this processor: scalar, and packs of its register width.
const KinematicsKernels& kinematics();
const KinematicsKernels& kinematics_packs();

}  // namespace kansetsu::kernel
