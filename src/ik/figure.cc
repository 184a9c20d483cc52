#include "ik/figure.h"

#include <algorithm>

#include "kansetsu/base/error.h"
#include "kinematics/joint_kernel.h"
#include "kinematics/kernel_table.h"
#include "kinematics/link_frames.h"

namespace kansetsu::ik {

Figure::Figure(const Model& model)
    : model_(model),
      nv_(model.nv()),
      work_(model),
      q_(Eigen::VectorXd::Zero(model.nq())),
      X_WB_(size_t(std::max(model.tree().body_count(), 1))),
      columns_(size_t(std::max(model.tree().nu, 1))),
      com_rows_(size_t(3 * model.nv()) + 1),
      momentum_(size_t(6 * model.nv()) + 1) {}

void Figure::set(const VectorRef& q) {
  check_size("TaskEvaluator::set", "q", q.size(), model_.nq());
  q_ = q;
  has_com_ = false;
  const Tree& tree = model_.tree();
  kernel::kinematics().poses(tree.view(), q_.data(), work_.data(), numbers(X_WB_.data()));
  for (int i = 0; i < tree.body_count(); ++i) {
    const Body& b = tree.bodies[size_t(i)];
    const Transform<> turn{X_WB_[size_t(i)].R, {}};
    for (int k = 0; k < b.nu; ++k) columns_[size_t(b.u + k)] = turn * kernel::subspace<double>(b, k);
  }
}

Transform<> Figure::pose(LinkId link, const Transform<>& X_LF) const {
  return link_pose(model_.tree().links.at(size_t(link.value())), X_WB_.data()) * X_LF;
}

void Figure::jacobian(LinkId link, const Vec3<>& point_W, double* rows) const {
  std::fill(rows, rows + 6 * nv_, 0.0);
  const Tree& tree = model_.tree();
  for (int i = tree.links.at(size_t(link.value())).body; i >= 0; i = tree.bodies[size_t(i)].parent) {
    const Body& b = tree.bodies[size_t(i)];
    const Vec3<> lever = point_W - X_WB_[size_t(i)].p;
    for (int u = b.u; u < b.u + b.nu; ++u) {
      const Motion<>& c = columns_[size_t(u)];
      const Vec3<> v = c.v + cross(c.w, lever);
      const double numbers[6] = {c.w.x, c.w.y, c.w.z, v.x, v.y, v.z};
      for (int t = tree.rows[size_t(u)].begin; t < tree.rows[size_t(u)].end; ++t) {
        const CoordinateTerm& term = tree.terms[size_t(t)];
        for (int r = 0; r < 6; ++r) rows[r * nv_ + term.column] += term.ratio * numbers[r];
      }
    }
  }
}

void Figure::find_com() {
  if (has_com_) return;
  double out[13];
  kernel::kinematics().centroidal(model_.tree().view(), q_.data(), nullptr, work_.data(), out, momentum_.data(),
                                  nullptr);
  const double per_mass = out[0] > 0 ? 1 / out[0] : 0;
  com_ = {out[1], out[2], out[3]};
  for (int k = 0; k < nv_; ++k) {
    for (int r = 0; r < 3; ++r) com_rows_[size_t(r * nv_ + k)] = per_mass * momentum_[size_t(6 * k + 3 + r)];
  }
  has_com_ = true;
}

const Vec3<>& Figure::com() {
  find_com();
  return com_;
}
const double* Figure::com_jacobian() {
  find_com();
  return com_rows_.data();
}

}  // namespace kansetsu::ik
