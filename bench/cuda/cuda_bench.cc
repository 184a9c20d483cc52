// Measures and checks the CUDA back end.
//
//   cuda_bench [--json FILE] [--quick] [--tune] [--check]
//
// Per model, precision and algorithm: fresh random inputs (the seed is printed), outputs poisoned with NaNs, at least 4096
// states spread over the batch compared with the CPU in double, then timed: on the device by events around replays of a
// graph, over slices of a batch too large for the caches; from host memory to host memory by the wall clock, with pinned
// arrays. Exits with 1 if any result is wrong.
//   --check  every joint type on small random trees instead, both layouts, no timing
//   --tune   the forward dynamics of human28 for several cuts of the launch
#include <cuda_runtime_api.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <ctime>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "kansetsu/base/error.h"
#include "kansetsu/batch/cuda.h"
#include "kansetsu/dynamics/derivatives.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;
namespace cuda = kansetsu::batch::cuda;

namespace {

void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess) throw Error(std::string(call) + ": " + cudaGetErrorString(status));
}
#define CHECK_CUDA(call) check(call, #call)

/// Runs body(first, last, thread) on all cores.
void parallel(long n, const std::function<void(long, long, int)>& body) {
  const int threads = std::max(1, int(std::thread::hardware_concurrency()));
  std::vector<std::thread> pool;
  for (int t = 0; t < threads; ++t) {
    pool.emplace_back([&, t] { body(n * t / threads, n * (t + 1) / threads, t); });
  }
  for (std::thread& t : pool) t.join();
}

/// What the algorithms take and give, as numbers per state.
struct Algorithm {
  std::string name;
  bool matrices;
  long most;                 ///< states that are measured at once
  std::vector<int> in, out;  ///< widths of the arrays
};

std::vector<Algorithm> algorithms(const Model& m) {
  const int nq = m.nq(), nv = m.nv(), square = nv * nv;
  constexpr long kVectors = 1 << 20, kPoses = 1 << 18, kMatrices = 1 << 16;
  return {{"fk", false, kPoses, {nq}, {12 * m.link_count()}},
          {"rnea", false, kVectors, {nq, nv, nv}, {nv}},
          {"aba", false, kVectors, {nq, nv, nv}, {nv}},
          {"crba", true, kMatrices, {nq}, {square}},
          {"mass_matrix_inverse", true, kMatrices, {nq}, {square}},
          {"rnea_derivatives", true, kMatrices, {nq, nv, nv}, {square, square, square}},
          {"aba_derivatives", true, kMatrices, {nq, nv, nv}, {nv, square, square, square}}};
}

template <class Real>
void run_device(const std::string& name, cuda::Batch<Real>& b, long n, const std::vector<cuda::Array<Real>>& a,
                cudaStream_t s) {
  if (name == "fk") b.fk(n, a[0], a[1], s);
  if (name == "rnea") b.rnea(n, a[0], a[1], a[2], a[3], s);
  if (name == "aba") b.aba(n, a[0], a[1], a[2], a[3], s);
  if (name == "crba") b.crba(n, a[0], a[1], s);
  if (name == "mass_matrix_inverse") b.mass_matrix_inverse(n, a[0], a[1], s);
  if (name == "rnea_derivatives") b.rnea_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], s);
  if (name == "aba_derivatives") b.aba_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], a[6], s);
}

template <class Real>
void run_host(const std::string& name, cuda::HostBatch<Real>& b, long n, const std::vector<Real*>& a) {
  if (name == "fk") b.fk(n, a[0], a[1]);
  if (name == "rnea") b.rnea(n, a[0], a[1], a[2], a[3]);
  if (name == "aba") b.aba(n, a[0], a[1], a[2], a[3]);
  if (name == "crba") b.crba(n, a[0], a[1]);
  if (name == "mass_matrix_inverse") b.mass_matrix_inverse(n, a[0], a[1]);
  if (name == "rnea_derivatives") b.rnea_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5]);
  if (name == "aba_derivatives") b.aba_derivatives(n, a[0], a[1], a[2], a[3], a[4], a[5], a[6]);
}

