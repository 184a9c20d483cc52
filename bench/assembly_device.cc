/// Forward dynamics of long chains, rings and large trees on a CUDA device, compared with ABA and serial assembly on one core: one
/// line of JSON per time.
///
///   assembly_device [--most LINKS] [--least LINKS of trees] [--calls N] [--rings 0|1|2] [--trees 0|1|2] [--tune LINKS] [--pieces P] [--group G] [--threads T]
///                   [--blocks B] [--branch L]
///
/// "cuda" is a call from the host's memory to a result in the host's memory, "cuda without copies" the same in mapped memory,
/// "cuda kernel" the mean time of consecutive launches; us is the lowest median of nine calls in a row,
/// median_us that of all. error: largest difference from ABA (rings: from assembly on the CPU) over new random states, relative to
/// the largest acceleration; the result is filled with NaN before each. Rings are those of assembly_bench: free chains whose last
/// link is hinged to the first; the rank of the closure must be the CPU's. Trees are those of assembly_bench: every link hangs on one
/// of the last sixteen before it; beside their kernel stands where its time goes [us]; --blocks and --branch are TreeOptions. --rings 0, --trees 0: without them, 2: nothing but them. --tune tries ways to cut one chain.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <limits>
#include <map>
#include <memory>
#include <random>
#include <string>

#include "kansetsu/assembly/cuda.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;

namespace {

using Clock = std::chrono::steady_clock;

struct Problem {
  State state;
  Eigen::VectorXd tau;

  Problem(const Model& model, std::mt19937_64& rng) : state(model) {
    std::normal_distribution<double> normal;
    const auto vector = [&](long n) {
      return Eigen::VectorXd::NullaryExpr(n, [&](Eigen::Index) { return normal(rng); }).eval();
    };
    state.q = integrate(model, state.q, 0.3 * vector(model.nv()));
    state.v = 0.1 * vector(model.nv());
    tau = vector(model.nv());
  }
};

/// A chain, or a ring made of one.
struct Figure {
  Model model;
  std::optional<Closure> closure;

  const char* structure() const { return closure ? "ring" : "chain"; }
};
Figure chain_of(int links) { return {chain(links), {}}; }
Figure ring_of(int links) {
  return {chain(links, Base::kFree),
          Closure{{0, LinkId(links - 1), {Mat3<>::identity(), {0, 0, 0.3}}}, {0, LinkId(0), {}}, 0b111011}};
}

/// The result of the CPU.
class Reference {
 public:
  explicit Reference(const Figure& figure) : figure_(figure) {
    if (!figure.closure) return;
    AssemblyOptions options;
    options.order = AssemblyOrder::kSerial;
    options.reactions = false;
    assembly_ = std::make_unique<Assembly>(figure.model, options);
    assembly_->connect(*figure.closure);
    assembly_->rebuild();
    result_ = std::make_unique<AssemblyResult>(*assembly_);
  }
  Eigen::VectorXd operator()(const Problem& p) {
    if (!assembly_) return aba(figure_.model, p.state, p.tau).vdot;
    assembly_->solve(p.state, p.tau, *result_);
    return result_->vdot();
  }
  int rank() const { return result_ ? result_->rank : 0; }

