#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/geometry/material.h"
#include "kansetsu/model/actuator.h"
#include "kansetsu/model/description.h"
#include "kansetsu/model/loop_closure.h"
#include "kansetsu/scene/medium.h"

/// A scene as plain data: figures and bodies, what surrounds them, what joins and drives them, what is measured. Readers
/// (io/scene.h, io/mjcf.h) make descriptions, a World is built from one. Everything goes by name; times in seconds, SI units,
/// vectors in world axes unless said otherwise. Every member has an initialiser, as in description.h.
namespace kansetsu {

enum class Integrator { kSemiImplicit, kRk4, kAdaptive };

// --- Surfaces -------------------------------------------------------------------------------------------------------

/// What shapes are made of, as far as contact goes, under the name by which they refer to it (LinkShape::surface).
struct Surface {
  std::string name{};
  ContactMaterial material{};

  friend bool operator==(const Surface&, const Surface&) = default;
};

/// The coefficients between two surfaces by name (empty: the default one); overrides the combination rules.
struct SurfacePair {
  std::string a{}, b{};
  ContactMaterial material{};
  int line = 0;
};

// --- Motion that is given -------------------------------------------------------------------------------------------

/// A motion as a function of time, from a pose at its start. With s = clamp(t, start, stop) − start and
/// wave = sin(2π·frequency·s + phase) − sin(phase):
///   p = p₀ + velocity·s + amplitude·wave,   R = exp(axis·(rate·s + swing·wave))·R₀.
struct PrescribedMotion {
  Vec3<> velocity{}, amplitude{};   ///< [m/s], [m]; world axes
  Vec3<> axis{0, 0, 1};             ///< of the turn, world axes; normalised
  double rate = 0, swing = 0;       ///< [rad/s], [rad]
  double frequency = 0, phase = 0;  ///< [Hz], [rad]
  double start = 0, stop = kInfinity;

  friend bool operator==(const PrescribedMotion&, const PrescribedMotion&) = default;
};

struct MotionSample {
  Transform<> X_WB{};
  Motion<> V_WB{};  ///< [ω; velocity of B's origin], world axes
  Motion<> A_WB{};  ///< its derivative: [ω̇; acceleration of B's origin]
};
/// The motion at time t of a frame that starts at X_WB0.
MotionSample sample(const PrescribedMotion& motion, const Transform<>& X_WB0, double t);

// --- Figures and surroundings ---------------------------------------------------------------------------------------

/// Where a figure is and how fast it moves. Joints that are not named are at their neutral position, at rest.
struct FigureState {
  Pose base{};                                          ///< X_WB of the root link, fixed or free
  Motion<> velocity{};                                  ///< V_WB of a free root link: [ω; v of its origin], world axes
  std::map<std::string, std::vector<double>> q{}, v{};  ///< by joint: info(type).nq, nv numbers each
  std::map<std::string, double> control{}, activation{};  ///< by actuator; of those not named 0

  friend bool operator==(const FigureState&, const FigureState&) = default;
};

/// Which pairs of links of one figure may touch. Links that model.collision_filters names never do.
enum class SelfCollision {
  kNone,
  kNotNeighbours,  ///< all but links that joints join, directly or through links without mass
  kAll,
};

/// Which of the data of joints act.
struct JointSwitches {
  bool limits = true, friction = true, damping = true, springs = true, effort_limits = true, rotor_inertia = true;
  bool actuators = true;

  friend bool operator==(const JointSwitches&, const JointSwitches&) = default;
};

/// A place on a link, or in the world if `figure` is empty.
struct Anchor {
  std::string figure{};
  std::string link{};  ///< a link or frame of the figure's model; empty: the root link
  Pose pose{};         ///< in the link's or frame's axes, or in the world's

  friend bool operator==(const Anchor&, const Anchor&) = default;
};

/// q[dependent] = reference + Σ coefficient[k]·(q[driver] − driver_reference)ᵏ, as a constraint row. Without a driver the
/// coordinate is held at reference + coefficient[0]. Instead of coordinates lengths of tendons can be coupled.
struct PolynomialCoupling {
  std::string name{};
  DofRef dependent{};
  std::optional<DofRef> driver{};
  bool tendons = false;  ///< dependent and driver name tendons, not joints
  std::array<double, 5> coefficient{};
  double reference = 0, driver_reference = 0;
  int line = 0;
};

/// An ellipsoid on which the medium acts, instead of on the box of its link's inertia.
struct FluidEllipsoid {
  std::string link{};
  Pose pose{};  ///< of its centre and axes on the link
  EllipsoidDrag drag{};
  int line = 0;

