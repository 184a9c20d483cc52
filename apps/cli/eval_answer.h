#pragma once

#include <optional>
#include <string>

#include "cli/eval_request.h"

namespace kansetsu::cli {

/// Answers states one after the other; keeps the compiled model as long as the pose of a fixed base does not change.
class Evaluator {
 public:
  Evaluator(const Model& model, ActuationDescription actuation, const Request& request)
      : model_(model), actuation_(std::move(actuation)), request_(request), bench_(model, actuation_, request.held) {}

  /// Writes the state's entry of the reply.
  std::string answer(const StateInput& input);
  bool failed() const { return failed_; }

 private:
  std::string results(const StateInput& input);
  void place_base(const std::optional<Transform<>>& pose);

  const Model model_;
  const ActuationDescription actuation_;
  const Request& request_;
  Bench bench_;
  std::optional<Transform<>> pose_;  ///< of the bench's base; none: the model's own
  bool failed_ = false;
};

}  // namespace kansetsu::cli
