/// Forward dynamics of long chains and rings by every method: one line of JSON per time.
///
///   assembly_bench [--most LINKS] [--threads 1,2,16] [--seconds PER_ROW] [--long 1000,10000,1000000]
///
/// us is the lowest median of nine calls in a row, which other load disturbs least, median_us the median of all calls; the
/// methods of a size alternate, so that changes of the machine's speed affect all of them. "edit" is one connect and one
/// cut of a closure between the ends of the middle third. --long: only open chains and random trees of these lengths, by ABA and by
/// assembly, with the largest difference of the two. Devices: assembly_device.cc.
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

/// Lowest median of nine calls in a row (or of all, if there are fewer).
double lowest_median(const std::vector<double>& times) {
  constexpr size_t kStretch = 9;
  double lowest = 1e300;
  for (size_t begin = 0; begin == 0 || begin + kStretch <= times.size(); begin += kStretch) {
    std::vector<double> part(times.begin() + long(begin),
                             times.begin() + long(std::min(times.size(), begin + kStretch)));
    std::sort(part.begin(), part.end());
    lowest = std::min(lowest, part[part.size() / 2]);
  }
  return lowest;
}
double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

void print(const char* structure, int links, const std::string& method, int threads, double us, double all,
           size_t calls) {
  std::printf(
      "{\"structure\": \"%s\", \"links\": %d, \"method\": \"%s\", \"threads\": %d, \"us\": %.3f, \"median_us\": %.3f, "
      "\"calls\": %zu}\n",
      structure, links, method.c_str(), threads, us, all, calls);
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
  for (const Contestant& c : contestants)
    print(structure, links, c.method, c.threads, lowest_median(c.times), median(c.times), c.times.size());
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
  run("chain", links, contestants, seconds);
}

void compare_long(const char* structure, const Model& model, int links, const std::vector<int>& threads,
                  double seconds) {
  const Problem p(model);
  std::vector<std::unique_ptr<AutoForwardDynamics>> solvers;
  AbaResult result(p.model);
  std::vector<Contestant> contestants;
  const auto add = [&](const char* name, ForwardMethod method, int workers) {
    solvers.push_back(std::make_unique<AutoForwardDynamics>(p.model, workers, method));
    contestants.push_back({name, workers, [&, s = solvers.back().get()] { s->solve(p.state, p.tau, result); }});
  };
  Eigen::VectorXd expected;
  for (int n : threads) {  // one number of threads at a time: assembly takes some 10 kB a link
    contestants.clear(), solvers.clear();
    add("assembly", ForwardMethod::kAssembly, n);
    if (!SegmentDynamics::unsupported(p.model)) add("segments", ForwardMethod::kSegments, n);
    if (expected.size() == 0) {
      add("aba", ForwardMethod::kAba, 1);
      contestants.back().call();
      expected = result.vdot;
    }
    contestants[0].call();
    const double off = (result.vdot - expected).cwiseAbs().maxCoeff() / expected.cwiseAbs().maxCoeff();
    std::fprintf(stderr, "%s of %d links on %d threads: %.1e from aba\n", structure, links, n, off);
    run(structure, links, contestants, seconds);
  }
}

/// The open chain by ABA, closed by response operators: docs/theory/constrained.md.
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
        1e-9 * (a.trace() + b.trace() + c.trace());  // in place of the 5 × 5 solve: its result must be used
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
  std::vector<int> threads{1, 2}, lengths;
  const auto read_list = [](const char* at, std::vector<int>& out) {
    out.clear();
    for (; at; at = std::strchr(at, ',') ? std::strchr(at, ',') + 1 : nullptr) out.push_back(std::atoi(at));
  };
  for (int k = 1; k < argc; k += 2) {
    const std::string option = argv[k];
    const char* value = k + 1 < argc ? argv[k + 1] : nullptr;
    if (value && option == "--most") {
      most = std::stoi(value);
    } else if (value && option == "--seconds") {
      seconds = std::stod(value);
    } else if (value && option == "--threads") {
      read_list(value, threads);
    } else if (value && option == "--long") {
      read_list(value, lengths);
    } else {
      std::fputs(
          "usage: assembly_bench [--most LINKS] [--threads 1,2,16] [--seconds PER_ROW] [--long 1000,10000,1000000]\n",
          stderr);
      return 2;
    }
  }
  for (int links : lengths) {
    compare_long("chain", chain(links), links, threads, seconds);
    compare_long("tree", long_tree(links), links, threads, seconds);
  }
  if (!lengths.empty()) return 0;
  for (int links = 8; links <= most; links *= 2) compare_chain(links, threads, seconds);
  for (int links = 8; links <= most; links *= 2) compare_ring(links, threads, seconds);
  compare_edits(std::min(most, 4096), seconds);
}