  friend bool operator==(const FluidEllipsoid& a, const FluidEllipsoid& b) {
    return a.link == b.link && a.pose == b.pose && a.drag == b.drag;
  }
};

/// A model in the world. A free body is a figure of one link with a free base; make_body() makes one.
/// The scene's gravity counts, not the model's. The collision shapes of the model's links are those of the figure.
struct FigureDescription {
  std::string name{};
  std::string source{};  ///< built-in figure or file it was read from, for writing it again; empty: none
  ModelDescription model{};
  FigureState initial{};                          ///< initial.base replaces model.base_pose
  std::optional<PrescribedMotion> base_motion{};  ///< of a fixed base
  std::string surface{};                          ///< of shapes that name none; empty: the scene's default
  SelfCollision self_collision = SelfCollision::kNotNeighbours;
  JointSwitches switches{};
  std::vector<LoopClosure> loops{};
  std::vector<PolynomialCoupling> couplings{};
  ActuationDescription actuation{};
  std::map<std::string, double> gravity_compensation{};  ///< by link: the share of its weight that is compensated
  std::vector<FluidEllipsoid> ellipsoids{};
  int line = 0;
};

/// A shape of the environment. Its name is that of shape.name.
struct EnvironmentShape {
  LinkShape shape{};                         ///< shape.origin = X_WS
  std::optional<PrescribedMotion> motion{};  ///< none: it stays
  Vec3<> surface_velocity{};                 ///< of a conveyor, relative to the shape, in its axes [m/s]
  int line = 0;
};

// --- Joining ----------------------------------------------------------------------------------------------------------

/// What a connection holds when it is made.
enum class Hold {
  kRelativePose,  ///< the pose that the anchors have to each other at that moment: a grip
  kTogether,      ///< the anchors coincide; a gap is closed by the stabilisation
};

/// One number for each direction, in the order of the bits of a ConstraintMask: turns about x y z, shifts along x y z.
struct PerDirection {
  std::array<double, 6> value{};

  PerDirection(double all = 0) {
    value.fill(all);
  }  // NOLINT(google-explicit-constructor): one number for all is common
  PerDirection(const std::array<double, 6>& each) : value(each) {}  // NOLINT(google-explicit-constructor)
  double& operator[](int k) { return value[std::size_t(k)]; }
  double operator[](int k) const { return value[std::size_t(k)]; }
  friend bool operator==(const PerDirection&, const PerDirection&) = default;
};
/// Names of the directions, in that order.
inline constexpr std::string_view kDirectionNames[6] = {"rx", "ry", "rz", "x", "y", "z"};

/// How a connection holds its directions. One with a stiffness is not held but sprung: −stiffness·gap − damping·rate.
struct Compliance {
  PerDirection stiffness = kInfinity;  ///< [N·m/rad, N/m]; infinite: rigid
  PerDirection damping = 0.0;          ///< [N·m·s/rad, N·s/m]; of directions with a finite stiffness

  friend bool operator==(const Compliance&, const Compliance&) = default;
};
/// What is wrong with the numbers of a connection, as words; empty: nothing.
std::string connection_problem(ConstraintMask mask, const PerDirection& restitution, const Compliance& compliance);

/// A connection that is there from the start, or is made and cut by events.
struct ConnectionDescription {
  std::string name{};
  Anchor a{}, b{};
  ConstraintMask mask = kWeldMask;
  Hold hold = Hold::kRelativePose;
  bool active = true;                                        ///< from the start
  double break_force = kInfinity, break_torque = kInfinity;  ///< cut when exceeded [N], [N·m]
  PerDirection restitution = 0.0;  ///< when it is made; directions that rebound are not held from then on
  Compliance compliance{};
  std::optional<PrescribedMotion> motion{};  ///< of b's anchor seen from a's, in a's axes, from the pose held
  int line = 0;
};

/// f = −stiffness·(length − rest_length) − damping·d(length)/dt along the line between two points.
struct SpringDescription {
  std::string name{};
  Anchor a{}, b{};
  double stiffness = 0, damping = 0;    ///< [N/m], [N·s/m]
  std::optional<double> rest_length{};  ///< none: the length at the start
  bool pull_only = false;               ///< a rope: no force when shorter than rest_length
  int line = 0;
};

/// A shape, all shapes of a link, of a figure, or any at all, from the first field that is not empty.
struct ShapeRef {
  std::string shape{};  ///< by name, in the figure if one is named, else in the environment
  std::string link{};
  std::string figure{};

