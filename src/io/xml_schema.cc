#include "io/xml_schema.h"

#include "io/number.h"

namespace kansetsu::io {
namespace {

using SchemaEntries = std::map<std::string, SchemaEntry, std::less<>>;

void add_words(SchemaEntries& map, std::string_view words, char mark, SchemaEntry::Class what) {
  for (std::string_view word = next_word(words); !word.empty(); word = next_word(words)) {
    const std::size_t at = word.find(mark);
    const std::string_view name = word.substr(0, at);
    map[std::string(name)] = {what, std::string(at == std::string_view::npos ? "" : word.substr(at + 1))};
  }
}

}  // namespace

Schema make_schema(std::span<const ElementRule> rules) {
  Schema out;
  for (const ElementRule& row : rules) {
    SchemaRule& rule = out[std::string(row.kind)];
    add_words(rule.attributes, row.honoured, '=', SchemaEntry::kHonoured);
    add_words(rule.attributes, row.idle, '=', SchemaEntry::kIdle);
    add_words(rule.attributes, row.missing, '=', SchemaEntry::kMissing);
    add_words(rule.children, row.children, ':', SchemaEntry::kHonoured);
    add_words(rule.children, row.idle_children, ':', SchemaEntry::kIdle);
    add_words(rule.children, row.missing_children, '=', SchemaEntry::kMissing);
  }
  return out;
}

bool says_nothing(std::string_view value, std::string_view neutral) {
  if (neutral.empty()) return false;
  double x = 0, y = 0;
  const bool number = !parse_numbers(neutral, {&y, 1});
  for (std::string_view word = next_word(value); !word.empty(); word = next_word(value)) {
    if (number ? (parse_numbers(word, {&x, 1}) || x != y) : word != neutral) return false;
  }
  return true;
}

}  // namespace kansetsu::io