/// The result of the CPU in double, in the order of the batch.
class Reference {
 public:
  explicit Reference(const Model& model)
      : model_(model), work_(model), poses_(model), rnea_(model), aba_(model), M_(model.nv(), model.nv()) {}

  std::vector<double> operator()(const std::string& name, const State& s, const Eigen::VectorXd& x) {
    std::vector<double> out;
    const auto vector = [&](const Eigen::VectorXd& v) { out.insert(out.end(), v.data(), v.data() + v.size()); };
    const auto matrix = [&](const Eigen::MatrixXd& m) {
      for (long r = 0; r < m.rows(); ++r) {
        for (long c = 0; c < m.cols(); ++c) out.push_back(m(r, c));
      }
    };
    if (name == "fk") {
      fk(model_, s.q, work_, poses_);
      for (const Transform<>& X : poses_.X_WL) {
        const double numbers[] = {X.R.x.x, X.R.x.y, X.R.x.z, X.R.y.x, X.R.y.y, X.R.y.z,
                                  X.R.z.x, X.R.z.y, X.R.z.z, X.p.x,   X.p.y,   X.p.z};
        out.insert(out.end(), numbers, numbers + 12);
      }
    } else if (name == "rnea") {
      Eigen::VectorXd tau(model_.nv());
      rnea(model_, s, x, work_, tau);
      vector(tau);
    } else if (name == "aba") {
      aba(model_, s, x, work_, aba_.forward);
      vector(aba_.forward.vdot);
    } else if (name == "crba") {
      crba(model_, s.q, work_, M_);
      matrix(M_);
    } else if (name == "mass_matrix_inverse") {
      mass_matrix_inverse(model_, s.q, work_, M_);
      matrix(M_);
    } else if (name == "rnea_derivatives") {
      rnea_derivatives(model_, s, x, work_, rnea_);
      matrix(rnea_.dq);
      matrix(rnea_.dv);
      matrix(rnea_.da);
    } else if (name == "aba_derivatives") {
      aba_derivatives(model_, s, x, work_, aba_);
      vector(aba_.forward.vdot);
      matrix(aba_.dq);
      matrix(aba_.dv);
      matrix(aba_.dtau);
    }
    return out;
  }

 private:
  const Model& model_;
  Workspace work_;
  LinkPoses poses_;
  RneaDerivatives rnea_;
  AbaDerivatives aba_;
  Eigen::MatrixXd M_;
};

/// Random states and torques (or accelerations) of one model in pinned host memory, each array in rows.
template <class Real>
class Inputs {
 public:
  Inputs(const Model& model, long count, std::uint64_t seed) : model_(model), count_(count) {
    const int widths[3] = {model.nq(), model.nv(), model.nv()};
    for (int i = 0; i < 3; ++i) {
      CHECK_CUDA(cudaMallocHost(reinterpret_cast<void**>(&data_[i]), sizeof(Real) * size_t(count * widths[i])));
    }
    parallel(count, [&](long first, long last, int thread) {
      std::mt19937_64 rng(seed + 1000003 * std::uint64_t(thread));
      std::normal_distribution<double> normal;
      for (long s = first; s < last; ++s) {
        const Eigen::VectorXd q = random_configuration(model, rng);
        for (int i = 0; i < model.nq(); ++i) data_[0][s * model.nq() + i] = Real(q[i]);
        for (int i = 0; i < model.nv(); ++i) data_[1][s * model.nv() + i] = Real(normal(rng));
        for (int i = 0; i < model.nv(); ++i) data_[2][s * model.nv() + i] = Real(10 * normal(rng));
      }
    });
  }
  Inputs(const Inputs&) = delete;
  Inputs& operator=(const Inputs&) = delete;
  ~Inputs() {
    for (Real* p : data_) cudaFreeHost(p);
  }

