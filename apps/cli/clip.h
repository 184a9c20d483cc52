#pragma once

#include <optional>

#include "cli/capture.h"
#include "kansetsu/model/clip.h"

/// CLIP arguments of commands that want the motion of a figure: captures, which a figure follows, and recordings.
namespace kansetsu::cli {

struct FigureClip {
  Model model;
  Clip clip{};
  std::optional<Contacts> contacts{};  ///< of a capture; none: look for them in the clip
  Vec3<> belt{};                       ///< [m/s] of a moving floor; it has been removed from the clip
  bool captured = false;               ///< it was measured: there is noise from frame to frame
};

/// @param figure  its name may be empty: the recording's own model (.mcap), human28 otherwise. Throws Failure.
FigureClip figure_clip_or_fail(const ClipSource& source, const ModelSource& figure);

}  // namespace kansetsu::cli
