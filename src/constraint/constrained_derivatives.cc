#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include "constraint/constrained_impl.h"
#include "dynamics/external.h"
#include "dynamics/kernel_table.h"
#include "kansetsu/base/error.h"

/// Derivatives of M·v̇ + c = τ + Jᵀ·λ, r = J·v̇ + J̇·v = wanted: with those of the tree at the same v̇ (aba_derivatives), and the change
/// of Jᵀ·λ and of r at fixed λ and v̇ column by column, what is left is linear:
///   δv̇ = δv̇_tree + M⁻¹·(∂(Jᵀ·λ) + Jᵀ·δλ),   G·δλ = −(∂r + J·(δv̇_tree + M⁻¹·∂(Jᵀ·λ))).
/// docs/theory/constrained.md.
///
/// Symbols, all at O in world axes
///   S_j        motion of column j             V_i, A_i   velocity and acceleration of body i (without gravity)
///   λ(j)       what carries the body B(j) of column j
///   W, B       V_b − V_a and its rate as a sees it, A_b − A_a − V_a×W
///   x″, p      acceleration that a sees of the point p of b; E axes fixed to a; r = Eᵀ·[B.w; x″]
namespace kansetsu {
namespace {

/// How row accelerations of one frame change with one column: [turns; shifts] in world axes.
struct RowChange {
  Vec3<> turn, shift;
};

/// One frame, its ends' motions at v̇, and its force.
struct FrameAt {
  Vec3<> p;
  Motion<> V_a, V_b, A_a, A_b, W, B;
  Vec3<> u;     ///< velocity of p that a sees
  Vec3<> x2;    ///< x″
  Force<> F;    ///< on b, at O
  Vec3<> m, f;  ///< the same at p

  /// Change of r for changes of V_b, A_b (δW, δB), of p and of the axes, which turn by `turned`.
  RowChange rows(const Motion<>& dW, const Motion<>& dB, const Vec3<>& dp, const Vec3<>& turned) const {
    const Vec3<> du = dW.v + cross(dW.w, p) + cross(W.w, dp);
    const Vec3<> shift = dB.v + cross(dB.w, p) + cross(B.w, dp) + cross(dW.w, u) + cross(W.w, du);
    return {dB.w - cross(turned, B.w), shift - cross(turned, x2)};
  }
  /// Change of J·z, for velocities z with W_z = Z_b − Z_a.
  RowChange velocities(const Motion<>& W_z, const Motion<>& dW, const Vec3<>& dp, const Vec3<>& turned) const {
    const Vec3<> shift = W_z.v + cross(W_z.w, p);
    return {dW.w - cross(turned, W_z.w), dW.v + cross(dW.w, p) + cross(W_z.w, dp) - cross(turned, shift)};
  }
};

/// Everything of one call.
class ConstrainedLinearisation {
 public:
  ConstrainedLinearisation(ConstrainedWorkspace::Impl& work, const Constraints& constraints, const Model& model)
      : w_(work), constraints_(constraints), tree_(work.mechanics.tree()), nv_(model.nv()), rows_(constraints.rows()) {
    const auto fit = [](Eigen::MatrixXd& X, long rows, long columns) {
      if (X.rows() != rows || X.cols() != columns) X = Eigen::MatrixXd::Zero(rows, columns);
    };
    padded_ = kernel::padded_rows(rows_);
    for (Eigen::MatrixXd* X : {&w_.J, &w_.row_dq, &w_.row_dv, &w_.turned, &w_.sum, &w_.lambda}) fit(*X, padded_, nv_);
    for (Eigen::MatrixXd* X : {&w_.free_dq, &w_.free_dv, &w_.M_inv, &w_.force_dq, &w_.forced_dq}) fit(*X, nv_, nv_);
    for (Eigen::MatrixXd* X : {&w_.inverse, &w_.answer_square, &w_.delassus, &w_.projector}) fit(*X, padded_, padded_);
    fit(w_.K, nv_, padded_);
    for (auto& motions : w_.motions) motions.resize(size_t(tree_.body_count));
    if (w_.answer.size() < padded_) w_.answer.resize(padded_);
    w_.counting.resize(size_t(std::max(nv_, padded_)));
    std::iota(w_.counting.begin(), w_.counting.end(), 0);
  }

  void run(const Model& model, const State& state, const ExternalForces* external, ConstrainedDerivatives& out) {
    linearise_rows(out.forward);
    linearise_tree(model, state, out.forward.vdot, external);
    invert_delassus();
    if (out.forward.rank < rows_) turn_null_space(out.forward.lambda);
    solve(out);
  }

