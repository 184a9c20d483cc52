#pragma once

#include <memory>
#include <nlohmann/json_fwd.hpp>

#include "cli/eval_quantity.h"
#include "kansetsu/motion/generation.h"

/// Quantities of `kansetsu eval` for forces inside a mechanism: joint reactions and gear torques, response operators, forward
/// dynamics by assembly, and motions generated from tasks.
namespace kansetsu::cli {

/// "generation" of a request: held frames and tasks.
struct GenerationRequest {
  struct Task {
    ik::FrameOn frame{};
    ConstraintMask directions = kWeldMask;
    Motion<> acceleration{};
    int level = 0;
  };
  std::vector<HeldFrame> holds{};
  std::vector<Task> tasks{};
  GenerationMethod method = GenerationMethod::kLevels;
};
std::shared_ptr<const GenerationRequest> read_generation(const nlohmann::json& value, const Model& model,
                                                         Problems& problems);

void write_reactions(Bench& bench, const StateInput& input, const Quantity& quantity, JsonWriter& json);
void write_operators(Bench& bench, const StateInput& input, const Quantity& quantity, JsonWriter& json);
void write_assembly(Bench& bench, const StateInput& input, const Quantity& quantity, JsonWriter& json);
void write_serial_assembly(Bench& bench, const StateInput& input, const Quantity& quantity, JsonWriter& json);
void write_generation(Bench& bench, const StateInput& input, const Quantity& quantity, JsonWriter& json);

/// Throws StateError with the joints that move no inertia.
void check_invertible(const Bench& bench, Status status, const Eigen::VectorXd& singular);

}  // namespace kansetsu::cli
