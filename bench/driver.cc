// usage: bench_driver [--quick] [--models a,b] [--algorithms a,b] [--out FILE] PLUGIN…
//
// Runs the same algorithms on the same models and states in several libraries, in turn, and writes what it measured as
// JSON. The first plug-in that can load models provides them. script/bench builds the plug-ins and makes tables of it.

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>
#include <string>
#include <vector>
#if defined(__x86_64__)
#include <x86intrin.h>
#endif

#include "plugin.h"

namespace {

using Clock = std::chrono::steady_clock;

constexpr const char* kAlgorithmNames[kAlgorithmCount] = {
    "fk", "jacobians", "rnea", "crba", "aba", "minverse", "rnea_derivatives", "aba_derivatives"};

struct Options {
  std::vector<std::string> models{"human28", "panda7",  "anymal_c", "atlas",   "simple_humanoid",
                                  "chain8",  "chain16", "chain32",  "chain64", "chain128"};
  std::vector<std::string> algorithms{std::begin(kAlgorithmNames), std::end(kAlgorithmNames)};
  std::vector<std::string> plugins;
  std::string out;
  int states = 1000, checked = 50;
  int repetitions = 9;
  double seconds = 0.004;  ///< at least this long, and at least every state once, per repetition
};

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(item);
  return out;
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    const auto value = [&]() -> std::string {
      if (i + 1 < argc) return argv[++i];
      std::cerr << "bench_driver: " << a << " needs a value\n";
      std::exit(2);
    };
    if (a == "--quick")
      o.repetitions = 5, o.models = {"human28", "panda7", "anymal_c", "atlas", "chain32"};
    else if (a == "--models")
      o.models = split(value());
    else if (a == "--algorithms")
      o.algorithms = split(value());
    else if (a == "--repetitions")
      o.repetitions = std::stoi(value());
    else if (a == "--out")
      o.out = value();
    else if (a.starts_with("--"))
      std::cerr << "bench_driver: unknown option " << a << "\n", std::exit(2);
    else
      o.plugins.push_back(a);
  }
  return o;
}

// ---- time ------------------------------------------------------------------------------------------------------------

std::uint64_t stamp() {
#if defined(__x86_64__)
  return __rdtsc();
#else
  return std::uint64_t(Clock::now().time_since_epoch().count());
#endif
}

struct Ticks {
  double ns_per_tick = 1, overhead = 0;
};

template <class Values>
double quantile(Values values, double p) {
  const auto at = values.begin() + std::ptrdiff_t(p * double(values.size() - 1) + 0.5);
  std::nth_element(values.begin(), at, values.end());
  return double(*at);
}

/// Length of a tick, and what two stamps in a row cost.
Ticks calibrate() {
  const auto t0 = Clock::now();
  const std::uint64_t s0 = stamp();
  while (Clock::now() - t0 < std::chrono::milliseconds(50)) {
  }
  const std::uint64_t s1 = stamp();
  Ticks out;
  out.ns_per_tick = std::chrono::duration<double, std::nano>(Clock::now() - t0).count() / double(s1 - s0);
  std::vector<std::uint64_t> pairs(10001);
  for (auto& p : pairs) {
    const std::uint64_t a = stamp();
    p = stamp() - a;
  }
  out.overhead = quantile(pairs, 0.5);
  return out;
}

// ---- models and states -----------------------------------------------------------------------------------------------

/// Random states: all joints anywhere, everything moving.
struct States {
  std::vector<double> q, v, a, tau;
  StateData data{};

  States(const ModelData& model, int count) {
    std::mt19937_64 rng(20240704);
    const auto uniform = [&](double range) { return std::uniform_real_distribution<double>(-range, range)(rng); };
    std::normal_distribution<double> normal;
    for (int i = 0; i < count; ++i) {
      for (int b = 0; b < model.body_count; ++b) {
        if (model.bodies[b].type == kRevoluteBody) q.push_back(uniform(M_PI));
        if (model.bodies[b].type == kPrismaticBody) q.push_back(uniform(0.5));
        if (model.bodies[b].type != kFreeBody) continue;
        for (int k = 0; k < 3; ++k) q.push_back(uniform(1));
        double quat[4], n = 0;
        for (double& x : quat) x = normal(rng), n += x * x;
        for (double x : quat) q.push_back(x / std::sqrt(n));
      }
      for (int k = 0; k < model.nv; ++k) v.push_back(uniform(2)), a.push_back(uniform(5)), tau.push_back(uniform(20));
    }
    data = {count, q.data(), v.data(), a.data(), tau.data()};
  }
};

