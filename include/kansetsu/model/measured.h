#pragma once

#include <Eigen/Core>
#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/model/capture.h"

/// What a laboratory measures: marker positions, forces of plates, other signals, events. Files of it: kansetsu/io/measured.h,
/// docs/formats/measured.md.
namespace kansetsu {

/// Numbers over time, in columns with names.
struct TimeTable {
  std::string name{}, file{};
  std::vector<std::string> columns{};  ///< without the time
  std::vector<double> times{};         ///< [s], rising
  Eigen::MatrixXd values{};            ///< columns × rows; NaN where nothing was measured
  bool degrees = false;                ///< angles are in degrees

  int rows() const { return static_cast<int>(times.size()); }
  std::optional<int> find(std::string_view column) const;
  /// One column at a time, between rows along a straight line; the nearest row before the first and after the last.
  double at(int column, double time) const;
};

/// Points on a moving body.
struct Markers {
  std::vector<std::string> names{};
  std::vector<double> times{};   ///< [s], rising
  std::vector<Vec3<>> points{};  ///< [m], file axes; frame after frame, one per marker; NaN where it was not seen
  double unit = 1e-3;            ///< of lengths in files [m]
  double rate = 0;               ///< [Hz]
  int first_frame = 1;           ///< its number in the file

  int frames() const { return static_cast<int>(times.size()); }
  const Vec3<>& point(int frame, int marker) const {
    return points[static_cast<std::size_t>(frame) * names.size() + static_cast<std::size_t>(marker)];
  }
  static bool seen(const Vec3<>& p) { return p.x == p.x && p.y == p.y && p.z == p.z; }
  std::optional<int> find(std::string_view name) const;
};

/// A force plate: forces on what stands on it, file axes.
struct ForcePlate {
  int type = 2;                     ///< of the plate's signals, 1 to 4 as C3D files count them
  std::array<Vec3<>, 4> corners{};  ///< of its surface [m]
  std::vector<Vec3<>> force{};      ///< one per sample of the signals [N]
  std::vector<Vec3<>> moment{};     ///< about the middle of the surface [N·m]
  Vec3<> centre() const { return 0.25 * (corners[0] + corners[1] + corners[2] + corners[3]); }
  Vec3<> normal() const;  ///< of the surface, away from the floor
};

/// Where the plate's force acts on its surface; the moment about there has no part along the surface.
struct Pressure {
  Vec3<> point{}, moment{};
};
/// @param least  [N] normal force below which the point is the middle of the plate, with the whole moment about it
Pressure pressure_of(const ForcePlate& plate, int sample, double least);

struct MotionEvent {
  double time = 0;  ///< [s]
  std::string label{}, context{};
};

struct Measurement {
  std::string name{}, file{};
  Markers markers{};
  TimeTable analog{};                ///< all signals, in their own units
  std::vector<ForcePlate> plates{};  ///< sampled at the times of the signals
  std::vector<MotionEvent> events{};
};

/// One force of a table: which columns act on which body.
struct ExternalLoad {
  std::string name{}, body{};
  std::string force_in = "ground", point_in = "ground";  ///< bodies in whose axes they are expressed
  std::string force{}, point{}, torque{};                ///< beginnings of the columns' names; empty: none
};

/// The file axis that points upward: that of the plates, else the one along which the markers of a frame spread most.
UpAxis guess_up(const Measurement& measured);
/// R_WC: world (z up) from file axes with this one upward; the horizontal ones keep their turn.
Mat3<> axes_with_up(UpAxis up);

/// Forces of all plates as OpenSim names them: ground_force_1_vx … vz, ground_force_1_px … pz [m], ground_moment_1_mx … mz [N·m].
TimeTable plate_table(const Measurement& measured, double least);

}  // namespace kansetsu
