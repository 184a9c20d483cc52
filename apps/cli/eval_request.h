#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/eval_quantity.h"
#include "cli/eval_state.h"

namespace kansetsu::cli {

/// What `kansetsu eval` is asked.
struct Request {
  std::vector<Quantity> quantities;
  std::optional<Vec3<>> gravity;
  Held held;
  std::vector<StateInput> states;
};

/// Reads a request, every name and shape of it. Throws Failure with all that is wrong. @param name  of the file, for messages
Request read_request(const nlohmann::json& json, const Model& model, const std::string& name);

}  // namespace kansetsu::cli
