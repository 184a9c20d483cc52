#pragma once

/// Element-wise operations of a step on the coordinates of a figure: entry points of one instruction set. All sets give the same
/// bits.
namespace kansetsu::kernel {

struct FigureKernels {
  bool (*finite)(int n, const double* a);  ///< all of them are
  void (*add)(int n, const double* a, const double* b, double* sum);
  void (*advance)(int n, double h, const double* rate, double* x);  ///< x += h·rate
  /// PD control of consecutive joints, with errors at the end of the step: the explicit torque, and the inertia of the implicit
  /// part.
  void (*control)(int n, double h, const double* kp, const double* kd, const double* value, const double* q,
                  const double* v, double* tau, double* extra);
  /// The largest |v| + h·|v̇|; NaN does not count.
  double (*fastest)(int n, double h, const double* v, const double* vdot);
  /// effort = τ − extra·v̇. @return Σ effort·(v + h·v̇/2)
  double (*effort)(int n, double h, const double* tau, const double* extra, const double* v, const double* vdot,
                   double* effort);
};
const FigureKernels& figures();

}  // namespace kansetsu::kernel
