#include "kansetsu/base/printable.h"

namespace kansetsu {

std::size_t find_control(std::string_view text, std::size_t from) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  for (std::size_t i = from; i < text.size(); ++i) {
    if (byte(i) < 0x20 || byte(i) == 0x7f) return i;
    if (byte(i) == 0xc2 && i + 1 < text.size() && byte(i + 1) >= 0x80 && byte(i + 1) < 0xa0) return i;
  }
  return std::string_view::npos;
}

std::string printable(std::string text) {
  for (std::size_t at = find_control(text); at != std::string::npos; at = find_control(text, at + 1)) {
    if (text[at] == '\n' || text[at] == '\t') continue;
    if (static_cast<unsigned char>(text[at]) == 0xc2) text.erase(at, 1);
    text[at] = ' ';
  }
  return text;
}

}  // namespace kansetsu
