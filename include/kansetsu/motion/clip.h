#pragma once

#include "kansetsu/model/clip.h"
#include "kansetsu/model/configuration.h"

/// Clips as motions in time. docs/guide/motion.md.
namespace kansetsu {

/// The configuration at a time, between frames along the shortest way; before the first and after the last frame it stays.
Eigen::VectorXd sample(const Model& model, const Clip& clip, double time);

}  // namespace kansetsu
