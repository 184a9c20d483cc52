#include "io/toml.h"

namespace kansetsu::io {

std::optional<int> stray_character_line(std::string_view text) {
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\n') {
      ++line;
    } else if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
    } else if (c == '"' || c == '\'') {
      const std::string_view fence = text.substr(i, 3) == std::string(3, c) ? text.substr(i, 3) : text.substr(i, 1);
      for (i += fence.size(); i < text.size() && text.substr(i, fence.size()) != fence; ++i) {
        if (c == '"' && text[i] == '\\') ++i;
        if (i < text.size() && text[i] == '\n') {
          ++line;
          if (fence.size() == 1) break;  // not closed: the parser will say so
        }
      }
      if (i < text.size() && text[i] != '\n') i += fence.size() - 1;
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return line;
    }
  }
  return std::nullopt;
}

}  // namespace kansetsu::io
