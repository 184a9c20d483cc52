#pragma once

#include <vector>

#include "constraint/kernel_table.h"
#include "kansetsu/dynamics/dynamics.h"

namespace kansetsu {

/// One figure at one state, factorised for constraints: poses and velocities of its bodies, M = Lᵀ·D·L, the free
/// acceleration, and its share of every constraint row. Never allocates but in the constructor and reserve_rows().
///
/// Order of calls in a step: set_pose, set_motion, factorise, set_torque; begin_rows, add_wrench / add_torque for
/// every row, finish_rows; add_delassus, respond.
class Mechanics {
 public:
  explicit Mechanics(const Model& model);

  const Model& model() const { return model_; }
  int nv() const { return nv_; }

  void set_pose(const double* q);
  void set_motion(const double* v);
  /// @param extra_inertia  nv numbers added to M's diagonal, or null   @return number of columns that nothing resists
  int factorise(const double* extra_inertia);
  void set_torque(const double* tau);  ///< what drives the figure, besides its bias torques
  /// out = M⁻¹·(τ − bias)
  void free_acceleration(double* out) const;
  void solve(double* x) const;  ///< x ← M⁻¹·x
  const double* bias() const { return block_.bias; }

  /// The reference point O of everything below, in the world; axes are the world's.
  const Vec3<>& origin() const { return origin_; }
  int body_of(LinkId link) const;  ///< −1: fixed to the world
  Transform<> link_pose(LinkId link) const;
  Transform<> body_pose(int body) const;
  Motion<> velocity(int body) const;  ///< of the body at O
  Motion<> drift(int body) const;     ///< spatial acceleration at O for v̇ = 0

  /// out += Jᵀ·F for a wrench on a body; F at O, world axes
  void add_generalised(int body, const Force<>& F, double* out) const;

  /// Rows of a frame as in add_frame(), by themselves: `count` (3 or 6) rows of nv numbers, added to J.
  void write_frame(int body, const Mat3<>& E, const Vec3<>& p_O, double sign, int count, double* J) const;

  // Constraint rows.
  // Behind the last row stands the column τ − bias: G gets, in its place, the accelerations that rows have without forces.
  void reserve_rows(int rows);
  void begin_rows(int rows);  ///< so many rows, all zero
  int rows() const { return rows_; }
  /// Row `row` measures F·V of the body; F at O, world axes. Adds to what is there.
  void add_wrench(int row, int body, const Force<>& F);
  /// The six rows from `row` on at once: forces along, then moments about the axes E of a frame at p (in the world, from O).
  void add_frame(int row, int body, const Mat3<>& E, const Vec3<>& p_O, double sign);
  /// Row `row` measures scale · v[column]
  void add_torque(int row, int column, double scale);
  /// out += rows · v, before finish_rows(); rows() numbers
  void add_row_velocities(const double* v, double* out) const;
  void finish_rows();  ///< rows ← L⁻ᵀ·rows; from now on add_… must not be called
  int stride() const { return stride_; }
  /// G += J·M⁻¹·Jᵀ; G is stride() × stride(), of which the blocks right of the diagonal (and on it) are written
  void add_delassus(double* G) const;
  /// out += M⁻¹·(Jᵀ·λ + λ[rows()]·(τ − bias)); λ has stride() numbers
  void respond(const double* lambda, double* out) const;

 private:
  void make_pattern();
  template <class Visit>
  void visit_columns(int body, Visit&& visit) const;

  Model model_;
  const TreeView* tree_;
  int nv_ = 0, rows_ = 0, stride_ = 0;
  Vec3<> origin_{};
  Eigen::VectorXd memory_, pose_scratch_, rows_memory_, drive_;
  kernel::MechanicsBlock block_{};
  double* Z_ = nullptr;
  std::vector<int> path_, path_begin_, below_, below_begin_;
};

}  // namespace kansetsu
