#pragma once

#include "kansetsu/motion/analysis.h"

namespace kansetsu {

std::vector<Phase> find_phases(const Analysis& analysis);
/// Stretches in which the mean vertical force of the supports over a second is off by a twentieth of what is needed, or more; and
/// flights in which the motion needs a fifth of the weight on average.
std::vector<SupportGap> find_gaps(const Analysis& analysis, double weight);
AnalysisSummary summarise(const Model& model, const Analysis& analysis);

}  // namespace kansetsu
