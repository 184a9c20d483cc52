#pragma once

#include <array>
#include <memory>
#include <optional>
#include <span>

#include "kansetsu/dynamics/derivatives.h"
#include "kansetsu/model/loop_closure.h"

/// Dynamics of one model under constraints that hold whatever force it takes, without a world:
///   M·v̇ + c = τ + Jᵀ·λ + external,   J·v̇ + J̇·v = wanted.
/// Contacts that stick, closed loops, grips, locks and gears by rows. What may open or slip is the contact solver's.
/// All functions throw Error for sizes and names that do not fit. The forms with a workspace allocate nothing once it has held as
/// many rows.
namespace kansetsu {

/// A frame on link b that does not move relative to link a, or to the world, in some of six directions.
struct FrameConstraint {
  LinkId b{0};
  Vec3<> point{};                        ///< on link b [m]: its motion is what rows measure
  std::optional<LinkId> a{};             ///< none: the world
  Mat3<> axes = Mat3<>::identity();      ///< columns: x, y, z of the directions, in the axes of a
  ConstraintMask mask = kWeldMask;       ///< which of [turn x y z, shift x y z]; one row each, in this order
  std::array<double, 6> acceleration{};  ///< of b relative to a that is wanted, in the axes [rad/s², m/s²]
  std::array<double, 6> restitution{};   ///< of constrained_impulse(): row velocity after = −restitution · before
};

/// Of a link or frame of the model, by name, to the world; `point` in its axes. Throws Error for an unknown name.
FrameConstraint constraint_on(const Model& model, std::string_view name, const Vec3<>& point = {},
                              ConstraintMask mask = kWeldMask);

/// Σ ratio·v stays as it is: one coordinate is a lock, two are a gear.
struct CoordinateConstraint {
  struct Term {
    int column;  ///< of v
    double ratio;
  };
  std::vector<Term> terms{};
  double acceleration = 0;  ///< of the sum that is wanted
  double restitution = 0;
};

/// Rows: those of the frames one after the other, then one per coordinate constraint.
struct Constraints {
  std::vector<FrameConstraint> frames{};
  std::vector<CoordinateConstraint> coordinates{};

  int rows() const;
};

/// Memory for one model, one thread at a time.
class ConstrainedWorkspace {
 public:
  explicit ConstrainedWorkspace(const Model& model, const Constraints& constraints = {});
  ConstrainedWorkspace(ConstrainedWorkspace&&) noexcept;
  ConstrainedWorkspace& operator=(ConstrainedWorkspace&&) noexcept;
  ~ConstrainedWorkspace();

