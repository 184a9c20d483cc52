#include "kansetsu/assembly/forward.h"

#include <algorithm>
#include <cmath>

#include "assembly/kernel_table.h"
#include "kansetsu/base/error.h"
#include "model/tree.h"

namespace kansetsu {
namespace {

/// Times on one core, measured with bench/assembly_bench (docs/theory/assembly.md) [µs]. What threads add is a model:
/// docs/theory/assembly.md.
constexpr double kAbaLink = 0.085, kSegmentLink = 0.133, kAssemblyLink = 0.75;  // per link
constexpr double kSegmentJoin = 1.2;                                            // per segment, on one thread
constexpr double kBarrier = 1.0;
constexpr double kMargin = 0.9;  // another method must be faster than ABA by more than the model is wrong

}  // namespace

ForwardMethod choose_forward_method(const Model& model, int threads) {
  const double n = model.tree().body_count(), t = std::max(1, threads);
  const double lanes = kernel::segments().width;
  const double segments = kSegmentLink * n / t + kSegmentJoin * lanes * t + 5 * kBarrier;
  const double assembly = kAssemblyLink * n / t + 2 * std::log2(4 * t) * kBarrier;
  const double limit = kMargin * kAbaLink * n;
  if (segments < std::min(limit, assembly) && !SegmentDynamics::unsupported(model)) return ForwardMethod::kSegments;
  if (assembly < limit && !Assembly::unsupported(model)) return ForwardMethod::kAssembly;
  return ForwardMethod::kAba;
}

struct AutoForwardDynamics::Impl {
  Model model;
  ForwardMethod method;
  Workspace work;
  std::optional<SegmentDynamics> segments;
  std::optional<Assembly> assembly;
  std::optional<AssemblyResult> result;
  Eigen::VectorXd torque;

  Impl(const Model& figure, int threads, ForwardMethod wanted)
      : model(figure),
        method(wanted == ForwardMethod::kAuto ? choose_forward_method(figure, threads) : wanted),
        work(figure),
        torque(figure.nv()) {
    if (method == ForwardMethod::kSegments) segments.emplace(model, threads);
    if (method == ForwardMethod::kAssembly || method == ForwardMethod::kSerialAssembly) {
      AssemblyOptions options;
      options.order = method == ForwardMethod::kAssembly ? AssemblyOrder::kBalanced : AssemblyOrder::kSerial;
      options.threads = method == ForwardMethod::kAssembly ? threads : 1;
      options.reactions = false;
      assembly.emplace(model, options);
      result.emplace(*assembly);
    }
  }
};

AutoForwardDynamics::AutoForwardDynamics(const Model& model, int threads, ForwardMethod method)
    : impl_(std::make_unique<Impl>(model, threads, method)) {}

ForwardMethod AutoForwardDynamics::method() const { return impl_->method; }

void AutoForwardDynamics::solve(const State& state, const VectorRef& tau, AbaResult& out,
                                const ExternalForces* external) {
  check_size("solve", "tau", tau.size(), impl_->model.nv());
  check_size("solve", "the result", out.vdot.size(), impl_->model.nv());
  if (impl_->assembly) {
    impl_->torque = tau;
    impl_->assembly->solve(state, impl_->torque, *impl_->result, external);
    out.vdot = impl_->result->vdot();
    out.singular.setZero();
    out.status = impl_->result->status;
    return;
  }
  if (impl_->segments && !external) {
    impl_->segments->solve(state, tau, out.vdot);
    out.singular.setZero();
    out.status = Status::kOk;
    return;
  }
  aba(impl_->model, state, tau, impl_->work, out, external);
}

}  // namespace kansetsu