int result_size(const ModelData& model, int algorithm) {
  switch (algorithm) {
    case kFk:
      return 12 * model.body_count;
    case kJacobians:
      return 6 * model.nv;
    case kRnea:
    case kAba:
      return model.nv;
    case kCrba:
    case kMinverse:
      return model.nv * model.nv;
    default:
      return 3 * model.nv * model.nv;
  }
}

// ---- contestants -----------------------------------------------------------------------------------------------------

/// One library on one model. Own folder of symbols each: nothing of one plug-in may answer for another.
struct Library {
  std::string path;
  const Plugin* plugin;
};

Library open_plugin(const std::string& path) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!handle) std::cerr << "bench_driver: " << dlerror() << "\n", std::exit(1);
  auto* function = reinterpret_cast<PluginFunction*>(dlsym(handle, "bench_plugin"));
  if (!function) std::cerr << "bench_driver: " << path << " is no plug-in\n", std::exit(1);
  return {path, function()};
}

struct Contestant {
  const Plugin* plugin;
  void* instance;
  int algorithm, mode;
  std::vector<double> medians, p99s;  ///< per repetition [ns]
  double error = NAN;
};

volatile double sink;

void measure(Contestant& c, int states, const Options& options, const Ticks& ticks) {
  double sum = 0;
  std::vector<std::uint32_t> samples;
  const auto sample = [&](int first, int count) {
    const std::uint64_t a = stamp();
    for (int i = first; i < first + count; ++i) sum += c.plugin->run(c.instance, c.algorithm, c.mode, i);
    samples.push_back(std::uint32_t(std::min<std::uint64_t>(stamp() - a, UINT32_MAX)));
  };
  for (int i = 0; i < std::min(states, 100); ++i) sample(i, 1);  // warm up
  const double call_ns = quantile(samples, 0.5) * ticks.ns_per_tick;
  const int group =
      call_ns > 1000 ? 1 : std::min(16, int(1000 / call_ns) + 1);  // the clock is too coarse for short calls
  samples.clear();
  const auto start = Clock::now();
  do {
    for (int i = 0; i + group <= states; i += group) sample(i, group);
  } while (std::chrono::duration<double>(Clock::now() - start).count() < options.seconds);
  sink = sum;
  const auto ns = [&](double p) { return (quantile(samples, p) - ticks.overhead) * ticks.ns_per_tick / group; };
  c.medians.push_back(ns(0.5));
  c.p99s.push_back(ns(0.99));
}

/// Largest difference between two contestants over the checked states, relative to the largest number of each result.
double difference(const Contestant& a, const Contestant& b, const ModelData& model, int checked) {
  std::vector<double> x(size_t(result_size(model, a.algorithm))), y = x;
  double worst = 0;
  for (int i = 0; i < checked; ++i) {
    a.plugin->result(a.instance, a.algorithm, a.mode, i, x.data());
    b.plugin->result(b.instance, b.algorithm, b.mode, i, y.data());
    double difference = 0, scale = 1e-300;
    for (size_t k = 0; k < x.size(); ++k) {
      if (x[k] == kNotComputed || y[k] == kNotComputed) continue;
      difference = std::max(difference, std::abs(x[k] - y[k]));
      scale = std::max(scale, std::abs(y[k]));
      if (!std::isfinite(x[k]) || !std::isfinite(y[k])) difference = INFINITY;
    }
    worst = std::max(worst, difference / scale);
  }
  return worst;
}

std::string first_line_of(const char* file, const std::string& otherwise) {
  std::ifstream in(file);
  std::string line;
  return std::getline(in, line) ? line : otherwise;
}

std::string cpu_name() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

