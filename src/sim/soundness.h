#pragma once

#include <string>

#include "sim/world_state.h"

/// What stops a world: torques and states that are not finite, or lost.
namespace kansetsu {

/// The torque that is not finite, as words; empty: all are.
std::string torque_fault(const WorldState& world);
/// A figure that is awake whose state cannot be continued: not finite, a coordinate that turns kMostTurning times in a step, or a
/// base faster than kFastestBase. Null if there is none.
const FigureData* find_unsound(const WorldState& world);
/// Time, figure, the worst coordinate, and the connection that carries most.
std::string describe_fault(const WorldState& world, const FigureData& figure);

}  // namespace kansetsu
