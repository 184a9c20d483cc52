#pragma once

#include "kansetsu/motion/muscle_forces.h"

/// Reports of a motion under measured forces: moments, residuals, muscles, joint loads.
namespace kansetsu::cli {

struct MeasuredResult {
  MappedModel mapped;
  MeasuredDynamics dynamics{};
  std::vector<MeasuredForce> forces{};
  std::optional<MuscleForces> muscles{};
  TimeTable table{};                         ///< as measured_table() makes it
  double peak = 0;                           ///< largest measured force [N]
  double from = -kInfinity, to = kInfinity;  ///< [s] the frames that are reported
};

/// Moments of all coordinates; with muscles also activations, muscle forces, reserves and joint loads.
TimeTable measured_table(const MeasuredResult& result);
std::string measured_text(const MeasuredResult& result);
std::string measured_json(const MeasuredResult& result);
/// @param cutoff  of the motion's filter [Hz]
std::string measured_page(const MeasuredResult& result, const std::string& source, double cutoff);
/// Remarks that a reader of the muscle results needs.
std::vector<std::string> muscle_remarks(const MeasuredResult& result);

}  // namespace kansetsu::cli
