#include "io/scene/toml.h"

#include <fmt/format.h>

#include "io/text.h"

namespace kansetsu::io {

namespace {

/// Tracks where a string can begin: at the start of a key or value. A quotation mark elsewhere, as in 25'é, opens none.
class Places {
 public:
  bool fresh() const { return fresh_; }
  void pass_string() { fresh_ = false; }

  void pass(char c) {
    const bool was_fresh = fresh_;
    if (c == ' ' || c == '\t' || c == '\r') return;
    fresh_ = false;
    switch (c) {
      case '\n':
        fresh_ = true;
        if (open_.empty()) in_value_ = false;
        break;
      case '=':
        fresh_ = !in_value_;  // a second one is a mistake
        in_value_ = true;
        break;
      case '.':
        fresh_ = !in_value_;
        break;
      case ',':
        fresh_ = true;
        in_value_ = open_.empty() || open_.back() == '[';
        break;
      case '[':
        fresh_ = was_fresh;
        if (in_value_) open_.push_back('[');  // else the header of a table
        break;
      case '{':
        fresh_ = was_fresh;
        open_.push_back('{');
        in_value_ = false;
        break;
      case ']':
      case '}':
        if (!open_.empty()) open_.pop_back();
        in_value_ = true;
        break;
      default:
        break;
    }
  }

 private:
  bool fresh_ = true, in_value_ = false;
  std::string open_;  ///< brackets of values
};

/// The position after the string that begins at `begin`; counts its lines.
std::size_t pass_string(std::string_view text, std::size_t begin, int& line) {
  const char mark = text[begin];
  const bool long_form = text.substr(begin, 3) == std::string(3, mark);
  const std::string_view fence = text.substr(begin, long_form ? 3 : 1);
  std::size_t i = begin + fence.size();
  for (; i < text.size() && text.substr(i, fence.size()) != fence; ++i) {
    if (mark == '"' && text[i] == '\\' && i + 1 < text.size()) ++i;
    if (text[i] != '\n') continue;
    if (!long_form) return i;  // unterminated: the parser reports it
    ++line;
  }
  i = std::min(i + fence.size(), text.size());
  for (int extra = 0; long_form && extra < 2 && i < text.size() && text[i] == mark; ++extra) ++i;
  return i;
}

/// Visits the characters of a text outside of comments and strings.
/// @param visit  called with each character, and a quotation mark for each string; returns true to stop
/// @return the line where the search stopped
template <class Visit>
std::optional<int> search_line(std::string_view text, Visit&& visit) {
  int line = 1;
  Places places;
  for (std::size_t i = 0; i < text.size();) {
    const char c = text[i];
    if (c == '#') {
      i = std::min(text.find('\n', i), text.size());
      continue;
    }
    if (visit(c)) return line;
    if ((c == '"' || c == '\'') && places.fresh()) {
      i = pass_string(text, i, line);
      places.pass_string();
      continue;
    }
    if (c == '\n') ++line;
    places.pass(c);
    ++i;
  }
  return std::nullopt;
}

bool is_key_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

TomlText refused(int line, std::string problem, std::string hint, bool foreign = false) {
  TomlText out;
  out.line = line, out.problem = std::move(problem), out.hint = std::move(hint), out.foreign = foreign;
  return out;
}

}  // namespace

TomlText parse_toml(std::string_view text, const std::string& file_name) {
  if (is_binary(text) || is_utf16(text) || find_invalid_utf8(text) != std::string_view::npos)
    return refused(0, "not UTF-8 text", "the file must be TOML", true);
  text = without_mark(text);
  if (const auto line = stray_character_line(text)) {
    return refused(*line, "a character beyond ASCII outside of a string", "put names with such characters into quotes");
  }
  if (const auto line = deep_key_line(text))
    return refused(*line, fmt::format("a key of more than {} parts", kDeepestKey), "shorten the key");
  toml::parse_result parsed = toml::parse(text, file_name);
  if (parsed) {
    TomlText out;
    out.table = std::move(parsed).table();
    return out;
  }
  const toml::source_position at = parsed.error().source().begin;
  return refused(int(at.line), fmt::format("column {}: {}", at.column, parsed.error().description()),
                 "correct the TOML at this line");
}

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
