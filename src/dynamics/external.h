#pragma once

#include "kansetsu/dynamics/dynamics.h"
#include "kinematics/link_frames.h"
#include "model/workspace_use.h"

namespace kansetsu {

/// External wrenches on the bodies in body frames, carved from the workspace; null for null.
const double* body_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                            Carver<double>& carver);
/// The same for derivatives (kernel::ExternalWrench): world axes about O.
const double* world_wrenches(const Model& model, const VectorRef& q, const ExternalForces* external,
                             Carver<double>& carver);

/// Checks q and v of a state, and takes the workspace.
[[nodiscard]] WorkspaceUse check_state(const char* function, const Model& model, const State& state, Workspace& work);

}  // namespace kansetsu
