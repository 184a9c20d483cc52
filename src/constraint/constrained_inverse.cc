#include <fmt/format.h>

#include <algorithm>

#include "constraint/constrained_impl.h"
#include "kansetsu/base/error.h"

namespace kansetsu {

ConstrainedTorque::ConstrainedTorque(const Model& model, const Constraints& constraints)
    : tau(Eigen::VectorXd::Zero(model.nv())), lambda(Eigen::VectorXd::Zero(constraints.rows())) {}

/// Of the rows of M·v̇ + c = τ + Jᵀ·λ those without a motor, J_pᵀ·λ = r_p, by λ = J_p·B⁺·r_p with B = J_pᵀ·J_p; the others give τ.
void constrained_rnea(const Model& model, const State& state, const VectorRef& vdot, const Constraints& constraints,
                      std::span<const int> passive, ConstrainedWorkspace& work, ConstrainedTorque& out,
                      const ExternalForces* external) {
  const char* function = "constrained_rnea";
  auto& w = work.impl();
  const int rows = constraints.rows(), nv = model.nv();
  check_size(function, "vdot", vdot.size(), nv);
  check_size(function, "the result's tau", out.tau.size(), nv);
  check_size(function, "the result's lambda", out.lambda.size(), rows);
  w.place(function, model, state, constraints);

  w.undriven.clear();
  for (int k = 0; model.base() == Base::kFree && k < 6; ++k) w.undriven.push_back(k);
  for (const int k : passive) {
    if (k < 0 || k >= nv)
      throw Error(fmt::format("{}: passive names coordinate {} of v, but '{}' has {}", function, k, model.name(), nv));
    if (std::find(w.undriven.begin(), w.undriven.end(), k) == w.undriven.end()) w.undriven.push_back(k);
  }
  const int count = int(w.undriven.size());
  if (w.inverse_J.rows() != rows || w.inverse_J.cols() != nv) w.inverse_J.resize(rows, nv);
  Eigen::MatrixXd& J = w.inverse_J;
  if (w.square.size() < long(count) * count) w.square.resize(long(count) * count);
  if (w.right_side.size() < count) w.right_side.resize(count), w.answer.resize(count);
  w.write_jacobian(constraints, J);
  rnea(model, state, vdot, w.work, out.tau, external);

  for (int i = 0; i < count; ++i) {
    for (int j = 0; j < count; ++j)
      w.square[long(i) * count + j] = J.col(w.undriven[size_t(i)]).dot(J.col(w.undriven[size_t(j)]));
    w.right_side[i] = -out.tau[w.undriven[size_t(i)]];
  }
  w.elimination.eliminate(w.square.data(), count, count, count, 0);
  w.elimination.hold(w.right_side.data(), nullptr);
  w.elimination.forces(nullptr, w.answer.data());
  out.lambda.setZero();
  for (int i = 0; i < count; ++i) out.lambda += w.answer[i] * J.col(w.undriven[size_t(i)]);
  out.tau.noalias() -= J.transpose() * out.lambda;
  out.missing = 0;
  for (const int k : w.undriven) {
    out.missing = std::max(out.missing, std::abs(out.tau[k]));
    out.tau[k] = 0;
  }
  out.violation = 0;
  const auto compare = [&](int row, double drift, double wanted) {
    out.violation = std::max(out.violation, std::abs(J.row(row).dot(vdot) + drift - wanted));
  };
  for (size_t i = 0; i < w.frames.size(); ++i) {
    const PlacedFrame& f = w.frames[i];
    const FrameMotion6 motion = frame_motion(f.a, f.b, f.E, f.p_W);
    int row = f.row;
    for (size_t k = 0; k < 6; ++k) {
      if (f.mask >> k & 1) compare(row++, motion.drift[(k + 3) % 6], constraints.frames[i].acceleration[k]);
    }
  }
  int row = rows - int(constraints.coordinates.size());
  for (const CoordinateConstraint& c : constraints.coordinates) compare(row++, 0, c.acceleration);
}
ConstrainedTorque constrained_rnea(const Model& model, const State& state, const VectorRef& vdot,
                                   const Constraints& constraints, std::span<const int> passive,
                                   const ExternalForces* external) {
  ConstrainedWorkspace work(model, constraints);
  ConstrainedTorque out(model, constraints);
  constrained_rnea(model, state, vdot, constraints, passive, work, out, external);
  return out;
}

}  // namespace kansetsu
