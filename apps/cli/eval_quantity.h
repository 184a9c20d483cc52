#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/eval_state.h"
#include "cli/json_writer.h"
#include "kansetsu/actuation/actuation.h"
#include "kansetsu/constraint/constrained.h"
#include "kansetsu/dynamics/response.h"

namespace kansetsu::cli {

struct GenerationRequest;

/// The reason why a quantity cannot be computed at a state.
struct StateError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// The constraints of the request, for quantities whose names begin with "constrain".
struct Held {
  Constraints constraints;
  std::vector<int> passive;  ///< columns of v without a motor
};

/// A model with the memory for computations.
struct Bench {
  Bench(const Model& m, const ActuationDescription& a, const Held& h)
      : model(m), work(m), external(m), response(m), actuation(m, a), held(h) {}

  Model model;
  Workspace work;
  ExternalForces external;
  Response response;
  Actuation actuation;
  Held held;
};

/// A quantity that a request can name in "compute".
struct Quantity {
  using Write = void (*)(Bench& bench, const StateInput& input, const Quantity& quantity, JsonWriter& json);

  std::string name;
  Write write;            ///< throws StateError if there is no result
  LinkId from{0}, to{0};  ///< links in the name
  std::shared_ptr<const GenerationRequest> generation{};
};

/// Throws StateError unless the accelerations are determined.
void check_invertible(const Bench& bench, Status status, const Eigen::VectorXd& singular);

// Quantities under constraints (eval_constrained.cc).
void write_constraint_rows(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json);
void write_constrained_aba(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json);
void write_constrained_rnea(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json);
void write_constrained_impulse(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json);
void write_constrained_aba_derivatives(Bench& b, const StateInput& in, const Quantity&, JsonWriter& json);

/// The quantity of a name such as "rnea" or "jacobian:tool"; none if unknown, which is reported.
std::optional<Quantity> parse_quantity(const std::string& name, const Model& model, Problems& problems);

}  // namespace kansetsu::cli
