#pragma once

#include <array>
#include <memory>
#include <span>

#include "kansetsu/constraint/contact_types.h"

/// Rigid contact, impact and dry friction without springs.
///
/// The caller says how rows answer forces (ContactProblem); the solver finds forces that push but never pull, stay in the
/// friction set, and leave no touching vertex moving inwards, by Newton's method from the forces of the last step. Every result says which way it took and how well the conditions hold. Same input and memory, same bits.
namespace kansetsu {

/// Mean distance of a uniform pressure from its centre: what turns μ·fz into the largest friction moment.
double friction_arm_disc(double radius);
double friction_arm_line(double length);
double friction_arm_rectangle(double a, double b);
/// Of a convex polygon; of the segment or point if it has two vertices or one, or no area.
double friction_arm(std::span<const ContactVertex> polygon);

/// Rows of one patch as blocks on body velocities, for problems too large for a dense matrix.
struct BodyBlock {
  int offset = 0;             ///< first entry of the body (or figure) in the vector of all velocities
  int size = 0;               ///< entries: 6 for a free body, nv for a figure
  const double* J = nullptr;  ///< row_count × size, row-major: row velocity = Σ J·v
  const double* Y = nullptr;  ///< row_count × size: the velocity M⁻¹·Jᵀ that a unit impulse along each row gives
};
struct SparsePatch {
  BodyBlock block[2];
  int block_count = 0;  ///< 1 (against the ground) or 2
};
/// Rows that are held together: those of a connection.
struct BilateralBlock {
  int row = 0, row_count = 0;          ///< where their forces go in ContactResult::force; 6 at most
  std::array<double, 6> target{};      ///< velocity after the step
  std::array<double, 6> last_force{};  ///< of the step before: the warm start
};
/// A figure, or a body by itself, of a heap.
struct BodyMass {
  int offset = 0, size = 0;   ///< its velocities
  const double* M = nullptr;  ///< mass matrix, size × size
};
struct SparseContactProblem {
  std::span<const ContactPatch> patches{};  ///< `row` is where the wrench goes in ContactResult::force
  std::span<const SparsePatch> rows{};      ///< one per patch
  std::span<const BoundedRow> bounded{};
  std::span<const SparsePatch> bounded_rows{};  ///< one per bounded row, J and Y with one row each
  std::span<const BilateralBlock> bilateral{};
  std::span<const SparsePatch> bilateral_rows{};  ///< one per block
  int rows_total = 0;                             ///< size of ContactResult::force
  std::span<const double> v_now{};                ///< present velocities, all bodies
  std::span<const BodyMass> bodies{};             ///< by ascending offset; empty: sweeps alone, without Newton steps
  double h = 1e-3;
  double gravity = 9.81;
};

/// Rows of loaded patches beyond their rank: > 0, the split of the forces is one of many.
int redundancy(const ContactProblem& problem, const ContactResult& result);

class ContactSolver {
 public:
  explicit ContactSolver(const ContactOptions& options = {});
  ContactSolver(ContactSolver&&) noexcept;
  ContactSolver& operator=(ContactSolver&&) noexcept;
  ~ContactSolver();

  ContactOptions options;
  /// Linear systems that are solved with patience from now on: when none is left, a problem that Newton steps alone do not solve stays unsolved.
  /// For those who solve many problems that may make no sense, and want to come to an end. At first without limit.
  void limit_systems(int count);

  /// Scratch for problems of at most this size. Larger problems reserve for themselves, which allocates.
  void reserve(int patches, int rows, int bounded = 0);

  /// Forces of one time step.
  /// @param memory  one per patch; the warm start, and on return what the next step should know
  void solve_contact(const ContactProblem& problem, std::span<ContactMemory> memory, ContactResult& out);

  /// The shortest way out: of all displacements those of least kinetic metric that take vertices and limits which are past each other apart
  /// by a share of their depth. No friction, and no velocity changes. Call it after solve_contact() of the same problem.
  /// @param out  `force`: what to multiply with M⁻¹·Jᵀ [kg·m]; status kOk and no patches
  /// @return whether anything is to be moved
  bool solve_positions(const ContactProblem& problem, ContactResult& out);

  /// Impulses of touching vertices that approach, before the step: `a` is not read, forces of the result are impulses. All
  /// touching patches and joint limits take part; those at rest stay so. Nothing approaches: zero impulses, tier kNone.
  void solve_impact(const ContactProblem& problem, ContactResult& out);

  /// Forces of one time step of many bodies, by sweeps over the patches on the bodies' velocities.
  /// @param v  in: velocities after the step without contact forces; out: with them
  void solve_contact_large(const SparseContactProblem& problem, std::span<ContactMemory> memory, std::span<double> v,
                           ContactResult& out);
  /// As solve_positions(), after solve_contact_large() of the same problem. @param way  out: how far everything moves
  bool solve_positions_large(const SparseContactProblem& problem, std::span<double> way);

  struct Impl;  // private

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace kansetsu
