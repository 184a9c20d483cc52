#include "kansetsu/motion/generation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/jacobian.h"
#include "kansetsu/spatial/eigen.h"
#include "motion/levels.h"

/// Symbols: M v̇ + c = Hᵀλ + Sᵀτ_J,  H v̇ = a_H.  S picks the joints: a free base has no motors.
namespace kansetsu {
namespace {

/// What is met up to this, relative to the right side, is met: solves lose 10⁻¹², tasks are given with fewer digits.
constexpr double kMet = 1e-8;

struct Equations {
  Eigen::MatrixXd M;
  Eigen::VectorXd c;
  Eigen::MatrixXd H;  ///< one row per held direction, along the axes of its hold
  Eigen::VectorXd a_H;
  int base = 0;  ///< coordinates without motors, in front

  int nv() const { return int(M.rows()); }
  int held() const { return int(H.rows()); }
  int joints() const { return nv() - base; }
};

int row_count(const HeldFrame& hold) { return __builtin_popcount(hold.mask & kWeldMask); }

void add_rows(const Model& model, const State& state, const HeldFrame& hold, int row, Equations& out) {
  const AccelerationRows all = frame_rows(model, state, hold.frame, hold.acceleration);
  Eigen::Matrix<double, 6, 6> E = Eigen::Matrix<double, 6, 6>::Zero();
  E.topLeftCorner<3, 3>() = E.bottomRightCorner<3, 3>() = to_eigen(hold.axes).transpose();
  for (int k = 0; k < 6; ++k) {
    if (!(hold.mask >> k & 1)) continue;
    out.H.row(row) = E.row(k) * all.J;
    out.a_H[row++] = E.row(k).dot(all.a);
  }
}

Equations equations(const Model& model, const State& state, const GenerationProblem& problem) {
  Workspace work(model);
  int held = 0;
  for (const HeldFrame& hold : problem.holds) held += row_count(hold);
  const int nv = model.nv();
  Equations out{Eigen::MatrixXd(nv, nv), Eigen::VectorXd(nv), Eigen::MatrixXd(held, nv), Eigen::VectorXd(held),
                model.base_coordinates().nv};
  crba(model, state.q, work, out.M);
  bias(model, state, work, out.c);
  int row = 0;
  for (const HeldFrame& hold : problem.holds) {
    add_rows(model, state, hold, row, out);
    row += row_count(hold);
  }
  return out;
}

/// Tasks of one level are one block.
struct TaskLevel {
  std::string name;
  Eigen::MatrixXd J;
  Eigen::VectorXd a;
};

std::vector<TaskLevel> task_levels(const GenerationProblem& problem, int nv) {
  std::vector<const GenerationTask*> order;
  for (const GenerationTask& task : problem.tasks) order.push_back(&task);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) { return a->level < b->level; });
  std::vector<TaskLevel> levels;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const AccelerationRows& rows = order[i]->rows;
    if (i == 0 || order[i]->level != order[i - 1]->level) {
      levels.push_back({rows.name, rows.J, rows.a});
      continue;
    }
    TaskLevel& level = levels.back();
    level.name += ", " + rows.name;
    const long before = level.J.rows();
    level.J.conservativeResize(before + rows.J.rows(), nv);
    level.a.conservativeResize(before + rows.a.size());
    level.J.bottomRows(rows.J.rows()) = rows.J;
    level.a.tail(rows.a.size()) = rows.a;
  }
  return levels;
}

void check(const Model& model, const State& state, const GenerationProblem& problem) {
  const int nv = model.nv();
  if (state.q.size() != model.nq() || state.v.size() != nv) {
    throw Error(fmt::format("generate: a state of {} and {} numbers, '{}' has {} and {}", state.q.size(),
                            state.v.size(), model.name(), model.nq(), nv));
  }
  for (const GenerationTask& task : problem.tasks) {
    if (task.rows.J.cols() != nv || task.rows.J.rows() != task.rows.a.size()) {
      throw Error(fmt::format("generate: task '{}' has a {} × {} matrix and {} numbers for {} coordinates",
                              task.rows.name, task.rows.J.rows(), task.rows.J.cols(), task.rows.a.size(), nv));
    }
  }
  const GenerationWeights& w = problem.weights;
  if (!(w.acceleration > 0 && w.force > 0 && w.torque > 0)) {
    throw Error(fmt::format("generate: weights must be positive, not {}, {}, {}", w.acceleration, w.force, w.torque));
  }
  if (w.wish.size() != 0 && w.wish.size() != nv)
    throw Error(fmt::format("generate: {} desired accelerations for {} coordinates", w.wish.size(), nv));
}

