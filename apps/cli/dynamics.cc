/// kansetsu dynamics MODEL: forward dynamics of one state by a chosen method, compared with the articulated-body algorithm.

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <random>

#include "cli/arguments.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/output.h"
#include "cli/processes.h"
#include "cli/table.h"
#include "kansetsu/assembly/forward.h"
#include "kansetsu/model/configuration.h"

namespace kansetsu::cli {
namespace {

struct Method {
  const char* word;
  ForwardMethod method;
};
constexpr Method kMethods[] = {{"auto", ForwardMethod::kAuto},
                               {"aba", ForwardMethod::kAba},
                               {"serial", ForwardMethod::kSerialAssembly},
                               {"assembly", ForwardMethod::kAssembly},
                               {"segments", ForwardMethod::kSegments}};

struct DynamicsArguments {
  ModelSource model;
  std::string method = "auto";
  int threads = 1, repeat = 10;
  std::uint64_t seed = 1;
  bool ring = false, processes = false, json = false;
};

const char* word_of(ForwardMethod method) { return std::ranges::find(kMethods, method, &Method::method)->word; }

/// Why a method does not support a model; empty if it does.
std::string refusal(ForwardMethod method, const Model& model) {
  if (method == ForwardMethod::kSegments) return SegmentDynamics::unsupported(model).value_or("");
  if (method == ForwardMethod::kAssembly || method == ForwardMethod::kSerialAssembly)
    return Assembly::unsupported(model).value_or("");
  return "";
}

/// The loops of a scene's figure, and with --ring one that hinges the last link to the first, or to the world.
std::vector<Closure> closures_of(const DynamicsArguments& options, const Model& model) {
  std::vector<Closure> out;
  const auto anchor = [&](const std::string& name, const Pose& pose) {
    const auto frame = model.find_frame(name);
    const LinkId link = frame ? model.frame_link(*frame) : model.link_id(name);
    const Transform<> X = frame ? to_transform(model.frame(*frame).origin) : Transform<>{};
    return ClosureAnchor{.figure = 0, .link = link, .X_LJ = X * to_transform(pose)};
  };
  for (const LoopClosure& loop : loops_of(options.model))  // rows of a loop are in the axes of its first frame
    out.push_back({.a = anchor(loop.link_b, loop.pose_b), .b = anchor(loop.link_a, loop.pose_a), .rows = loop.mask});
  if (!options.ring) return out;
  Closure ring{.b = {.figure = 0, .link = LinkId(model.link_count() - 1), .X_LJ = {}}, .rows = kHingeMask};
  if (model.base() == Base::kFree) ring.a.link = LinkId(0);
  out.push_back(ring);
  return out;
}

/// Near the neutral posture, so that long chains stay well conditioned.
State gentle_state(const Model& model, std::mt19937_64& rng, Eigen::VectorXd& tau) {
  std::normal_distribution<double> normal;
  const auto numbers = [&](double scale) {
    return Eigen::VectorXd(Eigen::VectorXd::NullaryExpr(model.nv(), [&](Eigen::Index) { return scale * normal(rng); }));
  };
  State state(model);
  state.q = integrate(model, state.q, numbers(0.3));
  state.v = numbers(0.1);
  tau = numbers(1);
  return state;
}

/// Minimum time of a call [µs], and the result.
struct Measured {
  ForwardMethod method = ForwardMethod::kAssembly;
  double time = kInfinity;
  int processes = 1;
  bool speaks = true;  ///< whether this process prints
};

template <class Call>
double least_time(int repeat, Call&& call) {
  double least = kInfinity;
  for (int i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    call();
    least =
        std::min(least, std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
  }
  return least;
}

/// Models with loops, by assembly.
Measured held(const DynamicsArguments& options, ForwardMethod method, const Model& model,
              const std::vector<Closure>& closures, const State& state, const Eigen::VectorXd& tau, AbaResult& out) {
  AssemblyOptions how{.threads = options.threads, .reactions = false};
  if (method == ForwardMethod::kSerialAssembly) how.order = AssemblyOrder::kSerial;
  Assembly assembly(model, how);
  for (const Closure& closure : closures) assembly.connect(closure);
  assembly.rebuild();
  AssemblyResult result(assembly);
  const double time = least_time(options.repeat, [&] { assembly.solve(state, tau, result); });
  out.vdot = result.vdot();
  out.status = result.status;
  return {.method = method, .time = time};
}

Measured by_threads(const DynamicsArguments& options, const Model& model, const std::vector<Closure>& closures,
                    const State& state, const Eigen::VectorXd& tau, AbaResult& out) {
  const ForwardMethod wanted = std::ranges::find(kMethods, options.method, &Method::word)->method;
  if (!closures.empty()) {
    const bool assembles = wanted == ForwardMethod::kAssembly || wanted == ForwardMethod::kSerialAssembly;
    if (!assembles && wanted != ForwardMethod::kAuto)
      throw Failure(kBadUsage,
                    fmt::format("--method {} does not support loops; --method assembly and serial do", options.method));
    if (const auto why = Assembly::unsupported(model)) throw Failure(kBadUsage, fmt::format("loops: {}", *why));
    return held(options, assembles ? wanted : ForwardMethod::kSerialAssembly, model, closures, state, tau, out);
  }
  if (const std::string why = refusal(wanted, model); !why.empty())
    throw Failure(kBadUsage, fmt::format("--method {}: {}; --method aba takes every model", options.method, why));
  AutoForwardDynamics forward(model, options.threads, wanted);
  return {.method = forward.method(), .time = least_time(options.repeat, [&] { forward.solve(state, tau, out); })};
}

Measured by_processes(const DynamicsArguments& options, const Model& model, const std::vector<Closure>& closures,
                      const State& state, const Eigen::VectorXd& tau, AbaResult& out) {
  if (options.method != "assembly") throw Failure(kBadUsage, "--processes needs --method assembly");
  if (const auto why = AssemblyProcess::unsupported(model))
    throw Failure(kBadUsage, fmt::format("--processes: {}", *why));
  const ProcessGroup group = mpi_processes();
  if (const int most = AssemblyProcess::most_processes(model); group.size > most)
    throw Failure(kBadUsage, fmt::format("--processes: {} processes, but {} can be cut into {} pieces at most",
                                         group.size, model.name(), most));
  AssemblyProcess process(model, group, {.threads = options.threads, .closures = closures});
  Eigen::VectorXd own = Eigen::VectorXd::Zero(model.nv());
  const double time = least_time(options.repeat, [&] { out.status = process.solve(state, tau, own); });
  out.vdot = own;
  sum_over_processes(out.vdot);
  return {.time = time, .processes = group.size, .speaks = group.rank == 0};
}

Exit dynamics(const DynamicsArguments& options) {
  const Model model = model_or_fail(options.model);
  std::mt19937_64 rng(options.seed);
  Eigen::VectorXd tau;
  const State state = gentle_state(model, rng, tau);
  AbaResult result(model);
  const std::vector<Closure> closures = closures_of(options, model);
  const Measured measured = options.processes ? by_processes(options, model, closures, state, tau, result)
                                              : by_threads(options, model, closures, state, tau, result);
  if (!measured.speaks) return kOk;
  AbaResult reference(model);
  const bool loops = !closures.empty();
  if (loops) {
    DynamicsArguments once = options;
    once.threads = once.repeat = 1;
    held(once, ForwardMethod::kSerialAssembly, model, closures, state, tau, reference);
  } else {
    reference = aba(model, state, tau);
  }
  const bool solved = result.status == Status::kOk && result.vdot.allFinite();
  if (!solved || reference.status != Status::kOk)
    throw Failure(kNumerical, "the mass matrix is singular: nothing resists some coordinate");
  const double scale = model.nv() == 0 ? 1 : std::max(1.0, reference.vdot.cwiseAbs().maxCoeff());
  const double difference = model.nv() == 0 ? 0 : (result.vdot - reference.vdot).cwiseAbs().maxCoeff() / scale;
  if (options.json) {
    JsonWriter json;
    json.begin_object().entry("model", model.name()).entry("nv", model.nv()).entry("method", word_of(measured.method));
    json.entry("threads", options.threads)
        .entry("processes", measured.processes)
        .entry("us_per_call", measured.time)
        .entry("loops", int(closures.size()))
        .entry(loops ? "difference_from_serial" : "difference_from_aba", difference);
    json.key("dofs").array(model.dof_names()).entry("vdot", result.vdot).end_object();
    print(json.take() + "\n");
  } else {
    print(table({{"model", fmt::format("{} ({} coordinates)", model.name(), model.nv())},
                 {"method", word_of(measured.method)},
                 {"threads", fmt::format("{} of {} process{}", options.threads, measured.processes,
                                         measured.processes == 1 ? "" : "es")},
                 {"time", fmt::format("{:.1f} µs, minimum of {}", measured.time, options.repeat)},
                 {loops ? "difference from serial" : "difference from aba",
                  fmt::format("{:.0e} of the largest acceleration", difference)}}));
  }
  return kOk;
}

}  // namespace

Runner declare_dynamics(Arguments& args) {
  auto options = std::make_shared<DynamicsArguments>();
  std::vector<std::string> words;
  std::string shown;
  for (const Method& m : kMethods) {
    words.emplace_back(m.word);
    shown += (shown.empty() ? "" : "|") + words.back();
  }
  args.add("MODEL", options->model.name, kModelHelp).required();
  add_base_option(args, options->model.base);
  add_path_option(args);
  args.add("--method", options->method, "method; auto: the fastest for this model")
      .one_of(words)
      .type_name(shown)
      .show_default();
  args.add("--threads N", options->threads, "number of threads for assembly and segments")
      .between(1, 256)
      .show_default();
  args.add("--repeat N", options->repeat, "number of timed calls").between(1, 100000).show_default();
  args.add("--seed N", options->seed, "random seed of the state").show_default();
  args.add_flag(
      "--ring", options->ring,
      "hinge the last link to the first, or with a fixed base to the world; with --method assembly or serial");
  if (has_mpi()) {
    args.add_flag("--processes", options->processes,
                  "distribute the model over the processes started by mpirun; with --method assembly");
  }
  args.add_flag("--json", options->json, "print all results as JSON");
  return [options] { return dynamics(*options); };
}

}  // namespace kansetsu::cli
