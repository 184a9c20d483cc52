#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/eval_quantity.h"

namespace kansetsu::cli {

class Problems;

/// "constraints" and "passive" of a request: what the model is held by, and which coordinates have no motor.
Held read_held(const nlohmann::json& request, const Model& model, Problems& problems);

/// Directions named by words, an array under `key`: rx, ry, rz, x, y, z. `otherwise`: what it is where there is none.
ConstraintMask read_directions(const nlohmann::json& object, const char* key, ConstraintMask otherwise,
                               const std::string& path, Problems& problems);

}  // namespace kansetsu::cli
