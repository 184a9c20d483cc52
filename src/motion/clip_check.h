#pragma once

#include "kansetsu/model/clip.h"

namespace kansetsu {

/// Throws Error "function(): …" where clip_problem() finds one.
void check_clip(const char* function, const Model& model, const Clip& clip);

}  // namespace kansetsu