 private:
  Motion<> velocity(int body) const { return w_.mechanics.velocity(body); }
  Motion<> acceleration(int body) const { return body < 0 ? Motion<>{} : w_.motions[0][size_t(body)]; }

  FrameAt place(const PlacedFrame& f, const Eigen::VectorXd& lambda) const {
    FrameAt at{};
    at.p = f.p_W - w_.mechanics.origin();
    at.V_a = velocity(f.a.body), at.V_b = velocity(f.b.body);
    at.A_a = acceleration(f.a.body), at.A_b = acceleration(f.b.body);
    at.W = at.V_b - at.V_a;
    at.B = at.A_b - at.A_a - cross(at.V_a, at.W);
    at.u = at.W.v + cross(at.W.w, at.p);
    at.x2 = at.B.v + cross(at.B.w, at.p) + cross(at.W.w, at.u);
    double along[6] = {};
    for (int k = 0, row = f.row; k < 6; ++k) {
      if (f.mask >> k & 1) along[k] = lambda[row++];
    }
    at.m = f.E * Vec3<>{along[0], along[1], along[2]};
    at.f = f.E * Vec3<>{along[3], along[4], along[5]};
    at.F = {at.m + cross(at.p, at.f), at.f};
    return at;
  }

  /// Every row of a frame and column of the tree once; with gears several columns of the tree add up to one of v.
  void add_rows(Eigen::MatrixXd& X, const PlacedFrame& f, int k, const RowChange& change) const {
    if (f.mask == kPointMask && f.along_world && tree_.columns.ordered) {
      double* to = X.data() + k * padded_ + f.row;
      to[0] = change.shift.x, to[1] = change.shift.y, to[2] = change.shift.z;
      return;
    }
    w_.visit_terms(k, [&](int to, double ratio) {
      take_rows(f, change.turn, change.shift, [&](int n, double x) { X(f.row + n, to) += ratio * x; });
    });
  }

  /// J, ∂r/∂q, ∂r/∂v and ∂(Jᵀ·λ)/∂q. A turn of b relative to a by column j carries along all that lies between j and b.
  void linearise_rows(const ConstrainedMotion& forward) {
    w_.mechanics.body_motions(forward.vdot.data(), w_.motions[0].data());
    for (int i = 0; i < tree_.body_count; ++i) w_.motions[0][size_t(i)] += w_.mechanics.drift(i);
    w_.J.setZero();
    w_.write_coordinate_rows(constraints_, w_.J.topRows(rows_));
    w_.moves.assign(size_t(nv_), 0);
    for (const CoordinateConstraint& c : constraints_.coordinates) {
      for (const CoordinateConstraint::Term& t : c.terms) w_.moves[size_t(t.column)] = 1;
    }
    w_.row_dq.setZero();
    w_.row_dv.setZero();
    turns_ = std::ranges::any_of(w_.frames, [](const PlacedFrame& f) { return f.a.figure != nullptr; });
    if (turns_) w_.force_dq.setZero();
    w_.wrenches.clear();
    for (const PlacedFrame& f : w_.frames) {
      const FrameAt at = place(f, forward.lambda);
      w_.visit_bodies(f, [&](int body, double sign) {
        linearise_body(f, at, body, sign);
        const Body& b = tree_.bodies[body];
        for (int j = b.u; j < b.u + b.nu; ++j) w_.visit_terms(j, [&](int to, double) { w_.moves[size_t(to)] = 1; });
      });
      if (!f.a.figure && f.b.body >= 0) w_.wrenches.push_back({f.b.body, f.p_W, at.m, at.f});
    }
  }

