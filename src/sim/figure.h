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

/// A link that the medium brakes, or whose weight is taken off.
struct MediumPart {
  LinkId link{0};
  int body = -1;
  Transform<> X_BC;                          ///< the axes of the link's inertia at its centre of mass, on the body
  Vec3<> edges{};                            ///< of the box that is braked
  std::optional<EllipsoidDrag> ellipsoid{};  ///< which is braked instead
  AddedInertia added{};
  double lifted = 0;  ///< mass that gravity does not pull [kg]
  Vec3<> p{};         ///< in the last step: where it acts, and its force and moment there
  Force<> force{};
};

/// What acts on a coordinate by itself, as far as switches allow: for loops that would else pass over many that do nothing.
struct PassiveDrive {
  int drive = 0;
  double damping = 0, stiffness = 0;
  bool limited = false;
  double friction = 0;
};

/// The actuators of a figure in a step: their state, and what they do.
struct ActuatorsData {
  Actuation actuation;
  Eigen::VectorXd control, activation;  ///< set by the user; part of the state
  Eigen::VectorXd input;                ///< activations that act in this step
  std::vector<ActuatorForce> forces;    ///< at the beginning of the step
  /// What acts: force − gain·l̈, or the bound where `saturated`.
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
  Eigen::VectorXd tau, extra;  ///< of all together
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

/// What came of velocity products once the step was solved with them.
enum class ProductsState {
  kSettled,  ///< they are those of the velocities that came out
  kChanged,  ///< the step is to be solved again with what they are now
  kRunAway,  ///< by far more than the last time: the step is too long for how they change, and solving it again leads nowhere
};

struct FigureData {
  FigureData(const Model& m, const FigureOptions& o);

