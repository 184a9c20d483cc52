#pragma once

#include <string>
#include <string_view>

namespace kansetsu::cli {

/// Diagnostics with colours where standard error is a terminal that shows them; as they are in pipes, and where NO_COLOR is set.
std::string coloured(std::string text);

/// "wrote run.mcap, 3.1 MB" on standard error; nothing about devices, pipes and standard output.
void tell_written(const std::string& file);

/// "kansetsu simulate: warning: …" on standard error.
void warn(std::string_view command, std::string_view what);

}  // namespace kansetsu::cli
