#pragma once

#include <span>
#include <vector>

#include "constraint/bilateral.h"
#include "constraint/loops.h"
#include "constraint/mechanics.h"
#include "constraint/tree_rows.h"

/// Constraint rows over several figures, and how they answer forces together.
namespace kansetsu {

/// One end of a row: a body of a figure, or something that moves as it is told: the world, a platform.
struct RowEnd {
  Mechanics* figure = nullptr;
  int body = -1;
  // Without a figure:
  Vec3<> p{};          ///< the point whose motion follows
  Motion<> V{}, A{};   ///< [ω; v] and [ω̇; dv/dt] of that point, world axes
  bool rests = false;  ///< V and A are known to be zero
};

/// What the acceleration of a point of a figure means: that of its material; or the change of J·v with J as it is now, which
/// is how velocities change at a place that does not go along, the lowest of a wheel.
enum class Rate { kMaterial, kPlace };

/// Motion of the point of an end that is at p now, at v̇ = 0.
struct PointMotion {
  Vec3<> v, a, w, alpha;
};
PointMotion point_motion(const RowEnd& end, const Vec3<>& p_W, Rate rate = Rate::kMaterial);

/// Velocity [v; ω] of b relative to a at p in the axes E fixed to a, and its rate at v̇ = 0. p is a point of b.
struct FrameMotion6 {
  double u[6], drift[6];
};
FrameMotion6 frame_motion(const RowEnd& a, const RowEnd& b, const Mat3<>& E, const Vec3<>& p_W,
                          Rate rate = Rate::kMaterial);

/// Rows from which on the recursion of a tree is no slower than a matrix over its rows, if none of them joins two bodies. From 8 to 32 it makes
/// no difference beyond 5 %; an ANYmal, which lies on 60, takes 0.6 of the time by the recursion, and 64 would leave it to the matrix.
inline constexpr int kLeastTree = 32;

/// Rows in two groups: bilateral ones first, then those with inequalities. Within a step: begin, add_… for every row,
/// assemble; then matrices and right sides are there, bilateral rows eliminated: by one matrix over all rows, or, where there
/// are many, by LoopElimination. Many rows with inequalities need no matrix: TreeRows.
class Island {
 public:
  /// More bilateral rows than this are not put into one matrix. Tests change it.
  int most_dense = 64;
  RowOrder order = RowOrder::kStrongestFirst;  ///< of bilateral rows that one matrix eliminates
  /// As many rows, if none is bilateral and none joins two bodies, answer by the recursion. Tests change it.
  int least_tree = kLeastTree;

  void reserve(int figures, int rows);
  /// @param alone  others where each belongs to one body or joint; 0 where some join bodies
  void begin(std::span<Mechanics* const> figures, int bilateral, int others, int alone = 0);

  int bilateral() const { return bilateral_; }
  int others() const { return rows_ - bilateral_; }
  int rows() const { return rows_; }

  /// Directions `mask` (bit k of [v; ω]) of b relative to a, in rows from `row` on, one per bit; E are axes fixed to a.
  void add_frame(int row, unsigned mask, const RowEnd& a, const RowEnd& b, const Mat3<>& E, const Vec3<>& p_W,
                 Rate rate = Rate::kMaterial);
  /// Turn of b relative to a about an axis of the world, in one row.
  void add_turn(int row, const RowEnd& a, const RowEnd& b, const Vec3<>& axis_W);
  /// Adds scale · v[column] of a figure to a row.
  void add_dof(int row, Mechanics& figure, int column, double scale, double velocity);

  /// Velocities and accelerations without constraint forces, of all rows.
  double* u() { return u_.data(); }
  double* a() { return a_.data(); }
  /// Acceleration, or velocity after an impact, that bilateral rows are to have; zero after begin().
  double* target() { return target_.data(); }

  /// How firmly bilateral rows are held: the force of a row changes by −firmness · (its acceleration − target()) [kg, kg·m²].
  /// Infinite after begin(): whatever force it takes. 0: the row carries nothing.
  void set_firmness(int row, double firmness);
  bool is_soft() const { return soft_; }  ///< some bilateral row gives way

