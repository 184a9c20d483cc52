#pragma once

#include <optional>
#include <string>

#include "cli/command.h"

/// kansetsu analyze with measured forces: inverse dynamics of an OpenSim model.
namespace kansetsu::cli {

struct MeasuredArguments {
  std::string motion;  ///< .mot, .sto, a setup file that names all inputs, or a subject (.b3d) that contains them
  std::string trial;   ///< of a subject
  std::string figure, loads, sto, csv, report;
  std::optional<double> filter;
  bool json = false;
  bool reduce = false;   ///< reduce residuals: shift the body and the trunk's centre of mass slightly
  bool muscles = false;  ///< distribute the moments over the model's muscles
};
Exit analyze_measured(const MeasuredArguments& options);

}  // namespace kansetsu::cli
