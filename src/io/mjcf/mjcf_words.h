#pragma once

#include <array>
#include <string_view>

#include "io/xml.h"
#include "kansetsu/scene/scene.h"

/// Keywords of MJCF for reader and writer.
namespace kansetsu::io::mjcf {

/// A sensor element: what it measures, and how it refers to its object.
struct SensorElement {
  std::string_view tag;
  SensorKind kind;
  enum class Of { kBySite, kByJoint, kByBall, kByTendon, kByActuator, kByObject, kByBody, kByPair, kByWorld } of;
};
inline constexpr std::array kSensorElements{
    SensorElement{"accelerometer", SensorKind::kAccelerometer, SensorElement::Of::kBySite},
    SensorElement{"velocimeter", SensorKind::kVelocimeter, SensorElement::Of::kBySite},
    SensorElement{"gyro", SensorKind::kGyro, SensorElement::Of::kBySite},
    SensorElement{"force", SensorKind::kForce, SensorElement::Of::kBySite},
    SensorElement{"torque", SensorKind::kTorque, SensorElement::Of::kBySite},
    SensorElement{"magnetometer", SensorKind::kMagnetometer, SensorElement::Of::kBySite},
    SensorElement{"touch", SensorKind::kTouch, SensorElement::Of::kBySite},
    SensorElement{"rangefinder", SensorKind::kRangefinder, SensorElement::Of::kBySite},
    SensorElement{"jointpos", SensorKind::kJointPosition, SensorElement::Of::kByJoint},
    SensorElement{"jointvel", SensorKind::kJointVelocity, SensorElement::Of::kByJoint},
    SensorElement{"jointactuatorfrc", SensorKind::kJointEffort, SensorElement::Of::kByJoint},
    SensorElement{"jointlimitpos", SensorKind::kJointLimitPosition, SensorElement::Of::kByJoint},
    SensorElement{"jointlimitvel", SensorKind::kJointLimitVelocity, SensorElement::Of::kByJoint},
    SensorElement{"jointlimitfrc", SensorKind::kJointLimitForce, SensorElement::Of::kByJoint},
    SensorElement{"ballquat", SensorKind::kBallPosition, SensorElement::Of::kByBall},
    SensorElement{"ballangvel", SensorKind::kBallVelocity, SensorElement::Of::kByBall},
    SensorElement{"tendonpos", SensorKind::kTendonPosition, SensorElement::Of::kByTendon},
    SensorElement{"tendonvel", SensorKind::kTendonVelocity, SensorElement::Of::kByTendon},
    SensorElement{"tendonactuatorfrc", SensorKind::kTendonEffort, SensorElement::Of::kByTendon},
    SensorElement{"tendonlimitpos", SensorKind::kTendonLimitPosition, SensorElement::Of::kByTendon},
    SensorElement{"tendonlimitvel", SensorKind::kTendonLimitVelocity, SensorElement::Of::kByTendon},
    SensorElement{"tendonlimitfrc", SensorKind::kTendonLimitForce, SensorElement::Of::kByTendon},
    SensorElement{"actuatorpos", SensorKind::kActuatorPosition, SensorElement::Of::kByActuator},
    SensorElement{"actuatorvel", SensorKind::kActuatorVelocity, SensorElement::Of::kByActuator},
    SensorElement{"actuatorfrc", SensorKind::kActuatorForce, SensorElement::Of::kByActuator},
    SensorElement{"framepos", SensorKind::kFramePosition, SensorElement::Of::kByObject},
    SensorElement{"framequat", SensorKind::kFrameQuaternion, SensorElement::Of::kByObject},
    SensorElement{"framexaxis", SensorKind::kFrameXAxis, SensorElement::Of::kByObject},
    SensorElement{"frameyaxis", SensorKind::kFrameYAxis, SensorElement::Of::kByObject},
    SensorElement{"framezaxis", SensorKind::kFrameZAxis, SensorElement::Of::kByObject},
    SensorElement{"framelinvel", SensorKind::kFrameLinearVelocity, SensorElement::Of::kByObject},
    SensorElement{"frameangvel", SensorKind::kFrameAngularVelocity, SensorElement::Of::kByObject},
    SensorElement{"framelinacc", SensorKind::kFrameLinearAcceleration, SensorElement::Of::kByObject},
    SensorElement{"frameangacc", SensorKind::kFrameAngularAcceleration, SensorElement::Of::kByObject},
    SensorElement{"subtreecom", SensorKind::kSubtreeCom, SensorElement::Of::kByBody},
    SensorElement{"subtreelinvel", SensorKind::kSubtreeLinearVelocity, SensorElement::Of::kByBody},
    SensorElement{"subtreeangmom", SensorKind::kSubtreeAngularMomentum, SensorElement::Of::kByBody},
    SensorElement{"distance", SensorKind::kDistance, SensorElement::Of::kByPair},
    SensorElement{"normal", SensorKind::kNormal, SensorElement::Of::kByPair},
    SensorElement{"fromto", SensorKind::kFromTo, SensorElement::Of::kByPair},
    SensorElement{"e_kinetic", SensorKind::kKineticEnergy, SensorElement::Of::kByWorld},
    SensorElement{"e_potential", SensorKind::kPotentialEnergy, SensorElement::Of::kByWorld},
    SensorElement{"clock", SensorKind::kClock, SensorElement::Of::kByWorld},
};

// Actuator laws, in the order of GainLaw and BiasLaw; activations in the order of kActivationLaws.
inline const Names kGainTypes = {"fixed", "affine", "muscle", "user"};
inline const Names kBiasTypes = {"none", "affine", "muscle", "user"};
inline const Names kActivationTypes = {"none", "integrator", "filter", "filterexact", "muscle", "user"};
inline constexpr ActivationLaw kActivationLaws[] = {ActivationLaw::kNone, ActivationLaw::kIntegrator,
                                                    ActivationLaw::kFilter, ActivationLaw::kFilter,
                                                    ActivationLaw::kMuscle};

}  // namespace kansetsu::io::mjcf
