#pragma once

#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/actuation/actuation.h"
#include "kansetsu/base/diagnostic.h"
#include "kansetsu/base/owner.h"
#include "kansetsu/constraint/contact_types.h"
#include "kansetsu/geometry/material.h"
#include "kansetsu/model/model.h"
#include "kansetsu/scene/scene.h"
#include "kansetsu/sim/health.h"

/// Figures, their environment and the connections between them, advancing in time. Contacts are rigid; connections are made and cut at
/// any step without rebuilding anything; every force is reported. docs/guide/world.md.
namespace kansetsu {

using FigureId = Id<struct FigureTag>;
using ConnectionId = Id<struct ConnectionTag>;
using ShapeId = Id<struct ShapeTag>;  ///< among all shapes of a world

/// A link of a figure, or the world itself.
struct BodyRef {
  FigureId figure{-1};
  LinkId link{0};

  bool is_world() const { return figure.value() < 0; }
  friend bool operator==(const BodyRef&, const BodyRef&) = default;
};
inline constexpr BodyRef kWorldBody{};

struct WorldOptions {
  double time_step = 1e-3;  ///< [s]
  Vec3<> gravity{0, 0, -9.81};
  Medium medium{};
  Integrator integrator = Integrator::kSemiImplicit;
  double tolerance = 1e-6;  ///< of the adaptive integrator, per step
  ContactOptions contact{.anticipate = true};
  double contact_margin = 2e-3;  ///< [m] largest distance at which surfaces are examined
  std::uint64_t seed = 0;
  int threads = 1;
  /// Whether a figure that stands alone on soles that hold is stepped by a way of its own, which takes three quarters of the time.
  /// It gives the same step to 1e-12 of the largest velocity.
  bool standing_steps = true;
  /// Whether figures that have come to rest, and that nothing drives, are computed no more until they are touched, pushed, connected or
  /// otherwise changed. docs/guide/world.md, "What rests".
  bool sleeping = true;
};

struct FigureOptions {
  std::string name{};
  SelfCollision self_collision = SelfCollision::kNone;
  JointSwitches switches{};
  ContactMaterial material{};  ///< of all its shapes
  bool collides = true;
  ActuationDescription actuation{};                      ///< besides the motors of the model
  std::map<std::string, double> gravity_compensation{};  ///< by link: the share of its weight that it does not feel
  std::vector<FluidEllipsoid> ellipsoids{};              ///< on which the medium acts
};

struct ConnectionOptions {
  ConstraintMask mask = kWeldMask;
  Hold hold = Hold::kRelativePose;
  Transform<> X_AC{}, X_BC{};  ///< the frames that are joined, on a and on b
  double break_force = kInfinity, break_torque = kInfinity;
  /// When it is made. A direction that rebounds is not held from then on; where none is left, the connection is cut. Directions
  /// that come together slower than ContactOptions::rest_speed() do not rebound.
  PerDirection restitution = 0.0;
  Compliance compliance{};  ///< springs and dampers instead of rigid directions
  std::optional<PrescribedMotion> motion{};
  std::string name{};
};

/// What one step did to one contact.
struct ContactReport {
  BodyRef a, b;                      ///< the force acts on b; a's surface is the parent
  ShapeId shape_a{-1}, shape_b{-1};  ///< shape_b: the first, where several shapes of a link are on one plane
  int id = -1;                       ///< stays while the contact lasts
  Vec3<> p{}, normal{};              ///< where its wrench is taken; from a to b
  Force<> wrench{};                  ///< on b at p, world axes [N·m; N]
  Vec3<> pressure{};                 ///< centre of pressure
  ContactMode mode = ContactMode::kOpen;
  SlipMode slip = SlipMode::kStick;
  ContactTier tier = ContactTier::kNone;
  int solves = 0, sweeps = 0;
  double residual = 0;
  double gap = 0;            ///< smallest of its vertices
  Force<> impulse{};         ///< of an impact in this step [N·m·s; N·s]
  double impact_energy = 0;  ///< [J], never positive
};

struct ConnectionReport {
  ConnectionId id{-1};
  std::string_view name{};
  BodyRef a, b;
  Vec3<> p{};         ///< the frame on b
  Force<> wrench{};   ///< on b at p, world axes
  Force<> impulse{};  ///< when it was made
  double position_gap = 0, angle_gap = 0;
};

/// What an actuator did in the last step.
struct ActuatorReport {
  std::string_view name{};
  double control = 0;               ///< within its range
  double activation = 0;            ///< 0 where there is none
  double length = 0, velocity = 0;  ///< of what it acts on, at the beginning
  double force = 0;                 ///< as it acted
  double power = 0;                 ///< that it gave, at the mean velocity [W]
  bool clamped = false;             ///< control or force is at an end of its range
};

/// What the last step did.
struct StepReport {
  double time = 0;  ///< at its end
  std::span<const ContactReport> contacts{};
  std::span<const ConnectionReport> connections{};
  double residual = 0;                  ///< worst complementarity residual
  double penetration = 0;               ///< deepest [m]
  double loop_gap = 0, loop_angle = 0;  ///< largest of all connections [m], [rad]
  double inconsistency = 0;             ///< of bilateral rows: what no force can meet
  int rank_deficiency = 0;              ///< redundant bilateral rows
  int impacts = 0;                      ///< islands with an impact
  double impact_energy = 0;             ///< [J]
  int tiers[kContactTiers] = {};        ///< contacts by ContactTier
  int asleep = 0;  ///< figures that sleep; their contacts are reported as they were, ContactTier::kNone
};

/// Counted from the start.
struct WorldTotals {
  std::uint64_t steps = 0, contacts = 0, impacts = 0;
  std::uint64_t tiers[kContactTiers] = {};
  double worst_residual = 0, worst_penetration = 0, worst_gap = 0, worst_angle = 0;
  double work_torque = 0, work_contact = 0, work_connection = 0, impact_energy = 0;
};

enum class EventKind {
  kConnected,
  kCut,
  kBroken,
  kTouch,
  kLift,
  kLimit,
  kNote,
  kControllerStarted,
  kControllerStopped,
  kEnd
};
const char* to_string(EventKind kind);
struct Event {
  double time = 0;
  EventKind kind = EventKind::kNote;
  std::string name{}, detail{};
};

enum class WorldStatus { kRunning, kEnded, kFailed };

/// A moment of a world, as a value. Cheap: a few kilobytes per figure.
class Snapshot {
 public:
  double time() const;

