#include "motion/balance.h"

#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/motion/analysis.h"

namespace kansetsu {
namespace {

/// x with −b_k·x_{k−1} + (1 + 2·b_k)·x_k − b_k·x_{k+1} = r_k inside and zero at both ends, by elimination.
Eigen::VectorXd solve_tridiagonal(const Eigen::VectorXd& b, const Eigen::VectorXd& r) {
  const long n = r.size();
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n), pivot = Eigen::VectorXd::Ones(n);
  for (long k = 1; k + 1 < n; ++k) {
    const double factor = k > 1 ? b[k] / pivot[k - 1] : 0;
    pivot[k] = 1 + 2 * b[k] - (k > 1 ? factor * b[k - 1] : 0);
    x[k] = r[k] + factor * x[k - 1];
  }
  for (long k = n - 2; k >= 1; --k) x[k] = (x[k] + b[k] * x[k + 1]) / pivot[k];
  return x;
}

}  // namespace

Eigen::MatrixXd balance_offsets(const Model& model, const Clip& clip, const Vec3<>& middle, double& worst) {
  const Analysis a = analyze(model, clip, {});
  const long n = clip.frames();
  const double h = clip.duration() / double(n - 1);
  Eigen::VectorXd b = Eigen::VectorXd::Zero(n);
  Eigen::MatrixXd error = Eigen::MatrixXd::Zero(2, n);
  worst = 0;
  for (long k = 1; k + 1 < n; ++k) {
    const std::size_t i = std::size_t(k);
    // Without supports all of the ground's force is residual; what falls freely has no zero moment point to correct.
    if (!a.zmp[i]) continue;
    b[k] = a.com[i].z * model.mass() / (a.residual[i].f.z * h * h);
    error.col(k) << middle.x - a.zmp[i]->x, middle.y - a.zmp[i]->y;
    worst = std::max(worst, error.col(k).norm());
  }
  Eigen::MatrixXd offsets(2, n);
  for (long axis = 0; axis < 2; ++axis) offsets.row(axis) = solve_tridiagonal(b, error.row(axis));
  return offsets;
}

}  // namespace kansetsu
