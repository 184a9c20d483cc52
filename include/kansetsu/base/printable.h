#pragma once

#include <string>
#include <string_view>

namespace kansetsu {

/// Where the first control character of UTF-8 text is, npos if there is none. Those of the second set (U+0080 to U+009F) count: U+009B
/// begins the same commands of a terminal as escape and [ do.
std::size_t find_control(std::string_view text, std::size_t from = 0);

/// The text with spaces for control characters other than tabs and ends of lines: text from files must not send commands to a terminal.
std::string printable(std::string text);

}  // namespace kansetsu
