#pragma once

#include <memory>
#include <string>
#include <vector>

#include "constraint/mechanics.h"
#include "kansetsu/actuation/actuation.h"
#include "kansetsu/dynamics/dynamics.h"
#include "kansetsu/kinematics/centroidal.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/ball_joint.h"
#include "kansetsu/sim/world.h"
#include "sim/figure_kernels.h"
#include "sim/step_thresholds.h"

namespace kansetsu {

/// One coordinate of a joint as the world drives and limits it: Σ ratio·v[column], gears included.
struct DriveCoordinate {
  JointId joint{0};
  int index = 0;
  std::vector<std::pair<int, double>> terms;      ///< columns of v
  std::vector<std::pair<int, double>> positions;  ///< entries of q; empty inside a quaternion
  int quaternion = -1;                            ///< where that of a ball joint begins in q
  double offset = 0;
  DofDescription dof;

  /// Of a ball joint: of the rotation vector.
  double position(const Eigen::VectorXd& q) const {
    if (quaternion >= 0) return turn(q);
    double sum = offset;
    for (const auto& [at, ratio] : positions) sum += ratio * q[at];
    return sum;
  }
  double velocity(const Eigen::VectorXd& v) const {
    double sum = 0;
    for (const auto& [column, ratio] : terms) sum += ratio * v[column];
    return sum;
  }
  double turn(const Eigen::VectorXd& q) const;
};

/// A part of a link that the medium acts on, or whose weight is compensated.
struct MediumPart {
  LinkId link{0};
  int body = -1;
  Transform<> X_BC;                          ///< the axes of the link's inertia at its centre of mass, on the body
  Vec3<> edges{};                            ///< of the box that the medium acts on
  std::optional<EllipsoidDrag> ellipsoid{};  ///< on which it acts instead
  AddedInertia added{};
  double lifted = 0;  ///< mass that gravity does not act on [kg]
  Vec3<> p{};         ///< of the last step: point of action, and force and moment there
  Force<> force{};
};

/// Passive effects on a coordinate, as far as switches allow. Only coordinates that have some are listed.
struct PassiveDrive {
  int drive = 0;
  double damping = 0, stiffness = 0;
  bool limited = false;
  double friction = 0;
};

/// The actuators of a figure in a step: their state, and their forces.
struct ActuatorsData {
  Actuation actuation;
  Eigen::VectorXd control, activation;  ///< set by the user; part of the state
  Eigen::VectorXd input;                ///< activations that act in this step
  std::vector<ActuatorForce> forces;    ///< at the beginning of the step
  /// Force that acts: force − gain·l̈, or the bound if `saturated`.
  struct Acting {
    double force = 0, gain = 0;
    bool saturated = false;
  };
  std::vector<Acting> acting;
  /// What they did in the last step: made when somebody asks (report_actuators()), of what is kept here.
  std::vector<ActuatorReport> reports;
  bool report_due = false;
  double reported_step = 0;
  Eigen::VectorXd reported_control, reported_vdot;
  Eigen::VectorXd tau, extra;  ///< of all actuators together
  Eigen::VectorXd start;       ///< activations at the beginning of a step of several stages
  std::vector<Eigen::VectorXd> rates;

  ActuatorsData(const Model& model, const FigureOptions& options);
  bool any() const { return !forces.empty() || actuation.tendon_count() > 0; }
};

/// A ball joint with swing and twist limits.
struct BallLimit {
  BallJoint ball;
  SwingTwistLimit limit;
};

inline bool is_finite(const Eigen::VectorXd& x) { return kernel::figures().finite(int(x.size()), x.data()); }

/// State of the velocity products after a solution of the step.
enum class ProductsState {
  kSettled,  ///< they belong to the velocities of the solution
  kChanged,  ///< they have changed: the step is solved again with them
  kRunAway,  ///< they change faster than the last time: the step is too long, and solving it again does not help
};

struct FigureData {
  FigureData(const Model& m, const FigureOptions& o);

