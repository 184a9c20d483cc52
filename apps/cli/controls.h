#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/json_writer.h"
#include "kansetsu/sim/world.h"

/// Controls of actuators from the command line, and reports of actuators and sensors.
namespace kansetsu::cli {

/// Parses texts NAME=VALUE, where NAME is ACTUATOR or FIGURE/ACTUATOR. Throws Failure.
void set_controls(World& world, const std::vector<std::string>& texts);

/// Controls over time: each row applies from its time on. Columns are `time` and names of actuators.
class ControlTable {
 public:
  ControlTable(const std::string& file, const World& world);
  /// Applies the controls of the present time.
  void apply(World& world);

 private:
  struct Column {
    FigureId figure;
    std::string actuator;
  };
  std::vector<Column> columns_;
  std::vector<std::vector<double>> rows_;  ///< time first
  std::size_t next_ = 0;
};

/// Sensors by name, in their order.
using SensorValues = std::vector<std::pair<std::string, std::vector<double>>>;
SensorValues sensors_of(const World& world);  ///< of the last step
/// At the present state, as if nothing were in contact; the world is not changed.
SensorValues sensors_now(World& world);
std::string sensors_as_json(const SensorValues& values);

/// Forces and powers of the actuators in the last step; empty if there are none.
std::string actuator_table(const World& world);
void write_actuators(const World& world, JsonWriter& json);

}  // namespace kansetsu::cli
