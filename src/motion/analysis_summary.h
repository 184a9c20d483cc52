#pragma once

#include "kansetsu/motion/analysis.h"

namespace kansetsu {

std::vector<Phase> find_phases(const Analysis& analysis);
AnalysisSummary summarise(const Model& model, const Analysis& analysis);

}  // namespace kansetsu
