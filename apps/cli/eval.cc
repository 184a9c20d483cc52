/// kansetsu eval MODEL: the batch calculator, with request and reply in JSON.

#include "cli/arguments.h"
#include "cli/eval_answer.h"
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