  /// G, the velocities after an impact that only holds the bilateral rows, and reduced accelerations of the others.
  void assemble();
  /// After assemble(), not sparse: more torques drive a figure. Rows and matrices stay, accelerations follow. `torques` is scratch then.
  void add_drive(int figure, double* torques);
  const double* G() const {
    return form_ == Form::kLoops ? G_ : G_ + bilateral_ * stride_ + bilateral_;
  }  ///< of the other rows
  bool padded() const { return form_ == Form::kLoops || bilateral_ == 0; }  ///< as ContactProblem has it
  int stride() const { return stride_; }
  /// In place of G(): rows answer by the recursion of their trees. Null: by the matrix.
  const kernel::TreeRowsView* tree() const { return form_ == Form::kTree ? &trees_.view() : nullptr; }
  bool is_sparse() const { return form_ == Form::kLoops; }  ///< by LoopElimination
  int rank() const { return is_sparse() ? loops_.rank() : elimination_.rank(); }

  /// Not sparse, without other rows, after assemble(): G as it was, stride() numbers a row; and G⁺ for right sides that forces can
  /// bring about.
  const double* delassus() const { return full_.data(); }
  void invert_bilateral(double* out, int stride) { elimination_.invert(out, stride); }

  /// Right sides of the other rows with the bilateral ones held at target(): velocities (impact) or accelerations.
  /// @return what is inconsistent in the bilateral rows
  double hold_velocities();
  double hold_accelerations();
  const double* reduced_u() const { return reduced_u_.data(); }
  const double* reduced_a() const { return reduced_a_.data(); }

  /// All forces (or impulses), given those of the other rows, after the matching hold_…().
  /// @param drive  1: respond() gives accelerations, with all that drives the figures; 0: the share of the forces alone
  void complete(const double* others, double drive);
  const double* force() const { return force_.data(); }
  /// Adds M⁻¹·(Jᵀ·force + drive·(τ − bias)) to `out` of a figure, in the order given to begin().
  void respond(int figure, double* out) const {
    if (form_ == Form::kLoops) return loops_.respond(figure, drive_, out);
    if (form_ == Form::kTree) return trees_.respond(figure, force_.data(), drive_, out);
    figures_[size_t(figure)]->respond(force_.data(), drive_, out);
  }
  std::span<Mechanics* const> figures() const { return {figures_.data(), figures_.size()}; }
  /// J̇·v of a row: its acceleration while no velocity changes, for its direction does. The velocity of a free base counts as it is in
  /// the world.
  double drift(int row) const { return drift_[row]; }
  /// Work of the forces over a step of length h, of bilateral rows and of the others: with the mean velocity of each row.
  struct Work {
    double bilateral, others;
    double turned = 0;  ///< of bilateral forces beyond that, if rows did not turn with the step
  };
  Work work(double h);
  /// Change of the kinetic energy by the forces as impulses: ½·(u + u⁺)·force.
  double impulse_energy();

 private:
  void reserve_matrix(int rows);
  /// y += G·force, of all rows
  void add_response(double* y);
  void soften(double least);
  void take_gaps(const Eigen::VectorXd& now);

  std::vector<Mechanics*> figures_;
  int bilateral_ = 0, rows_ = 0;
  int stride_ = 0;  ///< of G_, which is over all rows, or over those with inequalities if it is sparse
  /// How rows answer: by one matrix over all of them; the bilateral ones, where they are many, part by part; or by the recursion, where
  /// none is bilateral and most act on one coordinate.
  enum class Form { kMatrix, kLoops, kTree };
  Form form_ = Form::kMatrix;
  void add_rows(int row, Mechanics& figure, int body, std::span<const Force<>> F);
  bool soft_ = false;
  double drive_ = 0;
  double* G_ = nullptr;
  Eigen::VectorXd memory_, full_, u_, a_, place_, drift_, target_, reduced_u_, reduced_a_, force_, y_, answer_;
  Eigen::VectorXd firmness_, share_;  ///< of bilateral rows; share_: what soften() leaves of a row
  BilateralElimination elimination_;
  LoopElimination loops_;
  TreeRows trees_;
};

}  // namespace kansetsu
