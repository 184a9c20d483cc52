#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

/// What becomes of the elements and attributes of an XML format: each is honoured, or has no effect on the motion, or is missing here.
/// A format has one table of ElementRules.
namespace kansetsu::io {

/// Names are separated by blanks. What is missing may have a value that says nothing: "margin=0". A child is "tag" or "tag:kind",
/// where its kind is another name.
struct ElementRule {
  std::string_view kind, honoured, idle, missing;
  std::string_view children{}, idle_children{}, missing_children{};
};

struct SchemaEntry {
  enum Class { kHonoured, kIdle, kMissing } what = kHonoured;
  std::string other;  ///< the value that says nothing; of a child that is honoured, its kind
};
struct SchemaRule {
  std::map<std::string, SchemaEntry, std::less<>> attributes, children;
};
using Schema = std::map<std::string, SchemaRule, std::less<>>;

Schema make_schema(std::span<const ElementRule> rules);

/// Whether every word of the value is the neutral one: "0 0 0" says no more than "0".
bool says_nothing(std::string_view value, std::string_view neutral);

}  // namespace kansetsu::io
