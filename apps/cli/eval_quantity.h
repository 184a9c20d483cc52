#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/eval_state.h"
#include "cli/json_writer.h"
#include "kansetsu/actuation/actuation.h"
#include "kansetsu/dynamics/response.h"

namespace kansetsu::cli {

struct GenerationRequest;

/// Why a quantity of a state cannot be computed.
struct StateError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A model with the memory to compute on it.
struct Bench {
  explicit Bench(const Model& m, const ActuationDescription& a = {})
      : model(m), work(m), external(m), response(m), actuation(m, a) {}

  Model model;
  Workspace work;
  ExternalForces external;
  Response response;
  Actuation actuation;
};

/// Something that can be asked for, by the name it has in "compute".
struct Quantity {
  using Write = void (*)(Bench& bench, const StateInput& input, const Quantity& quantity, JsonWriter& json);

  std::string name;
  Write write;            ///< throws StateError if there is no answer
  LinkId from{0}, to{0};  ///< links that the name mentions
  std::shared_ptr<const GenerationRequest> generation{};
};

/// The quantity of a name such as "rnea" or "jacobian:tool"; none if unknown, which is reported.
std::optional<Quantity> parse_quantity(const std::string& name, const Model& model, Problems& problems);

}  // namespace kansetsu::cli