Eigen::VectorXd wished(const GenerationWeights& weights, int nv) {
  return weights.wish.size() ? weights.wish : Eigen::VectorXd(Eigen::VectorXd::Zero(nv));
}

/// The weights as a last level over z = [v̇; λ]; torques are what the joints' equations of motion ask for.
DenseLevel weight_level(const Equations& e, const GenerationWeights& weights) {
  const int nv = e.nv(), held = e.held(), joints = e.joints();
  const double wa = std::sqrt(weights.acceleration), wf = std::sqrt(weights.force), wt = std::sqrt(weights.torque);
  DenseLevel out{Eigen::MatrixXd::Zero(nv + held + joints, nv + held), Eigen::VectorXd::Zero(nv + held + joints)};
  out.A.topLeftCorner(nv, nv).diagonal().setConstant(wa);
  out.b.head(nv) = wa * wished(weights, nv);
  out.A.block(nv, nv, held, held).diagonal().setConstant(wf);
  out.A.bottomLeftCorner(joints, nv) = wt * e.M.bottomRows(joints);
  out.A.bottomRightCorner(joints, held) = -wt * e.H.rightCols(joints).transpose();
  out.b.tail(joints) = -wt * e.c.tail(joints);
  return out;
}

struct Solution {
  Eigen::VectorXd vdot, lambda;
};

Solution by_levels(const Equations& e, const std::vector<TaskLevel>& tasks, const GenerationWeights& weights,
                   Generated& out) {
  const int nv = e.nv(), held = e.held(), z = nv + held;
  std::vector<DenseLevel> levels;
  DenseLevel motion{Eigen::MatrixXd::Zero(e.base + held, z), Eigen::VectorXd(e.base + held)};
  motion.A.topLeftCorner(e.base, nv) = e.M.topRows(e.base);
  motion.A.topRightCorner(e.base, held) = -e.H.leftCols(e.base).transpose();
  motion.A.bottomLeftCorner(held, nv) = e.H;
  motion.b << -e.c.head(e.base), e.a_H;
  levels.push_back(std::move(motion));
  for (const TaskLevel& task : tasks) {
    DenseLevel level{Eigen::MatrixXd::Zero(task.J.rows(), z), task.a};
    level.A.leftCols(nv) = task.J;
    levels.push_back(std::move(level));
  }
  levels.push_back(weight_level(e, weights));
  std::vector<LevelOutcome> outcomes;
  const Eigen::VectorXd x = solve_levels(levels, z, outcomes);
  out.rank = e.joints();  // each joint's own equation of motion gives its torque
  for (std::size_t k = 0; k + 1 < levels.size(); ++k) {
    const int joint_rows = k == 0 ? e.joints() : 0;
    out.levels.push_back({k == 0 ? "motion" : tasks[k - 1].name, int(levels[k].A.rows()) + joint_rows,
                          outcomes[k].rank + joint_rows, outcomes[k].residual});
    out.rank += outcomes[k].rank;
  }
  return {x.head(nv), x.tail(held)};
}

/// [M −Hᵀ −Sᵀ; H 0 0; J 0 0]·[v̇; λ; τ_J] = [−c; a_H; a]
Solution by_pseudo_inverse(const Equations& e, const std::vector<TaskLevel>& tasks, const GenerationWeights& weights,
                           Generated& out) {
  const int nv = e.nv(), held = e.held(), joints = e.joints(), n = nv + held + joints;
  int rows = nv + held;
  for (const TaskLevel& task : tasks) rows += int(task.a.size());
  Eigen::MatrixXd A = Eigen::MatrixXd::Zero(rows, n);
  Eigen::VectorXd r(rows), weight(n), wish = Eigen::VectorXd::Zero(n);
  A.topLeftCorner(nv, nv) = e.M;
  A.block(0, nv, nv, held) = -e.H.transpose();
  A.block(e.base, nv + held, joints, joints).diagonal().setConstant(-1);
  A.block(nv, 0, held, nv) = e.H;
  r.head(nv) = -e.c;
  r.segment(nv, held) = e.a_H;
  int row = nv + held;
  for (const TaskLevel& task : tasks) {
    A.block(row, 0, task.J.rows(), nv) = task.J;
    r.segment(row, task.a.size()) = task.a;
    row += int(task.a.size());
  }
  weight.head(nv).setConstant(weights.acceleration);
  weight.segment(nv, held).setConstant(weights.force);
  weight.tail(joints).setConstant(weights.torque);
  wish.head(nv) = wished(weights, nv);
  const Eigen::VectorXd x = wish + weighted_pseudo_inverse(A, r - A * wish, weight, out.rank);
  const Eigen::VectorXd missed = A * x - r;
  out.levels.push_back({"motion", nv + held, nv + held, missed.head(nv + held).norm()});
  row = nv + held;
  for (const TaskLevel& task : tasks) {
    const int count = int(task.a.size());
    out.levels.push_back({task.name, count, count, missed.segment(row, count).norm()});
    row += count;
  }
  out.levels.front().rank = out.rank;  // rows are all alike: only the rank of the whole means anything
  for (std::size_t k = 1; k < out.levels.size(); ++k) out.levels[k].rank = 0;
  return {x.head(nv), x.segment(nv, held)};
}

