#pragma once

#include <optional>

#include "cli/capture.h"
#include "kansetsu/model/clip.h"

/// CLIP arguments of commands that need the motion of a figure: captures, retargeted to a figure, and recordings.
namespace kansetsu::cli {

struct FigureClip {
  Model model;
  Clip clip{};
  std::optional<Contacts> contacts{};  ///< of a capture; none: they are detected in the clip
  Vec3<> belt{};                       ///< [m/s] of a moving floor; it has been removed from the clip
  bool captured = false;               ///< measured, so with noise from frame to frame
};

/// @param figure  may be empty: the model of the recording (.mcap), otherwise human28. Throws Failure.
FigureClip figure_clip_or_fail(const ClipSource& source, const ModelSource& figure);

}  // namespace kansetsu::cli
