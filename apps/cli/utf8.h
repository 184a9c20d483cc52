#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace kansetsu::cli {

/// The text with U+FFFD for every byte that is not part of a UTF-8 character.
std::string replace_invalid_utf8(std::string_view text);

/// How many characters a text has, for columns of a table.
std::size_t width(std::string_view text);

}  // namespace kansetsu::cli
