#include "kansetsu/dynamics/response.h"

#include <Eigen/Dense>

#include "dynamics/kernel_table.h"
#include "dynamics/response_kernel.h"
#include "kansetsu/base/error.h"
#include "kansetsu/spatial/eigen.h"
#include "kinematics/kernel_table.h"
#include "kinematics/link_frames.h"

namespace kansetsu {
struct Response::Impl {
  explicit Impl(const Model& m)
      : model(m),
        block(m),
        scratch(m),
        A(size_t(m.tree().body_count())),
        X_WB(A.size()),
        vdot(Eigen::VectorXd::Zero(m.nv())),
        singular(vdot) {}

  Model model;
  Workspace block, scratch;
  std::vector<Motion<>> A;
  std::vector<Transform<>> X_WB;
  Eigen::VectorXd vdot, singular;

  const Tree& tree() const { return model.tree(); }
  const LinkPlacement& placement(LinkId id) const { return tree().links.at(size_t(id.value())); }

  /// Λ(j, i) with both links in frames of the given rotation relative to their bodies.
  Matrix6 pair(LinkId j, LinkId i, const Mat3<>* R_BJ, const Mat3<>* R_BI) {
    const LinkPlacement &to = placement(j), &from = placement(i);
    Matrix6 out = Matrix6::Zero();
    if (to.body < 0 || from.body < 0) return out;
    const Transform<> X_to{*R_BJ, to.X_BL.p}, X_from{*R_BI, from.X_BL.p};
    for (int k = 0; k < 6; ++k) {
      const Force<> F = X_from * to_force(Vector6d::Unit(k));
      kernel::dynamics().respond_wrench(tree().view(), block.data(), from.body, &F.t.x, to.body, numbers(A.data()),
                                        vdot.data());
      out.col(k) = to_eigen(inverse_times(X_to, A[size_t(to.body)]));
    }
    return out;
  }
};

Response::Response(const Model& model) : impl_(std::make_unique<Impl>(model)) {}

Status Response::update(const VectorRef& q) {
  check_size("Response::update", "q", q.size(), impl_->model.nq());
  const TreeView& tree = impl_->tree().view();
  kernel::dynamics().factorise(tree, q.data(), impl_->block.data(), impl_->singular.data());
  if (!impl_->X_WB.empty()) {
    kernel::kinematics().poses(tree, q.data(), impl_->scratch.data(), numbers(impl_->X_WB.data()));
  }
  return impl_->singular.isZero(0) ? Status::kOk : Status::kSingular;
}

const Eigen::VectorXd& Response::singular() const { return impl_->singular; }

Matrix6 Response::link_response(LinkId j, LinkId i) const {
  return impl_->pair(j, i, &impl_->placement(j).X_BL.R, &impl_->placement(i).X_BL.R);
}

Matrix6 Response::link_response_world(LinkId j, LinkId i) const {
  const int to = impl_->placement(j).body, from = impl_->placement(i).body;
  if (to < 0 || from < 0) return Matrix6::Zero();
  const Mat3<> R_BJ = transpose(impl_->X_WB[size_t(to)].R), R_BI = transpose(impl_->X_WB[size_t(from)].R);
  return impl_->pair(j, i, &R_BJ, &R_BI);
}

namespace {
void to_links(const Tree& tree, const std::vector<Motion<>>& A_B, std::vector<Motion<>>& out) {
  check_size("Response", "accelerations", long(out.size()), long(tree.links.size()));
  for (size_t l = 0; l < tree.links.size(); ++l) out[l] = link_motion(tree.links[l], A_B.data());
}
}  // namespace

void Response::apply_wrench(LinkId i, const Force<>& F, Eigen::Ref<Eigen::VectorXd> vdot,
                            std::vector<Motion<>>& A) const {
  check_size("Response::apply_wrench", "vdot", vdot.size(), impl_->model.nv());
  const LinkPlacement& from = impl_->placement(i);
  const Force<> F_B = from.X_BL * F;
  vdot.setZero();
  kernel::dynamics().respond_wrench(impl_->tree().view(), impl_->block.data(), from.body, &F_B.t.x, -1,
                                    numbers(impl_->A.data()), vdot.data());
  to_links(impl_->tree(), impl_->A, A);
}

void Response::apply_torque(const VectorRef& tau, Eigen::Ref<Eigen::VectorXd> vdot, std::vector<Motion<>>& A) const {
  check_size("Response::apply_torque", "tau", tau.size(), impl_->model.nv());
  check_size("Response::apply_torque", "vdot", vdot.size(), impl_->model.nv());
  kernel::dynamics().respond_torque(impl_->tree().view(), impl_->block.data(), tau.data(), numbers(impl_->A.data()),
                                    vdot.data());
  to_links(impl_->tree(), impl_->A, A);
}

Matrix6 Response::base_theta() const { return -link_response(LinkId(0), LinkId(0)); }

std::vector<Response::Group> Response::groups() const {
  const Tree& tree = impl_->tree();
  const TreeView& view = tree.view();
  const kernel::Factor<double> factor(view, impl_->block.data());

  std::vector<Group> out;
  for (size_t n = 0; n < tree.steps.size(); ++n) {
    const Step& step = tree.steps[n];
    Group g;
    // Links whose joint ends in a body of this step, with the index of that body among the step's members.
    std::vector<std::pair<LinkId, int>> moved;
    for (int j = 0; j < impl_->model.joint_count(); ++j) {
      const LinkId link = impl_->model.child_link(JointId(j));
      const int body = impl_->placement(link).body;
      if (body < 0 || tree.joint_of_body[size_t(body)] != j || tree.bodies[size_t(body)].step != int(n)) continue;
      const int* members =
          step.group < 0 ? nullptr : &tree.group_members[size_t(tree.groups[size_t(step.group)].members)];
      int m = 0;
      while (members && members[m] != body) ++m;
      moved.emplace_back(link, m);
      g.members.push_back(link);
      const LinkId parent = impl_->model.parent_link(JointId(j));
      if (impl_->placement(parent).body == step.parent) g.parent = parent;
    }
    g.grounded = step.parent < 0;
    const Transform<> X_PL = impl_->placement(g.parent).X_BL;  // the parent link on the parent body

    Eigen::MatrixXd K;  // 6 × d, in axes of the parent link
    const auto add_member = [&](LinkId link, const Transform<>& X_PB, const std::vector<Motion<>>& J_B) {
      const Transform<>& X_BL = impl_->placement(link).X_BL;
      g.X.push_back(motion_matrix(inverse(inverse(X_PL) * X_PB * X_BL)));
      Eigen::Matrix<double, 6, Eigen::Dynamic> J(6, long(J_B.size()));
      for (size_t k = 0; k < J_B.size(); ++k) J.col(long(k)) = to_eigen(inverse_times(X_BL, J_B[k]));
      g.J.push_back(J);
    };
    if (step.group < 0) {
      const Body& b = tree.bodies[size_t(step.body)];
      const CoordinateTerm& term = tree.terms[size_t(tree.rows[size_t(b.u)].begin)];
      const kernel::HingeFactor<double>& f = factor.art.hinge[step.body];
      const Transform<> X_PB = kernel::pose_in_parent(b, factor.posture, step.body);
      const auto unname = [&](const Vec3<>& a) {
        return b.aligned_axis == 0 ? kernel::from_z<0>(a) : b.aligned_axis == 1 ? kernel::from_z<1>(a) : a;
      };
      g.columns = {term.column};
      g.D_inv = Eigen::MatrixXd::Constant(1, 1, f.D_inv);
      const Force<> U{unname(f.U.t), unname(f.U.f)};
      K = term.ratio * to_eigen(inverse_times(X_PL, X_PB * U));
      for (const auto& [link, m] : moved) add_member(link, X_PB, {term.ratio * kernel::subspace<double>(b, 0)});
    } else {
      const kansetsu::Group& group = tree.groups[size_t(step.group)];
      const kernel::GroupFactor<double> f(group, factor.art.group);
      const int d = group.d;
      g.columns.assign(&tree.group_columns[size_t(group.columns)], &tree.group_columns[size_t(group.columns)] + d);
      Eigen::MatrixXd L = Eigen::MatrixXd::Identity(d, d), W(6, d);
      for (int r = 0; r < d; ++r) {
        for (int c = 0; c < r; ++c) L(r, c) = f.L[r * d + c];
        W.col(r) = to_eigen(inverse_times(X_PL, f.K[r]));
      }
      const Eigen::MatrixXd L_inv = L.triangularView<Eigen::UnitLower>().solve(Eigen::MatrixXd::Identity(d, d));
      g.D_inv = L_inv.transpose() * Eigen::Map<const Eigen::VectorXd>(f.D_inv, d).asDiagonal() * L_inv;
      K = W * L.transpose();
      for (const auto& [link, m] : moved) add_member(link, f.X[m], {f.J + m * d, f.J + (m + 1) * d});
    }
    for (size_t a = 0; a < g.members.size(); ++a) {
      g.T.push_back(g.X[a] - g.J[a] * g.D_inv * K.transpose());
      for (size_t b = 0; b < g.members.size(); ++b) {
        g.S.push_back(g.J[a] * g.D_inv * g.J[b].transpose());
        g.Theta.push_back(-link_response(g.members[a], g.members[b]));
      }
    }
    out.push_back(std::move(g));
  }
  return out;
}

}  // namespace kansetsu
