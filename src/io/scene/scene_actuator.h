#pragma once

#include <string>

#include "io/scene/toml_table.h"
#include "kansetsu/model/actuator.h"

/// Tendons and actuators of a figure in a scene.
namespace kansetsu::io::scene {

void read_actuators(TomlTable& figure, ActuationDescription& actuation);
/// [[figure.tendon]] and [[figure.actuator]].
std::string actuators_as_toml(const ActuationDescription& actuation);

}  // namespace kansetsu::io::scene