  void linearise_body(const PlacedFrame& f, const FrameAt& at, int body, double sign) {
    const Body& b = tree_.bodies[body];
    const bool of_b = sign > 0;
    if (!f.a.figure) return linearise_held(f, at, body);
    const Motion<> V_end = of_b ? at.V_b : at.V_a, A_end = of_b ? at.A_b : at.A_a;
    const Motion<> V_carrier = velocity(b.parent), V_own = velocity(body);
    for (int j = b.u; j < b.u + b.nu; ++j) {
      const Motion<> S = w_.column(j);
      const Motion<> V_dq = cross(S, V_end - V_carrier);
      const Motion<> A_dq = cross(S, A_end - acceleration(b.parent)) + cross(cross(V_carrier, S), V_end - V_carrier);
      const Motion<> A_dv = cross(S, V_end - V_carrier - V_own);
      const Vec3<> dp = S.v + cross(S.w, at.p);
      Force<> dF;
      if (of_b) {
        add_rows(w_.J, f, j, {S.w, dp});
        add_rows(w_.row_dq, f, j, at.rows(V_dq, A_dq - cross(at.V_a, V_dq), dp, {}));
        add_rows(w_.row_dv, f, j, at.rows(S, A_dv - cross(at.V_a, S), {}, {}));
        dF = {cross(dp, at.f), {}};
      } else {
        const auto by_a = [&](const Motion<>& dV, const Motion<>& dA, const Vec3<>& turned) {
          return at.rows(-dV, cross(at.V_a, dV) - dA - cross(dV, at.W), {}, turned);
        };
        add_rows(w_.J, f, j, {-S.w, -dp});
        add_rows(w_.row_dq, f, j, by_a(V_dq, A_dq, S.w));
        add_rows(w_.row_dv, f, j, by_a(S, A_dv, {}));
        const Vec3<> df = cross(S.w, at.f);
        dF = {cross(S.w, at.m) + cross(at.p, df), df};
      }
      linearise_force(f, at, body, j, S, of_b, dF);
    }
  }

  /// A frame that the world holds. What hangs on column j is carried by a field of displacements S that moves with the carrier:
  /// Ψ̇ = V_λ×S, Ψ̈ = A_λ×S + V_λ×Ψ̇. With M(p) = M.v + M.w×p, along it x changes by S(p), and so
  ///   ẋ by Ψ̇(p) + S.w×ẋ,   x″ by Ψ̈(p) + 2·Ψ̇.w×ẋ + S.w×x″;   by q̇_j x″ changes by σ(p) + 2·S.w×ẋ, σ = (V_λ + V_own)×S.
  /// What its force does is in linearise_tree.
  void linearise_held(const PlacedFrame& f, const FrameAt& at, int body) {
    const Body& b = tree_.bodies[body];
    const bool moves = b.parent >= 0;  // the carrier
    const Motion<> V = velocity(b.parent), A = acceleration(b.parent), V_sum = V + velocity(body);
    const auto at_point = [&](const Motion<>& M) { return M.v + cross(M.w, at.p); };
    for (int j = b.u; j < b.u + b.nu; ++j) {
      const Motion<> S = w_.column(j);
      add_rows(w_.J, f, j, {S.w, at_point(S)});
      RowChange by_q{cross(S.w, at.B.w), cross(S.w, at.x2)};
      Motion<> sigma;
      if (moves) {
        const Motion<> rate = cross(V, S), rate2 = cross(A, S) + cross(V, rate);
        by_q.turn += rate2.w + cross(rate.w, at.W.w);
        by_q.shift += at_point(rate2) + 2 * cross(rate.w, at.u);
        sigma = b.nu == 1 ? rate + rate : cross(V_sum, S);  // S×S = 0
      } else {
        sigma = cross(V_sum, S);
      }
      add_rows(w_.row_dq, f, j, by_q);
      add_rows(w_.row_dv, f, j, {sigma.w + cross(S.w, at.W.w), at_point(sigma) + 2 * cross(S.w, at.u)});
    }
  }

  /// Column j of ∂(Jᵀ·λ)/∂q: the force changes by dF, and axes that j carries on its side turn with S:
  /// (S×S_k)·F = −S_k·(S×F).
  void linearise_force(const PlacedFrame& f, const FrameAt& at, int body, int j, const Motion<>& S, bool of_b,
                       const Force<>& dF) {
    const Force<> carried = dF - cross(S, at.F);
    w_.visit_bodies(f, [&](int other, double sign) {
      const Body& o = tree_.bodies[other];
      const Force<>& change = (sign > 0) == of_b && other >= body ? carried : dF;
      for (int k = o.u; k < o.u + o.nu; ++k) {
        const double x = sign * dot(w_.column(k), change);
        w_.visit_terms(k, [&](int row, double ratio_k) {
          w_.visit_terms(j, [&](int to, double ratio) { w_.force_dq(row, to) += ratio_k * ratio * x; });
        });
      }
    });
  }

