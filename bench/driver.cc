// usage: bench_driver [OPTION]… PLUGIN…
//
//   --quick             fewer models and repetitions
//   --models a,b        only these models
//   --algorithms a,b    only these algorithms
//   --repetitions N     turns of each contestant (9)
//   --threads 1,2,4     batches also on so many threads; those that exceed the processors are left out
//   --instructions      count instead of measuring time; run it under valgrind --tool=callgrind --instr-atstart=no
//   --out FILE          write JSON there instead of to stdout
//
// Runs the same algorithms on the same models and states in several libraries, in turn, and writes the measurements as
// JSON. The first plug-in that can load models provides them. script/bench builds the plug-ins and makes tables of the results.

#include <dlfcn.h>
#include <sched.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "contest.h"

namespace {

using bench::Contestant;

constexpr const char* kAlgorithmNames[kAlgorithmCount] = {
    "fk", "jacobians", "rnea", "crba", "aba", "minverse", "rnea_derivatives", "aba_derivatives"};
constexpr const char* kPrecisionNames[] = {"fp64", "fp32"};

constexpr int kStates = 1024;
constexpr int kThreadStates = 16384;        ///< per call on several threads, if they fit
constexpr double kLongestCall = 20e6;       ///< [ns] what takes longer is left out
constexpr double kLongBatch = 2e6;          ///< [ns] a batch is halved if it takes longer
constexpr double kCheckSeconds = 0.5;       ///< time for comparing results, of one contestant
constexpr double kMaxBatchBytes = 64e6;     ///< of the results of one call
constexpr double kThreadSeconds = 0.1;      ///< per repetition: the calls are long
constexpr int kMaxThreadNumbers = 4 << 20;  ///< in q of all states
constexpr int kChecked = 50, kMinChecked = 3, kMinBatch = 64, kCounted = 16;

struct Options {
  std::vector<std::string> models{"human28", "panda7",          "panda_gripper", "robotiq85", "anymal_c",
                                  "atlas",   "simple_humanoid", "chain8",        "chain16",   "chain32",
                                  "chain64", "chain128",        "chain256",      "chain512",  "chain1024"};
  std::vector<std::string> algorithms{std::begin(kAlgorithmNames), std::end(kAlgorithmNames)};
  std::vector<std::string> plugins;
  std::vector<int> threads;
  std::string out;
  bool instructions = false;
  bench::Effort effort;
};

[[noreturn]] void fail(int status, const std::string& message) {
  std::cerr << "bench_driver: " << message << "\n";
  std::exit(status);
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> out;
  std::istringstream in(text);
  for (std::string item; std::getline(in, item, ',');) out.push_back(item);
  return out;
}

int to_number(const std::string& text) {
  char* end = nullptr;
  const long n = std::strtol(text.c_str(), &end, 10);
  if (text.empty() || *end || n < 1 || n > 100000) fail(2, "'" + text + "' is no number from 1");
  return int(n);
}

Options parse(int argc, char** argv) {
  Options o;
  using Value = const std::string&;
  const std::map<std::string, std::function<void(Value)>> with_value{
      {"--models", [&](Value v) { o.models = split(v); }},
      {"--algorithms", [&](Value v) { o.algorithms = split(v); }},
      {"--repetitions", [&](Value v) { o.effort.repetitions = to_number(v); }},
      {"--out", [&](Value v) { o.out = v; }},
      {"--threads", [&](Value v) {
         for (const std::string& n : split(v)) o.threads.push_back(to_number(n));
       }}};
  bool quick = false;
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (const auto at = with_value.find(a); at != with_value.end()) {
      if (i + 1 == argc) fail(2, a + " needs a value");
      at->second(argv[++i]);
    } else if (a == "--quick") {
      quick = true;
    } else if (a == "--instructions") {
      o.instructions = true;
    } else if (a.starts_with("--")) {
      fail(2, "unknown option " + a);
    } else {
      o.plugins.push_back(a);
    }
  }
  if (quick) {
    o.effort.repetitions = std::min(o.effort.repetitions, 5);
    if (o.models == Options{}.models) o.models = {"human28", "panda7", "panda_gripper", "anymal_c", "atlas", "chain32"};
  }
  for (const std::string& a : o.algorithms) {
    if (std::find(std::begin(kAlgorithmNames), std::end(kAlgorithmNames), a) == std::end(kAlgorithmNames)) {
      fail(2, "unknown algorithm " + a);
    }
  }
  return o;
}

// ---- the machine -----------------------------------------------------------------------------------------------------

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

