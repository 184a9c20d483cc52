#include "io/scene/toml_table.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "io/text.h"
#include "kansetsu/base/suggest.h"

namespace kansetsu::io {
namespace {

const char* name_of(toml::node_type type) {
  static constexpr const char* kNames[] = {"nothing",        "a table",       "an array",      "a text",
                                           "a number",       "a number",      "true or false", "a date or time",
                                           "a date or time", "a date or time"};
  static_assert(int(toml::node_type::table) == 1 && int(toml::node_type::date_time) == std::size(kNames) - 1);
  return kNames[int(type)];
}

/// The type of a node, or its value if it is a number.
std::string describe(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  return name_of(node.type());
}

/// A finite number.
std::optional<double> finite_number(const toml::node& node) {
  if (!node.is_number()) return std::nullopt;
  const double value = node.is_integer() ? double(node.as_integer()->get()) : node.as_floating_point()->get();
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<std::string> clean_text(const toml::node& node) {
  const auto* text = node.as_string();
  return text && is_clean(text->get()) ? std::optional(text->get()) : std::nullopt;
}

}  // namespace

void TomlReport::error(const toml::node& at, const std::string& path, const char* code, std::string message,
                       std::string hint) {
  const toml::source_position& begin = at.source().begin;
  std::string place = path;
  if (begin.column > 0) place += fmt::format("{}column {}", path.empty() ? "" : ", ", begin.column);
  add({Severity::kError, code, file(), int(begin.line), std::move(place), std::move(message), std::move(hint)});
}

bool TomlTable::is_table(std::string_view key) const {
  const toml::node* node = table_->get(key);
  return node && node->is_table();
}
std::vector<std::string> TomlTable::keys() const {
  std::vector<std::string> out;
  for (const auto& [key, node] : *table_) out.emplace_back(key.str());
  return out;
}

const toml::node* TomlTable::find(const char* key) {
  asked_.emplace(key);
  return table_->get(key);
}

void TomlTable::wrong_type(const toml::node& node, const char* key, const char* expected) {
  report_->error(node, path_, scene::kType, fmt::format("{} is {}, not {}", key, describe(node), expected),
                 "see docs/formats/scene.md");
}

template <class Take>
std::invoke_result_t<Take, const toml::node&> TomlTable::value(const char* key, const char* expected, Take&& take) {
  const toml::node* node = find(key);
  if (!node) return std::nullopt;
  auto out = take(*node);
  if (!out) wrong_type(*node, key, expected);
  return out;
}

template <class Take>
auto TomlTable::values(const char* key, const char* expected, const char* each, Take&& take) {
  using Value = typename std::invoke_result_t<Take, const toml::node&>::value_type;
  std::vector<Value> out;
  const toml::node* node = find(key);
  const toml::array* array = node ? node->as_array() : nullptr;
  if (node && !array) wrong_type(*node, key, expected);
  if (!array) return std::optional<std::vector<Value>>();
  for (const toml::node& one : *array) {
    auto found = take(one);
    if (!found) {
      wrong_type(one, key, each);
      return std::optional<std::vector<Value>>();
    }
    out.push_back(*std::move(found));
  }
  return std::optional(std::move(out));
}

std::optional<std::string> TomlTable::text(const char* key) {
  return value(key, "a text without control characters", clean_text);
}
std::optional<bool> TomlTable::boolean(const char* key) {
  return value(key, "true or false", [](const toml::node& node) { return node.value_exact<bool>(); });
}
std::optional<double> TomlTable::number(const char* key) { return value(key, "a finite number", finite_number); }
std::optional<std::int64_t> TomlTable::integer(const char* key) {
  return value(key, "a whole number, zero or more", [](const toml::node& node) {
    const auto whole = node.value_exact<std::int64_t>();
    return whole && *whole >= 0 ? whole : std::nullopt;
  });
}

std::optional<std::vector<double>> TomlTable::numbers(const char* key, Infinite infinite) {
  return values(key, "an array of numbers", "an array of finite numbers", [&](const toml::node& node) {
    const auto* number = node.as_floating_point();
    const bool unbounded = infinite == Infinite::kAllowed && number && std::isinf(number->get());
    return unbounded ? std::optional(number->get()) : finite_number(node);
  });
}

std::optional<std::vector<double>> TomlTable::one_or_more(const std::string& key) {
  const toml::node* node = find(key.c_str());
  if (node && node->is_array()) return numbers(key.c_str());
  const auto value = number(key.c_str());
  return value ? std::optional(std::vector<double>{*value}) : std::nullopt;
}

std::optional<std::vector<std::string>> TomlTable::texts(const char* key) {
  return values(key, "an array of texts", "an array of texts", clean_text);
}

std::optional<int> TomlTable::keyword(const char* key, std::span<const std::string_view> known) {
  const auto word = text(key);
  if (!word) return std::nullopt;
  for (int i = 0; const std::string_view candidate : known) {
    if (candidate == *word) return i;
    ++i;
  }
  const std::vector<std::string> names(known.begin(), known.end());
  std::string hint = nearest_name(*word, names);
  error_at(key, scene::kKeyword, fmt::format("{} = {} is not known", key, quote(*word)),
           hint + (hint.empty() ? "" : " ") + fmt::format("known: {}", fmt::join(names, ", ")));
  return std::nullopt;
}

std::optional<TomlTable> TomlTable::table(const char* key) {
  return value(key, "a table", [&](const toml::node& node) -> std::optional<TomlTable> {
    const toml::table* inner = node.as_table();
    if (!inner) return std::nullopt;
    return TomlTable(*report_, *inner, path_.empty() ? std::string(key) : fmt::format("{}/{}", path_, key));
  });
}

std::vector<TomlTable> TomlTable::tables(const char* key) {
  const toml::node* node = find(key);
  std::vector<TomlTable> out;
  if (!node) return out;
  const auto path_for = [&](const toml::table& inner, std::size_t i) {
    const auto* name = inner.get("name") ? inner.get("name")->as_string() : nullptr;
    const std::string prefix = path_.empty() ? "" : path_ + "/";
    return name ? fmt::format("{}{}[{}]", prefix, key, quote(name->get()))
                : fmt::format("{}{}[{}]", prefix, key, i + 1);
  };
  if (const toml::table* inner = node->as_table()) return {TomlTable(*report_, *inner, path_for(*inner, 0))};
  const toml::array* array = node->as_array();
  if (!array) {
    wrong_type(*node, key, "a table");
    return out;
  }
  for (std::size_t i = 0; i < array->size(); ++i) {
    if (const toml::table* inner = array->get(i)->as_table()) {
      out.emplace_back(*report_, *inner, path_for(*inner, i));
    } else {
      wrong_type(*array->get(i), key, "a table");
    }
  }
  return out;
}

void TomlTable::read(const char* key, double& out) { out = number(key).value_or(out); }
void TomlTable::read(const char* key, bool& out) { out = boolean(key).value_or(out); }
void TomlTable::read(const char* key, std::string& out) {
  if (auto value = text(key)) out = *std::move(value);
}
void TomlTable::read(const char* key, Vec3<>& out) {
  const auto values = numbers(key);
  if (!values) return;
  if (values->size() == 3) {
    out = {(*values)[0], (*values)[1], (*values)[2]};
  } else {
    error_at(key, scene::kLength, fmt::format("{} has {} numbers", key, values->size()), "write three, e.g. [0, 0, 1]");
  }
}

void TomlTable::read(const char* key, std::vector<double>& out) {
  if (auto values = numbers(key)) out = *std::move(values);
}
void TomlTable::read(const char* key, std::uint64_t& out) {
  if (const auto value = integer(key)) out = std::uint64_t(*value);
}
void TomlTable::read(const char* key, int& out) {
  constexpr std::int64_t kMost = 100;  // more than any joint has; the index is checked when the joint is known
  if (const auto value = integer(key)) out = int(std::min(*value, kMost));
}

std::string TomlTable::required(const char* key) {
  if (has(key)) return text(key).value_or("");
  missing(key, "\"…\"");
  return {};
}

void TomlTable::missing(const char* key, const char* example) {
  allow(key);
  error(scene::kMissing, fmt::format("key '{}' is missing", key), fmt::format("write {} = {}", key, example));
}

void TomlTable::error(const char* code, std::string message, std::string hint) {
  report_->error(*table_, path_, code, std::move(message), std::move(hint));
}

void TomlTable::error_at(const char* key, const char* code, std::string message, std::string hint) {
  const toml::node* node = table_->get(key);
  report_->error(node ? *node : *table_, path_, code, std::move(message), std::move(hint));
}

void TomlTable::finish() {
  for (const auto& [key, node] : *table_) {
    if (asked_.contains(key.str())) continue;
    const std::vector<std::string> known(asked_.begin(), asked_.end());
    const std::string hint = nearest_name(key.str(), known);
    report_->error(node, path_, scene::kUnknownKey, fmt::format("unknown key {}", quote(key.str())),
                   hint.empty() ? fmt::format("known: {}", fmt::join(known, ", ")) : hint);
  }
}

}  // namespace kansetsu::io