  friend bool operator==(const ShapeRef&, const ShapeRef&) = default;
};

/// A pair that never touches.
struct ContactExclusion {
  ShapeRef a{}, b{};
  int line = 0;
};
/// A pair that may touch whatever masks and exclusions say; with a surface of its own, if named.
struct ContactPair {
  ShapeRef a{}, b{};
  std::string surface{};
  int line = 0;
};

// --- Driving and measuring --------------------------------------------------------------------------------------------

enum class ControlKind {
  kTorque,  ///< τ = signal
  kPd,      ///< τ = kp·(signal − q) + kd·(d signal/dt − v); stiff gains are taken implicitly
  kMotion,  ///< q = signal, whatever it takes
};

/// signal = value + amplitude·sin(2π·frequency·t + phase) + deviation·ξ, ξ normal, drawn anew every `period`.
struct JointControl {
  DofRef dof{};
  double value = 0, amplitude = 0, frequency = 0, phase = 0, deviation = 0;
  double kp = 0, kd = 0;
  double effort = kInfinity;  ///< |τ| is cut at this, and at the joint's own limit

  friend bool operator==(const JointControl&, const JointControl&) = default;
};

struct ControllerDescription {
  std::string name{};
  std::string figure{};
  ControlKind kind = ControlKind::kTorque;
  std::vector<JointControl> joints{};
  double period = 0;                    ///< of random draws; 0: every step
  std::optional<std::uint64_t> seed{};  ///< none: from the scene's seed and the name
  bool active = true;                   ///< from the start
  int line = 0;
};

enum class SensorKind {
  kImu,              ///< angular velocity and specific force of the anchor, in its axes
  kJointForce,       ///< wrench across a joint, on its child link, in link axes
  kConnectionForce,  ///< wrench of a connection, on b
  kContact,          ///< number of contacts and their total force on what `contact` names, world axes
  // In axes of the anchor, three numbers each.
  kAccelerometer,  ///< specific force
  kVelocimeter,
  kGyro,
  kForce,         ///< between the anchor's link and its parent, on the link, at the anchor
  kTorque,        ///< its moment about the anchor
  kMagnetometer,  ///< the scene's magnetic field
  // Of contacts and surfaces.
  kTouch,        ///< sum of the normal forces on the anchor's link within `volume`
  kRangefinder,  ///< from the anchor along z to the next surface; −1: none
  kDistance,     ///< of what `contact` and `other` name
  kNormal,       ///< direction from the one to the other
  kFromTo,       ///< their nearest points
  // Of joints, tendons, actuators: `target`.
  kJointPosition,
  kJointVelocity,
  kJointEffort,   ///< of all actuators together
  kBallPosition,  ///< quaternion w x y z
  kBallVelocity,
  kJointLimitPosition,  ///< how far it is from the nearest limit
  kJointLimitVelocity,
  kJointLimitForce,
  kTendonPosition,
  kTendonVelocity,
  kTendonEffort,
  kTendonLimitPosition,
  kTendonLimitVelocity,
  kTendonLimitForce,
  kActuatorPosition,
  kActuatorVelocity,
  kActuatorForce,
  // Of the anchor, in axes of the reference, or of the world.
  kFramePosition,
  kFrameQuaternion,  ///< w x y z
  kFrameXAxis,
  kFrameYAxis,
  kFrameZAxis,
  kFrameLinearVelocity,
  kFrameAngularVelocity,
  kFrameLinearAcceleration,
  kFrameAngularAcceleration,
  // Of the anchor's link and all that it carries.
  kSubtreeCom,
  kSubtreeLinearVelocity,
  kSubtreeAngularMomentum,
  // Of the world.
  kKineticEnergy,
  kPotentialEnergy,
  kClock,
};
/// How many numbers a sensor has.
int sensor_size(SensorKind kind);
/// As scenes write it, e.g. "frame_position".
std::string_view sensor_name(SensorKind kind);
std::optional<SensorKind> sensor_kind(std::string_view name);

struct SensorDescription {
  std::string name{};
  SensorKind kind = SensorKind::kImu;
  Anchor at{};                        ///< at.figure also of joints, tendons and actuators
  std::optional<Anchor> reference{};  ///< of a frame sensor; none: the world
  std::string joint{};
  std::string target{};  ///< joint, tendon or actuator
  std::string connection{};
  ShapeRef contact{}, other{};
  std::optional<Shape> volume{};        ///< of a touch sensor, at the anchor; none: anywhere on the link
  double cutoff = 0;                    ///< values beyond it are cut; 0: none
  double noise = 0;                     ///< standard deviation of each number
  double angular_noise = 0;             ///< of each angular number of kImu … kContact [rad/s, N·m]
  double linear_noise = 0;              ///< of each linear number of these [m/s², N]
  std::optional<std::uint64_t> seed{};  ///< none: from the scene's seed and the name
  int line = 0;
};

enum class TriggerKind {
  kTime,   ///< t ≥ time
  kNear,   ///< the anchors of `connection` are within `distance`
  kForce,  ///< `connection` carries more than `force` or `torque`
  kTouch,  ///< a contact between a and b appears
  kLift,   ///< the last contact between a and b is gone
  kLimit,  ///< coordinate `dof` of `figure` is at a limit
};
enum class ActionKind { kNote, kConnect, kCut, kStartController, kStopController, kEndSimulation };

/// When the trigger becomes true, at or after `time`, the action follows `delay` later. Every event is recorded.
struct EventDescription {
  std::string name{};
  TriggerKind trigger = TriggerKind::kTime;
  double time = 0;
  std::string connection{};
  double distance = 0;
  double force = kInfinity, torque = kInfinity;
  ShapeRef a{}, b{};
  std::string figure{};
  DofRef dof{};
  double delay = 0;
  bool once = true;
  ActionKind action = ActionKind::kNote;
  std::string target{};  ///< connection or controller
  int line = 0;
};

enum class Recorded {
  kPositions,
  kVelocities,
  kEfforts,
  kEnergy,
  kMomentum,
  kContacts,
  kConnections,
  kSensors,
  kEvents,
  kActuators,  ///< controls, activations, forces; lengths of tendons
};

struct RecordingDescription {
  std::string file{};  ///< its extension selects the format; relative to the working folder
  std::vector<Recorded> what{Recorded::kPositions, Recorded::kVelocities};
  double rate = 0;  ///< [Hz]; 0: every step
  int line = 0;
};

/// A named state of figures; those not in it keep their initial one.
struct Keyframe {
  std::string name{};
  double time = 0;
  std::map<std::string, FigureState> figures{};
  /// By controller: the values of its joints. Other entries are by actuator.
  std::map<std::string, std::vector<double>> controls{};
  int line = 0;
};

// --- The scene --------------------------------------------------------------------------------------------------------

/// Friction of patches: the engine's own, or as Nakamura and Yamane (2000) have it. docs/theory/contact.md, "The law of 2000".
enum class ContactLaw { kEngine, kNakamuraYamane };

struct SceneDescription {
  std::string name{};
  std::string file{};  ///< source, for diagnostics
  Vec3<> gravity{0, 0, -9.81};
  Vec3<> magnetic{0, -0.5, 0};  ///< field that magnetometers measure
  Medium medium{};
  double time_step = 1e-3;
  double duration = 10;
  Integrator integrator = Integrator::kSemiImplicit;
  double tolerance = 1e-6;  ///< error per step of the adaptive integrator
  std::uint64_t seed = 0;
  bool contacts = true;  ///< false: nothing touches anything
  ContactLaw contact_law = ContactLaw::kEngine;
  bool sleeping = true;  ///< figures at rest are not computed until something acts on them

