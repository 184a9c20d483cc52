#pragma once

#include "kansetsu/assembly/assembly.h"
#include "kansetsu/base/owner.h"

/// The choice between algorithms of forward dynamics for one figure.
namespace kansetsu {

/// Forward dynamics of a chain of 1-DOF joints by segments: each lane of a register and each thread eliminates a stretch of
/// links, the stretches are then joined. docs/theory/assembly.md. For chains of hundreds of links on few processors.
class SegmentDynamics {
 public:
  /// Throws Error if the model is not such a chain. @param segments  0: one per thread and lane
  explicit SegmentDynamics(const Model& model, int threads = 1, int segments = 0);

  /// Why a model is not such a chain (branches, gears, rotors, joints of several coordinates, massless links, too few links for
  /// two segments a lane), or none.
  static std::optional<std::string> unsupported(const Model& model);

  int segments() const;
  /// Never allocates. Bit-identical for any number of threads, with the same number of segments.
  void solve(const State& state, const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

enum class ForwardMethod { kAuto, kAba, kSegments, kSerialAssembly, kAssembly };

/// v̇ by the fastest method for the figure's structure and size and the number of threads, according to measured
/// times per link and a model of threads (docs/theory/assembly.md); or by a given method.
class AutoForwardDynamics {
 public:
  explicit AutoForwardDynamics(const Model& model, int threads = 1, ForwardMethod method = ForwardMethod::kAuto);

  ForwardMethod method() const;
  void solve(const State& state, const VectorRef& tau, AbaResult& out, const ExternalForces* external = nullptr);

 private:
  struct Impl;
  Owner<Impl> impl_;
};

/// The choice of AutoForwardDynamics.
ForwardMethod choose_forward_method(const Model& model, int threads);

}  // namespace kansetsu
