#pragma once

#include "kansetsu/sim/world.h"
#include "sim/island_work.h"

/// Penetrations are closed by positions alone: no velocity changes, no friction acts, no energy is added.
namespace kansetsu {

/// Finds the way out of penetrations (FigureData::shift) of an island whose forces are solved, if there are any.
void find_shifts(IslandWork& w, const WorldOptions& options, double h);
/// Bounds the shifts of an island by one factor, so that what moves together stays together; they count from now on.
void bound_shifts(IslandWork& w);
bool has_shifts(const IslandWork& w);
/// Moves the figures by their shifts.
void apply_shifts(IslandWork& w);

}  // namespace kansetsu
