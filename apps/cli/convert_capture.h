#pragma once

#include "cli/capture.h"

namespace kansetsu::cli {

/// Writes a clip as BVH, as joint centres (CSV) or, if a figure is named, as a recording of the figure that follows it.
Exit convert_capture(const ClipSource& source, const ModelSource& figure, const std::string& out);

}  // namespace kansetsu::cli