  /// Forces of frames that the world holds keep their axes, as external ones do: they go with the tree.
  void linearise_tree(const Model& model, const State& state, const Eigen::VectorXd& vdot,
                      const ExternalForces* external) {
    Carver<double> carver(w_.work.data());
    const double* fext = world_wrenches(model, state.q, external, carver, w_.wrenches);
    kernel::dynamics().aba_derivatives(tree_, state.q.data(), state.v.data(), vdot.data(), fext, carver.rest(),
                                       w_.free_dq.data(), w_.free_dv.data(), w_.M_inv.data());
    w_.moved.clear();
    for (int k = 0; k < nv_; ++k) {
      if (w_.moves[size_t(k)] != 0) w_.moved.push_back(k);
    }
    multiply(w_.M_inv, w_.moved, w_.J, Turned::kYes, nullptr, w_.K, 1, first(rows_));
    if (!turns_) return;
    w_.forced_dq = w_.free_dq;
    multiply(w_.M_inv, w_.moved, w_.force_dq, Turned::kNo, &w_.free_dq, w_.forced_dq, 1, w_.moved);
  }

  enum class Turned { kNo, kYes };
  /// out = (add) + scale·A·B, or A·Bᵀ, over the inner indices `inner`; all columns, or only `targets`.
  static void multiply(const Eigen::MatrixXd& A, std::span<const int> inner, const Eigen::MatrixXd& B, Turned turned,
                       const Eigen::MatrixXd* add, Eigen::MatrixXd& out, double scale = 1,
                       std::span<const int> targets = {}) {
    const bool by_rows = turned == Turned::kYes;
    kernel::mechanics().multiply({.rows = int(out.rows()),
                                  .columns = targets.empty() ? int(out.cols()) : int(targets.size()),
                                  .targets = targets.empty() ? nullptr : targets.data(),
                                  .scale = scale,
                                  .A = A.data(),
                                  .A_stride = int(A.rows()),
                                  .inner = inner.data(),
                                  .inner_count = int(inner.size()),
                                  .B = B.data(),
                                  .B_row = by_rows ? int(B.rows()) : 1,
                                  .B_column = by_rows ? 1 : int(B.rows()),
                                  .C = add ? add->data() : nullptr,
                                  .out = out.data(),
                                  .out_stride = int(out.rows())});
  }
  std::span<const int> first(int count) const { return {w_.counting.data(), size_t(count)}; }

  /// G⁺, for right sides that forces can bring about, in the order of the constraints.
  void invert_delassus() {
    w_.island.invert_bilateral(w_.answer_square.data(), padded_);
    for (int r = 0; r < rows_; ++r) {
      const double* from = w_.answer_square.data() + r * padded_;
      double* to = w_.inverse.data() + w_.row_of[size_t(r)] * padded_;
      for (int i = 0; i < rows_; ++i) to[w_.row_of[size_t(i)]] = from[i];
      for (int i = rows_; i < padded_; ++i) to[i] = 0;
    }
  }

  /// Forces of least norm stay at right angles to those that do nothing, and these turn with q: δλ has a part
  /// (1 − G⁺·G)·∂(J·z)/∂q with z = M⁻¹·Jᵀ·G⁺·λ.
  void turn_null_space(const Eigen::VectorXd& lambda) {
    Eigen::VectorXd& z = w_.nv_sized;
    w_.answer.head(rows_).noalias() = w_.inverse.topLeftCorner(rows_, rows_) * lambda;
    z.noalias() = w_.K.leftCols(rows_) * w_.answer.head(rows_);
    w_.mechanics.body_motions(z.data(), w_.motions[1].data());
    const auto motion = [&](int body) { return body < 0 ? Motion<>{} : w_.motions[1][size_t(body)]; };
    w_.turned.setZero();
    for (const PlacedFrame& f : w_.frames) {
      const FrameAt at = place(f, lambda);
      const Motion<> Z_a = motion(f.a.body), Z_b = motion(f.b.body);
      w_.visit_bodies(f, [&](int body, double sign) {
        const Body& b = tree_.bodies[body];
        for (int j = b.u; j < b.u + b.nu; ++j) {
          const Motion<> S = w_.column(j), dZ = cross(S, (sign > 0 ? Z_b : Z_a) - motion(b.parent));
          const Motion<> dW = sign > 0 ? dZ : -dZ;
          const Vec3<> dp = sign > 0 ? S.v + cross(S.w, at.p) : Vec3<>{}, axes = sign > 0 ? Vec3<>{} : S.w;
          add_rows(w_.turned, f, j, at.velocities(Z_b - Z_a, dW, dp, axes));
        }
      });
    }
    const double* G = w_.island.delassus();
    for (int r = 0; r < rows_; ++r) {
      for (int i = 0; i < rows_; ++i)
        w_.delassus(w_.row_of[size_t(i)], w_.row_of[size_t(r)]) = G[i * w_.island.stride() + r];
    }
    w_.projector.setZero();
    w_.projector.topLeftCorner(rows_, rows_).setIdentity();
    for (int c = 0; c < rows_; ++c)
      w_.projector.col(c).head(rows_).noalias() -=
          w_.inverse.topLeftCorner(rows_, rows_) * w_.delassus.col(c).head(rows_);
  }

