#pragma once

#include <string>

#include "kansetsu/motion/walk_simulation.h"

namespace kansetsu::cli {

/// "20Ns@3s", "20Ns@random", "20Ns@3s:left". Throws Failure with what is wrong.
Push parse_push(const std::string& command, const std::string& text);

}  // namespace kansetsu::cli