/// Pins this thread, and threads that it starts, to one processor.
class Processors {
 public:
  Processors() { sched_getaffinity(0, sizeof all_, &all_); }
  int count() const { return CPU_COUNT(&all_); }
  /// The number of the processor, −1 if that is not allowed.
  int pin() const {
    const int core = sched_getcpu();
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    return sched_setaffinity(0, sizeof one, &one) == 0 ? core : -1;
  }
  void release() const { sched_setaffinity(0, sizeof all_, &all_); }

 private:
  cpu_set_t all_{};
};

// ---- contestants -----------------------------------------------------------------------------------------------------

const Plugin* open_plugin(const std::string& path) {
  // Separate symbols for each plug-in: none may be bound to another.
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (!handle) fail(1, dlerror());
  auto* function = reinterpret_cast<PluginFunction*>(dlsym(handle, "bench_plugin"));
  if (!function) fail(1, path + " is no plug-in");
  return function();
}

std::string first_word(const std::string& text) { return text.substr(0, text.find(' ')); }

std::string mode_of(const Contestant& c, bool many) {
  if (c.batch == 0) return "single";
  const std::string precision = kPrecisionNames[c.precision];
  return many ? "threads " + std::to_string(c.threads) + " " + precision : "batch " + precision;
}

std::string name_of(const Contestant& c) {
  return std::string(c.plugin->library) + " " + first_word(c.plugin->compiler);
}

/// States per call: all of them, unless the results would take too much memory. All are powers of two.
int batch_size(const ModelData& model, int algorithm, int states) {
  int batch = states;
  const double bytes = sizeof(double) * double(bench::result_size(model, algorithm));
  while (batch > kMinBatch && bytes * batch > kMaxBatchBytes) batch /= 2;
  return batch;
}

/// One model in all libraries that support it.
class Arena {
 public:
  Arena(const std::vector<const Plugin*>& plugins, const ModelData& model, int states, nlohmann::json& left_out)
      : model_(model), states_(model, states) {
    for (const Plugin* plugin : plugins) {
      void* instance = plugin->create(&model, &states_.data);
      if (instance) {
        entries_.emplace_back(plugin, instance);
      } else {
        left_out.push_back({{"model", model.name},
                            {"lib", plugin->library},
                            {"compiler", first_word(plugin->compiler)},
                            {"reason", plugin->error()}});
      }
    }
  }
  Arena(const Arena&) = delete;
  Arena& operator=(const Arena&) = delete;
  ~Arena() {
    for (const auto& [plugin, instance] : entries_) plugin->destroy(instance);
  }

  std::vector<Contestant> singles(int algorithm) const {
    std::vector<Contestant> out;
    for (const auto& [plugin, instance] : entries_) {
      for (int v = 0; plugin->variant(instance, algorithm, v); ++v) {
        out.push_back({plugin, instance, algorithm, v, 0, kFp64, 1, states_.data.count});
      }
    }
    return out;
  }
  std::vector<Contestant> batches(int algorithm, const std::vector<int>& threads) const {
    std::vector<Contestant> out;
    for (const auto& [plugin, instance] : entries_) {
      for (int precision : {kFp64, kFp32}) {
        if (!plugin->has_batch || !plugin->has_batch(instance, algorithm, precision)) continue;
        for (int n : threads) {
          const int batch = batch_size(model_, algorithm, states_.data.count);
          out.push_back({plugin, instance, algorithm, 0, batch, precision, n, states_.data.count});
        }
      }
    }
    return out;
  }
  const ModelData& model() const { return model_; }

 private:
  const ModelData& model_;
  bench::States states_;
  std::vector<std::pair<const Plugin*, void*>> entries_;
};

/// The data and results of a run of the program.
struct Run {
  const Options& options;
  bench::Ticks ticks;
  nlohmann::json& out;
};

void leave_out(Run& run, const ModelData& model, const Contestant& c, const std::string& mode,
               const std::string& reason) {
  run.out["left_out"].push_back({{"model", model.name},
                                 {"algo", kAlgorithmNames[c.algorithm]},
                                 {"mode", mode},
                                 {"lib", c.plugin->library},
                                 {"compiler", first_word(c.plugin->compiler)},
                                 {"reason", reason}});
}

/// Removes contestants that need too long for a state, and shortens long batches.
void drop_slow(Run& run, const ModelData& model, std::vector<Contestant>& contestants, bool many) {
  std::erase_if(contestants, [&](Contestant& c) {
    const double ns = bench::probe(c, run.ticks);
    // Other processes use the processor, too: the longer a call, the larger their share.
    while (!many && c.batch > kMinBatch && ns * c.batch > kLongBatch) c.batch /= 2;
    if (ns <= kLongestCall) return false;
    char reason[80];
    std::snprintf(reason, sizeof reason, "a call takes %.0f ms, more than %.0f ms", ns / 1e6, kLongestCall / 1e6);
    leave_out(run, model, c, mode_of(c, many), reason);
    return true;
  });
}

