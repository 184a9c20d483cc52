/// kansetsu dynamics MODEL: forward dynamics of one state by a chosen method, beside the articulated-body algorithm.

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
  bool processes = false, json = false;
};

const char* word_of(ForwardMethod method) { return std::ranges::find(kMethods, method, &Method::method)->word; }

/// Why a method cannot take a model; empty: it can.
std::string refusal(ForwardMethod method, const Model& model) {
  if (method == ForwardMethod::kSegments) return SegmentDynamics::unsupported(model).value_or("");
  if (method == ForwardMethod::kAssembly || method == ForwardMethod::kSerialAssembly)
    return Assembly::unsupported(model).value_or("");
  return "";
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

/// Least time of a call [µs], and what it found.
struct Measured {
  ForwardMethod method = ForwardMethod::kAssembly;
  double time = kInfinity;
  int processes = 1;
  bool speaks = true;  ///< of several processes one
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

Measured by_threads(const DynamicsArguments& options, const Model& model, const State& state,
                    const Eigen::VectorXd& tau, AbaResult& out) {
  const ForwardMethod wanted = std::ranges::find(kMethods, options.method, &Method::word)->method;
  if (const std::string why = refusal(wanted, model); !why.empty())
    throw Failure(kBadUsage, fmt::format("--method {}: {}; --method aba takes every model", options.method, why));
  AutoForwardDynamics forward(model, options.threads, wanted);
  return {.method = forward.method(), .time = least_time(options.repeat, [&] { forward.solve(state, tau, out); })};
}

Measured by_processes(const DynamicsArguments& options, const Model& model, const State& state,
                      const Eigen::VectorXd& tau, AbaResult& out) {
  if (options.method != "assembly") throw Failure(kBadUsage, "--processes goes with --method assembly");
  if (const auto why = ChainProcess::unsupported(model))
    throw Failure(kBadUsage, fmt::format("--processes: {}; only chains are shared out", *why));
  const ProcessGroup group = mpi_processes();
  ChainProcess process(model, group, options.threads);
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
  const Measured measured = options.processes ? by_processes(options, model, state, tau, result)
                                              : by_threads(options, model, state, tau, result);
  if (!measured.speaks) return kOk;
  const AbaResult reference = aba(model, state, tau);
  if (result.status != Status::kOk || reference.status != Status::kOk)
    throw Failure(kNumerical, "the mass matrix is singular: nothing resists some coordinate");
  const double scale = model.nv() == 0 ? 1 : std::max(1.0, reference.vdot.cwiseAbs().maxCoeff());
  const double difference = model.nv() == 0 ? 0 : (result.vdot - reference.vdot).cwiseAbs().maxCoeff() / scale;
  if (options.json) {
    JsonWriter json;
    json.begin_object().entry("model", model.name()).entry("nv", model.nv()).entry("method", word_of(measured.method));
    json.entry("threads", options.threads)
        .entry("processes", measured.processes)
        .entry("us_per_call", measured.time)
        .entry("difference_from_aba", difference);
    json.key("dofs").array(model.dof_names()).entry("vdot", result.vdot).end_object();
    print(json.take() + "\n");
  } else {
    print(table({{"model", fmt::format("{} ({} coordinates)", model.name(), model.nv())},
                 {"method", word_of(measured.method)},
                 {"threads", fmt::format("{} of {} process{}", options.threads, measured.processes,
                                         measured.processes == 1 ? "" : "es")},
                 {"time", fmt::format("{:.1f} us, the least of {}", measured.time, options.repeat)},
                 {"beside aba", fmt::format("{:.0e} of the largest acceleration", difference)}}));
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
  args.add("MODEL", options->model.name, kModelHelp).required().type_name("");
  add_base_option(args, options->model.base);
  add_path_option(args);
  args.add("--method", options->method, "method; auto: the fastest for this model")
      .one_of(words)
      .type_name(shown)
      .show_default();
  args.add("--threads", options->threads, "number of threads for assembly and segments")
      .between(1, 256)
      .type_name("N")
      .show_default();
  args.add("--repeat", options->repeat, "number of timed calls").between(1, 100000).type_name("N").show_default();
  args.add("--seed", options->seed, "random seed of the state").type_name("N").show_default();
  if (has_mpi()) {
    args.add_flag("--processes", options->processes,
                  "share the chain out among the processes that mpirun has started, with --method assembly");
  }
  args.add_flag("--json", options->json, "print all results as JSON");
  return [options] { return dynamics(*options); };
}

}  // namespace kansetsu::cli
