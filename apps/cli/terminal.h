#pragma once

#include <string>
#include <string_view>

namespace kansetsu::cli {

/// Diagnostics in colour if standard error is a terminal with colours; unchanged in pipes and if NO_COLOR is set.
std::string coloured(std::string text);

/// Prints "wrote run.mcap, 3.1 MB" to standard error; nothing for devices, pipes and standard output.
void tell_written(const std::string& file);

/// Prints "kansetsu simulate: warning: …" to standard error.
void warn(std::string_view command, std::string_view what);

}  // namespace kansetsu::cli
