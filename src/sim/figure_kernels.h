#pragma once

/// What every step does to the coordinates of a figure, number by number: entry points of one instruction set. All of them give
/// the same bits.
namespace kansetsu::kernel {

struct FigureKernels {
  bool (*finite)(int n, const double* a);  ///< all of them are
  void (*add)(int n, const double* a, const double* b, double* sum);
  void (*advance)(int n, double h, const double* rate, double* x);  ///< x += h·rate
  /// PD control of joints side by side, with springs and dampers as they are at the end of the step: what acts explicitly, and
  /// the inertia that stands for the rest.
  void (*control)(int n, double h, const double* kp, const double* kd, const double* value, const double* q,
                  const double* v, double* tau, double* extra);
  /// The largest |v| + h·|v̇|; what is not a number does not count.
  double (*fastest)(int n, double h, const double* v, const double* vdot);
  /// effort = τ − extra·v̇. @return Σ effort·(v + h·v̇/2)
  double (*effort)(int n, double h, const double* tau, const double* extra, const double* v, const double* vdot,
                   double* effort);
};
const FigureKernels& figures();

}  // namespace kansetsu::kernel