  long count() const { return count_; }
  Real* array(int i) const { return data_[i]; }
  State state(long s) const {
    State out(model_);
    for (int i = 0; i < model_.nq(); ++i) out.q[i] = double(data_[0][s * model_.nq() + i]);
    for (int i = 0; i < model_.nv(); ++i) out.v[i] = double(data_[1][s * model_.nv() + i]);
    return out;
  }
  Eigen::VectorXd third(long s) const {
    return Eigen::VectorXd::NullaryExpr(model_.nv(),
                                        [&](Eigen::Index i) { return double(data_[2][s * model_.nv() + long(i)]); });
  }

 private:
  const Model& model_;
  long count_;
  Real* data_[3];
};

struct Deviation {
  double overall = 0;  ///< ‖out − ref‖/‖ref‖ over all checked states
  double worst = 0;    ///< the largest of one state
  long checked = 0;
};

/// Compares rows of outputs (one array per output, each states × width) with the CPU.
template <class Real>
Deviation compare(const Model& model, const Algorithm& algo, const Inputs<Real>& inputs, long n,
                  const std::vector<std::vector<Real>>& rows, std::uint64_t seed) {
  const long samples = std::min<long>(n, 4096);
  std::vector<Deviation> parts(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<double> scale(parts.size(), 0.0), missing(parts.size(), 0.0);
  parallel(samples, [&](long first, long last, int thread) {
    Reference reference(model);
    std::mt19937_64 rng(seed + std::uint64_t(thread));
    for (long k = first; k < last; ++k) {
      const long low = n * k / samples, high = std::max(low + 1, n * (k + 1) / samples);
      const long s = low + long(rng() % std::uint64_t(high - low));
      const std::vector<double> expected = reference(algo.name, inputs.state(s), inputs.third(s));
      double difference = 0, size = 0;
      size_t at = 0;
      for (size_t o = 0; o < algo.out.size(); ++o) {
        for (int i = 0; i < algo.out[o]; ++i, ++at) {
          const double d = double(rows[o][size_t(s) * size_t(algo.out[o]) + size_t(i)]) - expected[at];
          difference += d * d;  // a NaN that nothing overwrote stays one
          size += expected[at] * expected[at];
        }
      }
      Deviation& e = parts[size_t(thread)];
      if (!(difference >= 0)) missing[size_t(thread)] += 1;
      e.overall += difference;
      scale[size_t(thread)] += size;
      e.worst = std::max(e.worst, std::sqrt(difference / size));
      ++e.checked;
    }
  });
  Deviation out;
  double size = 0, lost = 0;
  for (size_t t = 0; t < parts.size(); ++t) {
    out.overall += parts[t].overall;
    out.worst = std::max(out.worst, parts[t].worst);
    out.checked += parts[t].checked;
    size += scale[t];
    lost += missing[t];
  }
  out.overall = lost > 0 ? NAN : std::sqrt(out.overall / size);
  return out;
}

/// Device arrays of one algorithm for `count` states, in rows or fields.
template <class Real>
class DeviceArrays {
 public:
  DeviceArrays(const Algorithm& algo, const Inputs<Real>& inputs, long count, bool rows)
      : algo_(algo), count_(count), rows_(rows) {
    for (size_t i = 0; i < algo.in.size(); ++i) add(algo.in[i]);
    for (size_t i = 0; i < algo.out.size(); ++i) add(algo.out[i]);
    std::vector<Real> turned;
    for (size_t i = 0; i < algo.in.size(); ++i) {
      const size_t width = size_t(algo.in[i]);
      const Real* from = inputs.array(int(i));
      if (!rows) {
        turned.resize(size_t(count) * width);
        parallel(count, [&](long first, long last, int) {
          for (size_t f = 0; f < width; ++f) {
            for (long s = first; s < last; ++s) turned[f * size_t(count) + size_t(s)] = from[size_t(s) * width + f];
          }
        });
        from = turned.data();
      }
      CHECK_CUDA(cudaMemcpy(data_[i], from, bytes(algo.in[i]), cudaMemcpyHostToDevice));
    }
    poison();
  }
  DeviceArrays(const DeviceArrays&) = delete;
  DeviceArrays& operator=(const DeviceArrays&) = delete;
  ~DeviceArrays() {
    for (Real* p : data_) cudaFree(p);
  }

  long count() const { return count_; }
  bool rows() const { return rows_; }
  void poison() {
    for (size_t i = 0; i < algo_.out.size(); ++i) {
      CHECK_CUDA(cudaMemset(data_[algo_.in.size() + i], 0xff, bytes(algo_.out[i])));
    }
    CHECK_CUDA(cudaDeviceSynchronize());
  }
  /// All arrays from state `first` on.
  std::vector<cuda::Array<Real>> from(long first) const {
    std::vector<cuda::Array<Real>> out;
    for (size_t i = 0; i < data_.size(); ++i) {
      const int width = widths_[i];
      out.push_back(rows_ ? cuda::Array<Real>::rows(data_[i] + first * width, width)
                          : cuda::Array<Real>{data_[i] + first, 1, count_});
    }
    return out;
  }
  /// The outputs in rows, on the host.
  std::vector<std::vector<Real>> results() const {
    std::vector<std::vector<Real>> out;
    for (size_t i = 0; i < algo_.out.size(); ++i) {
      const size_t width = size_t(algo_.out[i]), n = size_t(count_);
      std::vector<Real> raw(n * width);
      CHECK_CUDA(cudaMemcpy(raw.data(), data_[algo_.in.size() + i], bytes(algo_.out[i]), cudaMemcpyDeviceToHost));
      if (!rows_) {
        std::vector<Real> turned(n * width);
        parallel(count_, [&](long first, long last, int) {
          for (size_t s = size_t(first); s < size_t(last); ++s) {
            for (size_t f = 0; f < width; ++f) turned[s * width + f] = raw[f * n + s];
          }
        });
        raw.swap(turned);
      }
      out.push_back(std::move(raw));
    }
    return out;
  }

 private:
  size_t bytes(int width) const { return sizeof(Real) * size_t(count_) * size_t(width); }
  void add(int width) {
    Real* p = nullptr;
    CHECK_CUDA(cudaMalloc(reinterpret_cast<void**>(&p), bytes(width)));
    data_.push_back(p);
    widths_.push_back(width);
  }

  const Algorithm& algo_;
  long count_;
  bool rows_;
  std::vector<Real*> data_;
  std::vector<int> widths_;
};

/// A captured sequence of calls, replayed.
class Graph {
 public:
  explicit Graph(const std::function<void(cudaStream_t)>& calls) {
    CHECK_CUDA(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking));
    calls(stream_);  // loads the kernels, outside the capture
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    cudaGraph_t graph;
    CHECK_CUDA(cudaStreamBeginCapture(stream_, cudaStreamCaptureModeThreadLocal));
    calls(stream_);
    CHECK_CUDA(cudaStreamEndCapture(stream_, &graph));
    CHECK_CUDA(cudaGraphInstantiate(&exec_, graph, 0));
    CHECK_CUDA(cudaGraphDestroy(graph));
    CHECK_CUDA(cudaEventCreate(&start_));
    CHECK_CUDA(cudaEventCreate(&stop_));
  }
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;
  ~Graph() {
    cudaGraphExecDestroy(exec_);
    cudaEventDestroy(start_);
    cudaEventDestroy(stop_);
    cudaStreamDestroy(stream_);
  }

  /// Seconds of one replay.
  double replay() {
    CHECK_CUDA(cudaEventRecord(start_, stream_));
    CHECK_CUDA(cudaGraphLaunch(exec_, stream_));
    CHECK_CUDA(cudaEventRecord(stop_, stream_));
    CHECK_CUDA(cudaStreamSynchronize(stream_));
    float ms = 0;
    CHECK_CUDA(cudaEventElapsedTime(&ms, start_, stop_));
    return double(ms) * 1e-3;
  }
  double median(int times) {
    std::vector<double> seconds;
    for (int i = 0; i < times; ++i) seconds.push_back(replay());
    std::nth_element(seconds.begin(), seconds.begin() + times / 2, seconds.end());
    return seconds[size_t(times / 2)];
  }

 private:
  cudaStream_t stream_ = nullptr;
  cudaGraphExec_t exec_ = nullptr;
  cudaEvent_t start_ = nullptr, stop_ = nullptr;
};

