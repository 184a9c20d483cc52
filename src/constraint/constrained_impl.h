#pragma once

#include "constraint/island.h"
#include "dynamics/external.h"
#include "kansetsu/constraint/constrained.h"

namespace kansetsu {

/// A frame constraint at a state.
struct PlacedFrame {
  RowEnd a, b;
  Mat3<> E;          ///< its axes in the world
  bool along_world;  ///< they are those of the world
  Vec3<> p_W;        ///< its point
  int row;           ///< its first
  ConstraintMask mask;
};

/// More rows than this are eliminated part by part.
inline constexpr int kMostDense = 64;

/// Island has the rows of a frame in the order [shifts, turns], callers in that of the mask.
struct ConstrainedWorkspace::Impl {
  explicit Impl(const Model& model) : mechanics(model), work(model), torque(model.nv()), nv_sized(model.nv()) {}

  /// Checks everything, takes the state and places the frames.
  void place(const char* function, const Model& model, const State& state, const Constraints& constraints);
  /// Factorises with τ (null: nothing) and external wrenches.
  /// @return kSingular if nothing resists some coordinate; `singular` says which
  Status factorise(const char* function, const double* tau, const ExternalForces* external, Eigen::VectorXd& singular);
  /// All rows, of the factorised state.
  void assemble(const State& state, const Constraints& constraints, int most_dense = kMostDense);
  /// Accelerations and forces of the assembled rows.
  void solve(const Constraints& constraints, ConstrainedMotion& out);
  /// Numbers of the island's rows in the order of the constraints.
  void copy_rows(const double* island_rows, Eigen::VectorXd& out) const;
  void write_jacobian(const Constraints& constraints, Eigen::Ref<Eigen::MatrixXd> out) const;
  /// The rows of sums of coordinates alone; these are zero before.
  static void write_coordinate_rows(const Constraints& constraints, Eigen::Ref<Eigen::MatrixXd> out);

  /// visit(body, sign) for bodies between the two ends of a frame, what carries both left out.
  template <class Visit>
  void visit_bodies(const PlacedFrame& frame, Visit&& visit) const {
    const TreeView& tree = mechanics.tree();
    int a = frame.a.figure ? frame.a.body : -1, b = frame.b.body;
    while (a != b) {
      int& further = a > b ? a : b;  // parents come first
      visit(further, a > b ? -1.0 : 1.0);
      further = tree.bodies[further].parent;
    }
  }
  /// visit(column of v, ratio) for column k of the tree
  template <class Visit>
  KANSETSU_HD void visit_terms(int k, Visit&& visit) const {
    const TreeView& tree = mechanics.tree();
    if (tree.columns.ordered) return visit(k, 1.0);
    for (int t = tree.rows[k].begin; t < tree.rows[k].end; ++t) visit(tree.terms[t].column, tree.terms[t].ratio);
  }
  Motion<> column(int k) const {
    const double* S = mechanics.column_motion(k);
    return {{S[0], S[1], S[2]}, {S[4], S[5], S[6]}};
  }

  Mechanics mechanics;
  Island island;
  Workspace work;
  std::vector<PlacedFrame> frames;
  std::vector<int> row_of;           ///< per row of the island: that of the constraints
  std::vector<double> wanted;        ///< per row of the constraints
  Eigen::VectorXd torque, nv_sized;  ///< scratch
  // Of inverse dynamics and derivatives; they grow with the rows.
  BilateralElimination elimination;
  std::vector<int> undriven;
  std::vector<Motion<>> motions[2];
  Eigen::VectorXd right_side, answer, square;
  Eigen::MatrixXd J, K, inverse, answer_square, delassus, projector, row_dq, row_dv, turned, free_dq, free_dv, force_dq,
      M_inv;
  Eigen::MatrixXd sum, lambda, forced_dq, inverse_J;
  std::vector<PointWrench> wrenches;  ///< of frames that the world holds
  std::vector<char> moves;            ///< per column of v: whether it may move some row
  std::vector<int> moved;             ///< those columns
  std::vector<int> counting;          ///< 0, 1, 2, …
};

/// Numbers of [turns; shifts] along the axes of a frame that its mask takes, one after the other. Inlined: called a hundred times for
/// each state.
template <class Take>
KANSETSU_HD void take_rows(const PlacedFrame& f, const Vec3<>& turn, const Vec3<>& shift, Take&& take) {
  const Vec3<> t = f.along_world ? turn : transpose_times(f.E, turn),
               s = f.along_world ? shift : transpose_times(f.E, shift);
  if (f.mask == kPointMask) {
    take(0, s.x), take(1, s.y), take(2, s.z);
    return;
  }
  const double numbers[6] = {t.x, t.y, t.z, s.x, s.y, s.z};
  int next = 0;
  for (int k = 0; k < 6; ++k) {
    if (f.mask >> k & 1) take(next++, numbers[k]);
  }
}

}  // namespace kansetsu
