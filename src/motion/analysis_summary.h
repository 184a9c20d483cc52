#pragma once

#include "kansetsu/motion/analysis.h"

namespace kansetsu {

std::vector<Phase> find_phases(const Analysis& analysis);
/// Stretches in which the mean vertical force of the supports over a second is off by a twentieth of what is needed, or more.
std::vector<SupportGap> find_gaps(const Analysis& analysis);
AnalysisSummary summarise(const Model& model, const Analysis& analysis);

}  // namespace kansetsu