  /// For other processes of the same build. from_bytes() throws Error for bytes that are damaged or of another version.
  std::string to_bytes() const;
  static Snapshot from_bytes(std::string_view bytes);

 private:
  friend class World;
  struct Data;
  std::shared_ptr<const Data> data_;
};

class World {
 public:
  explicit World(const WorldOptions& options = {});
  /// Everything of a scene; diagnostics hold every problem found.
  static Loaded<World> build(const SceneDescription& scene, int threads = 1);
  World(World&&) noexcept;
  World& operator=(World&&) noexcept;
  ~World();

  // What there is.
  FigureId add(const Model& model, const State& state, const FigureOptions& options = {});
  FigureId add(const Model& model, const FigureOptions& options = {});
  /// A shape that stays.
  ShapeId add_fixed(const Shape& shape, const Transform<>& X_WS, const ContactMaterial& material = {},
                    std::string name = {});
  /// The same with a prescribed motion; surface_velocity in the shape's axes (a conveyor).
  ShapeId add_moving(const Shape& shape, const Transform<>& X_WS, const std::optional<PrescribedMotion>& motion,
                     const Vec3<>& surface_velocity, const ContactMaterial& material = {}, std::string name = {});
  int figure_count() const;
  const Model& model(FigureId id) const;
  const std::string& name(FigureId id) const;
  FigureId figure(std::string_view name) const;  ///< throws Error with the known names
  BodyRef body(std::string_view figure, std::string_view link) const;

  // State.
  double time() const;
  State state(FigureId id) const;
  const Eigen::VectorXd& q(FigureId id) const;
  const Eigen::VectorXd& v(FigureId id) const;
  const Eigen::VectorXd& vdot(FigureId id) const;  ///< of the last step
  /// Torques of the last step as they acted, motors and springs included.
  const Eigen::VectorXd& effort(FigureId id) const;
  void set_state(FigureId id, const State& state);
  /// Joint torques that act until they are changed.
  void set_torque(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& tau);
  const Eigen::VectorXd& torque(FigureId id) const;  ///< as it was set, by stand() too
  /// Controls of the figure's actuators, one each in the order of actuators(); they stay until they are changed.
  void set_control(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& u);
  void set_control(FigureId id, std::string_view actuator, double u);  ///< throws Error with the known names
  const Eigen::VectorXd& control(FigureId id) const;
  /// Activations, one per actuator; 0 of those that have none. Part of the state.
  const Eigen::VectorXd& activation(FigureId id) const;
  void set_activation(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& activation);
  std::span<const ActuatorReport> actuators(FigureId id) const;
  bool asleep(FigureId id) const;  ///< it has come to rest and is not computed: WorldOptions::sleeping
  void wake(FigureId id);          ///< and all that sleep with it
  /// A wrench on a link at a point of the world, in world axes, for the next step only.
  void apply_wrench(BodyRef body, const Force<>& F, const Vec3<>& p_W);
  Transform<> pose(BodyRef body) const;
  Motion<> velocity(BodyRef body) const;  ///< [ω; v of the link's origin], world axes
  double kinetic_energy() const;
  double potential_energy() const;
  Vec3<> momentum() const;  ///< linear
  Vec3<> angular_momentum(const Vec3<>& about_W = {}) const;

