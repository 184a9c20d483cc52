#include "codegen/algorithms.h"

#define KANSETSU_ISA traced
#include "codegen/traced.h"
#include "dynamics/dynamics_entries.h"

namespace kansetsu::kernel::inline KANSETSU_ISA {

template <>
inline constexpr double kPivotNoise<codegen::Traced<float>> = kPivotNoise<float>;

}  // namespace kansetsu::kernel::inline KANSETSU_ISA

namespace kansetsu::codegen {
namespace {

/// Calls run(inputs, scratch, output) with arrays of traced numbers, as the kernels' entries take them.
template <class Real, class Run>
Algorithm trace(Algorithm out, std::size_t scratch, const Run& run) {
  using Number = Traced<Real>;
  const TraceScope scope(out.trace);
  std::vector<std::vector<Number>> arrays;
  std::vector<const double*> in;
  for (std::size_t i = 0; i < out.inputs.size(); ++i) {
    arrays.emplace_back();
    for (int k = 0; k < out.inputs[i].size; ++k) arrays.back().push_back(Number::at(out.trace.input(int(i), k)));
  }
  for (const auto& array : arrays) in.push_back(reinterpret_cast<const double*>(array.data()));
  std::vector<Number> memory(scratch), results(static_cast<std::size_t>(out.output.size));
  run(in, static_cast<void*>(memory.data()), reinterpret_cast<double*>(results.data()));
  for (const Number x : results) out.results.push_back(x.id);
  return out;
}

}  // namespace

std::vector<Algorithm> trace_algorithms(const Model& model) {
  using In = std::vector<const double*>;
  const TreeView tree = model.tree().view();
  // Arrays begin on cache lines, which hold more of these numbers than of doubles.
  const std::size_t scratch = 2 * scratch_size(model.tree());
  const Argument q{"q", model.nq()}, v{"v", model.nv()}, vdot{"vdot", model.nv()}, tau{"tau", model.nv()};
  const Argument M{"M", model.nv() * model.nv()};
  std::vector<Algorithm> out;
  out.push_back(trace<double>({"rnea", "Inverse dynamics: τ for given v̇", {q, v, vdot}, tau}, scratch,
                              [&](const In& in, void* memory, double* result) {
                                kernel::rnea_entry<Traced<double>, double>(tree, in[0], in[1], in[2], nullptr, memory,
                                                                           result, nullptr);
                              }));
  out.push_back(trace<double>({"crba", "Mass matrix, both triangles", {q}, M}, scratch,
                              [&](const In& in, void* memory, double* result) {
                                kernel::crba_entry<Traced<double>, double>(tree, in[0], memory, result);
                              }));
  const auto trace_aba = [&]<class Real>(Real, Precision precision) {
    return trace<Real>({"aba", "Forward dynamics: v̇ for given τ", {q, v, tau}, vdot, precision}, scratch,
                       [&](const In& in, void* memory, double* result) {
                         kernel::aba_entry<Traced<Real>, double>(tree, in[0], in[1], in[2], nullptr, memory, result,
                                                                 nullptr);
                       });
  };
  out.push_back(trace_aba(double(), Precision::kDouble));
  out.push_back(trace_aba(float(), Precision::kSingle));
  return out;
}

}  // namespace kansetsu::codegen
