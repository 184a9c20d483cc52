#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <vector>

#include "constraint/kernel_table.h"
#include "kansetsu/dynamics/dynamics.h"

namespace kansetsu {

/// One figure at one state, factorised for constraints: poses and velocities of its bodies, M = Lᵀ·D·L, the free
/// acceleration, and its share of every constraint row. Never allocates but in the constructor and reserve_rows().
///
/// Trees without gears go by the articulated-body recursion, where a row costs what its path to the base is long; others by
/// the mass matrix. Order of calls in a step: set_pose, set_motion, factorise; begin_rows, add_wrenches / add_torque for
/// every row, finish_rows; add_delassus, respond.
class Mechanics {
 public:
  explicit Mechanics(const Model& model);

  const Model& model() const { return model_; }
  int nv() const { return nv_; }
  double mass() const { return mass_; }

  void set_pose(const double* q);
  void set_motion(const double* v);
  /// @param extra_inertia  nv numbers added to M's diagonal, or null
  /// @param tau            what drives the figure, besides its bias torques; null: nothing
  /// @return number of columns that nothing resists
  int factorise(const double* extra_inertia, const double* tau);
  /// More torques drive the figure than factorise() was given. They become L⁻ᵀ of themselves.
  void add_drive(double* torques) { kernels_->add_drive(block_, nv_, torques); }
  /// Goes by the recursion; LoopElimination takes it body by body then.
  bool recursive() const { return block_.recursive; }
  const TreeView& tree() const { return *tree_; }
  const double* column_motion(int k) const { return block_.S + k * kMotionRecord; }  ///< in O, [w, 0, v, 0]
  /// What is on M's diagonal besides bodies: rotor inertia and the extra numbers of factorise(), which must still be there; −∞
  /// for a column that nothing resists.
  double column_inertia(int k) const {
    if (block_.D_inv[k] == 0) return -std::numeric_limits<double>::infinity();
    return tree_->rotor_inertia[k] + (extra_ ? extra_[k] : 0);
  }
  /// Motions of all bodies in O, besides what they have at v̇ = 0, for the rates x of v.
  void body_motions(const double* x, Motion<>* out) const;
  /// What TreeRows works on, and what factorise() has added to M's diagonal; may be null.
  const kernel::MechanicsBlock& block() const { return block_; }
  const double* extra_inertia() const { return extra_; }
  /// Its place among the figures of an island.
  int number = 0;
  /// out = M⁻¹·(τ − bias)
  void free_acceleration(double* out) const;
  void solve(double* x) const;  ///< x ← M⁻¹·x

  /// The reference point O of everything below, in the world; axes are the world's.
  const Vec3<>& origin() const { return origin_; }
  int body_of(LinkId link) const;  ///< −1: fixed to the world
  Transform<> link_pose(LinkId link) const;
  Transform<> body_pose(int body) const {
    if (body < 0) return {};
    const double* X = block_.X + body * kPoseRecord;
    const Mat3<> R{{X[0], X[4], X[8]}, {X[1], X[5], X[9]}, {X[2], X[6], X[10]}};
    return {R, origin_ + Vec3<>{X[12], X[13], X[14]}};
  }
  /// Its axes, four numbers each, the last of them zero.
  const double* body_axes(int body) const { return block_.X + body * kPoseRecord; }
  /// Its pose as largest_change() compares it with what it is then: Σ over its axes, and its place.
  kernel::BodyBefore remember(int body, double axes_weight) const;
  /// The largest change of the bodies since, or the sum of all where it is below `little`; `origin_before`: origin() then.
  double largest_change(std::span<const kernel::BodyBefore> bodies, const Vec3<>& origin_before, double little) const;
  Motion<> velocity(int body) const {  ///< of the body at O
    return body < 0 ? Motion<>{} : motion_at(block_.V + body * kMotionRecord);
  }
  /// How the velocity of a free base changes at v̇ = 0, for its axes turn.
  Vec3<> base_turning() const {
    const Motion<> V = velocity(0);
    return tree_->free_base ? cross(V.w, V.v) : Vec3<>{};
  }
  Motion<> drift(int body) const {  ///< spatial acceleration at O for v̇ = 0
    return body < 0 ? Motion<>{} : motion_at(block_.A + body * kMotionRecord);
  }

