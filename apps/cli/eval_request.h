#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/eval_quantity.h"
#include "cli/eval_state.h"

namespace kansetsu::cli {

/// A request of `kansetsu eval`.
struct Request {
  std::vector<Quantity> quantities;
  std::optional<Vec3<>> gravity;
  Held held;
  std::vector<StateInput> states;
};

/// Reads a request and checks all names and shapes. Throws Failure with every problem. @param name  of the file, for messages
Request read_request(const nlohmann::json& json, const Model& model, const std::string& name);

}  // namespace kansetsu::cli
