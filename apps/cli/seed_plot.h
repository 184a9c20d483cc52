#pragma once

#include <string>
#include <vector>

#include "kansetsu/ik/seed_experiment.h"

namespace kansetsu::cli {

/// A bar chart of the rows, logarithmic, run A to C side by side, as SVG.
std::string seed_plot(const std::vector<ik::SeedRow>& rows);

}  // namespace kansetsu::cli
