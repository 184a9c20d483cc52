#include "motion/differentiate.h"

#include "kansetsu/model/configuration.h"

namespace kansetsu {

void differentiate(const Model& model, const Clip& clip, Eigen::MatrixXd& v, Eigen::MatrixXd& vdot) {
  const int n = clip.frames(), nv = model.nv();
  v.resize(nv, n), vdot.resize(nv, n);
  const auto time = [&](int k) { return clip.times[std::size_t(k)]; };
  const auto between = [&](int k) {  // velocity half-way from k to k + 1
    return Eigen::VectorXd(difference(model, clip.q.col(k), clip.q.col(k + 1)) / (time(k + 1) - time(k)));
  };
  Eigen::VectorXd before = between(0);
  for (int k = 1; k + 1 < n; ++k) {
    const Eigen::VectorXd after = between(k);
    const double h0 = time(k) - time(k - 1), h1 = time(k + 1) - time(k);
    vdot.col(k) = (after - before) * (2 / (h0 + h1));
    v.col(k) = (h1 * before + h0 * after) / (h0 + h1);
    before = after;
  }
  vdot.col(0) = vdot.col(1), vdot.col(n - 1) = vdot.col(n - 2);
  v.col(0) = between(0) - 0.5 * (time(1) - time(0)) * vdot.col(0);
  v.col(n - 1) = before + 0.5 * (time(n - 1) - time(n - 2)) * vdot.col(n - 1);
}

}  // namespace kansetsu
