#pragma once

#include <string>
#include <vector>

#include "constraint/mechanics.h"
#include "kansetsu/sim/world.h"
#include "sim/figure_kernels.h"

namespace kansetsu {

/// One coordinate of a joint as the world drives and limits it: Σ ratio·v[column], gears included.
struct DriveCoordinate {
  JointId joint{0};
  int index = 0;
  std::vector<std::pair<int, double>> terms;      ///< columns of v
  std::vector<std::pair<int, double>> positions;  ///< entries of q; empty inside a quaternion
  double offset = 0;
  DofDescription dof;

  double position(const Eigen::VectorXd& q) const {
    double sum = offset;
    for (const auto& [at, ratio] : positions) sum += ratio * q[at];
    return sum;
  }
  double velocity(const Eigen::VectorXd& v) const {
    double sum = 0;
    for (const auto& [column, ratio] : terms) sum += ratio * v[column];
    return sum;
  }
};

/// What acts on a coordinate by itself, as far as switches allow: for loops that would else pass over many that do nothing.
struct PassiveDrive {
  int drive = 0;
  double damping = 0, stiffness = 0;
  bool limited = false;
  double friction = 0;
};

/// A ball joint with swing and twist limits.
struct BallLimit {
  int q = 0, v = 0;
  SwingTwistLimit limit;
};

inline bool is_finite(const Eigen::VectorXd& x) { return kernel::figures().finite(int(x.size()), x.data()); }

/// How far a coordinate moves in a step at most before what the step does to energy and momentum is looked at [rad, m]. In flight
/// a momentum that is not kept shows sooner: the faster the figure as a whole, the more energy it is.
inline constexpr double kLookedAt = 0.02, kLookedAtInFlight = 0.005;

struct FigureData {
  FigureData(const Model& m, const FigureOptions& o);

  Model model;
  FigureOptions options;
  Mechanics mechanics;
  Workspace work;
  Eigen::VectorXd q, v, vdot;
  Eigen::VectorXd torque;         ///< set by the user, kept
  Eigen::VectorXd external;       ///< of wrenches, this step only
  Eigen::VectorXd tau;            ///< all that acts explicitly
  Eigen::VectorXd extra;          ///< inertia that stands for implicit springs, dampers and PD control
  Eigen::VectorXd effort;         ///< what acted in the last step
  Eigen::VectorXd spring_torque;  ///< of springs between points
  Eigen::VectorXd stored;         ///< of what is stored in springs, and the inertia that stands for its implicit part
  Eigen::VectorXd stored_inertia;
  Vec3<> contact_force{};     ///< of all contacts together, in the world, in this step
  double work_done = 0;       ///< of all torques but those of springs, in the last step [J]
  double torque_work = 0;     ///< of all torques in this step, with the mean of v [J]
  double row_work = 0;        ///< of contacts and limits in this step, with the mean of v; where rows_known [J]
  bool flies = false;         ///< it has joints and a free base, and touches nothing but itself
  bool held = false;          ///< bilateral rows act on its island
  bool rows_known = false;    ///< what acts besides torques and gravity is row_work and contact_force
  Eigen::VectorXd work_step;  ///< scratch
  Eigen::VectorXd q0, v0;     ///< at the beginning of a step of several stages
  std::vector<Eigen::VectorXd> rate_q, rate_v;
  void begin_stages(int stages);
  /// By vdot, semi-implicitly. The velocity of a free base is added up in world axes: gravity and contact forces as they are, the
  /// rest of its acceleration as it stands in the middle of the step, turned with the base. So a free body keeps its momentum,
  /// a wheel its speed, and one that turns about a pivot its energy to fourth order.
  void advance(double h);
  void add_acceleration(double h);
  /// vdot += sign·ω×v of a free base: from the change in its own axes to the acceleration, or back.
  void add_turning(double sign);
  double speed = 0;                ///< fastest() of the step that is under way
  double fastest(double h) const;  ///< |v| + h·|v̇| of all coordinates but those of the base's place
  Vec3<> com_velocity();
  void move_along(const Vec3<>& change);
  bool keeps_energy(double error, double kinetic, const Vec3<>& com);
  void limit_energy(double error, double kinetic);
  void add_to_positions(double h);  ///< h·v of all but the base's place
  /// What steps in fast motion have added to the energy beyond the work of all forces, kept within a share of the kinetic
  /// energy [J].
  double surplus = 0;
  State trial;  ///< scratch of a step in fast motion
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
  /// Columns of v that are angular.
  struct Turn {
    int column;
    int drive;  ///< of a hinge next to a link without mass: where such hinges meet, M may be singular; negative: of others
  };
  std::vector<Turn> turns;
  bool has_screws = false;        ///< free joints besides the base: left to integrate()
  std::vector<int> broad_bodies;  ///< body number in the broad phase, per body of the tree
  int broad_base = -1;            ///< that of the links that cannot move
};

}  // namespace kansetsu
