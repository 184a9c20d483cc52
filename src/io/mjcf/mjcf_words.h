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
  enum class Of { kSite, kJoint, kBall, kTendon, kActuator, kObject, kBody, kPair, kWorld } of;
};
inline constexpr std::array kSensorElements{
    SensorElement{"accelerometer", SensorKind::kAccelerometer, SensorElement::Of::kSite},
    SensorElement{"velocimeter", SensorKind::kVelocimeter, SensorElement::Of::kSite},
    SensorElement{"gyro", SensorKind::kGyro, SensorElement::Of::kSite},
    SensorElement{"force", SensorKind::kForce, SensorElement::Of::kSite},
    SensorElement{"torque", SensorKind::kTorque, SensorElement::Of::kSite},
    SensorElement{"magnetometer", SensorKind::kMagnetometer, SensorElement::Of::kSite},
    SensorElement{"touch", SensorKind::kTouch, SensorElement::Of::kSite},
    SensorElement{"rangefinder", SensorKind::kRangefinder, SensorElement::Of::kSite},
    SensorElement{"jointpos", SensorKind::kJointPosition, SensorElement::Of::kJoint},
    SensorElement{"jointvel", SensorKind::kJointVelocity, SensorElement::Of::kJoint},
    SensorElement{"jointactuatorfrc", SensorKind::kJointEffort, SensorElement::Of::kJoint},
    SensorElement{"jointlimitpos", SensorKind::kJointLimitPosition, SensorElement::Of::kJoint},
    SensorElement{"jointlimitvel", SensorKind::kJointLimitVelocity, SensorElement::Of::kJoint},
    SensorElement{"jointlimitfrc", SensorKind::kJointLimitForce, SensorElement::Of::kJoint},
    SensorElement{"ballquat", SensorKind::kBallPosition, SensorElement::Of::kBall},
    SensorElement{"ballangvel", SensorKind::kBallVelocity, SensorElement::Of::kBall},
    SensorElement{"tendonpos", SensorKind::kTendonPosition, SensorElement::Of::kTendon},
    SensorElement{"tendonvel", SensorKind::kTendonVelocity, SensorElement::Of::kTendon},
    SensorElement{"tendonactuatorfrc", SensorKind::kTendonEffort, SensorElement::Of::kTendon},
    SensorElement{"tendonlimitpos", SensorKind::kTendonLimitPosition, SensorElement::Of::kTendon},
    SensorElement{"tendonlimitvel", SensorKind::kTendonLimitVelocity, SensorElement::Of::kTendon},
    SensorElement{"tendonlimitfrc", SensorKind::kTendonLimitForce, SensorElement::Of::kTendon},
    SensorElement{"actuatorpos", SensorKind::kActuatorPosition, SensorElement::Of::kActuator},
    SensorElement{"actuatorvel", SensorKind::kActuatorVelocity, SensorElement::Of::kActuator},
    SensorElement{"actuatorfrc", SensorKind::kActuatorForce, SensorElement::Of::kActuator},
    SensorElement{"framepos", SensorKind::kFramePosition, SensorElement::Of::kObject},
    SensorElement{"framequat", SensorKind::kFrameQuaternion, SensorElement::Of::kObject},
    SensorElement{"framexaxis", SensorKind::kFrameXAxis, SensorElement::Of::kObject},
    SensorElement{"frameyaxis", SensorKind::kFrameYAxis, SensorElement::Of::kObject},
    SensorElement{"framezaxis", SensorKind::kFrameZAxis, SensorElement::Of::kObject},
    SensorElement{"framelinvel", SensorKind::kFrameLinearVelocity, SensorElement::Of::kObject},
    SensorElement{"frameangvel", SensorKind::kFrameAngularVelocity, SensorElement::Of::kObject},
    SensorElement{"framelinacc", SensorKind::kFrameLinearAcceleration, SensorElement::Of::kObject},
    SensorElement{"frameangacc", SensorKind::kFrameAngularAcceleration, SensorElement::Of::kObject},
    SensorElement{"subtreecom", SensorKind::kSubtreeCom, SensorElement::Of::kBody},
    SensorElement{"subtreelinvel", SensorKind::kSubtreeLinearVelocity, SensorElement::Of::kBody},
    SensorElement{"subtreeangmom", SensorKind::kSubtreeAngularMomentum, SensorElement::Of::kBody},
    SensorElement{"distance", SensorKind::kDistance, SensorElement::Of::kPair},
    SensorElement{"normal", SensorKind::kNormal, SensorElement::Of::kPair},
    SensorElement{"fromto", SensorKind::kFromTo, SensorElement::Of::kPair},
    SensorElement{"e_kinetic", SensorKind::kKineticEnergy, SensorElement::Of::kWorld},
    SensorElement{"e_potential", SensorKind::kPotentialEnergy, SensorElement::Of::kWorld},
    SensorElement{"clock", SensorKind::kClock, SensorElement::Of::kWorld},
};

// Laws of actuators, in the order of GainLaw and BiasLaw; activations in that of kActivationLaws.
inline const Names kGainTypes = {"fixed", "affine", "muscle", "user"};
inline const Names kBiasTypes = {"none", "affine", "muscle", "user"};
inline const Names kActivationTypes = {"none", "integrator", "filter", "filterexact", "muscle", "user"};
inline constexpr ActivationLaw kActivationLaws[] = {ActivationLaw::kNone, ActivationLaw::kIntegrator,
                                                    ActivationLaw::kFilter, ActivationLaw::kFilter,
                                                    ActivationLaw::kMuscle};

}  // namespace kansetsu::io::mjcf
