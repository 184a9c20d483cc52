#pragma once

#include <span>

#include "kansetsu/dynamics/dynamics.h"
#include "kinematics/link_frames.h"
#include "model/workspace_use.h"

namespace kansetsu {

/// External wrenches on the bodies in body frames, in memory of the workspace; null if `external` is null.
const double* body_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                            Carver<double>& carver);
/// A wrench at a point of a body; it keeps its world axes and moves with the point.
struct PointWrench {
  int body;
  Vec3<> p_W;
  Vec3<> m, f;  ///< moment about the point, force
};
/// The same for derivatives (kernel::ExternalWrench): world axes about O, including wrenches at points; null if there are none.
const double* world_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                             Carver<double>& carver, std::span<const PointWrench> at_points = {});

}  // namespace kansetsu
