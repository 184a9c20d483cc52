#pragma once

#include <span>

#include "kansetsu/motion/measured_dynamics.h"

/// A motion that is consistent with measured forces: the body as a whole and the trunk's centre of mass are shifted slightly until the residual
/// at the root is small. docs/theory/analysis.md.
namespace kansetsu {

struct ReductionOptions {
  double residual = 0.02;     ///< wanted: root mean square of the residual force over the largest external force
  double moved = 0.02;        ///< [m] root mean square by which the body may be moved
  double mass_centre = 0.05;  ///< [m] by which the trunk's may be moved along each axis
};

struct ReducedResiduals {
  MappedModel model;  ///< with the trunk's new mass centre
  CoordinateMotion motion{};
  std::vector<MeasuredForce> forces{};  ///< the same, about the moved links
  MeasuredDynamics dynamics{};
  std::vector<Vec3<>> shift{};                 ///< of the body, one per frame, world [m]
  double moved = 0;                            ///< root mean square of it
  Vec3<> mass_centre{};                        ///< shift of the trunk's, on its link [m]
  double before = 0, after = 0;                ///< root mean square of the residual force [N]
  double moment_before = 0, moment_after = 0;  ///< of the moment [N·m]
  bool met = false;                            ///< the residual is within its bound
};
/// Throws Error if the base is fixed, if its position is not three coordinates of the model, or if there are no forces.
ReducedResiduals reduce_residuals(const MappedModel& model, const CoordinateMotion& motion,
                                  std::span<const MeasuredForce> forces, const ReductionOptions& options = {});

}  // namespace kansetsu