  // Joining.
  ConnectionId connect(BodyRef a, BodyRef b, const ConnectionOptions& options = {});
  /// b as it is now, held by a.
  ConnectionId grab(BodyRef a, BodyRef b) { return connect(a, b); }
  void release(ConnectionId id);
  bool connected(ConnectionId id) const;
  ConnectionId connection(std::string_view name) const;  ///< of a scene; throws Error
  /// Springs and dampers between points.
  void add_spring(BodyRef a, const Vec3<>& p_A, BodyRef b, const Vec3<>& p_B, const SpringDescription& spring);

  /// Called before every step; sets torques, wrenches, connections. Controllers' own state is theirs to save.
  using Callback = std::function<void(World&, double time)>;
  void on_step(Callback callback);
  /// Called after every step for each contact, in a fixed order.
  using ContactCallback = std::function<void(const ContactReport&)>;
  void on_contact(ContactCallback callback);
  /// A controller of a scene, at run time.
  void add_controller(const ControllerDescription& controller);
  std::vector<std::string> controller_names() const;
  /// As it is now: `active` too. Throws Error with the known names.
  ControllerDescription controller(std::string_view name) const;
  /// Other numbers for the controller of that name: gains, signals, active or not. Figure, kind and joints must stay.
  void set_controller(const ControllerDescription& controller);

  Vec3<> gravity() const;
  /// Takes effect in the next step. Rebuilds the figures' models: not for every step.
  void set_gravity(const Vec3<>& gravity);

  // Part of the structure of a world, like its figures and shapes: snapshots do not contain it. Not for every step: models are rebuilt.
  /// Other inertias of a figure's links, in the order of inertial_parameters(); with_inertial_parameters() says what may change.
  void set_inertial_parameters(FigureId id, const Eigen::Ref<const Eigen::VectorXd>& parameters);
  /// Another material of all shapes of a figure. Pairs of shapes to which a scene gives a material of their own keep it.
  void set_material(FigureId id, const ContactMaterial& material);

  // Time.
  /// One time step. Where velocity products change too fast for it, it is made of parts; reports then tell of the
  /// last part, totals of all.
  void step();
  /// Steps until `seconds` have passed or the world stops. @return steps taken
  int advance(double seconds);
  double time_step() const;
  WorldStatus status() const;
  const std::string& failure() const;  ///< why it stopped: time, body, joint
  const StepReport& report() const;
  const WorldTotals& totals() const;
  const std::vector<Event>& events() const;
  /// How far its numbers may be trusted: energy drift, gaps, penetration, residuals, unsolved contacts, and which are beyond `limits`.
  WorldHealth health(const HealthLimits& limits = {}) const;
  /// From now on the world is checked after every step, and stops when a number exceeds its limit; failure() names it.
  /// std::nullopt: no more. Part of how a world is used, not of its state: snapshots do not hold it.
  void set_strict(const std::optional<HealthLimits>& limits = HealthLimits{});

  /// Position and velocity so that all connections hold: Newton's method on the gaps, least motion in the metric of M.
  struct AssemblyReport {
    bool ok = false;
    int iterations = 0;
    double gap = 0, angle = 0, velocity = 0;  ///< couplings count as gaps
    int rank_deficiency = 0;
  };
  AssemblyReport assemble(double tolerance = 1e-12, int max_iterations = 100);

  /// Torques that hold a figure still where it stands or hangs, by the contacts it has now, the connections that hold a point of
  /// it, and the springs in its joints; set_torque() is called with them. `feasible` is false if it cannot stand so.
  struct StandReport {
    bool feasible = false;
    double missing_force = 0, missing_torque = 0;  ///< what the contacts cannot give [N], [N·m]
    int contacts = 0;                              ///< and connections
  };
  StandReport stand(FigureId id);

  /// All that matters, to the bit: states, warm starts, contact ids, connections, events, random numbers.
  Snapshot save() const;
  /// Throws Error unless the world has the figures, shapes and controllers that the snapshot was taken of.
  void restore(const Snapshot& snapshot);
  std::uint64_t hash() const;  ///< of time and all states

  const std::vector<double>& sensor(std::string_view name) const;
  std::vector<std::string> sensor_names() const;
  /// The values of all sensors, in their order.
  std::vector<double> sensor_values() const;
  /// Reads the sensors at the present state, where nothing touches: accelerations are those of free motion.
  void sense();

  struct Impl;  // private

 private:
  friend class WorldBatch;
  Owner<Impl> impl_;
};

}  // namespace kansetsu
