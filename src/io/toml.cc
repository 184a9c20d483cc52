#include "io/toml.h"

namespace kansetsu::io {

namespace {

/// Goes through a text and passes over comments and strings.
/// @param visit  is given each character outside of them, and a quotation mark for each string; true ends the search
/// @return the line where it ended
template <class Visit>
std::optional<int> search_line(std::string_view text, Visit&& visit) {
  int line = 1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '#') {
      while (i + 1 < text.size() && text[i + 1] != '\n') ++i;
      continue;
    }
    if (visit(c)) return line;
    if (c == '\n') {
      ++line;
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
    }
  }
  return std::nullopt;
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

}  // namespace

std::optional<int> stray_character_line(std::string_view text) {
  return search_line(text, [](char c) { return static_cast<unsigned char>(c) >= 0x80; });
}

std::optional<int> deep_key_line(std::string_view text) {
  int dots = 0;  // of the key, or the number, that is being read
  return search_line(text, [&](char c) {
    if (c == '.') return ++dots >= kDeepestKey;
    const bool part = is_key_character(c) || c == '"' || c == '\'' || c == ' ' || c == '\t';
    if (!part) dots = 0;
    return false;
  });
}

}  // namespace kansetsu::io