  /// All bodies as one, at O, world axes.
  struct Totals {
    Inertia<> inertia{};
    Force<> momentum{};
  };
  Totals totals() const;

  /// out += Jᵀ·F for a wrench on a body; F at O, world axes
  void add_generalised(int body, const Force<>& F, double* out) const;

  /// Rows of a frame by themselves, added to J: `count` (3 or 6) rows of nv numbers, forces along, then moments about the
  /// axes E at p (in the world, from O).
  void write_frame(int body, const Mat3<>& E, const Vec3<>& p_O, double sign, int count, double* J) const;
  /// Turn of a body about an axis of the world, as a row of J, added.
  void write_turn(int body, const Vec3<>& axis_W, double* J) const;

  // Constraint rows.
  void reserve_rows(int rows);
  void begin_rows(int rows);                 ///< so many rows, all zero
  void forget_rows() { clear_stride_ = 0; }  ///< after numbers that were not finite
  int rows() const { return rows_; }
  /// Rows from `row` on measure F·V of the body, one per wrench, eight at most; F at O, world axes. Adds to what is there.
  void add_wrenches(int row, int body, std::span<const Force<>> F);
  /// The same for the axes E at p (in the world, from O): `count` (3 or 6) rows, forces along them, then moments about them.
  void add_axes(int row, int body, const Mat3<>& E, const Vec3<>& p_O, double sign, int count);
  /// Row `row` measures scale · v[column]
  void add_torque(int row, int column, double scale);
  void finish_rows();  ///< from now on add_… must not be called
  int stride() const { return stride_; }
  /// G += J·M⁻¹·Jᵀ (G = … if it is the first); G is stride() × stride(), of which the blocks right of the diagonal (and on
  /// it) are written. a += J·M⁻¹·(τ − bias); stride() numbers
  void add_delassus(double* G, double* a, bool first = false) const;
  /// a += J·M⁻¹·τ for torques τ that add_drive() has had.
  void add_rates(const double* half, double* a) const {
    kernels_->add_rates(block_, touched_.data(), Z_, stride_, half, a);
  }
  /// out += M⁻¹·(Jᵀ·λ + share·(τ − bias)); λ has stride() numbers
  void respond(const double* lambda, double share, double* out) const;

 private:
  static constexpr int kPoseRecord = 16, kMotionRecord = 8;
  static Motion<> motion_at(const double* x) { return {{x[0], x[1], x[2]}, {x[4], x[5], x[6]}}; }
  void make_pattern();
  void list_heavy();
  void make_recursion();
  void order_steps(int heavy, int padded);
  int last_column(int body) const { return tree_->bodies[body].u + tree_->bodies[body].nu - 1; }
  void touch(int row, int count, const std::uint64_t* columns);
  template <class Visit>
  void visit_columns(int body, Visit&& visit) const;

  const kernel::MechanicsKernels* kernels_;  ///< of this processor
  Model model_;
  const TreeView* tree_;
  int nv_ = 0, rows_ = 0, stride_ = 0;
  double mass_ = 0;
  Vec3<> origin_{};
  int clear_stride_ = 0;  ///< Z is zero, but for what is touched, as rows of this stride; 0: it is not
  Eigen::VectorXd memory_, pose_scratch_, rows_memory_, heavy_inertia_;
  kernel::MechanicsBlock block_{};
  const double* extra_ = nullptr;  ///< of the last factorise()
  double* Z_ = nullptr;
  std::vector<int> path_, path_begin_, below_, below_begin_;  // of the mass matrix
  std::vector<int> heavy_, up_;                               // of the recursion
  std::vector<kernel::TreeStep> steps_;
  std::vector<std::uint64_t> to_base_;     ///< per column: the set of columns from it to the base
  std::vector<std::uint64_t> touched_;     ///< per block of rows: columns where they are not zero
  std::vector<std::uint64_t> any_, none_;  ///< those of all rows; of none
  std::vector<int> used_;                  ///< per block of rows: how many of them
  std::vector<kernel::Wrenches> pending_;  ///< of the recursion: not yet on their way
  std::vector<kernel::Torques> torques_;   ///< the same
  std::vector<int> group_;
};

}  // namespace kansetsu
