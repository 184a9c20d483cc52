#include <algorithm>
#include <array>

#include "kansetsu/scene/scene.h"

namespace kansetsu {
namespace {

struct SensorRow {
  SensorKind kind;
  std::string_view name;
  int size;
};
using enum SensorKind;
constexpr std::array kSensorTable{
    SensorRow{kImu, "imu", 6},
    SensorRow{kJointForce, "joint_force", 6},
    SensorRow{kConnectionForce, "connection_force", 6},
    SensorRow{kContact, "contact", 7},
    SensorRow{kAccelerometer, "accelerometer", 3},
    SensorRow{kVelocimeter, "velocimeter", 3},
    SensorRow{kGyro, "gyro", 3},
    SensorRow{kForce, "force", 3},
    SensorRow{kTorque, "torque", 3},
    SensorRow{kMagnetometer, "magnetometer", 3},
    SensorRow{kTouch, "touch", 1},
    SensorRow{kRangefinder, "rangefinder", 1},
    SensorRow{kDistance, "distance", 1},
    SensorRow{kNormal, "normal", 3},
    SensorRow{kFromTo, "from_to", 6},
    SensorRow{kJointPosition, "joint_position", 1},
    SensorRow{kJointVelocity, "joint_velocity", 1},
    SensorRow{kJointEffort, "joint_effort", 1},
    SensorRow{kBallPosition, "ball_position", 4},
    SensorRow{kBallVelocity, "ball_velocity", 3},
    SensorRow{kJointLimitPosition, "joint_limit_position", 1},
    SensorRow{kJointLimitVelocity, "joint_limit_velocity", 1},
    SensorRow{kJointLimitForce, "joint_limit_force", 1},
    SensorRow{kTendonPosition, "tendon_position", 1},
    SensorRow{kTendonVelocity, "tendon_velocity", 1},
    SensorRow{kTendonEffort, "tendon_effort", 1},
    SensorRow{kTendonLimitPosition, "tendon_limit_position", 1},
    SensorRow{kTendonLimitVelocity, "tendon_limit_velocity", 1},
    SensorRow{kTendonLimitForce, "tendon_limit_force", 1},
    SensorRow{kActuatorPosition, "actuator_position", 1},
    SensorRow{kActuatorVelocity, "actuator_velocity", 1},
    SensorRow{kActuatorForce, "actuator_force", 1},
    SensorRow{kFramePosition, "frame_position", 3},
    SensorRow{kFrameQuaternion, "frame_quaternion", 4},
    SensorRow{kFrameXAxis, "frame_x_axis", 3},
    SensorRow{kFrameYAxis, "frame_y_axis", 3},
    SensorRow{kFrameZAxis, "frame_z_axis", 3},
    SensorRow{kFrameLinearVelocity, "frame_linear_velocity", 3},
    SensorRow{kFrameAngularVelocity, "frame_angular_velocity", 3},
    SensorRow{kFrameLinearAcceleration, "frame_linear_acceleration", 3},
    SensorRow{kFrameAngularAcceleration, "frame_angular_acceleration", 3},
    SensorRow{kSubtreeCom, "subtree_com", 3},
    SensorRow{kSubtreeLinearVelocity, "subtree_linear_velocity", 3},
    SensorRow{kSubtreeAngularMomentum, "subtree_angular_momentum", 3},
    SensorRow{kKineticEnergy, "kinetic_energy", 1},
    SensorRow{kPotentialEnergy, "potential_energy", 1},
    SensorRow{kClock, "clock", 1},
};
constexpr bool sensors_in_order() {
  for (std::size_t i = 0; i < kSensorTable.size(); ++i) {
    if (kSensorTable[i].kind != SensorKind(i)) return false;
  }
  return kSensorTable.size() == std::size_t(kClock) + 1;
}
static_assert(sensors_in_order());

}  // namespace

int sensor_size(SensorKind kind) { return kSensorTable[std::size_t(kind)].size; }
std::string_view sensor_name(SensorKind kind) { return kSensorTable[std::size_t(kind)].name; }
std::optional<SensorKind> sensor_kind(std::string_view name) {
  const auto found = std::ranges::find(kSensorTable, name, &SensorRow::name);
  return found == kSensorTable.end() ? std::nullopt : std::optional(found->kind);
}

}  // namespace kansetsu
