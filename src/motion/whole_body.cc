#include "kansetsu/motion/whole_body.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "kansetsu/base/error.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/spatial/eigen.h"
#include "motion/qp.h"

namespace kansetsu {
namespace {

constexpr int kRowsPerSupport = 17;  // force along the normal, 4 of friction, 4 of pressure, 8 of spin
constexpr double kInf = std::numeric_limits<double>::infinity();

using Matrix6X = Eigen::Matrix<double, 6, Eigen::Dynamic>;

std::vector<int> limited_coordinates(const Model& model, const WholeBodyOptions& options) {
  std::vector<int> found;
  for (int i = model.base() == Base::kFree ? 6 : 0; i < model.nv(); ++i) {
    if (options.effort_limits && std::isfinite(model.effort_limit()[i])) found.push_back(i);
  }
  return found;
}

}  // namespace

struct WholeBody::Impl {
  Model model;
  WholeBodyOptions options;
  int nv, base, most_supports;
  double unit;  ///< [N] of the unknown forces, so that they are of the size of accelerations

  Workspace work;
  State state;
  Centroidal momentum;
  LinkMotions motions;
  Eigen::MatrixXd M;
  Eigen::VectorXd c, zero;
  Matrix6X J;

  struct Support {
    Sole sole;
    SupportLimits limits;
    Transform<> X_WS;
    Matrix6X J;  ///< in the sole's axes
  };
  std::vector<Support> supports;
  int support_count = 0;
  QpRows exact, cost;
  RowMatrix C;
  Eigen::VectorXd c_lower, c_upper, lower, upper, x;
  std::vector<int> limited;  ///< coordinates with an effort limit
  Qp solver;
  WholeBodyResult result;

  Impl(const Model& m, const WholeBodyOptions& o, int most)
      : model(m),
        options(o),
        nv(m.nv()),
        base(m.base() == Base::kFree ? 6 : 0),
        most_supports(most),
        unit(std::max(m.mass() * 0.981, 1e-6)),
        work(m),
        state(m),
        momentum(m),
        motions(m),
        M(nv, nv),
        c(nv),
        zero(Eigen::VectorXd::Zero(nv)),
        J(6, nv),
        supports(size_t(most)),
        limited(limited_coordinates(m, o)),
        solver(unknowns(most), base + 6 * most, kRowsPerSupport * most + int(limited.size())) {
    const int n = unknowns(most);
    for (Support& s : supports) s.J.resize(6, nv);
    exact.resize(base + 6 * most, n);
    cost.resize(2 * nv + 48 + 6 * most, n);
    const int inequalities = kRowsPerSupport * most + int(limited.size());
    C = RowMatrix::Zero(inequalities, n);
    c_lower.resize(inequalities), c_upper.resize(inequalities);
    lower = Eigen::VectorXd::Constant(n, -kInf);
    upper = Eigen::VectorXd::Constant(n, kInf);
    x = Eigen::VectorXd::Zero(n);
    result.vdot = result.tau = zero;
    result.wrenches.reserve(size_t(most)), result.pressure.reserve(size_t(most));
  }

  int unknowns(int count) const { return nv + 6 * count; }
  /// scale·J_row·v̇ = wanted
  void add_row(const Matrix6X& jacobian, int row, double scale, double wanted, double weight) {
    if (!(weight > 0)) return;
    const double s = std::sqrt(weight);
    cost.A.row(cost.add(s * wanted)).head(nv) = s * scale * jacobian.row(row);
  }