int pin_to_one_core() {
  const int core = sched_getcpu();
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(core, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0 ? core : -1;
}

std::string word(const char* text) { return std::string(text).substr(0, std::string(text).find(' ')); }

/// Everything about one algorithm of one model: agreement first, then times.
void compete(std::vector<Contestant>& contestants, const ModelData& model, const States& states, const Options& options,
             const Ticks& ticks, nlohmann::json& rows) {
  // Ours against the first other library; the others against us.
  const Contestant* other = nullptr;
  for (const Contestant& c : contestants) {
    if (!other && !c.plugin->load) other = &c;
  }
  for (Contestant& c : contestants) {
    if (c.plugin->load && !other) continue;
    c.error = difference(c, c.plugin->load ? *other : contestants.front(), model, options.checked);
  }
  for (int r = 0; r < options.repetitions; ++r) {
    for (size_t k = 0; k < contestants.size(); ++k) {
      measure(contestants[(k + size_t(r)) % contestants.size()], states.data.count, options, ticks);
    }
  }
  double best_peer = INFINITY;
  for (const Contestant& c : contestants) {
    if (!c.plugin->load) best_peer = std::min(best_peer, quantile(c.medians, 0.5));
  }
  for (const Contestant& c : contestants) {
    const double ns = quantile(c.medians, 0.5);
    nlohmann::json row{{"model", model.name},
                       {"nv", model.nv},
                       {"algo", kAlgorithmNames[c.algorithm]},
                       {"mode", c.plugin->mode(c.algorithm, c.mode)},
                       {"lib", c.plugin->library},
                       {"compiler", word(c.plugin->compiler)},
                       {"ns_median", ns},
                       {"ns_p99", quantile(c.p99s, 0.5)},
                       {"ns_fastest", *std::min_element(c.medians.begin(), c.medians.end())},
                       {"ratio_to_best_peer", nullptr},
                       {"error", nullptr}};
    if (std::isfinite(best_peer)) row["ratio_to_best_peer"] = ns / best_peer;
    if (!std::isnan(c.error)) row["error"] = c.error;
    rows.push_back(row);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const int core = pin_to_one_core();
  std::vector<Library> libraries;
  for (const std::string& path : options.plugins) libraries.push_back(open_plugin(path));
  const auto source = std::find_if(libraries.begin(), libraries.end(), [](const Library& l) { return l.plugin->load; });
  if (source == libraries.end()) {
    std::cerr << "bench_driver: no plug-in loads models\n";
    return 2;
  }
  const Ticks ticks = calibrate();

  nlohmann::json out{{"cpu", cpu_name()},
                     {"core", core},
                     {"governor", first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "unknown")},
                     {"load_at_start", first_line_of("/proc/loadavg", "")},
                     {"states", options.states},
                     {"checked", options.checked},
                     {"repetitions", options.repetitions},
                     {"clock_overhead_ns", ticks.overhead * ticks.ns_per_tick},
                     {"libraries", nlohmann::json::array()},
                     {"missing_models", nlohmann::json::array()},
                     {"rows", nlohmann::json::array()}};
  for (const Library& l : libraries) {
    out["libraries"].push_back({{"lib", l.plugin->library},
                                {"version", l.plugin->version},
                                {"compiler", l.plugin->compiler},
                                {"flags", l.plugin->flags},
                                {"instruction_set", l.plugin->instruction_set}});
  }
  for (const std::string& name : options.models) {
    const ModelData* model = source->plugin->load(name.c_str());
    if (!model) {
      std::cerr << "bench_driver: no model " << name << " (is KANSETSU_DATA_DIR set?) " << source->plugin->error()
                << "\n";
      out["missing_models"].push_back(name);
      continue;
    }
    std::cerr << name << " " << std::flush;
    const States states(*model, options.states);
    std::vector<void*> instances;
    for (const Library& l : libraries) {
      instances.push_back(l.plugin->create(model, &states.data));
      if (!instances.back()) std::cerr << "[" << l.plugin->library << ": " << l.plugin->error() << "] ";
    }
    for (int algorithm = 0; algorithm < kAlgorithmCount; ++algorithm) {
      if (std::find(options.algorithms.begin(), options.algorithms.end(), kAlgorithmNames[algorithm]) ==
          options.algorithms.end()) {
        continue;
      }
      std::vector<Contestant> contestants;
      for (size_t l = 0; l < libraries.size(); ++l) {
        if (!instances[l]) continue;
        for (int mode = 0; libraries[l].plugin->mode(algorithm, mode); ++mode) {
          contestants.push_back({libraries[l].plugin, instances[l], algorithm, mode, {}, {}});
        }
      }
      std::cerr << "." << std::flush;
      compete(contestants, *model, states, options, ticks, out["rows"]);
    }
    std::cerr << "\n";
    for (size_t l = 0; l < libraries.size(); ++l) {
      if (instances[l]) libraries[l].plugin->destroy(instances[l]);
    }
  }
  out["load_at_end"] = first_line_of("/proc/loadavg", "");
  if (options.out.empty()) {
    std::cout << out.dump(1) << "\n";
  } else {
    std::ofstream(options.out) << out.dump(1) << "\n";
  }
}