struct Row {
  std::string model, algo, precision, layout;
  long states;
  double device_rate, host_rate;
  Deviation error;
  cuda::Options options;
};

class Report {
 public:
  Report(std::string device, std::string command) : device_(std::move(device)), command_(std::move(command)) {
    const std::time_t now = std::time(nullptr);
    char date[32];
    std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
    date_ = date;
    std::printf("%-10s %-20s %-4s %-6s %8s %3s %2s %10s %10s %9s %9s\n", "model", "algo", "prec", "layout", "states",
                "thr", "bl", "device 1/s", "host 1/s", "error", "worst");
  }

  /// Prints only what is wrong from here on.
  void be_quiet() { quiet_ = true; }
  int rows() const { return int(rows_.size()); }

  /// Whether the result was right.
  bool add(const Row& r) {
    const bool fp64 = r.precision == "fp64";
    const bool good = r.error.overall <= (fp64 ? 1e-11 : 2e-3) && r.error.worst <= (fp64 ? 1e-8 : 5e-2);
    if (!quiet_ || !good) {
      std::printf("%-10s %-20s %-4s %-6s %8ld %3d %2d %10.4g %10.4g %9.1e %9.1e%s\n", r.model.c_str(), r.algo.c_str(),
                  r.precision.c_str(), r.layout.c_str(), r.states, r.options.threads_per_block,
                  r.options.blocks_per_multiprocessor, r.device_rate, r.host_rate, r.error.overall, r.error.worst,
                  good ? "" : "  WRONG");
      std::fflush(stdout);
    }
    char text[1024];
    std::snprintf(text, sizeof text,
                  "{\"model\": \"%s\", \"algo\": \"%s\", \"precision\": \"%s\", \"layout\": \"%s\", \"states\": %ld, "
                  "\"device\": \"%s\", \"date\": \"%s\", \"command\": \"%s\", \"threads_per_block\": %d, "
                  "\"blocks_per_multiprocessor\": %d, \"states_per_s_device\": %.6g, \"states_per_s_host\": %s, "
                  "\"checked\": %ld, \"error\": %.3g, \"error_worst\": %.3g, \"right\": %s}",
                  r.model.c_str(), r.algo.c_str(), r.precision.c_str(), r.layout.c_str(), r.states, device_.c_str(),
                  date_.c_str(), command_.c_str(), r.options.threads_per_block, r.options.blocks_per_multiprocessor,
                  r.device_rate, r.host_rate > 0 ? std::to_string(r.host_rate).c_str() : "null", r.error.checked,
                  std::isnan(r.error.overall) ? 1e300 : r.error.overall, r.error.worst, good ? "true" : "false");
    rows_.push_back(text);
    wrong_ += good ? 0 : 1;
    return good;
  }
  int wrong() const { return wrong_; }
  void write(const std::string& path) const {
    std::FILE* file = std::fopen(path.c_str(), "w");
    if (!file) throw Error("cannot write " + path);
    std::fprintf(file, "[\n");
    for (size_t i = 0; i < rows_.size(); ++i) {
      std::fprintf(file, "  %s%s\n", rows_[i].c_str(), i + 1 < rows_.size() ? "," : "");
    }
    std::fprintf(file, "]\n");
    std::fclose(file);
  }

