#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "kansetsu/model/coordinate_function.h"
#include "kansetsu/model/description.h"

/// Tendons and actuators of a model, as plain data by name. The force of an actuator is
///   f = gain(l, l̇)·x + bias(l, l̇),   x = activation, or the control u where there is none,
/// where l is the length of what it acts on, times its gear; its torques are f·∂l/∂q. docs/guide/actuators.md.
namespace kansetsu {

struct Interval {
  double lower = -kInfinity, upper = kInfinity;

  bool is_bounded() const { return lower > -kInfinity || upper < kInfinity; }
  double clamp(double x) const { return x < lower ? lower : x > upper ? upper : x; }
  friend bool operator==(const Interval&, const Interval&) = default;
};

// --- Tendons --------------------------------------------------------------------------------------------------------

/// A place on a link or frame of the model; empty: in the world.
struct TendonPlace {
  std::string link{};
  Pose pose{};

  friend bool operator==(const TendonPlace&, const TendonPlace&) = default;
};

enum class TendonPartKind {
  kPoint,     ///< the tendon goes through it
  kPulley,    ///< what follows is a branch of its own, whose length counts 1/divisor
  kSphere,    ///< the tendon wraps around it if it is in the way
  kCylinder,  ///< the same; its axis is z of the place
};

/// What the side of a sphere or cylinder says.
enum class TendonSide {
  kPoint,  ///< the tendon passes the centre as the lines from the points before and after to that place do
  kHalf,   ///< the tendon lies on the half that faces that place
};

/// A part is there only while a coordinate is within a range.
struct TendonCondition {
  DofRef dof{};
  Interval range{};  ///< [rad, m]

  friend bool operator==(const TendonCondition&, const TendonCondition&) = default;
};
/// A point that moves on its link, along a direction and by a function of a coordinate.
struct TendonShift {
  DofRef dof{};
  CoordinateFunction function{};  ///< [m]
  Vec3<> direction{};             ///< axes of the link

  friend bool operator==(const TendonShift&, const TendonShift&) = default;
};

/// A part of a tendon's path. A sphere or cylinder stands between two points.
struct TendonPart {
  TendonPartKind kind = TendonPartKind::kPoint;
  TendonPlace at{};
  double divisor = 1;                 ///< of a pulley
  double radius = 0;                  ///< of a sphere or cylinder [m]
  std::optional<TendonPlace> side{};  ///< on which side the tendon wraps; a point within the radius: internal wrapping
  TendonSide side_is = TendonSide::kPoint;
  double length = kInfinity;  ///< of a cylinder, half of it on either side of the place [m]
  std::optional<TendonCondition> when{};
  std::vector<TendonShift> shifts{};  ///< of a point

  friend bool operator==(const TendonPart&, const TendonPart&) = default;
};

/// A term of a tendon without a path: length = Σ ratio·q.
struct TendonTerm {
  DofRef dof{};
  double ratio = 1;

  friend bool operator==(const TendonTerm&, const TendonTerm&) = default;
};

/// A length that depends on the posture, with what acts along it. A tendon has terms, or a path.
struct TendonDescription {
  std::string name{};
  std::vector<TendonTerm> terms{};
  std::vector<TendonPart> path{};
  Interval limit{};                       ///< of the length [m, rad]
  double stiffness = 0, damping = 0;      ///< [N/m], [N·s/m]
  double rest_lower = 0, rest_upper = 0;  ///< the spring is slack between these lengths
  double friction = 0;                    ///< dry [N]
  Interval effort{};                      ///< of all actuators on it together [N]
  double width = 0.003;                   ///< for looks [m]
  std::vector<double> rgba{};             ///< four numbers, or none
  int line = 0;