/// Whether p is in the convex hull of the corners, seen along z; a hair (10⁻⁹ m) outside is inside.
bool inside(const std::vector<Vec3<>>& corners, const Vec3<>& p) {
  // Some direction separates p from all corners if and only if it is outside. For a polygon it is enough to try the normals of
  // the lines through each pair of corners, and the directions from each corner to p.
  const auto separates = [&](double nx, double ny) {
    const double length = std::hypot(nx, ny);
    if (!(length > 0)) return false;
    double support = -kInfinity;
    for (const Vec3<>& c : corners) support = std::max(support, (nx * c.x + ny * c.y) / length);
    return (nx * p.x + ny * p.y) / length > support + 1e-9;
  };
  for (const Vec3<>& a : corners) {
    if (separates(p.x - a.x, p.y - a.y)) return false;
    for (const Vec3<>& b : corners) {
      if (separates(a.y - b.y, b.x - a.x)) return false;
    }
  }
  return true;
}

HeldReport report(const LinkPoses& poses, const HeldFrame& hold, const double* lambda) {
  double w[6] = {};
  for (int k = 0; k < 6; ++k) {
    if (hold.mask >> k & 1) w[k] = *lambda++;
  }
  const Vec3<> t{w[0], w[1], w[2]}, f{w[3], w[4], w[5]};  // along the axes of the hold
  const Transform<> X_WF = poses[hold.frame.link] * hold.frame.X_LF;
  HeldReport out{.wrench = {hold.axes * t, hold.axes * f}, .pressure = X_WF.p};
  if (hold.grips) return out;
  out.pushes = f.z > 0;
  out.within_cone = std::hypot(f.x, f.y) <= hold.friction * std::max(f.z, 0.0) * (1 + 1e-12) + 1e-9;
  if (!out.pushes) return out;
  // Corners seen from the frame's origin along the axes of the hold; the pressure acts in their plane.
  std::vector<Vec3<>> corners;
  double depth = 0;
  for (const Vec3<>& c : hold.corners) {
    corners.push_back(transpose_times(hold.axes, X_WF.R * c));
    depth += corners.back().z / double(hold.corners.size());
  }
  if (corners.empty()) corners.push_back({});
  // p × f = t about x and y, with p.z given
  const Vec3<> p{(-t.y + depth * f.x) / f.z, (t.x + depth * f.y) / f.z, depth};
  out.pressure = X_WF.p + hold.axes * p;
  out.pressure_inside = inside(corners, p);
  return out;
}

}  // namespace

const char* to_string(GenerationStatus status) {
  switch (status) {
    case GenerationStatus::kExact:
      return "exact";
    case GenerationStatus::kTasksMissed:
      return "tasks missed";
    case GenerationStatus::kInconsistent:
      return "inconsistent";
  }
  return "?";
}

Generated generate(const Model& model, const State& state, const GenerationProblem& problem) {
  check(model, state, problem);
  const Equations e = equations(model, state, problem);
  const std::vector<TaskLevel> tasks = task_levels(problem, model.nv());
  Generated out;
  out.unknowns = e.nv() + e.held() + e.joints();
  const Solution solution = problem.method == GenerationMethod::kLevels
                                ? by_levels(e, tasks, problem.weights, out)
                                : by_pseudo_inverse(e, tasks, problem.weights, out);
  out.vdot = solution.vdot;
  out.tau = e.M * out.vdot + e.c - e.H.transpose() * solution.lambda;
  out.tau.head(e.base).setZero();
  double right = e.c.head(e.base).norm() + e.a_H.norm();
  if (out.levels.front().residual > kMet * (1 + right)) out.status = GenerationStatus::kInconsistent;
  for (std::size_t k = 0; k < tasks.size() && out.status == GenerationStatus::kExact; ++k) {
    right = tasks[k].a.norm();
    if (out.levels[k + 1].residual > kMet * (1 + right)) out.status = GenerationStatus::kTasksMissed;
  }
  const LinkPoses poses = fk(model, state.q);
  const double* lambda = solution.lambda.data();
  for (const HeldFrame& hold : problem.holds) {
    out.holds.push_back(report(poses, hold, lambda));
    lambda += row_count(hold);
  }
  return out;
}

}  // namespace kansetsu
