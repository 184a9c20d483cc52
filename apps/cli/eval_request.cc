#include "cli/eval_request.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/eval_forces.h"
#include "cli/eval_held.h"
#include "cli/json_shape.h"

namespace kansetsu::cli {
namespace {

using nlohmann::json;

std::vector<Quantity> read_quantities(const json& request, const Model& model, Problems& problems) {
  std::vector<Quantity> quantities;
  const auto compute = request.find("compute");
  if (compute == request.end()) {
    problems.bad_shape("compute", "is missing: list the quantities to compute");
  } else if (!compute->is_array()) {
    problems.bad_shape("compute", "must be an array of names");
  } else {
    for (const json& name : *compute) {
      if (!name.is_string()) {
        problems.bad_shape("compute", fmt::format("must hold names, not {}", name.dump()));
        continue;
      }
      auto quantity = parse_quantity(name.get<std::string>(), model, problems);
      const auto same = [&](const Quantity& q) { return q.name == quantity->name; };
      if (quantity && std::none_of(quantities.begin(), quantities.end(), same))
        quantities.push_back(*std::move(quantity));
    }
  }
  return quantities;
}

std::vector<StateInput> read_states(const json& request, const Model& model, Problems& problems) {
  const auto states = request.find("states");
  if (states == request.end()) {
    problems.bad_shape("states", "is missing; an empty array is fine");
    return {};
  }
  if (!states->is_array()) {
    problems.bad_shape("states", "must be an array of objects");
    return {};
  }
  const StateReader reader(model);
  std::vector<StateInput> inputs;
  for (std::size_t i = 0; i < states->size() && !problems.too_many(); ++i) {
    inputs.push_back(reader.read((*states)[i], fmt::format("states[{}]", i), problems));
  }
  return inputs;
}

}  // namespace

Request read_request(const json& request, const Model& model, const std::string& name) {
  Problems problems(name);
  Request result;
  if (is_object_of(request, "request", {"compute", "generation", "gravity", "constraints", "passive", "states"},
                   problems)) {
    result.quantities = read_quantities(request, model, problems);
    if (const auto generation = request.find("generation"); generation != request.end()) {
      const auto wanted = read_generation(*generation, model, problems);
      for (Quantity& quantity : result.quantities) quantity.generation = wanted;
    }
    if (const auto gravity = request.find("gravity"); gravity != request.end()) {
      if (const auto g = numbers(*gravity, 3, "gravity", problems)) result.gravity = Vec3<>{(*g)[0], (*g)[1], (*g)[2]};
    }
    result.held = read_held(request, model, problems);
    result.states = read_states(request, model, problems);
  }
  problems.fail_if_any();
  return result;
}

}  // namespace kansetsu::cli