/// Compares ours with the first other library, and the others with ours.
void compare(Run& run, const ModelData& model, std::vector<Contestant>& contestants, const Contestant* other) {
  const auto ours =
      std::find_if(contestants.begin(), contestants.end(), [](const Contestant& c) { return c.plugin->load; });
  for (Contestant& c : contestants) {
    const Contestant* reference = c.plugin->load ? other : &*ours;
    if (!reference && c.batch > 0) reference = &*ours;  // no other library does this: our own plain function
    if (!reference || (!c.plugin->load && ours == contestants.end()) || reference == &c) continue;
    const double fitting = kCheckSeconds * 1e9 / bench::probe(*reference, run.ticks);
    c.error = bench::difference(c, *reference, model, int(std::clamp<double>(fitting, kMinChecked, kChecked)));
  }
}

void time_all(Run& run, std::vector<Contestant>& contestants, const bench::Effort& effort) {
  for (int r = 0; r < effort.repetitions; ++r) {
    for (size_t k = 0; k < contestants.size(); ++k) {
      bench::measure(contestants[(k + size_t(r)) % contestants.size()], effort, run.ticks);
    }
  }
}

void add_rows(Run& run, const ModelData& model, const std::vector<Contestant>& contestants, bool many) {
  for (const Contestant& c : contestants) {
    nlohmann::json row{{"model", model.name},
                       {"algo", kAlgorithmNames[c.algorithm]},
                       {"mode", mode_of(c, many)},
                       {"variant", c.batch > 0 ? "" : c.plugin->variant(c.instance, c.algorithm, c.variant)},
                       {"lib", c.plugin->library},
                       {"compiler", first_word(c.plugin->compiler)},
                       {"ns_median", bench::quantile(c.medians, 0.5)},
                       {"ns_p99", bench::quantile(c.p99s, 0.5)},
                       {"error", nullptr}};
    if (c.batch > 0) row["states_per_call"] = c.batch;
    if (c.seen >= 0) row["states"] = c.seen;
    if (!std::isnan(c.error)) row["error"] = std::isfinite(c.error) ? c.error : 1e300;
    run.out["rows"].push_back(row);
  }
}

/// A progress line: the fastest of each library and mode.
void tell(const ModelData& model, int algorithm, const std::vector<Contestant>& contestants, bool many) {
  std::map<std::string, double> best;
  std::vector<std::string> order;
  for (const Contestant& c : contestants) {
    const std::string name = name_of(c) + (c.batch > 0 ? " " + mode_of(c, many) : "");
    const double ns = bench::quantile(c.medians, 0.5);
    if (best.emplace(name, ns).second) order.push_back(name);
    best[name] = std::min(best[name], ns);
  }
  std::cerr << "  " << model.name << " " << kAlgorithmNames[algorithm] << ":";
  for (const std::string& name : order) {
    char text[40];
    std::snprintf(text, sizeof text, "%.0f", best[name]);
    std::cerr << (name == order.front() ? " " : ", ") << name << " " << text;
  }
  std::cerr << " ns\n";
}

void compete(Run& run, const Arena& arena, int algorithm) {
  std::vector<Contestant> contestants = arena.singles(algorithm);
  for (const Contestant& c : arena.batches(algorithm, {1})) contestants.push_back(c);
  drop_slow(run, arena.model(), contestants, false);
  if (contestants.empty()) return;
  const Contestant* other = nullptr;
  for (const Contestant& c : contestants) {
    if (!other && !c.plugin->load) other = &c;
  }
  compare(run, arena.model(), contestants, other);
  time_all(run, contestants, run.options.effort);
  add_rows(run, arena.model(), contestants, false);
  tell(arena.model(), algorithm, contestants, false);
}

/// Batches on several threads, each against one thread of the same.
void compete_in_threads(Run& run, const Arena& arena, int algorithm, const std::vector<int>& threads) {
  std::vector<Contestant> contestants = arena.batches(algorithm, threads);
  drop_slow(run, arena.model(), contestants, true);
  if (contestants.empty()) return;
  const std::vector<Contestant> singles = arena.singles(algorithm);
  for (Contestant& c : contestants) {
    c.error = bench::difference(c, singles.front(), arena.model(), std::min(kChecked, c.batch));
  }
  bench::Effort effort = run.options.effort;
  effort.seconds = kThreadSeconds;
  time_all(run, contestants, effort);
  add_rows(run, arena.model(), contestants, true);
  tell(arena.model(), algorithm, contestants, true);
}