  void solve(ConstrainedDerivatives& out) {
    const Eigen::MatrixXd& forced_dq = turns_ ? w_.forced_dq : w_.free_dq;
    multiply(w_.J, w_.moved, forced_dq, Turned::kNo, &w_.row_dq, w_.sum);
    multiply(w_.inverse, first(rows_), w_.sum, Turned::kNo, nullptr, w_.lambda, -1);
    if (out.forward.rank < rows_) {
      w_.sum = w_.lambda;
      multiply(w_.projector, first(rows_), w_.turned, Turned::kNo, &w_.sum, w_.lambda);
    }
    finish(forced_dq, out.lambda_dq, out.vdot_dq);
    multiply(w_.J, w_.moved, w_.free_dv, Turned::kNo, &w_.row_dv, w_.sum);
    multiply(w_.inverse, first(rows_), w_.sum, Turned::kNo, nullptr, w_.lambda, -1);
    finish(w_.free_dv, out.lambda_dv, out.vdot_dv);
    multiply(w_.inverse, first(rows_), w_.K, Turned::kYes, nullptr, w_.lambda, -1);
    finish(w_.M_inv, out.lambda_dtau, out.vdot_dtau);
  }
  /// δλ is in `lambda`: δv̇ = δv̇_free + K·δλ.
  void finish(const Eigen::MatrixXd& free, Eigen::MatrixXd& lambda, Eigen::MatrixXd& vdot) {
    lambda = w_.lambda.topRows(rows_);
    multiply(w_.K, first(rows_), w_.lambda, Turned::kNo, &free, vdot);
  }

  ConstrainedWorkspace::Impl& w_;
  const Constraints& constraints_;
  const TreeView& tree_;
  const int nv_, rows_;
  int padded_ = 0;
  bool turns_ = false;  ///< some force turns with a link
};

}  // namespace

ConstrainedDerivatives::ConstrainedDerivatives(const Model& model, const Constraints& constraints)
    : forward(model, constraints),
      vdot_dq(Eigen::MatrixXd::Zero(model.nv(), model.nv())),
      vdot_dv(vdot_dq),
      vdot_dtau(vdot_dq),
      lambda_dq(Eigen::MatrixXd::Zero(constraints.rows(), model.nv())),
      lambda_dv(lambda_dq),
      lambda_dtau(lambda_dq) {}

void constrained_aba_derivatives(const Model& model, const State& state, const VectorRef& tau,
                                 const Constraints& constraints, ConstrainedWorkspace& work,
                                 ConstrainedDerivatives& out, const ExternalForces* external) {
  const char* function = "constrained_aba_derivatives";
  auto& w = work.impl();
  check_size(function, "tau", tau.size(), model.nv());
  check_size(function, "the result's vdot_dq", out.vdot_dq.rows(), model.nv());
  check_size(function, "the result's lambda", out.forward.lambda.size(), constraints.rows());
  w.place(function, model, state, constraints);
  out.forward.status = w.factorise(function, tau.data(), external, out.forward.singular);
  w.assemble(state, constraints, std::numeric_limits<int>::max());
  w.solve(constraints, out.forward);
  if (out.forward.status != Status::kOk) {
    for (Eigen::MatrixXd* X :
         {&out.vdot_dq, &out.vdot_dv, &out.vdot_dtau, &out.lambda_dq, &out.lambda_dv, &out.lambda_dtau})
      X->setZero();
    return;
  }
  ConstrainedLinearisation(w, constraints, model).run(model, state, external, out);
}
ConstrainedDerivatives constrained_aba_derivatives(const Model& model, const State& state, const VectorRef& tau,
                                                   const Constraints& constraints, const ExternalForces* external) {
  ConstrainedWorkspace work(model, constraints);
  ConstrainedDerivatives out(model, constraints);
  constrained_aba_derivatives(model, state, tau, constraints, work, out, external);
  return out;
}

}  // namespace kansetsu
