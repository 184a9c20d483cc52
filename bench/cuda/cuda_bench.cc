// Measures and checks the CUDA back end.
//
//   cuda_bench [--json FILE] [--quick] [--tune] [--check]
//
// Per model, precision and algorithm: fresh random inputs (the seed is printed), outputs poisoned with NaNs, at least 4096
// states spread over the batch compared with the CPU in double, then timed: on the device by events around replays of a
// graph, over slices of a batch too large for the caches; from host memory to host memory by the wall clock, with pinned
// arrays. Exits with 1 if any result is wrong.
//   --check  every joint type on small random trees instead, both layouts, no timing
//   --tune   forward dynamics of human28 and its derivatives: how the work may be shared, for several counts of states
#include <cstdio>
#include <random>

#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"
#include "measure.h"

namespace kansetsu::bench {
namespace {

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

/// Counts × ways to share the work, for forward dynamics and its derivatives.
template <class Real>
void tune(std::uint64_t seed, Report& report) {
  using cuda::Mapping;
  const Model model = figure();
  const Inputs<Real> inputs(model, 1 << 20, seed);
  for (const Algorithm& algo : algorithms(model)) {
    if (algo.name != "aba" && algo.name != "aba_derivatives") continue;
    DeviceArrays<Real> arrays(algo, inputs, std::min(inputs.count(), algo.most), false);
    const auto add = [&](long n, const cuda::Options& options) {
      report.add(measure("human28", model, algo, inputs, n, arrays, true, options));
    };
    if (algo.name == "aba") {
      for (long n : {1024l, 4096l, 8192l, 16384l, 32768l, 65536l, 131072l, 1048576l}) {
        for (Mapping mapping : {Mapping::kState, Mapping::kLimb}) {
          for (int block : {32, 64, 128}) add(n, {.threads_per_block = block, .mapping = mapping});
        }
      }
      for (int blocks : {2, 4, 6, 8}) add(1048576, {.blocks_per_multiprocessor = blocks, .mapping = Mapping::kLimb});
      continue;
    }
    for (long n : {8192l, 65536l}) {
      add(n, {.mapping = Mapping::kState});
      for (long chunk : {4096l, 8192l, 16384l, 32768l, 65536l}) {
        if (chunk <= n) add(n, {.chunk = chunk});
      }
      for (int block : {32, 128}) add(n, {.threads_per_block = block});
      for (int states : {1, 2, 4}) add(n, {.states_per_block = states});
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
}  // namespace kansetsu::bench

int main(int argc, char** argv) {
  try {
    return kansetsu::bench::run(argc, argv);
  } catch (const std::exception& e) {
    std::fprintf(stderr, "error: %s\n", e.what());
    return 1;
  }
}