  struct Impl;
  Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// J, row velocities J·v, and J̇·v: the row accelerations at v̇ = 0.
struct ConstraintRows {
  ConstraintRows(const Model& model, const Constraints& constraints);
  Eigen::MatrixXd J;  ///< rows × nv
  Eigen::VectorXd velocity, drift;
};
void constraint_rows(const Model& model, const State& state, const Constraints& constraints, ConstrainedWorkspace& work,
                     ConstraintRows& out);
ConstraintRows constraint_rows(const Model& model, const State& state, const Constraints& constraints);

/// Accelerations and constraint forces.
struct ConstrainedMotion {
  ConstrainedMotion(const Model& model, const Constraints& constraints);
  Eigen::VectorXd vdot;
  /// Force of each row on b [N·m or N]; of a coordinate constraint the torque per ratio. Where rows depend on each other
  /// (rank < rows), v̇ is the same for every split and this is the one with the least sum of squares; with more than 64 rows, one
  /// of many.
  Eigen::VectorXd lambda;
  int rank = 0;              ///< of the rows: how many constrain something of their own
  double inconsistency = 0;  ///< largest row acceleration that no force can bring about: dependent rows that contradict
  Status status = Status::kOk;
  Eigen::VectorXd singular;  ///< as in AbaResult; a coordinate without inertia stands still even if a row would move it
};
/// Forward dynamics, by the articulated-body recursion: O(n) and what the rows' paths are long. @param tau  size nv
void constrained_aba(const Model& model, const State& state, const VectorRef& tau, const Constraints& constraints,
                     ConstrainedWorkspace& work, ConstrainedMotion& out, const ExternalForces* external = nullptr);
ConstrainedMotion constrained_aba(const Model& model, const State& state, const VectorRef& tau,
                                  const Constraints& constraints, const ExternalForces* external = nullptr);

/// Velocities after an impact in which the rows take hold, and its impulses.
struct ConstrainedImpulse {
  ConstrainedImpulse(const Model& model, const Constraints& constraints);
  Eigen::VectorXd v;       ///< after
  Eigen::VectorXd lambda;  ///< as in ConstrainedMotion [N·m·s or N·s]
  int rank = 0;
  double inconsistency = 0;  ///< largest row velocity that no impulse can bring about
  double energy = 0;         ///< change of the kinetic energy [J]
  Status status = Status::kOk;
  Eigen::VectorXd singular;
};
void constrained_impulse(const Model& model, const State& before, const Constraints& constraints,
                         ConstrainedWorkspace& work, ConstrainedImpulse& out);
ConstrainedImpulse constrained_impulse(const Model& model, const State& before, const Constraints& constraints);

/// Torques and constraint forces of a given motion.
struct ConstrainedTorque {
  ConstrainedTorque(const Model& model, const Constraints& constraints);
  Eigen::VectorXd tau;     ///< zero where nothing drives
  Eigen::VectorXd lambda;  ///< those with the least sum of squares that give the passive coordinates what they need
  double missing = 0;      ///< largest torque [N·m or N] of a passive coordinate that no constraint force can give
  double violation = 0;    ///< largest deviation of the row accelerations of v̇ from the prescribed ones
};
/// Inverse dynamics: τ and λ with M·v̇ + c = τ + Jᵀ·λ + external and τ = 0 at the six coordinates of a free base and at the passive
/// ones. For forces that only push and friction see supported_inverse_dynamics().
/// @param passive  columns of v without a motor, besides the free base
void constrained_rnea(const Model& model, const State& state, const VectorRef& vdot, const Constraints& constraints,
                      std::span<const int> passive, ConstrainedWorkspace& work, ConstrainedTorque& out,
                      const ExternalForces* external = nullptr);
ConstrainedTorque constrained_rnea(const Model& model, const State& state, const VectorRef& vdot,
                                   const Constraints& constraints, std::span<const int> passive = {},
                                   const ExternalForces* external = nullptr);

/// What the rows of frame constraint i exert on link b, at its point, in world axes. @param lambda  of all rows
Force<> constraint_wrench(const Model& model, const LinkPoses& poses, const Constraints& constraints, int i,
                          const VectorRef& lambda);

/// Derivatives of constrained_aba(), by q in the tangent space, `acceleration` of the constraints and external wrenches as they are.
struct ConstrainedDerivatives {
  ConstrainedDerivatives(const Model& model, const Constraints& constraints);
  ConstrainedMotion forward;                    ///< the value itself
  Eigen::MatrixXd vdot_dq, vdot_dv, vdot_dtau;  ///< nv × nv
  Eigen::MatrixXd lambda_dq, lambda_dv,
      lambda_dtau;  ///< rows × nv; of the least sum of squares where rows depend on each other
};
/// All matrices are zero unless forward.status is kOk.
void constrained_aba_derivatives(const Model& model, const State& state, const VectorRef& tau,
                                 const Constraints& constraints, ConstrainedWorkspace& work,
                                 ConstrainedDerivatives& out, const ExternalForces* external = nullptr);
ConstrainedDerivatives constrained_aba_derivatives(const Model& model, const State& state, const VectorRef& tau,
                                                   const Constraints& constraints,
                                                   const ExternalForces* external = nullptr);

}  // namespace kansetsu
