#pragma once

#include "kansetsu/dynamics/dynamics.h"
#include "kinematics/link_frames.h"

namespace kansetsu {

/// External wrenches on the bodies in body frames, carved from the workspace; null for null.
const double* body_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                            Carver<double>& carver);
/// The same for derivatives (kernel::ExternalWrench): world axes about O.
const double* world_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                             Carver<double>& carver);

/// Checks q and v of a state, and the workspace.
void check_state(const char* function, const Model& model, const State& state, const Workspace& work);

}  // namespace kansetsu
