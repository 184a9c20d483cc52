#pragma once

#include <array>
#include <string_view>

#include "io/xml.h"
#include "kansetsu/scene/scene.h"

/// Words of MJCF, for its reader and its writer.
namespace kansetsu::io::mjcf {

/// What an element of <sensor> measures, and by which attribute it names it.
struct SensorElement {
  std::string_view tag;
  SensorKind kind;
  enum Of { kSite, kJoint, kBall, kTendon, kActuator, kObject, kBody, kPair, kWorld } of;
};
inline constexpr std::array kSensorElements{
    SensorElement{"accelerometer", SensorKind::kAccelerometer, SensorElement::kSite},
    SensorElement{"velocimeter", SensorKind::kVelocimeter, SensorElement::kSite},
    SensorElement{"gyro", SensorKind::kGyro, SensorElement::kSite},
    SensorElement{"force", SensorKind::kForce, SensorElement::kSite},
    SensorElement{"torque", SensorKind::kTorque, SensorElement::kSite},
    SensorElement{"magnetometer", SensorKind::kMagnetometer, SensorElement::kSite},
    SensorElement{"touch", SensorKind::kTouch, SensorElement::kSite},
    SensorElement{"rangefinder", SensorKind::kRangefinder, SensorElement::kSite},
    SensorElement{"jointpos", SensorKind::kJointPosition, SensorElement::kJoint},
    SensorElement{"jointvel", SensorKind::kJointVelocity, SensorElement::kJoint},
    SensorElement{"jointactuatorfrc", SensorKind::kJointEffort, SensorElement::kJoint},
    SensorElement{"jointlimitpos", SensorKind::kJointLimitPosition, SensorElement::kJoint},
    SensorElement{"jointlimitvel", SensorKind::kJointLimitVelocity, SensorElement::kJoint},
    SensorElement{"jointlimitfrc", SensorKind::kJointLimitForce, SensorElement::kJoint},
    SensorElement{"ballquat", SensorKind::kBallPosition, SensorElement::kBall},
    SensorElement{"ballangvel", SensorKind::kBallVelocity, SensorElement::kBall},
    SensorElement{"tendonpos", SensorKind::kTendonPosition, SensorElement::kTendon},
    SensorElement{"tendonvel", SensorKind::kTendonVelocity, SensorElement::kTendon},
    SensorElement{"tendonactuatorfrc", SensorKind::kTendonEffort, SensorElement::kTendon},
    SensorElement{"tendonlimitpos", SensorKind::kTendonLimitPosition, SensorElement::kTendon},
    SensorElement{"tendonlimitvel", SensorKind::kTendonLimitVelocity, SensorElement::kTendon},
    SensorElement{"tendonlimitfrc", SensorKind::kTendonLimitForce, SensorElement::kTendon},
    SensorElement{"actuatorpos", SensorKind::kActuatorPosition, SensorElement::kActuator},
    SensorElement{"actuatorvel", SensorKind::kActuatorVelocity, SensorElement::kActuator},
    SensorElement{"actuatorfrc", SensorKind::kActuatorForce, SensorElement::kActuator},
    SensorElement{"framepos", SensorKind::kFramePosition, SensorElement::kObject},
    SensorElement{"framequat", SensorKind::kFrameQuaternion, SensorElement::kObject},
    SensorElement{"framexaxis", SensorKind::kFrameXAxis, SensorElement::kObject},
    SensorElement{"frameyaxis", SensorKind::kFrameYAxis, SensorElement::kObject},
    SensorElement{"framezaxis", SensorKind::kFrameZAxis, SensorElement::kObject},
    SensorElement{"framelinvel", SensorKind::kFrameLinearVelocity, SensorElement::kObject},
    SensorElement{"frameangvel", SensorKind::kFrameAngularVelocity, SensorElement::kObject},
    SensorElement{"framelinacc", SensorKind::kFrameLinearAcceleration, SensorElement::kObject},
    SensorElement{"frameangacc", SensorKind::kFrameAngularAcceleration, SensorElement::kObject},
    SensorElement{"subtreecom", SensorKind::kSubtreeCom, SensorElement::kBody},
    SensorElement{"subtreelinvel", SensorKind::kSubtreeLinearVelocity, SensorElement::kBody},
    SensorElement{"subtreeangmom", SensorKind::kSubtreeAngularMomentum, SensorElement::kBody},
    SensorElement{"distance", SensorKind::kDistance, SensorElement::kPair},
    SensorElement{"normal", SensorKind::kNormal, SensorElement::kPair},
    SensorElement{"fromto", SensorKind::kFromTo, SensorElement::kPair},
    SensorElement{"e_kinetic", SensorKind::kKineticEnergy, SensorElement::kWorld},
    SensorElement{"e_potential", SensorKind::kPotentialEnergy, SensorElement::kWorld},
    SensorElement{"clock", SensorKind::kClock, SensorElement::kWorld},
};

// Laws of actuators, in the order of GainLaw and BiasLaw; activations in that of kActivationLaws.
inline const Names kGainTypes = {"fixed", "affine", "muscle", "user"};
inline const Names kBiasTypes = {"none", "affine", "muscle", "user"};
inline const Names kActivationTypes = {"none", "integrator", "filter", "filterexact", "muscle", "user"};
inline constexpr ActivationLaw kActivationLaws[] = {ActivationLaw::kNone, ActivationLaw::kIntegrator,
                                                    ActivationLaw::kFilter, ActivationLaw::kFilter,
                                                    ActivationLaw::kMuscle};

}  // namespace kansetsu::io::mjcf
