#pragma once

#include <string>
#include <vector>

#include "cli/ik_experiment.h"

namespace kansetsu::cli {

/// A bar chart of the rows, logarithmic, run A to C side by side, as SVG.
std::string ik_experiment_plot(const std::vector<ExperimentRow>& rows);

}  // namespace kansetsu::cli