void count_all(const Arena& arena, int algorithm) {
  std::vector<Contestant> contestants = arena.singles(algorithm);
  for (const Contestant& c : arena.batches(algorithm, {1})) contestants.push_back(c);
  for (const Contestant& c : contestants) {
    const int states = c.batch > 0 ? kMinBatch : kCounted;
    const nlohmann::json tag{{"model", arena.model().name},
                             {"algo", kAlgorithmNames[algorithm]},
                             {"mode", mode_of(c, false)},
                             {"variant", c.batch > 0 ? "" : c.plugin->variant(c.instance, algorithm, c.variant)},
                             {"lib", c.plugin->library},
                             {"compiler", first_word(c.plugin->compiler)},
                             {"flags", c.plugin->flags},
                             {"instruction_set", c.plugin->instruction_set},
                             {"states", states}};
    if (!bench::count_instructions(c, states, tag.dump())) fail(1, "--instructions needs valgrind --tool=callgrind");
  }
  std::cerr << "  " << arena.model().name << " " << kAlgorithmNames[algorithm] << ": " << contestants.size()
            << " counted\n";
}

template <class Do>
void for_each_algorithm(const Options& options, const Do& act) {
  for (int a = 0; a < kAlgorithmCount; ++a) {
    if (std::find(options.algorithms.begin(), options.algorithms.end(), kAlgorithmNames[a]) !=
        options.algorithms.end()) {
      act(a);
    }
  }
}

std::vector<int> fitting_threads(const Options& options, const Processors& processors) {
  std::vector<int> out;
  for (int n : options.threads) {
    if (n <= processors.count())
      out.push_back(n);
    else
      std::cerr << "bench_driver: " << n << " threads left out, there are " << processors.count() << " processors\n";
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  const Processors processors;
  const int core = processors.pin();
  std::vector<const Plugin*> plugins;
  for (const std::string& path : options.plugins) plugins.push_back(open_plugin(path));
  const auto source = std::find_if(plugins.begin(), plugins.end(), [](const Plugin* p) { return p->load; });
  if (source == plugins.end()) fail(2, "no plug-in loads models");
  const std::vector<int> threads = fitting_threads(options, processors);

  nlohmann::json out{{"cpu", cpu_name()},
                     {"processors", processors.count()},
                     {"core", core},
                     {"governor", first_line_of("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "unknown")},
                     {"load_at_start", first_line_of("/proc/loadavg", "")},
                     {"states", kStates},
                     {"checked", kChecked},
                     {"repetitions", options.effort.repetitions}};
  for (const char* list : {"libraries", "models", "missing_models", "left_out", "rows"}) {
    out[list] = nlohmann::json::array();
  }
  Run run{options, bench::calibrate(), out};
  out["clock_overhead_ns"] = run.ticks.overhead * run.ticks.ns_per_tick;
  for (const Plugin* p : plugins) {
    out["libraries"].push_back({{"lib", p->library},
                                {"version", p->version},
                                {"compiler", p->compiler},
                                {"flags", p->flags},
                                {"instruction_set", p->instruction_set}});
  }
  for (size_t m = 0; m < options.models.size(); ++m) {
    const std::string& name = options.models[m];
    const ModelData* model = (*source)->load(name.c_str());
    if (!model) {
      std::cerr << "bench_driver: no model " << name << " (is KANSETSU_DATA_DIR set?) " << (*source)->error() << "\n";
      out["missing_models"].push_back(name);
      continue;
    }
    std::cerr << "[" << m + 1 << "/" << options.models.size() << "] " << name << ", nv " << model->nv << "\n";
    out["models"].push_back({{"name", model->name}, {"nv", model->nv}, {"bodies", model->body_count}});
    {
      const Arena arena(plugins, *model, options.instructions ? kMinBatch : kStates, out["left_out"]);
      for_each_algorithm(options, [&](int a) { options.instructions ? count_all(arena, a) : compete(run, arena, a); });
    }
    if (threads.empty() || options.instructions) continue;
    processors.release();
    {
      nlohmann::json known;  // the same as above
      int states = kThreadStates;
      while (states > kStates && states * model->nv > kMaxThreadNumbers) states /= 2;
      const Arena arena({source, source + 1}, *model, states, known);
      for_each_algorithm(options, [&](int a) { compete_in_threads(run, arena, a, threads); });
    }
    processors.pin();
  }
  out["load_at_end"] = first_line_of("/proc/loadavg", "");
  if (options.out.empty()) {
    std::cout << out.dump(1) << "\n";
  } else {
    std::ofstream(options.out) << out.dump(1) << "\n";
  }
}
