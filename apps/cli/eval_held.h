#pragma once

#include <nlohmann/json_fwd.hpp>

#include "cli/eval_quantity.h"

namespace kansetsu::cli {

class Problems;

/// "constraints" and "passive" of a request: the constraints of the model, and the coordinates without a motor.
Held read_held(const nlohmann::json& request, const Model& model, Problems& problems);

/// The directions in the array under `key`: rx, ry, rz, x, y, z. `otherwise`: the default if there is no such key.
ConstraintMask read_directions(const nlohmann::json& object, const char* key, ConstraintMask otherwise,
                               const std::string& path, Problems& problems);

}  // namespace kansetsu::cli