  void add_equations_of_motion();
  void add_inequalities();
  void add_limits();
  void add_regularisation();
  void read_solution();
};

WholeBody::WholeBody(const Model& model, const WholeBodyOptions& options, int most_supports)
    : impl_(std::make_unique<Impl>(model, options, most_supports)) {}

const Centroidal& WholeBody::centroidal() const { return impl_->momentum; }
FrameMotion WholeBody::motion(LinkId link, const Transform<>& X_LF) const {
  return frame_motion(impl_->motions, link, X_LF);
}

void WholeBody::begin(const State& state) {
  Impl& m = *impl_;
  m.state.q = state.q, m.state.v = state.v;
  kansetsu::centroidal(m.model, m.state, m.work, m.momentum);
  link_motions(m.model, m.state, m.zero, m.work, m.motions);
  crba(m.model, m.state.q, m.work, m.M);
  bias(m.model, m.state, m.work, m.c);
  m.support_count = 0;
  m.exact.count = 0;
  m.cost.count = 0;
}

void WholeBody::support(const Sole& sole, const SupportLimits& limits, const Motion<>& A_S) {
  Impl& m = *impl_;
  if (m.support_count == m.most_supports) {
    throw Error("WholeBody::support: more than " + std::to_string(m.most_supports) + " supports");
  }
  Impl::Support& s = m.supports[size_t(m.support_count++)];
  s.sole = sole, s.limits = limits;
  if (limits.pivot != Edge::kNone) {
    const double side = limits.pivot == Edge::kFront ? 1 : -1;
    s.sole.X_LS = s.sole.X_LS * Transform<>{.p = {side * sole.half_length, 0, 0}};
    s.sole.half_length = 0;
  }
  const FrameMotion motion = frame_motion(m.motions, sole.link, s.sole.X_LS);
  s.X_WS = motion.X_WF;
  jacobian(m.model, m.state.q, sole.link, s.sole.X_LS, JacobianAxes::kLocal, m.work, s.J);
  const Motion<> drift{transpose_times(s.X_WS.R, motion.A.w), transpose_times(s.X_WS.R, motion.A.v)};
  const Vector6d wanted = to_eigen(A_S) - to_eigen(drift);
  for (int k = 0; k < 6; ++k) {
    const bool turns_freely = k < 3 && (limits.kind != SupportKind::kSole || (k == 1 && limits.pivot != Edge::kNone));
    if (turns_freely) {  // no moment about this axis, and no constraint on the rotation
      m.exact.A(m.exact.add(0), m.nv + 6 * (m.support_count - 1) + k) = 1;
      continue;
    }
    m.exact.A.row(m.exact.add(wanted[k])).head(m.nv) = s.J.row(k);
  }
}

void WholeBody::link(LinkId link, const Transform<>& X_LF, const Motion<>& A, const Motion<>& weight) {
  Impl& m = *impl_;
  jacobian(m.model, m.state.q, link, X_LF, JacobianAxes::kLocalWorldAligned, m.work, m.J);
  const Motion<> drift = frame_motion(m.motions, link, X_LF).A;
  const Vector6d wanted = to_eigen(A) - to_eigen(drift), w = to_eigen(weight);
  for (int k = 0; k < 6; ++k) m.add_row(m.J, k, 1, wanted[k], w[k]);
}

void WholeBody::com(const Vec3<>& a, const Vec3<>& weight) {
  Impl& m = *impl_;
  const double inverse = 1 / m.momentum.mass;
  const Eigen::Vector3d w = to_eigen(weight);
  const Eigen::Vector3d wanted = to_eigen(a) - inverse * (m.momentum.A_dot.bottomRows<3>() * m.state.v);
  for (int k = 0; k < 3; ++k) m.add_row(m.momentum.A, 3 + k, inverse, wanted[k], w[k]);
}

void WholeBody::angular_momentum(const Vec3<>& rate, const Vec3<>& weight) {
  Impl& m = *impl_;
  const Eigen::Vector3d w = to_eigen(weight);
  const Eigen::Vector3d wanted = to_eigen(rate) - m.momentum.A_dot.topRows<3>() * m.state.v;
  for (int k = 0; k < 3; ++k) m.add_row(m.momentum.A, k, 1, wanted[k], w[k]);
}

void WholeBody::posture(const VectorRef& vdot, const VectorRef& weight) {
  Impl& m = *impl_;
  if (vdot.size() != m.nv || weight.size() != m.nv) {
    throw Error("WholeBody::posture: " + std::to_string(vdot.size()) + " accelerations and " +
                std::to_string(weight.size()) + " weights, the model has nv = " + std::to_string(m.nv));
  }
  for (int i = 0; i < m.nv; ++i) {
    if (!(weight[i] > 0)) continue;
    const double s = std::sqrt(weight[i]);
    m.cost.A(m.cost.add(s * vdot[i]), i) = s;
  }
}

/// Of the base alone: torques follow for whatever the joints do. M·v̇ + c = Jᵀ·f, per unit of force.
void WholeBody::Impl::add_equations_of_motion() {
  for (int i = 0; i < base; ++i) {
    const int row = exact.add(-c[i] / unit);
    exact.A.row(row).head(nv) = M.row(i) / unit;
    for (int s = 0; s < support_count; ++s) {
      exact.A.row(row).segment(nv + 6 * s, 6) = -supports[size_t(s)].J.col(i).transpose();
    }
  }
}

/// Wrench [τ; f] in the sole's axes, in units: 0 ≤ f_z, |f_x|, |f_y| ≤ μ'·f_z, the centre of pressure in the sole, and little spin
/// about it. Forces at the corners of a rectangle that keep to their pyramids allow τ_z between
/// ∓(μ'(X + Y)·f_z − |Y·f_x ± μ'τ_x| − |X·f_y ± μ'τ_y|) (Caron et al. 2015); a patch spins under half of what its corners would hold.
void WholeBody::Impl::add_inequalities() {
  C.setZero();
  c_upper.setConstant(kInf);
  c_lower.setZero();
  int row = 0;
  for (int s = 0; s < support_count; ++s) {
    const Support& support = supports[size_t(s)];
    if (support.limits.kind == SupportKind::kGrip) {  // any force: its rows stay 0 ≥ 0
      row += kRowsPerSupport;
      continue;
    }
    const int tx = nv + 6 * s, ty = tx + 1, tz = tx + 2, fx = tx + 3, fy = tx + 4, fz = tx + 5;
    const double mu = support.limits.friction / std::sqrt(2.0), spin = 0.5 * mu;
    const double X = std::max(support.sole.half_length - support.limits.inset, 0.0);
    const double Y = std::max(support.sole.half_width - support.limits.inset, 0.0);
    C(row, fz) = 1;
    c_lower[row] = support.limits.least / unit;
    c_upper[row++] = std::max(support.limits.most, support.limits.least) / unit;
    const struct {
      int column;
      double ratio;
    } bounds[] = {{fx, mu}, {fy, mu}, {ty, X}, {tx, Y}};
    for (const auto& [column, ratio] : bounds) {
      for (const double sign : {1.0, -1.0}) {
        const bool is_moment = column == tx || column == ty;
        if (is_moment &&
            (support.limits.kind == SupportKind::kPoint || (column == ty && support.limits.pivot != Edge::kNone))) {
          ++row;  // 0 ≥ 0: an equation says it
          continue;
        }
        C(row, fz) = ratio;
        C(row++, column) = sign;
      }
    }
    if (support.limits.kind == SupportKind::kPoint) {
      row += 8;
      continue;
    }
    for (const double side : {1.0, -1.0}) {
      for (const double a : {1.0, -1.0}) {
        for (const double b : {1.0, -1.0}) {
          C(row, fz) = spin * (X + Y);
          C(row, tz) = -side;
          C(row, fx) = a * Y, C(row, tx) = a * side * spin;
          C(row, fy) = b * X, C(row++, ty) = b * side * spin;
        }
      }
    }
  }
  for (const int i : limited) {
    C.row(row).head(nv) = M.row(i) / unit;
    for (int s = 0; s < support_count; ++s) {
      C.row(row).segment(nv + 6 * s, 6) = -supports[size_t(s)].J.col(i).transpose();
    }
    c_lower[row] = (-model.effort_limit()[i] - c[i]) / unit;
    c_upper[row++] = (model.effort_limit()[i] - c[i]) / unit;
  }
}

/// v̇ ≥ −2α·v − α²·(q − lower): a coordinate that obeys it never reaches the end, whatever its speed.
void WholeBody::Impl::add_limits() {
  if (!options.position_limits) return;
  const double alpha = options.limit_rate;
  for (int j = 0; j < model.joint_count(); ++j) {
    const CoordinateRange range = model.coordinates(JointId{j});
    if (range.nq != 1) continue;
    const double q = state.q[range.q], v = state.v[range.v];
    const double low = model.lower_position()[range.q], high = model.upper_position()[range.q];
    lower[range.v] = std::isfinite(low) ? -2 * alpha * v - alpha * alpha * (q - low) : -kInf;
    upper[range.v] = std::isfinite(high) ? -2 * alpha * v + alpha * alpha * (high - q) : kInf;
    // Past the end the way back must not be asked for faster than the other side allows.
    if (lower[range.v] > upper[range.v]) lower[range.v] = upper[range.v] = 0.5 * (lower[range.v] + upper[range.v]);
  }
}

/// Where tasks leave forces or accelerations free, small ones.
void WholeBody::Impl::add_regularisation() {
  const double force = std::sqrt(options.force_weight), motion = std::sqrt(options.motion_weight);
  for (int i = 0; i < nv; ++i) cost.A(cost.add(0), i) = motion;
  for (int s = 0; s < support_count; ++s) {
    const Support& support = supports[size_t(s)];
    // A moment of f·reach weighs as much as f.
    const double arm = 1 / std::max(0.5 * (support.sole.half_length + support.sole.half_width), 1e-3);
    for (int k = 0; k < 6; ++k) cost.A(cost.add(0), nv + 6 * s + k) = k < 3 ? force * arm : force;
  }
}

void WholeBody::Impl::read_solution() {
  result.vdot = x.head(nv);
  result.tau.noalias() = M * result.vdot;
  result.tau += c;
  result.wrenches.clear(), result.pressure.clear();
  for (int s = 0; s < support_count; ++s) {
    const Support& support = supports[size_t(s)];
    const Vector6d f = unit * x.segment<6>(nv + 6 * s);
    result.tau.noalias() -= support.J.transpose() * f;
    const Force<> wrench = to_force(f);
    const bool carries = wrench.f.z > 1e-9 * unit;
    const Vec3<> p_S = carries ? Vec3<>{-wrench.t.y / wrench.f.z, wrench.t.x / wrench.f.z, 0} : Vec3<>{};
    result.wrenches.push_back(wrench);
    result.pressure.push_back(support.X_WS * p_S);
  }
  result.tau.head(base).setZero();
}

void WholeBody::forget() { impl_->solver.forget(); }

const WholeBodyResult& WholeBody::solve() {
  Impl& m = *impl_;
  m.add_equations_of_motion();
  m.add_inequalities();
  m.add_limits();
  m.add_regularisation();
  const QpReport report =
      m.solver.solve(m.unknowns(m.support_count), m.cost, m.exact, m.lower, m.upper, m.C,
                     kRowsPerSupport * m.support_count + int(m.limited.size()), m.c_lower, m.c_upper, m.x);
  m.result.changes = report.changes;
  m.result.given_up = report.given_up;
  m.result.status = !report.converged     ? WholeBodyResult::Status::kNotConverged
                    : report.given_up > 0 ? WholeBodyResult::Status::kInfeasible
                                          : WholeBodyResult::Status::kSolved;
  m.read_solution();
  return m.result;
}

}  // namespace kansetsu
