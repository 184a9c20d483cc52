#pragma once

#include <fmt/ranges.h>

#include <concepts>
#include <span>
#include <string>

#include "scene/scene_schema.h"

/// Writes records as TOML tables by their schema (base/schema.h).
namespace kansetsu::io::scene {

// The text of a value; empty if TOML has no such value. @param usual  the default
std::string toml_text(std::string_view text);
std::string toml_text(double x);
inline std::string toml_text(std::same_as<bool> auto x) { return x ? "true" : "false"; }  // not for pointers
std::string toml_text(std::uint64_t x);
std::string toml_text(int x);
std::string toml_text(const Vec3<>& v);
std::string toml_text(std::span<const double> numbers);
std::string toml_text(const Interval& range);
std::string toml_text(SensorKind kind);
std::string toml_text(const std::vector<Recorded>& what);
std::string toml_text(const std::vector<Vec3<>>& points);
std::string toml_text(const std::map<std::string, std::vector<double>>& values);
std::string toml_text(const std::map<std::string, double>& values);
/// The directions that differ from the default.
std::string toml_text(const PerDirection& x, const PerDirection& usual);
std::string toml_table(std::span<const std::string> entries);
/// The key `kind` or `constrain`, and its value.
std::pair<const char*, std::string> mask_entry(ConstraintMask mask);

template <class Record>
std::string inline_table(const Record& x);

template <class T>
std::string toml_value(const T& x, const T& usual) {
  if constexpr (std::is_same_v<T, PerDirection>)
    return toml_text(x, usual);
  else if constexpr (HasWords<T>)
    return toml_text(word_of(x));
  else if constexpr (HasSchema<T>)
    return inline_table(x);
  else
    return toml_text(x);
}

/// Calls put(key, text) for the entries of a record, except lists of records.
template <class Record, class Put>
void for_each_entry(const Record& x, const Put& put) {
  const Record usual{};
  for_each_field<Record>([&](const auto& field) {
    const auto& member = x.*field.member;
    using Member = std::remove_cvref_t<decltype(member)>;
    constexpr Nesting kNesting = std::remove_cvref_t<decltype(field)>::nesting;
    if constexpr (kNesting == Nesting::kByHand || kIsRecordList<Member>) {
      return;
    } else if (field.applies && !field.applies(x)) {
      return;
    } else if constexpr (kNesting == Nesting::kSameTable) {
      for_each_entry(member, put);
    } else if constexpr (std::is_same_v<Member, ConstraintMask>) {
      const auto [key, text] = mask_entry(member);
      put(key, text);
    } else if constexpr (kIsOptional<Member>) {
      if (member) put(field.key, toml_value(*member, *member));
    } else if (field.presence != Presence::kOptional || !(member == usual.*field.member)) {
      if (const std::string text = toml_value(member, usual.*field.member); !text.empty()) put(field.key, text);
    }
  });
}

template <class Record>
std::string inline_table(const Record& x) {
  std::vector<std::string> entries;
  for_each_entry(x, [&](const char* key, const std::string& text) { entries.push_back(key + (" = " + text)); });
  return toml_table(entries);
}

class TomlWriter {
 public:
  void open(std::string_view header) { text_ += fmt::format("\n[[{}]]\n", header); }
  void put(std::string_view key, const std::string& text) { text_ += fmt::format("{} = {}\n", key, text); }
  /// Writes fields under the current header, then lists of records.
  template <class Record>
  void fields(const Record& x, const std::string& header = {}) {
    for_each_entry(x, [this](const char* key, const std::string& text) { put(key, text); });
    for_each_field<Record>([&](const auto& field) {
      using Member = std::remove_cvref_t<decltype(x.*field.member)>;
      if constexpr (kIsRecordList<Member> && std::remove_cvref_t<decltype(field)>::nesting != Nesting::kByHand) {
        const std::string key = field.key;
        for (const auto& item : x.*field.member) record(header + "." + key.substr(0, key.size() - 1), item);
      }
    });
  }
  template <class Record>
  void record(const std::string& header, const Record& x) {
    open(header);
    fields(x, header);
  }
  std::string& text() { return text_; }

 private:
  std::string text_;
};

}  // namespace kansetsu::io::scene
