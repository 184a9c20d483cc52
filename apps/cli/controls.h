#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/json_writer.h"
#include "kansetsu/sim/world.h"

/// What users say to actuators by the command, and what these answer.
namespace kansetsu::cli {

/// Of texts NAME=VALUE, where a name is ACTUATOR or FIGURE/ACTUATOR. Throws Failure.
void set_controls(World& world, const std::vector<std::string>& texts);

/// Controls over time: each row holds from its time on. Columns are `time` and names of actuators.
class ControlTable {
 public:
  ControlTable(const std::string& file, const World& world);
  /// Those of the present time.
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
/// Where the world is now, if nothing touches; it stays as it is.
SensorValues sensors_now(World& world);
std::string sensors_as_json(const SensorValues& values);

/// What the actuators did in the last step; empty if there are none.
std::string actuator_table(const World& world);
void write_actuators(const World& world, JsonWriter& json);

}  // namespace kansetsu::cli
