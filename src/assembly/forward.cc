#include "kansetsu/assembly/forward.h"

#include <limits>

#include "kansetsu/base/error.h"
#include "model/tree.h"

namespace kansetsu {
namespace {

/// From how many links on a method is faster than ABA on one core, by number of threads; measured with bench/assembly_bench
/// (docs/theory/assembly.md). Assembly has no entry where it never was.
struct Crossover {
  int threads;
  int segments, assembly;
};
constexpr int kNever = std::numeric_limits<int>::max();
constexpr Crossover kCrossovers[] = {
    {1, 512, kNever},
    {2, 512, kNever},
    {4, 512, 2048},
    {8, 512, 1024},
};

}  // namespace

ForwardMethod choose_forward_method(const Model& model, int threads) {
  const Crossover* row = kCrossovers;
  for (const Crossover& c : kCrossovers) {
    if (c.threads <= threads) row = &c;
  }
  const int links = model.tree().body_count();
  if (links >= row->segments && !SegmentDynamics::unsupported(model)) return ForwardMethod::kSegments;
  if (links >= row->assembly && !Assembly::unsupported(model)) return ForwardMethod::kAssembly;
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
AutoForwardDynamics::AutoForwardDynamics(AutoForwardDynamics&&) noexcept = default;
AutoForwardDynamics& AutoForwardDynamics::operator=(AutoForwardDynamics&&) noexcept = default;
AutoForwardDynamics::~AutoForwardDynamics() = default;

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
