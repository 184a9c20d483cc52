/// kansetsu eval MODEL: the batch calculator. A request comes in as JSON, its reply goes out as JSON.

#include <fmt/format.h>

#include <optional>

#include "cli/arguments.h"
#include "cli/eval_request.h"
#include "cli/input.h"
#include "cli/json_reader.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "kansetsu/model/edit.h"

namespace kansetsu::cli {
namespace {

struct EvalArguments {
  ModelSource model;
  std::string in = "-", out = "-";
};

bool same(const Transform<>& a, const Transform<>& b) { return a.R == b.R && a.p == b.p; }

/// Answers states one after the other; keeps the compiled model while the pose of a fixed base stays the same.
class Evaluator {
 public:
  Evaluator(const Model& model, ActuationDescription actuation, const Request& request)
      : model_(model), actuation_(std::move(actuation)), request_(request), bench_(model, actuation_, request.held) {}

  /// The state's slot in the reply.
  std::string answer(const StateInput& input) {
    try {
      return results(input);
    } catch (const StateError& error) {
      failed_ = true;
      return JsonWriter().begin_object().entry("error", error.what()).end_object().take();
    }
  }
  bool failed() const { return failed_; }

 private:
  std::string results(const StateInput& input) {
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

  void place_base(const std::optional<Transform<>>& pose) {
    if (pose.has_value() == pose_.has_value() && (!pose || same(*pose, *pose_))) return;
    bench_ = Bench(pose ? with_base(model_, Base::kFixed, to_pose(*pose)) : model_, actuation_, request_.held);
    pose_ = pose;
  }

  const Model model_;
  const ActuationDescription actuation_;
  const Request& request_;
  Bench bench_;
  std::optional<Transform<>> pose_;  ///< of the bench's base; none: the model's own
  bool failed_ = false;
};

Exit eval(const EvalArguments& options) {
  Model model = model_or_fail(options.model);
  const std::string source = options.in == "-" ? "standard input" : options.in;
  const Request request = read_request(parse_json(read_input(options.in), source), model, source);
  if (request.gravity && *request.gravity != model.gravity()) model = with_gravity(model, *request.gravity);

  Output out(options.out);
  JsonWriter json;
  json.begin_object().entry("nq", model.nq()).entry("nv", model.nv()).key("dofs").array(model.dof_names());
  json.key("results").begin_array();
  Evaluator evaluator(model, actuation_of(options.model), request);
  Progress progress("eval", request.states.size());
  for (std::size_t i = 0; i < request.states.size(); ++i) {
    out.write(json.line().raw(evaluator.answer(request.states[i])).take());
    progress.done(i + 1);
  }
  out.write(json.end_array().end_object().take() + "\n");
  out.commit();
  return evaluator.failed() ? kNumerical : kOk;
}

}  // namespace

Runner declare_eval(Arguments& args) {
  auto options = std::make_shared<EvalArguments>();
  args.add("MODEL", options->model.name, kModelHelp).required();
  add_base_option(args, options->model.base);
  add_path_option(args);
  args.add("--in FILE", options->in, "request; default: standard input");
  args.add("--out FILE", options->out, "reply; default: standard output");
  return [options] { return eval(*options); };
}

}  // namespace kansetsu::cli
