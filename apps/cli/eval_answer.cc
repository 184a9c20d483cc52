#include "cli/eval_answer.h"

#include <fmt/format.h>

#include <string_view>

#include "kansetsu/base/error.h"
#include "kansetsu/model/edit.h"

namespace kansetsu::cli {
namespace {

bool same(const Transform<>& a, const Transform<>& b) { return a.R == b.R && a.p == b.p; }

}  // namespace

std::string Evaluator::answer(const StateInput& input) {
  try {
    return results(input);
  } catch (const StateError& error) {
    failed_ = true;
    return JsonWriter().begin_object().entry("error", error.what()).end_object().take();
  }
}

std::string Evaluator::results(const StateInput& input) {
  if (!input.error.empty()) throw StateError(input.error);
  place_base(input.base_pose);
  bench_.external.set_zero();
  for (const auto& [link, wrench] : input.wrenches) bench_.external[link] = wrench;

  JsonWriter json;
  json.begin_object();
  for (const Quantity& quantity : request_.quantities) {
    try {
      quantity.write(bench_, input, quantity, json.key(quantity.name));
    } catch (const StateError& error) {
      throw StateError(fmt::format("{}: {}", quantity.name, error.what()));
    }
    if (!json.finite()) throw StateError(fmt::format("{}: the result is not finite", quantity.name));
  }
  return json.end_object().take();
}

void Evaluator::place_base(const std::optional<Transform<>>& pose) {
  if (pose.has_value() == pose_.has_value() && (!pose || same(*pose, *pose_))) return;
  try {
    bench_ = Bench(pose ? with_base(model_, Base::kFixed, to_pose(*pose)) : model_, actuation_, request_.held);
  } catch (const Error& error) {  // nobody's model stands there; other states have their answers
    const std::string_view why = error.what();
    throw StateError(fmt::format("base: {}", why.substr(0, why.find('\n'))));
  }
  pose_ = pose;
}

}  // namespace kansetsu::cli
