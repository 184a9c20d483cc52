#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

/// The coverage of an XML format: each element and attribute is honoured, has no effect on motion, or is missing (not supported).
/// A format has one table of ElementRules.
namespace kansetsu::io {

/// Lists of names separated by blanks. A missing one may have a neutral value, "margin=0", which is not reported. A child is "tag", or
/// "tag:kind" if its rule has another name.
struct ElementRule {
  std::string_view kind, honoured, idle, missing;
  std::string_view children{}, idle_children{}, missing_children{};
};

struct SchemaEntry {
  enum Class { kHonoured, kIdle, kMissing } what = kHonoured;
  std::string other;  ///< neutral value; for honoured children, their kind
};
struct SchemaRule {
  std::map<std::string, SchemaEntry, std::less<>> attributes, children;
};
using Schema = std::map<std::string, SchemaRule, std::less<>>;

Schema make_schema(std::span<const ElementRule> rules);

/// Whether every word of the value is neutral: "0 0 0" for "0".
bool says_nothing(std::string_view value, std::string_view neutral);

}  // namespace kansetsu::io
