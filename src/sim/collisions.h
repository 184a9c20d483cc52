#pragma once

#include <functional>
#include <optional>

#include "sim/world_state.h"

/// Collision shapes of figures in a world, and which of them never meet.
namespace kansetsu {

struct ShapeTraits {
  MaterialId material{0};
  CollisionGroups groups{};
};
/// Adds the collision shapes of a figure's links; those for which `traits` has none are left out.
void add_shapes(WorldState& world, int figure,
                const std::function<std::optional<ShapeTraits>(LinkId, const LinkShape&)>& traits);
/// Which links of a figure never meet: all, or those that a joint joins (links without shapes between them do not count).
void filter_self_collisions(WorldState& world, int figure);

}  // namespace kansetsu
