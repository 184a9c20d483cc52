#pragma once

#include "kansetsu/sim/world.h"
#include "sim/contacts.h"

/// Contacts that a step reaches before its end. What does not bounce is stopped at the surface by the forces of the step. What
/// bounces does so where it is, up to a step before the surface: so it keeps its energy, and nothing passes.
namespace kansetsu {

/// How far ahead contacts are looked for in a step of length h.
ContactFinder::Ahead look_ahead(const WorldOptions& options, double h);
/// Time until the first vertex that does not touch yet is a little past its surface, at the present velocities [s].
double time_to_touch(const ContactFinder& contacts, double tol_gap);
/// Vertices that bounce and would be past their surface in the middle of the next step count as touching.
void meet_impacts(ContactFinder& contacts, const WorldOptions& options, double h);
/// Whether all contacts separate.
bool all_separate(const ContactFinder& contacts, const WorldOptions& options);

}  // namespace kansetsu