  Model model;
  FigureOptions options;
  MaterialId own_material{-1};  ///< made by World::set_material()
  Mechanics mechanics;
  ActuatorsData actuators;
  Workspace work;
  Eigen::VectorXd q, v, vdot;
  Eigen::VectorXd torque;         ///< set by the user, kept
  Eigen::VectorXd external;       ///< of wrenches, this step only
  Eigen::VectorXd tau;            ///< all that acts explicitly
  Eigen::VectorXd extra;          ///< inertia that represents implicit springs, dampers and PD control
  Eigen::VectorXd products;       ///< velocity products at the middle of the step, less those at its beginning
  Eigen::VectorXd products_due;   ///< [N·m·s, N·s] error of the products of the last step, applied in this one
  double products_change = 0;     ///< [W] by the last correction
  Eigen::VectorXd products_next;  ///< [N·m, N] the same of this step
  Eigen::VectorXd bias;           ///< scratch of products
  /// Of an impact in this step: bias torques of the half before it, and the velocity that this half adds.
  Eigen::VectorXd first_bias, first_kick;
  bool struck = false;
  double struck_work = 0,
         struck_stored =
             0;  ///< work of torques, and of springs, in that half beyond the work at the velocity after the impact [J]
  Eigen::VectorXd net;            ///< tau, less products and products_due
  Eigen::VectorXd still;          ///< zero
  Eigen::VectorXd effort;         ///< torques of the last step
  Eigen::VectorXd spring_torque;  ///< of springs between points
  Eigen::VectorXd medium_torque;  ///< of medium_parts
  std::vector<MediumPart> medium_parts;
  Eigen::VectorXd stored;  ///< torques of springs that store energy, and the inertia of their implicit part
  Eigen::VectorXd stored_inertia;
  double torque_work = 0;                        ///< of all torques in this step, springs included [J]
  double work_done = 0;                          ///< of all torques but those of springs, in the last step [J]
  Eigen::VectorXd work_step;                     ///< scratch
  Eigen::VectorXd q0, v0;                        ///< at the beginning of a step
  Eigen::VectorXd q_begin, v_begin, vdot_begin;  ///< at the beginning of the present part of it
  Eigen::VectorXd q_middle, v_middle;            ///< at the midpoint, before the forces act
  std::vector<Eigen::VectorXd> rate_q, rate_v;
  void begin_stages(int stages);
  /// First half of a part of a step of length h: half of the way with v, mechanics and velocity products there.
  void begin_part(double h);
  /// Second half: v⁺ = v + h·v̇ in the middle, then half of the way with v⁺; effort and work of all torques.
  void finish_part(double h);
  /// q ← q ⊕ h·v. The base keeps the velocity of its origin in the world: its components turn with the axes.
  void drift(double h);
  /// v ← v + h·v̇ at the present pose, in the axes of the base there.
  void kick(double h);
  void set_mechanics();  ///< to q and v
  void set_net(double h);
  void factorise(double h);  ///< the mechanics, with all torques
  /// Velocity products at the mean velocity of the step, v + h·v̇/2: first with v̇ of the last step, then with that of the solution.
  void set_products(double h);
  /// @param held  by bilateral rows
  ProductsState correct_products(double h, bool held);
  /// An impact acts in the middle of the step: the velocity products of the first half are those of the motion before it, those of
  /// the second half of the motion after it. Called before and after the change of v.
  void begin_impact(double after);                              ///< after: how long forces have acted [s]
  void finish_impact(double h, const Eigen::VectorXd& before);  ///< before: v
  void bias_torques(double after, Eigen::VectorXd& out);
  void mean_bias(double h, Eigen::VectorXd& out);  ///< over the step, at the present v̇
  void still_base_bias(Eigen::VectorXd& out);      ///< of `trial`
  bool is_fast(double h) const;
  bool is_far(double h) const;  ///< moves so far in a step that its energy is checked
  bool begins_far = false;      ///< is_far() at the beginning of the step: an impact may have stopped it since
  bool moves = false;           ///< so fast that the products of the beginning are not accurate enough
  Energy energy_of(const Eigen::VectorXd& place, const Eigen::VectorXd& motion);
  void set_acting();
  Force<> acting{};  ///< all torques as a wrench on the figure at the world's origin, at the midpoint
  /// vdot += sign·ω×v of a free base: from the change in its own axes to the acceleration, or back.
  void add_turning(double sign);
  double fastest(double h) const;  ///< largest |v| + h·|v̇|, without the translation of the base
  Mat3<> base_axes() const;
  Vec3<> place() const { return {q[0], q[1], q[2]}; }  ///< of a free base
  void add_to_positions(double h);                     ///< h·v, without the translation of the base
  int nap = -1;                                        ///< those with the same number sleep together; −1: it is awake
  double rest_time = 0;                                ///< for how long it has been at rest [s]
  bool driven = false;                                 ///< something that may change acts on it
  State trial;                                         ///< scratch
  Eigen::MatrixXd mass_matrix;                         ///< in large islands
  Eigen::VectorXd shift;                               ///< correction of positions at the end of the step, if has_shift
  bool has_shift = false;
  bool has_extra = false;
  bool has_external = false;  ///< some of `external` may not be zero
  bool has_stored = false;    ///< there are springs: stored and stored_inertia count
  std::vector<DriveCoordinate> drives;
  std::vector<PassiveDrive> springs, bounds;  ///< with damping or stiffness; with limits or dry friction
  std::vector<BallLimit> balls;
  /// Forces of the last step at limits and in dry friction, the warm start of the next: three per drive.
  enum BoundKind { kLower, kUpper, kFriction, kBoundKinds };
  Eigen::VectorXd bound_force;
  /// Runs of coordinates that integrate as numbers, and quaternions: where they begin in q and v.
  struct Run {
    int q, v, count;
  };
  std::vector<Run> runs, rotations;
  /// Hinges next to a link without mass: where such hinges meet, M may be singular.
  struct Turn {
    int column, drive;
  };
  std::vector<Turn> turns;
  bool has_screws = false;        ///< free joints besides the base: integrate() handles them
  std::vector<int> broad_bodies;  ///< body number in the broad phase, per body of the tree
  int broad_base = -1;            ///< number of the links that cannot move
  // For sensors, computed once per step.
  std::unique_ptr<LinkMotions> motions;
  std::unique_ptr<Reactions> reactions;
  bool motions_known = false, reactions_known = false;
};

using Figures = std::vector<std::unique_ptr<FigureData>>;

}  // namespace kansetsu
