/// kansetsu ik MODEL --target FRAME:pose …: configurations in which frames reach their targets, as JSON.

#include <fmt/format.h>

#include "cli/arguments.h"
#include "cli/ik_request.h"
#include "cli/input.h"
#include "cli/json_reader.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/joint_values.h"

namespace kansetsu::cli {
namespace {

struct IkArguments {
  ModelSource model;
  std::vector<std::string> targets;
  std::string in, out = "-", record;
  std::string method, euler_order;
  int starts = 0, solutions = 1;
  bool no_limits = false;
};

void write_configuration(JsonWriter& json, const Model& model, const Eigen::VectorXd& q) {
  if (model.base() == Base::kFree) {
    json.key("base").begin_object();
    json.key("p").value(q.head(3)).key("quat_xyzw").value(q.segment(3, 4)).end_object();
  }
  json.key("q").begin_object();
  const std::vector<std::vector<double>> values = joint_values(model, q);
  for (int j = 0; j < model.joint_count(); ++j) {
    const std::vector<double>& x = values[std::size_t(j)];
    if (x.empty()) continue;
    json.key(model.joint(JointId(j)).name);
    if (x.size() == 1)
      json.value(x.front());
    else
      json.array(x);
  }
  json.end_object();
}

void write_report(JsonWriter& json, const Model& model, const ik::Report& report) {
  json.begin_object().entry("status", ik::to_string(report.status)).entry("distance", report.distance);
  json.entry("iterations", report.iterations).entry("starts", report.starts);
  json.entry("manipulability", report.manipulability);
  write_configuration(json, model, report.q);
  json.key("tasks").begin_array();
  for (const ik::TaskReport& t : report.tasks) {
    json.line().begin_object().entry("name", t.name).entry("error", t.error).entry("met", t.met).end_object();
  }
  json.end_array().key("active_limits");
  json.array(report.active_limits, [&](int v) { return model.dof_names()[std::size_t(v)]; }).end_object();
}

/// The motion from the start to the solution in one second, at rest at both ends.
void write_motion(const std::string& file, const Model& model, const Eigen::VectorXd& start,
                  const Eigen::VectorXd& end) {
  io::Recording recording;
  recording.header.figures.push_back({model.name(), model});
  recording.header.notes = {{"program", "kansetsu ik"}};
  constexpr int kFrames = 60;
  const Eigen::VectorXd way = difference(model, start, end);
  for (int i = 0; i <= kFrames; ++i) {
    const double t = double(i) / kFrames, s = t * t * (3 - 2 * t);
    io::RecordedFrame frame{.time = t};
    State state(model);
    state.q = interpolate(model, start, end, s);
    state.v = (6 * t * (1 - t)) * way;
    frame.states.push_back(std::move(state));
    recording.frames.push_back(std::move(frame));
  }
  check_written(io::write_recording(recording, file));
}

Exit run_ik(const IkArguments& options) {
  const Model model = model_or_fail(options.model);
  if (options.in.empty() && options.targets.empty()) {
    throw Failure(kBadUsage, "nothing to do: give --target FRAME:pose, or a request with --in FILE");
  }
  IkRequest request(model);
  if (!options.in.empty()) {
    const std::string source = options.in == "-" ? "standard input" : options.in;
    request = read_ik_request(parse_json(read_input(options.in), source), model, source);
  }
  for (const std::string& text : options.targets) {
    request.problem.add(parse_target(text, model), {.name = text.substr(0, text.rfind(':'))});
  }
  request.problem.add_loops(model, loops_of(options.model));
  if (options.starts > 0) request.options.starts = options.starts;
  if (options.no_limits) request.options.limits = false;
  if (!options.method.empty()) request.options.method = *ik::find_method(options.method);
  if (!options.euler_order.empty()) request.options.euler_order = *find_euler_order(options.euler_order);

  ik::Solver solver(model, request.problem, request.options);
  std::vector<ik::Report> found;
  if (options.solutions > 1)
    found = solver.solve_all(request.start, std::max(request.options.starts, 10 * options.solutions));
  if (int(found.size()) > options.solutions) found.resize(std::size_t(options.solutions));
  if (found.empty()) found.push_back(solver.solve(request.start));

  Output out(options.out);
  JsonWriter json;
  if (options.solutions > 1) {
    json.begin_object().key("solutions").begin_array();
    for (const ik::Report& report : found) write_report(json.line(), model, report);
    json.end_array().end_object();
  } else {
    write_report(json, model, found.front());
  }
  out.write(json.take() + "\n");
  out.commit();
  if (!options.record.empty()) write_motion(options.record, model, request.start, found.front().q);
  return found.front().solved() ? kOk : kNumerical;
}

}  // namespace

Runner declare_ik(Arguments& args) {
  auto options = std::make_shared<IkArguments>();
  args.add("MODEL", options->model.name, kModelHelp).required();
  args.add("--target FRAME:POSE", options->targets,
           "FRAME:x,y,z, FRAME:x,y,z,roll,pitch,yaw or FRAME:x,y,z,qx,qy,qz,qw")
      .take_all();
  args.add("--in FILE", options->in, "request with tasks, start and options as JSON; - is standard input");
  args.add("--out FILE", options->out, "reply; default: standard output");
  args.add("--record FILE", options->record, "record the iterations: .mcap, .csv, .npz or .glb");
  args.add("--starts N", options->starts, "number of starting points; default: 20").between(1, 1'000'000);
  args.add("--solutions N", options->solutions, "find up to N different solutions").between(1, 1'000'000);
  args.add("--method", options->method, "rotation parameters; default: tangent").one_of(method_names());
  args.add("--euler-order ORDER", options->euler_order, "axis order for --method euler; default: ZYX")
      .check([](const std::string& order) {
        return find_euler_order(order) ? ""
                                       : "'" + order + "' is not one of the orders XYZ, XZY, ..., ZYX, XYX, ..., ZYZ";
      });
  args.add_flag("--no-limits", options->no_limits, "ignore joint limits");
  add_base_option(args, options->model.base);
  add_path_option(args);
  return [options] { return run_ik(*options); };
}

}  // namespace kansetsu::cli