 private:
  std::string device_, command_, date_;
  std::vector<std::string> rows_;
  int wrong_ = 0;
  bool quiet_ = false;
};

template <class Real>
const char* precision() {
  return sizeof(Real) == 8 ? "fp64" : "fp32";
}

/// From host memory to host memory by the wall clock; the error if it is worse than the one known.
template <class Real>
void measure_host(const Model& model, const Algorithm& algo, const Inputs<Real>& inputs, long n,
                  cuda::HostBatch<Real>& host, Row& row) {
  std::vector<Real*> memory;
  for (size_t i = 0; i < algo.in.size(); ++i) memory.push_back(inputs.array(int(i)));
  for (int width : algo.out) {
    Real* p = nullptr;
    CHECK_CUDA(cudaMallocHost(reinterpret_cast<void**>(&p), sizeof(Real) * size_t(n) * size_t(width)));
    std::memset(p, 0xff, sizeof(Real) * size_t(n) * size_t(width));
    memory.push_back(p);
  }
  std::vector<double> seconds;
  for (int i = 0; i < 5; ++i) {
    const auto start = std::chrono::steady_clock::now();
    run_host(algo.name, host, n, memory);
    seconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  row.host_rate = double(n) / seconds[2];
  std::vector<std::vector<Real>> results;
  for (size_t o = 0; o < algo.out.size(); ++o) {
    Real* p = memory[algo.in.size() + o];
    results.emplace_back(p, p + n * algo.out[o]);
    CHECK_CUDA(cudaFreeHost(p));
  }
  const Deviation error = compare(model, algo, inputs, n, results, 2);
  if (!(error.overall <= row.error.overall * 2)) row.error = error;
}

/// One algorithm at one size: checked, then timed over slices of the inputs.
template <class Real>
Row measure(const std::string& label, const Model& model, const Algorithm& algo, const Inputs<Real>& inputs, long n,
            DeviceArrays<Real>& arrays, bool timed, const cuda::Options& options) {
  const long slices = arrays.count() / n;
  cuda::Batch<Real> batch(model, options);
  Graph graph([&](cudaStream_t s) {
    for (long k = 0; k < slices; ++k) run_device(algo.name, batch, n, arrays.from(k * n), s);
  });
  arrays.poison();
  graph.replay();
  Row row{label, algo.name, precision<Real>(), arrays.rows() ? "rows" : "fields", n, 0, 0, {}, options};
  row.error = compare(model, algo, inputs, n * slices, arrays.results(), 1);
  if (timed) row.device_rate = double(n * slices) / graph.median(algo.matrices ? 7 : 15);
  return row;
}

template <class Real>
void bench_model(const std::string& label, const Model& model, long largest, std::uint64_t seed, Report& report) {
  const Inputs<Real> inputs(model, largest, seed);
  cuda::HostBatch<Real> host(model);
  for (const Algorithm& algo : algorithms(model)) {
    const long most = std::min(largest, algo.most);
    std::vector<long> sizes;
    for (long n : {8192l, 131072l}) {
      if (n < most) sizes.push_back(n);
    }
    sizes.push_back(most);
    for (bool rows : {false, true}) {
      DeviceArrays<Real> arrays(algo, inputs, most, rows);
      for (long n : sizes) {
        if (rows && n < most) continue;
        Row row = measure(label, model, algo, inputs, n, arrays, true, {});
        if (!rows && n > 8192) measure_host(model, algo, inputs, n, host, row);
        report.add(row);
      }
    }
  }
}

template <class Real>
void check_model(const std::string& label, const Model& model, std::uint64_t seed, Report& report) {
  const long n = 700;  // neither a multiple of a warp nor of a tile
  const Inputs<Real> inputs(model, n, seed);
  cuda::HostBatch<Real> host(model);
  for (const Algorithm& algo : algorithms(model)) {
    for (bool rows : {false, true}) {
      DeviceArrays<Real> arrays(algo, inputs, n, rows);
      Row row = measure(label, model, algo, inputs, n, arrays, false, {.chunk = 300});
      if (rows) measure_host(model, algo, inputs, n, host, row);
      report.add(row);
    }
  }
}

/// human28 with rotors of 0.01 kg·m², as in the benchmarks of the CPU: without them the mass matrix is singular to single
/// precision wherever two axes of a hip come close.
Model figure() {
  ModelDescription d = human28().description();
  for (JointDescription& joint : d.joints) {
    for (DofDescription& dof : joint.dofs) dof.rotor_inertia = 0.01;
  }
  return ModelBuilder(d).build();
}

void check_all(std::uint64_t seed, Report& report) {
  std::vector<std::pair<std::string, Model>> models;
  for (const JointTypeInfo& type : joint_table()) {
    if (type.type == JointType::kFixed || type.type == JointType::kBallZyx) continue;
    for (Base base : {Base::kFixed, Base::kFree}) {
      models.emplace_back(std::string(type.name) + (base == Base::kFree ? "_f" : ""),
                          random_tree(1, {.links = 5, .base = base, .types = {type.type}}));
    }
  }
  models.emplace_back("gears", random_tree(2, {.links = 12, .types = {JointType::kRevolute}, .gears = 4}));
  models.emplace_back("human28", figure());
  models.emplace_back("ball", human28_ball());
  models.emplace_back("chain8", chain(8));
  models.emplace_back("chain200", chain(200));  // too large for a stack and for the constant cache
  for (const auto& [label, model] : models) {
    check_model<double>(label, model, seed, report);
    if (model.nv() < 50) check_model<float>(label, model, seed, report);
  }
}

template <class Real>
void tune(std::uint64_t seed, Report& report) {
  const Model model = figure();
  const Inputs<Real> inputs(model, 1 << 20, seed);
  for (const Algorithm& algo : algorithms(model)) {
    if (algo.matrices || algo.name == "fk") continue;
    DeviceArrays<Real> arrays(algo, inputs, inputs.count(), false);
    for (int block : {32, 64, 128}) {
      for (long n : {8192l, 1048576l}) {
        for (int warps : {0, 4, 6, 8, 12, 16, 20, 24}) {
          if (warps * 32 % block != 0 || (n == 8192 && warps > 0)) continue;
          const cuda::Options options{.threads_per_block = block, .blocks_per_multiprocessor = warps * 32 / block};
          report.add(measure("human28", model, algo, inputs, n, arrays, true, options));
        }
      }
    }
  }
}

int run(int argc, char** argv) {
  std::string json, command;
  bool quick = false, tuning = false, checking = false;
  for (int i = 0; i < argc; ++i) command += (i ? " " : "") + std::string(i ? argv[i] : "cuda_bench");
  for (int i = 1; i < argc; ++i) {
    const std::string a = argv[i];
    if (a == "--json" && i + 1 < argc) {
      json = argv[++i];
    } else if (a == "--quick") {
      quick = true;
    } else if (a == "--tune") {
      tuning = true;
    } else if (a == "--check") {
      checking = true;
    } else {
      std::fprintf(stderr, "usage: cuda_bench [--json FILE] [--quick] [--tune] [--check]\n");
      return 2;
    }
  }
  cudaDeviceProp device;
  CHECK_CUDA(cudaGetDeviceProperties(&device, 0));
  const std::uint64_t seed = std::random_device{}();
  std::printf("device %s, %d multiprocessors, seed %llu\n", device.name, device.multiProcessorCount,
              static_cast<unsigned long long>(seed));
  Report report(device.name, command);
  if (checking) {
    report.be_quiet();
    check_all(seed, report);
    std::printf("%d results checked\n", report.rows());
  } else if (tuning) {
    tune<float>(seed, report);
    tune<double>(seed, report);
  } else {
    const long largest = quick ? 1 << 17 : 1 << 20, smaller = 1 << 17;
    const Model tree = random_tree(7, {.links = 12, .types = {JointType::kRevolute, JointType::kPrismatic}});
    bench_model<float>("human28", figure(), largest, seed, report);
    bench_model<double>("human28", figure(), largest, seed, report);
    bench_model<float>("chain8", chain(8), smaller, seed, report);
    bench_model<double>("chain8", chain(8), smaller, seed, report);
    bench_model<float>("random12", tree, smaller, seed, report);
    bench_model<double>("random12", tree, smaller, seed, report);
  }
  if (!json.empty()) report.write(json);
  std::printf(report.wrong() ? "%d results are WRONG\n" : "all results right\n", report.wrong());
  return report.wrong() ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