  friend bool operator==(const TendonDescription& a, const TendonDescription& b) {
    return a.name == b.name && a.terms == b.terms && a.path == b.path && a.limit == b.limit &&
           a.stiffness == b.stiffness && a.damping == b.damping && a.rest_lower == b.rest_lower &&
           a.rest_upper == b.rest_upper && a.friction == b.friction && a.effort == b.effort && a.width == b.width &&
           a.rgba == b.rgba;
  }
};

// --- Actuators ------------------------------------------------------------------------------------------------------

/// What an actuator acts on.
enum class Transmission {
  kJoint,          ///< a coordinate, a ball joint or (no name) the free base, in axes of the child
  kJointInParent,  ///< the same in axes of the parent
  kTendon,
  kSite,         ///< a wrench on a frame, in its axes, or against and in those of a reference frame
  kSliderCrank,  ///< a slider along z of the reference frame pushes the frame by a rod
  kBody,         ///< pulls a link towards whatever it touches
};

enum class GainLaw {
  kFixed,   ///< gain₀
  kAffine,  ///< gain₀ + gain₁·l + gain₂·l̇
  kMuscle,  ///< active force over length and velocity
  kHill,    ///< the same, of the numbers in `hill`
};
enum class BiasLaw {
  kNone,
  kAffine,  ///< bias₀ + bias₁·l + bias₂·l̇
  kMuscle,  ///< passive force over length
  kHill,    ///< the same, of the numbers in `hill`
};
enum class ActivationLaw {
  kNone,
  kIntegrator,  ///< ẋ = u
  kFilter,      ///< ẋ = (u − x)/τ
  kMuscle,      ///< rises and falls with time constants that depend on x
};

/// Numbers of a law. Of a muscle: range₀ range₁ force scale lmin lmax vmax fpmax fvmax, lengths in optimal ones.
using LawNumbers = std::array<double, 9>;

enum class HillCurves {
  kThelen,    ///< Thelen 2003
  kMillard,   ///< Millard et al. 2013 over length; over velocity Thelen's, which are within 0.07 of theirs
  kDeGroote,  ///< De Groote et al. 2016
};
/// A muscle whose tendon does not stretch; its fibres keep their thickness. docs/guide/actuators.md.
struct HillMuscle {
  double force = 0;          ///< the largest without motion [N]
  double fibre_length = 0;   ///< the optimal one [m]
  double tendon_length = 0;  ///< [m]
  double pennation = 0;      ///< angle of fibres and tendon at the optimal length [rad]
  double fastest = 10;       ///< shortening, optimal lengths per second
  HillCurves curves = HillCurves::kThelen;
  double width = 0.45;                             ///< of the active curve (Thelen's γ)
  double passive_strain = 0.6, passive_shape = 5;  ///< at which it is the largest force; steepness
  double curvature = 0.25, lengthening = 1.4;      ///< Thelen's A_f; share of the force when it lengthens fast

  friend bool operator==(const HillMuscle&, const HillMuscle&) = default;
};

/// By default a motor: τ[dof] = gear·u.
struct ActuatorDescription {
  std::string name{};
  DofRef dof{};
  double gear = 1;
  double effort = kInfinity;  ///< of |τ| of a joint

  Transmission transmission = Transmission::kJoint;
  std::string target{}, reference{};  ///< tendon, frames, link
  std::array<double, 6> wrench{};     ///< of a frame, ball joint or base: [force; moment] per unit of f
  double crank_length = 0;            ///< [m]
  GainLaw gain = GainLaw::kFixed;
  BiasLaw bias = BiasLaw::kNone;
  ActivationLaw activation = ActivationLaw::kNone;
  LawNumbers gain_numbers{1}, bias_numbers{};
  std::array<double, 3> activation_numbers{1, 0, 0};  ///< τ; of a muscle: τ when rising, τ when falling, smoothing
  Interval control_range{}, force_range{}, activation_range{};
  bool early = false;           ///< the force follows the activation at the end of a step
  Interval length_range{0, 0};  ///< of a muscle: between which lengths it works, gear included
  HillMuscle hill{};
  int line = 0;

  friend bool operator==(const ActuatorDescription& a, const ActuatorDescription& b) {
    return a.name == b.name && a.dof == b.dof && a.gear == b.gear && a.effort == b.effort &&
           a.transmission == b.transmission && a.target == b.target && a.reference == b.reference &&
           a.wrench == b.wrench && a.crank_length == b.crank_length && a.gain == b.gain && a.bias == b.bias &&
           a.activation == b.activation && a.gain_numbers == b.gain_numbers && a.bias_numbers == b.bias_numbers &&
           a.activation_numbers == b.activation_numbers && a.control_range == b.control_range &&
           a.force_range == b.force_range && a.activation_range == b.activation_range && a.early == b.early &&
           a.length_range == b.length_range && a.hill == b.hill;
  }
};

/// The tendons and actuators of a figure, besides the motors that its model has.
struct ActuationDescription {
  std::vector<TendonDescription> tendons{};
  std::vector<ActuatorDescription> actuators{};

  friend bool operator==(const ActuationDescription&, const ActuationDescription&) = default;
};

/// Servos as files name them: f = kp·(u − l) − kd·l̇, and f = kd·(u − l̇).
void make_position_servo(ActuatorDescription& actuator, double kp, double kd);
void make_velocity_servo(ActuatorDescription& actuator, double kd);

/// The motors of a model, then the actuators of the description: the order of controls.
std::vector<ActuatorDescription> all_actuators(const ModelDescription& model, const ActuationDescription& actuation);

/// Every problem of tendons and actuators at once. Codes SCENE120 and on.
std::vector<Diagnostic> validate(const ModelDescription& model, const ActuationDescription& actuation);

}  // namespace kansetsu
