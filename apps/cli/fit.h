#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "kansetsu/motion/marker_fit.h"

/// Markers (.c3d, .trc) as the motion of a model, for commands that want one.
namespace kansetsu::cli {

struct FitArguments {
  std::string markers, figure, still;  ///< `still`: a trial in which sizes are found; empty: the same
  std::optional<double> mass{};
  bool keep_size = false;
  std::optional<UpAxis> up{};
};
struct FittedMotion {
  MarkerFigure figure;
  std::optional<ScaledFigure> sizes{};
  MarkerMotion motion{};
  Mat3<> axes = Mat3<>::identity();  ///< the world's from the file's
};
/// Warnings about the markers go to standard error. Throws Failure.
FittedMotion fitted_or_fail(const FitArguments& options);

}  // namespace kansetsu::cli