 private:
  const Figure& figure_;
  std::unique_ptr<Assembly> assembly_;
  std::unique_ptr<AssemblyResult> result_;
};

double median(std::vector<double> times) {
  std::sort(times.begin(), times.end());
  return times[times.size() / 2];
}

template <class Call>
std::vector<double> times_of(int calls, const Call& call) {
  std::vector<double> times;
  for (int k = 0; k < calls + 20; ++k) {
    const auto start = Clock::now();
    call();
    if (k >= 20) times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
  }
  return times;
}

void print(const char* structure, int links, const std::string& method, int threads, const std::vector<double>& times,
           size_t calls, const std::string& more = "") {
  double lowest = median(times);
  for (size_t begin = 0; begin + 9 <= times.size(); begin += 9) {
    lowest = std::min(lowest, median({times.begin() + long(begin), times.begin() + long(begin) + 9}));
  }
  std::printf(
      "{\"structure\": \"%s\", \"links\": %d, \"method\": \"%s\", \"threads\": %d, \"us\": %.3f, \"median_us\": "
      "%.3f, \"calls\": %zu%s}\n",
      structure, links, method.c_str(), threads, lowest, median(times), calls, more.c_str());
  std::fflush(stdout);
}

/// New states with the same solver, as many per call as it supports. A wrong rank is an infinite error.
double error_of(const Figure& figure, cuda::ChainSolver& device, std::mt19937_64& rng) {
  const Model& model = figure.model;
  Reference reference(figure);
  double worst = 0;
  const long nq = model.nq(), nv = model.nv(), chains = device.chains();
  for (int trial = 0; trial < 5; ++trial) {
    Eigen::VectorXd q(nq * chains), v(nv * chains), tau(nv * chains), expected(nv * chains);
    std::vector<int> rank;
    for (long c = 0; c < chains; ++c) {
      const Problem p(model, rng);
      q.segment(nq * c, nq) = p.state.q;
      v.segment(nv * c, nv) = p.state.v;
      tau.segment(nv * c, nv) = p.tau;
      expected.segment(nv * c, nv) = reference(p);
      rank.push_back(reference.rank());
    }
    Eigen::VectorXd vdot = Eigen::VectorXd::Constant(nv * chains, std::numeric_limits<double>::quiet_NaN());
    device.solve(q.data(), v.data(), tau.data(), vdot.data());
    const double off = (vdot - expected).lpNorm<Eigen::Infinity>() / expected.lpNorm<Eigen::Infinity>();
    bool right = vdot.allFinite();
    for (long c = 0; c < chains; ++c) right = right && device.rank(int(c)) == rank[size_t(c)];
    worst = right ? std::max(worst, off) : std::numeric_limits<double>::infinity();
  }
  return worst;
}

std::string described(const cuda::ChainSolver& device, double error) {
  char text[100];
  std::snprintf(text, sizeof text, ", \"pieces\": %d, \"error\": %.1e", device.pieces(), error);
  return text;
}

void compare(const Figure& figure, int links, int calls, cuda::ChainOptions options) {
  const Model& model = figure.model;
  const char* structure = figure.structure();
  std::mt19937_64 rng(1);
  const Problem p(model, rng);
  options.closure = figure.closure;
  cuda::ChainSolver device(model, options);
  const std::string more = described(device, error_of(figure, device, rng));
  Eigen::VectorXd vdot(model.nv());
  print(structure, links, "cuda", 0,
        times_of(calls, [&] { device.solve(p.state.q.data(), p.state.v.data(), p.tau.data(), vdot.data()); }),
        size_t(calls), more);
  print(structure, links, "cuda without copies", 0, times_of(calls, [&] { device.solve(); }), size_t(calls), more);
  print(structure, links, "cuda kernel", 0, {device.device_time(calls)}, size_t(calls), more);
  if (figure.closure) {
    Reference reference(figure);
    const int fewer = std::clamp(200000 / links, 20, calls);  // some tenths of a second
    print(structure, links, "serial", 1, times_of(fewer, [&] { reference(p); }), size_t(fewer));
    return;
  }
  Workspace work(model);
  AbaResult result(model);
  print(structure, links, "aba", 1, times_of(calls, [&] { aba(model, p.state, p.tau, work, result); }), size_t(calls));
}

/// Many medium chains at once.
void compare_batch(const Figure& figure, int links, int chains, int calls) {
  const Model& model = figure.model;
  std::mt19937_64 rng(1);
  cuda::ChainOptions options;
  options.chains = chains;
  options.closure = figure.closure;
  cuda::ChainSolver device(model, options);
  const std::string more = described(device, error_of(figure, device, rng)),
                    name = " batch of " + std::to_string(chains);
  const Problem p(model, rng);
  const Eigen::VectorXd q = p.state.q.replicate(chains, 1), v = p.state.v.replicate(chains, 1),
                        tau = p.tau.replicate(chains, 1);
  Eigen::VectorXd vdot(v.size());
  print(figure.structure(), links, "cuda" + name, 0,
        times_of(calls, [&] { device.solve(q.data(), v.data(), tau.data(), vdot.data()); }), size_t(calls), more);
  print(figure.structure(), links, "cuda kernel" + name, 0, {device.device_time(calls)}, size_t(calls), more);
}

/// A tree, compared with ABA on one core. Its results are checked for five new states.
void compare_tree(int links, int calls, const cuda::TreeOptions& options) {
  const Model model = long_tree(links);
  std::mt19937_64 rng(1);
  cuda::TreeSolver device(model, options);
  const Problem p(model, rng);
  double worst = 0;
  for (int trial = 0; trial < 5; ++trial) {
    const Problem other(model, rng);
    const Eigen::VectorXd expected = aba(model, other.state, other.tau).vdot;
    Eigen::VectorXd vdot = Eigen::VectorXd::Constant(model.nv(), std::numeric_limits<double>::quiet_NaN());
    device.solve(other.state.q.data(), other.state.v.data(), other.tau.data(), vdot.data());
    const double off = (vdot - expected).lpNorm<Eigen::Infinity>() / expected.lpNorm<Eigen::Infinity>();
    worst = vdot.allFinite() ? std::max(worst, off) : std::numeric_limits<double>::infinity();
  }
  char more[200];
  const cuda::TreeSolver::Shape shape = device.shape();
  std::snprintf(more, sizeof more,
                ", \"blocks\": %d, \"branch\": %d, \"piece_levels\": %d, \"shared_levels\": %d, \"narrow_levels\": %d, "
                "\"bytes\": %d, \"near\": %d, \"error\": %.1e",
                shape.blocks, options.branch, shape.piece_levels, shape.shared_levels, shape.narrow_levels,
                shape.block_bytes, shape.near ? 1 : 0, worst);
  Eigen::VectorXd vdot(model.nv());
  print("tree", links, "cuda", 0,
        times_of(calls, [&] { device.solve(p.state.q.data(), p.state.v.data(), p.tau.data(), vdot.data()); }),
        size_t(calls), more);
  print("tree", links, "cuda without copies", 0, times_of(calls, [&] { device.solve(); }), size_t(calls), more);
  const cuda::TreeSolver::Phases t = device.phases(calls);
  char phases[300];
  std::snprintf(phases, sizeof phases,
                ", \"place\": %.1f, \"load\": %.1f, \"reduce\": %.1f, \"substitute\": %.1f, \"finish\": %.1f", t.place,
                t.load, t.reduce, t.substitute, t.finish);
  print("tree", links, "cuda kernel", 0, {device.device_time(calls)}, size_t(calls), std::string(more) + phases);
  Workspace work(model);
  AbaResult result(model);
  print("tree", links, "aba", 1, times_of(calls, [&] { aba(model, p.state, p.tau, work, result); }), size_t(calls));
}

void tune(int links, int calls) {
  const Figure figure = chain_of(links);
  const Model& model = figure.model;
  std::mt19937_64 rng(1);
  const Problem p(model, rng);
  Eigen::VectorXd vdot(model.nv());
  std::printf("%6s %6s %6s %7s %9s %9s %9s\n", "links", "pieces", "group", "threads", "call us", "kernel us", "error");
  for (int pieces : {1, 8, 16, 32, 64, 128, 132}) {
    for (int group : {1, 4, 8, 12, 16, 32}) {
      if (group > pieces || pieces > links / 4 || (group == 1 && pieces > 1)) continue;
      for (int threads : {256, 512}) {
        cuda::ChainOptions options;
        options.pieces = pieces, options.group = group, options.threads = threads;
        try {
          cuda::ChainSolver device(model, options);
          const double error = error_of(figure, device, rng);
          const double call = median(
              times_of(calls, [&] { device.solve(p.state.q.data(), p.state.v.data(), p.tau.data(), vdot.data()); }));
          std::printf("%6d %6d %6d %7d %9.2f %9.2f %9.1e\n", links, pieces, group, threads, call,
                      device.device_time(calls), error);
        } catch (const std::exception& e) {
          std::printf("%6d %6d %6d %7d %s\n", links, pieces, group, threads, e.what());
        }
        std::fflush(stdout);
      }
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  int most = 8192, least = 64, calls = 1000, tuned = 0, rings = 1, trees = 1;
  cuda::ChainOptions options;
  cuda::TreeOptions tree;
  const std::map<std::string, int*> values{{"--most", &most},
                                           {"--least", &least},
                                           {"--calls", &calls},
                                           {"--rings", &rings},
                                           {"--trees", &trees},
                                           {"--tune", &tuned},
                                           {"--pieces", &options.pieces},
                                           {"--group", &options.group},
                                           {"--threads", &options.threads},
                                           {"--blocks", &tree.blocks},
                                           {"--branch", &tree.branch}};
  for (int k = 1; k < argc; k += 2) {
    const auto found = values.find(argv[k]);
    if (found == values.end() || k + 1 == argc) {
      std::fputs("usage: assembly_device [OPTION NUMBER]..., options:", stderr);
      for (const auto& [name, value] : values) std::fprintf(stderr, " %s", name.c_str());
      std::fputs("\n", stderr);
      return 2;
    }
    *found->second = std::stoi(argv[k + 1]);
  }
  if (tuned > 0) {
    tune(tuned, calls);
    return 0;
  }
  for (int links = least; trees > 0 && links <= most; links *= 2) compare_tree(links, calls, tree);
  if (trees == 2) return 0;
  for (int links = 8; links <= most; links *= 2) {
    if (rings < 2) compare(chain_of(links), links, calls, options);
    if (rings > 0) compare(ring_of(links), links, calls, options);
  }
  for (int links : {32, 64, 100}) {
    for (int chains : {132, 1056}) {
      if (rings < 2) compare_batch(chain_of(links), links, chains, std::min(calls, 300));
      if (rings > 0) compare_batch(ring_of(links), links, chains, std::min(calls, 300));
    }
  }
}
