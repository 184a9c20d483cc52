#pragma once

#include <optional>
#include <string>

#include "cli/command.h"
#include "kansetsu/motion/marker_fit.h"

/// The motion of a model from markers (.c3d, .trc), for commands that need one.
namespace kansetsu::cli {

struct FitArguments {
  std::string markers, figure, still;  ///< `still`: the trial that determines the sizes; empty: the same trial
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
