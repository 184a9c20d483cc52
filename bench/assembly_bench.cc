/// Forward dynamics of long chains and rings by every method: one line of JSON per time.
///
///   assembly_bench [--most LINKS] [--threads 1,2,16] [--seconds PER_ROW]
///
/// Times are medians of single calls [µs]; the methods of a size take turns, so that a change of the machine's speed meets all
/// of them alike. "edit" is one connect and one cut of a closure between the ends of the middle third.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <random>
#include <string>

#include "kansetsu/assembly/forward.h"
#include "kansetsu/dynamics/response.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#if defined(KANSETSU_BENCH_CUDA)
#include "kansetsu/assembly/cuda.h"
#endif

using namespace kansetsu;

namespace {

using Clock = std::chrono::steady_clock;

double time_of(const std::function<void()>& call) {
  const auto start = Clock::now();
  call();
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Contestant {
  std::string method;
  int threads;
  std::function<void()> call;
  std::vector<double> times = {};
};

double median(std::vector<double> times) {
  const size_t middle = times.size() / 2;
  std::nth_element(times.begin(), times.begin() + long(middle), times.end());
  return times[middle];
}

void print(const char* structure, int links, const std::string& method, int threads, double us, size_t calls) {
  std::printf(
      "{\"structure\": \"%s\", \"links\": %d, \"method\": \"%s\", \"threads\": %d, \"us\": %.3f, \"calls\": %zu}\n",
      structure, links, method.c_str(), threads, us, calls);
  std::fflush(stdout);
}

void run(const char* structure, int links, std::vector<Contestant>& contestants, double seconds) {
  for (Contestant& c : contestants) {
    for (int k = 0; k < 3; ++k) c.call();
  }
  const auto start = Clock::now();
  do {
    for (Contestant& c : contestants) c.times.push_back(time_of(c.call));
  } while (std::chrono::duration<double>(Clock::now() - start).count() < seconds * double(contestants.size()));
  for (const Contestant& c : contestants) print(structure, links, c.method, c.threads, median(c.times), c.times.size());
}

struct Problem {
  Model model;
  State state;
  Eigen::VectorXd tau;

  explicit Problem(const Model& figure) : model(figure), state(figure), tau(figure.nv()) {
    std::mt19937_64 rng(1);
    std::normal_distribution<double> normal;
    const auto vector = [&](long n) {
      return Eigen::VectorXd::NullaryExpr(n, [&](Eigen::Index) { return normal(rng); }).eval();
    };
    state.q = integrate(model, state.q, 0.3 * vector(model.nv()));
    state.v = 0.1 * vector(model.nv());
    tau = vector(model.nv());
  }
};

void compare_chain(int links, const std::vector<int>& threads, double seconds) {
  const Problem p(chain(links));
  std::vector<std::unique_ptr<AutoForwardDynamics>> solvers;
  AbaResult result(p.model);
  std::vector<Contestant> contestants;
  const auto add = [&](const char* name, ForwardMethod method, int workers) {
    solvers.push_back(std::make_unique<AutoForwardDynamics>(p.model, workers, method));
    contestants.push_back({name, workers, [&, s = solvers.back().get()] { s->solve(p.state, p.tau, result); }});
  };
  add("aba", ForwardMethod::kAba, 1);
  add("serial", ForwardMethod::kSerialAssembly, 1);
  for (int n : threads) {
    add("assembly", ForwardMethod::kAssembly, n);
    if (!SegmentDynamics::unsupported(p.model)) add("segments", ForwardMethod::kSegments, n);
  }
#if defined(KANSETSU_BENCH_CUDA)
  std::unique_ptr<cuda::ChainSolver> device;
  Eigen::VectorXd vdot(p.model.nv());
  if (links >= 16) {
    device = std::make_unique<cuda::ChainSolver>(p.model);
    contestants.push_back(
        {"cuda", 0, [&] { device->solve(p.state.q.data(), p.state.v.data(), p.tau.data(), vdot.data()); }});
  }
#endif
  run("chain", links, contestants, seconds);
#if defined(KANSETSU_BENCH_CUDA)
  if (device) {
    print("chain", links, "cuda kernel", 0, device->device_time(200), 200);
    const Eigen::VectorXd expected = aba(p.model, p.state, p.tau).vdot;
    std::fprintf(stderr, "chain %d: device differs from ABA by %.1e of %.1e, %d pieces\n", links,
                 (vdot - expected).lpNorm<Eigen::Infinity>(), expected.lpNorm<Eigen::Infinity>(), device->pieces());
  }
#endif
}

/// The open chain by ABA, closed by response operators: spec/dynamics.md §7.
struct ClosedByResponses {
  Workspace work;
  AbaResult result;
  Response response;
  Eigen::VectorXd change;
  std::vector<Motion<>> A;

  explicit ClosedByResponses(const Model& model)
      : work(model), result(model), response(model), change(model.nv()), A(size_t(model.link_count())) {}
  void operator()(const Problem& p) {
    const LinkId first(0), last(p.model.link_count() - 1);
    aba(p.model, p.state, p.tau, work, result);
    response.update(p.state.q);
    const Matrix6 a = response.link_response(first, first), b = response.link_response(first, last),
                  c = response.link_response(last, last);
    const double scale =
        1e-9 * (a.trace() + b.trace() + c.trace());  // stands for the 5 × 5 solve: its result must be used
    response.apply_wrench(first, Force<>{{scale, 0, 0}, {0, 0, 0}}, change, A);
    result.vdot += change;
    response.apply_wrench(last, Force<>{{scale, 0, 0}, {0, 0, 0}}, change, A);
    result.vdot += change;
  }
};

void compare_ring(int links, const std::vector<int>& threads, double seconds) {
  const Problem p(chain(links, Base::kFree));
  std::vector<std::unique_ptr<Assembly>> assemblies;
  std::vector<Contestant> contestants;
  std::unique_ptr<AssemblyResult> result;
  ClosedByResponses closed(p.model);
  contestants.push_back({"aba + responses", 1, [&] { closed(p); }});
  const auto add = [&](const char* name, AssemblyOrder order, int workers) {
    AssemblyOptions options;
    options.order = order;
    options.threads = workers;
    options.reactions = false;
    assemblies.push_back(std::make_unique<Assembly>(p.model, options));
    assemblies.back()->connect(
        {{0, LinkId(links - 1), {Mat3<>::identity(), {0, 0, 0.3}}}, {0, LinkId(0), {}}, 0b111011});
    assemblies.back()->rebuild();
    if (!result) result = std::make_unique<AssemblyResult>(*assemblies.back());
    contestants.push_back({name, workers, [&, s = assemblies.back().get()] { s->solve(p.state, p.tau, *result); }});
  };
  add("serial", AssemblyOrder::kSerial, 1);
  for (int n : threads) add("assembly", AssemblyOrder::kBalanced, n);
  run("ring", links, contestants, seconds);
}

void compare_edits(int links, double seconds) {
  const Problem p(chain(links));
  AssemblyOptions options;
  options.reactions = false;
  Assembly assembly(p.model, options);
  AssemblyResult result(assembly);
  const Closure knot{{0, LinkId(links / 3), {}}, {0, LinkId(2 * links / 3), {}}, 0b111000};
  std::vector<Contestant> contestants;
  contestants.push_back({"solve", 1, [&] { assembly.solve(p.state, p.tau, result); }});
  contestants.push_back({"rebuild", 1, [&] { assembly.rebuild(); }});
  contestants.push_back({"edit", 1, [&] { assembly.cut(assembly.connect(knot)); }});
  run("chain", links, contestants, seconds);
}

}  // namespace

int main(int argc, char** argv) {
  int most = 8192;
  double seconds = 0.15;
  std::vector<int> threads{1, 2};
  for (int k = 1; k + 1 < argc; k += 2) {
    const std::string option = argv[k];
    if (option == "--most") most = std::stoi(argv[k + 1]);
    if (option == "--seconds") seconds = std::stod(argv[k + 1]);
    if (option == "--threads") {
      threads.clear();
      for (const char* at = argv[k + 1]; at; at = std::strchr(at, ',') ? std::strchr(at, ',') + 1 : nullptr)
        threads.push_back(std::atoi(at));
    }
  }
  for (int links = 8; links <= most; links *= 2) compare_chain(links, threads, seconds);
  for (int links = 8; links <= most; links *= 2) compare_ring(links, threads, seconds);
  compare_edits(std::min(most, 4096), seconds);
#if defined(KANSETSU_BENCH_CUDA)
  for (int links : {32, 64, 100}) {  // many medium chains at once
    for (int chains : {132, 1056}) {
      const Problem p(chain(links));
      cuda::ChainOptions options;
      options.chains = chains;
      cuda::ChainSolver device(p.model, options);
      const Eigen::VectorXd q = p.state.q.replicate(chains, 1), v = p.state.v.replicate(chains, 1),
                            tau = p.tau.replicate(chains, 1);
      Eigen::VectorXd vdot(v.size());
      std::vector<Contestant> contestants;
      contestants.push_back({"cuda batch of " + std::to_string(chains), 0,
                             [&] { device.solve(q.data(), v.data(), tau.data(), vdot.data()); }});
      run("chain", links, contestants, seconds);
      print("chain", links, "cuda kernel batch of " + std::to_string(chains), 0, device.device_time(50), 50);
      const Eigen::VectorXd expected = aba(p.model, p.state, p.tau).vdot;
      std::fprintf(stderr, "batch: differs from ABA by %.1e\n",
                   (vdot.tail(p.model.nv()) - expected).lpNorm<Eigen::Infinity>());
    }
  }
#endif
}
