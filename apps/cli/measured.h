#pragma once

#include "cli/command.h"
#include "kansetsu/io/measured.h"
#include "kansetsu/io/osim.h"
#include "kansetsu/motion/measured_dynamics.h"

/// Command arguments that are measurements (.c3d, .trc) or tables (.mot, .sto).
namespace kansetsu::cli {

Measurement measurement_or_fail(const std::string& file);
TimeTable table_or_fail(const std::string& file);

/// An OpenSim model with its coordinates and muscles.
struct OsimFigure {
  MappedModel mapped;
  ActuationDescription muscles{};
  Mat3<> axes{};  ///< the world's from the file's
};
OsimFigure osim_or_fail(const std::string& file);
/// The same from the text of an .osim file.
OsimFigure parse_osim_or_fail(const std::string& text, const std::string& name);
/// Coordinates of a table; those that are missing or unknown are reported.
CoordinateMotion motion_or_fail(const MappedModel& model, const TimeTable& table, double cutoff);

std::string measurement_text(const Measurement& measured);
std::string measurement_json(const Measurement& measured);
std::string table_text(const TimeTable& table);
std::string table_json(const TimeTable& table);
std::string csv_of(const TimeTable& table);

/// The extension selects the format: .trc, .c3d, .mot or .sto (forces of plates, else signals), .csv.
/// @param what   "forces" or "signals" for tables
/// @param least  [N] below which a plate has no centre of pressure
Exit convert_measurement(const std::string& in, const std::string& out, const std::string& what, double least);

}  // namespace kansetsu::cli
