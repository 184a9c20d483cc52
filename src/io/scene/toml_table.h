#pragma once

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "io/file_report.h"
#include "io/scene/scene_codes.h"
#include "kansetsu/base/suggest.h"
#include "kansetsu/spatial/vec3.h"

#include "io/scene/toml.h"

/// Reading TOML tables key by key, with diagnostics by line and column.
namespace kansetsu::io {

/// Collects the diagnostics of one document.
class TomlReport : public FileReport {
 public:
  explicit TomlReport(std::string file) : FileReport(std::move(file), scene::kTooMany) {}

  void error(const toml::node& at, const std::string& path, const char* code, std::string message, std::string hint);
  NameHints hints{};  ///< for names of the document
};

/// A table of the document. finish() reports keys that were not read.
class TomlTable {
 public:
  TomlTable(TomlReport& report, const toml::table& table, std::string path)
      : report_(&report), table_(&table), path_(std::move(path)) {}

  TomlReport& report() const { return *report_; }
  const std::string& path() const { return path_; }
  int line() const { return int(table_->source().begin.line); }
  bool has(std::string_view key) const { return table_->contains(key); }
  bool is_table(std::string_view key) const;
  std::vector<std::string> keys() const;

  // Values; none if the key is absent or of another type (then an error is reported).
  std::optional<std::string> text(const char* key);
  std::optional<bool> boolean(const char* key);
  std::optional<double> number(const char* key);
  std::optional<std::int64_t> integer(const char* key);
  enum class Infinite { kRefused, kAllowed };
  std::optional<std::vector<double>> numbers(const char* key, Infinite infinite = Infinite::kRefused);
  std::optional<std::vector<std::string>> texts(const char* key);
  /// The index of the word in `known`.
  std::optional<int> keyword(const char* key, std::span<const std::string_view> known);
  std::optional<TomlTable> table(const char* key);
  /// [[key]], or [key] alone.
  std::vector<TomlTable> tables(const char* key);
  /// A number or an array of numbers.
  std::optional<std::vector<double>> one_or_more(const std::string& key);

  // The same; `out` is unchanged if there is no value.
  void read(const char* key, double& out);
  void read(const char* key, bool& out);
  void read(const char* key, std::string& out);
  void read(const char* key, Vec3<>& out);
  void read(const char* key, std::vector<double>& out);
  void read(const char* key, std::uint64_t& out);
  /// An index of a coordinate.
  void read(const char* key, int& out);
  /// A required text.
  std::string required(const char* key);

  void error(const char* code, std::string message, std::string hint);
  void error_at(const char* key, const char* code, std::string message, std::string hint);
  /// @param example  of a value, for the hint
  void missing(const char* key, const char* example);
  /// Marks a key as known.
  void allow(const char* key) { asked_.emplace(key); }
  /// Reports keys that were not read.
  void finish();

 private:
  const toml::node* find(const char* key);
  void wrong_type(const toml::node& node, const char* key, const char* expected);
  /// The value by take(); an error if the key is present and take() returns none.
  template <class Take>
  std::invoke_result_t<Take, const toml::node&> value(const char* key, const char* expected, Take&& take);
  /// The same for the elements of an array.
  template <class Take>
  auto values(const char* key, const char* expected, const char* each, Take&& take);

  TomlReport* report_;
  const toml::table* table_;
  std::string path_;
  std::set<std::string, std::less<>> asked_;
};

}  // namespace kansetsu::io