  Model model;
  FigureOptions options;
  MaterialId own_material{-1};  ///< that World::set_material() has made for it
  Mechanics mechanics;
  ActuatorsData actuators;
  Workspace work;
  Eigen::VectorXd q, v, vdot;
  Eigen::VectorXd torque;    ///< set by the user, kept
  Eigen::VectorXd external;  ///< of wrenches, this step only
  Eigen::VectorXd tau;       ///< all that acts explicitly
  Eigen::VectorXd extra;     ///< inertia that stands for implicit springs, dampers and PD control
  Eigen::VectorXd products;  ///< velocity products at the middle of the step beyond those at its beginning
  Eigen::VectorXd
      products_due;  ///< [N·m·s, N·s] what the last step has left of them, for they came out other than they were put in
  double products_change = 0;     ///< [W] by the last correction
  Eigen::VectorXd products_next;  ///< [N·m, N] the same of this step
  Eigen::VectorXd bias;           ///< scratch of products
  /// Where an impact has struck it in this step: bias torques of the half before, and the velocity that this half adds.
  Eigen::VectorXd first_bias, first_kick;
  bool struck = false;
  double struck_work = 0,
         struck_stored =
             0;  ///< work of torques, and of springs among them, in that half beyond what v after the impact makes [J]
  Eigen::VectorXd net;            ///< tau, less products and what is due of them
  Eigen::VectorXd still;          ///< zero
  Eigen::VectorXd effort;         ///< what acted in the last step
  Eigen::VectorXd spring_torque;  ///< of springs between points
  Eigen::VectorXd medium_torque;  ///< of medium_parts
  std::vector<MediumPart> medium_parts;
  Eigen::VectorXd stored;  ///< of what is stored in springs, and the inertia that stands for its implicit part
  Eigen::VectorXd stored_inertia;
  double torque_work = 0;                        ///< of all torques in this step, springs included [J]
  double work_done = 0;                          ///< of all torques but those of springs, in the last step [J]
  Eigen::VectorXd work_step;                     ///< scratch
  Eigen::VectorXd q0, v0;                        ///< at the beginning of a step
  Eigen::VectorXd q_begin, v_begin, vdot_begin;  ///< of the part of it that is under way
  Eigen::VectorXd q_middle, v_middle;            ///< where forces act, before they do
  std::vector<Eigen::VectorXd> rate_q, rate_v;
  void begin_stages(int stages);
  /// q ⊕ h·v. The base keeps the velocity of its place in the world: its coordinates turn with the axes.
  void drift(double h);
  /// v += h·v̇ at the present pose, in the axes of the base as they lie there.
  void kick(double h);
  void set_mechanics();  ///< to the present state
  void set_net(double h);
  void factorise(double h);  ///< the mechanics, with all that drives the figure
  /// Velocity products belong to the velocity in the middle of the step, v + h·v̇/2: first with v̇ of the last step, then with what came of it.
  void set_products(double h);
  /// @param held  by bilateral rows
  ProductsState correct_products(double h, bool held);
  /// An impact comes in the middle of the step: before it velocity products are those of the motion that it ends, after it those of the motion
  /// that it leaves. Both are called around a change of v.
  void begin_impact(double after);                              ///< after: how long forces have acted [s]
  void finish_impact(double h, const Eigen::VectorXd& before);  ///< before: v
  void bias_torques(double after, Eigen::VectorXd& out);
  void mean_bias(double h, Eigen::VectorXd& out);  ///< over the step, at the acceleration that is known
  void still_base_bias(Eigen::VectorXd& out);      ///< of `trial`
  bool is_fast(double h) const;
  bool is_far(double h) const;  ///< moves so far in a step that its energy is looked at
  bool begins_far = false;      ///< it did so at the beginning of the step: an impact may have stopped it since
  bool moves = false;           ///< so fast that products of the beginning will not do
  Energy energy_of(const Eigen::VectorXd& place, const Eigen::VectorXd& motion);
  void set_acting();
  Force<>
      acting{};  ///< all torques together, as a wrench on the figure at the world's origin, in the middle of the step
  /// vdot += sign·ω×v of a free base: from the change in its own axes to the acceleration, or back.
  void add_turning(double sign);
  double fastest(double h) const;  ///< |v| + h·|v̇| of all coordinates but those of the base's place
  Mat3<> base_axes() const;
  Vec3<> place() const { return {q[0], q[1], q[2]}; }  ///< of a free base
  void add_to_positions(double h);                     ///< h·v of all but the base's place
  int nap = -1;                                        ///< those with the same number sleep together; −1: it is awake
  double rest_time = 0;                                ///< for how long it has been at rest [s]
  bool driven = false;                                 ///< something acts on it that may change
  State trial;                                         ///< scratch of a step in fast motion
  Eigen::MatrixXd mass_matrix;                         ///< of heaps
  Eigen::VectorXd shift;                               ///< of positions alone at the end of the step, where has_shift
  bool has_shift = false;
  bool has_extra = false;
  bool has_external = false;  ///< some of `external` may not be zero
  bool has_stored = false;    ///< there are springs: stored and stored_inertia count
  std::vector<DriveCoordinate> drives;
  std::vector<PassiveDrive> springs, bounds;  ///< with damping or stiffness; with limits or dry friction
  std::vector<BallLimit> balls;
  /// Forces of the last step at limits and in dry friction, with which the next begins: three per drive.
  enum BoundKind { kLower, kUpper, kFriction, kBoundKinds };
  Eigen::VectorXd bound_force;
  /// Coordinates that are added up as numbers, and quaternions: where they begin in q and v.
  struct Run {
    int q, v, count;
  };
  std::vector<Run> runs, rotations;
  /// Hinges next to a link without mass: where such hinges meet, M may be singular.
  struct Turn {
    int column, drive;
  };
  std::vector<Turn> turns;
  bool has_screws = false;        ///< free joints besides the base: left to integrate()
  std::vector<int> broad_bodies;  ///< body number in the broad phase, per body of the tree
  int broad_base = -1;            ///< that of the links that cannot move
  // What sensors ask for, found once per step.
  std::unique_ptr<LinkMotions> motions;
  std::unique_ptr<Reactions> reactions;
  bool motions_known = false, reactions_known = false;
};

}  // namespace kansetsu
