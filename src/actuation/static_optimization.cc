#include "kansetsu/actuation/static_optimization.h"

#include <fmt/format.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"

/// The dual problem has one unknown λ per moment, and no bounds. With a(λ) = clamp(Aᵀλ), r(λ) = reserve²·λ its gradient is
///   g(λ) = A·a(λ) + r(λ) − b,
/// piecewise linear and monotone, so Newton's method with a line search ends at the solution after finitely many steps.
namespace kansetsu {
namespace {

constexpr int kMostSteps = 100;  ///< from afar five are usual, from the last frame's solution two
/// Of the moments' error, in shares of the largest moment or of one reserve. Rounding leaves 10⁻⁹ where reserves carry a hundred times
/// what muscles can.
constexpr double kTolerance = 1e-8;
constexpr double kSlopeLeft = 0.1;  ///< of the slope along a step that a line search may leave
constexpr int kMostHalvings = 40;

}  // namespace

struct StaticOptimization::Impl {
  StaticOptimizationOptions options;
  SharedMoments out;
  Eigen::VectorXd lambda, pull, direction, change, gradient, scaled;
  Eigen::MatrixXd H, free_columns;
  Eigen::LLT<Eigen::MatrixXd> factor;

  double reserve_squared() const { return options.reserve * options.reserve; }

  /// Slope of the dual function along the step, at λ + t·direction.
  double slope(const Eigen::VectorXd& b, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper, double t) const {
    double sum = reserve_squared() * (lambda.dot(direction) + t * direction.squaredNorm()) - b.dot(direction);
    for (long i = 0; i < pull.size(); ++i) sum += change[i] * std::clamp(pull[i] + t * change[i], lower[i], upper[i]);
    return sum;
  }

  /// How far to go: to where the slope is nearly zero; it only rises.
  double step_length(const Eigen::VectorXd& b, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) const {
    const double first = slope(b, lower, upper, 0);
    if (!(first < 0) || slope(b, lower, upper, 1) <= -kSlopeLeft * first) return 1;
    double low = 0, high = 1;
    for (int i = 0; i < kMostHalvings; ++i) {
      const double t = 0.5 * (low + high), at = slope(b, lower, upper, t);
      if (std::abs(at) <= -kSlopeLeft * first) return t;
      (at < 0 ? low : high) = t;
    }
    return low;
  }

  void set_activations(const Eigen::MatrixXd& A, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) {
    pull.noalias() = A.transpose() * lambda;
    out.activations = pull.cwiseMax(lower).cwiseMin(upper);
    out.reserves = reserve_squared() * lambda;
  }

  /// −H⁻¹·g, H = reserve² + A_f·A_fᵀ of the muscles that are within their bounds.
  void find_direction(const Eigen::MatrixXd& A, const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) {
    long free = 0;
    for (long i = 0; i < A.cols(); ++i)
      if (pull[i] > lower[i] && pull[i] < upper[i]) free_columns.col(free++) = A.col(i);
    H.setZero();
    H.diagonal().setConstant(reserve_squared());
    H.selfadjointView<Eigen::Lower>().rankUpdate(free_columns.leftCols(free));
    factor.compute(H);
    direction = gradient;
    factor.solveInPlace(direction);
    direction = -direction;
    change.noalias() = A.transpose() * direction;
  }

  void resize(const Eigen::MatrixXd& A) {
    if (lambda.size() == A.rows() && pull.size() == A.cols()) return;
    lambda = Eigen::VectorXd::Zero(A.rows());
    H.resize(A.rows(), A.rows()), free_columns.resize(A.rows(), A.cols());
    pull.resize(A.cols());
  }
};

StaticOptimization::StaticOptimization(const StaticOptimizationOptions& options) : impl_(std::make_unique<Impl>()) {
  if (!(options.reserve > 0 && std::isfinite(options.reserve)))
    throw Error(fmt::format("StaticOptimization: a reserve of {}; it is above zero", options.reserve));
  impl_->options = options;
}

const SharedMoments& StaticOptimization::solve(const Eigen::MatrixXd& A, const Eigen::VectorXd& b,
                                               const Eigen::VectorXd& lower, const Eigen::VectorXd& upper) {
  check_size("StaticOptimization::solve", "b", b.size(), int(A.rows()));
  check_size("StaticOptimization::solve", "lower", lower.size(), int(A.cols()));
  check_size("StaticOptimization::solve", "upper", upper.size(), int(A.cols()));
  if (!A.allFinite() || !b.allFinite() || (lower.array() > upper.array()).any())
    throw Error("StaticOptimization::solve: a number is not finite, or a bound is above its other");
  Impl& w = *impl_;
  w.resize(A);
  const double scale = std::max(w.options.reserve, b.size() > 0 ? b.cwiseAbs().maxCoeff() : 0.0);
  w.out.solved = false;
  for (w.out.steps = 0;; ++w.out.steps) {
    w.set_activations(A, lower, upper);
    w.gradient = w.out.reserves - b;
    w.gradient.noalias() += A * w.out.activations;
    w.out.solved = b.size() == 0 || w.gradient.cwiseAbs().maxCoeff() <= kTolerance * scale;
    if (w.out.solved || w.out.steps == kMostSteps) break;
    w.find_direction(A, lower, upper);
    w.lambda += w.step_length(b, lower, upper) * w.direction;
  }
  if (!w.out.solved) w.lambda.setZero();  // the next frame starts from zero
  return w.out;
}

}  // namespace kansetsu
