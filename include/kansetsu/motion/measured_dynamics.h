#pragma once

#include <span>

#include "kansetsu/model/clip.h"
#include "kansetsu/model/coordinate_map.h"
#include "kansetsu/model/measured.h"

/// Inverse dynamics of a measured motion under measured forces: joint moments, and what is left at the root.
/// docs/theory/analysis.md, docs/guide/people.md.
namespace kansetsu {

/// Coordinates of a mapped model over time, with their rates: polynomials of sixth degree through seven frames.
struct CoordinateMotion {
  std::string name{};
  std::vector<double> times{};       ///< [s]
  Eigen::MatrixXd x{}, xd{}, xdd{};  ///< coordinates × frames [rad, m]
  std::vector<std::string> unknown{},
      missing{};  ///< columns that are no coordinates; coordinates without a column, which stay

  int frames() const { return static_cast<int>(times.size()); }
};
/// @param cutoff  of a Butterworth filter of third order, both ways [Hz]; 0: none.  Rows at uneven times are
/// resampled by splines. Throws Error for fewer than 7 rows, values that are no numbers, or if no column is a coordinate.
CoordinateMotion coordinate_motion(const MappedModel& model, const TimeTable& table, double cutoff);

/// The model's configurations of it.
Clip clip_of(const MappedModel& model, const CoordinateMotion& motion);

/// A measured force on a link over time.
struct MeasuredForce {
  std::string name{};
  LinkId link{0};
  std::vector<Force<>> wrench{};  ///< at the link's origin, world axes [N·m; N]; one per frame
  std::vector<Vec3<>> point{};    ///< where it acts, in the world
};
/// Forces of a table at the frames of a clip, between rows along straight lines.
/// @param axes  the world's from the table's. Throws Error for bodies and columns that are not there.
std::vector<MeasuredForce> sample_loads(const Model& model, const Clip& clip, const TimeTable& table,
                                        std::span<const ExternalLoad> loads, const Mat3<>& axes);

struct MeasuredDynamics {
  Clip clip{};
  Eigen::MatrixXd v{}, vdot{}, tau{};  ///< nv × frames, of the model; a free base's are residuals
  Eigen::MatrixXd moments{};           ///< of the map's coordinates × frames [N·m, N]; those of the root are residuals
  Eigen::MatrixXd powers{};            ///< [W]
  std::vector<Force<>> residual{};     ///< at the base's origin, world axes [N·m; N]; empty if the base is fixed
};
MeasuredDynamics measured_dynamics(const MappedModel& model, const CoordinateMotion& motion,
                                   std::span<const MeasuredForce> forces);

}  // namespace kansetsu
