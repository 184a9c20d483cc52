#pragma once

#include <optional>
#include <random>
#include <vector>

#include "kansetsu/geometry/query.h"
#include "sim/reports.h"
#include "sim/world_state.h"

namespace kansetsu {

/// A sensor of a scene, what it refers to, and its last value.
struct SensorData {
  SensorDescription description;
  BodyRef body{}, reference{};
  Transform<> X_LS{}, X_LR{};  ///< on their bodies
  int connection = -1;
  int index = -1;                   ///< coordinate (of drives), tendon or actuator
  int q = 0, v = 0;                 ///< of a ball joint
  std::vector<char> subtree{};      ///< per link: it is part of what is measured
  std::vector<int> shapes, others;  ///< between which a distance is measured
  std::optional<Geometry> volume{};
  std::vector<double> value;
  std::mt19937_64 rng;
};

/// Reads the sensors after a step: positions and velocities at its end, forces and accelerations during it.
class SensorReader {
 public:
  SensorReader(WorldState& world, const Reports& reports) : world_(world), reports_(reports) {}

  std::vector<SensorData> list;
  Vec3<> magnetic{};  ///< field of the world, for magnetometers

  void read();

 private:
  Force<> joint_wrench(const BodyRef& body);
  FrameMotion motion_of(const BodyRef& body, const Transform<>& X_LS);
  void measure(const SensorData& s, double* out);
  void measure_contact(const SensorData& s, double* out) const;
  void measure_frame(const SensorData& s, double* out);
  void measure_subtree(const SensorData& s, double* out);
  void measure_coordinate(const SensorData& s, double* out) const;
  double measure_touch(const SensorData& s);
  double measure_range(const SensorData& s);
  Distance measure_distance(const SensorData& s) const;

  WorldState& world_;
  const Reports& reports_;
};

}  // namespace kansetsu
