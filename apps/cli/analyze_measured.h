#pragma once

#include <optional>
#include <string>

#include "cli/command.h"

/// kansetsu analyze with measured forces: inverse dynamics of an OpenSim model.
namespace kansetsu::cli {

struct MeasuredArguments {
  std::string motion;  ///< .mot, .sto, a setup file that names everything, or a subject (.b3d) that holds it
  std::string trial;   ///< of a subject
  std::string figure, loads, sto, csv, report;
  std::optional<double> filter;
  bool json = false;
  bool reduce = false;   ///< residuals, by moving the body and the trunk's mass centre a little
  bool muscles = false;  ///< share the moments among the model's muscles
};
Exit analyze_measured(const MeasuredArguments& options);

}  // namespace kansetsu::cli