  ContactMaterial default_surface{};  ///< of shapes without a surface
  CombineRules surface_rules{};
  std::vector<Surface> surfaces{};
  std::vector<SurfacePair> surface_pairs{};
  std::vector<ContactExclusion> exclusions{};
  std::vector<ContactPair> pairs{};

  std::vector<FigureDescription> figures{};
  std::vector<EnvironmentShape> environment{};
  std::vector<ConnectionDescription> connections{};
  std::vector<SpringDescription> springs{};
  std::vector<ControllerDescription> controllers{};
  std::vector<SensorDescription> sensors{};
  std::vector<EventDescription> events{};
  std::vector<RecordingDescription> recordings{};
  std::vector<Keyframe> keyframes{};
};

/// A free body of one link that has one collision shape, centred and with the inertia of a solid of that mass.
FigureDescription make_body(std::string name, const Shape& shape, double mass, const Pose& pose);

/// Every problem of a scene at once: names, references, numbers, and those of its models. Codes SCENEnnn and MODELnnn.
std::vector<Diagnostic> validate(const SceneDescription& scene);

/// Puts the figures into the state of a keyframe, and its controls into the controllers. Throws Error if there is none of that name.
void apply_keyframe(SceneDescription& scene, const std::string& keyframe);

}  // namespace kansetsu
