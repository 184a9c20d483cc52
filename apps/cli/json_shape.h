#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"

/// Checks of the form of JSON values; all problems are reported together.
namespace kansetsu::cli {

class Problems {
 public:
  explicit Problems(std::string file) : file_(std::move(file)) {}

  void bad_shape(const std::string& path, const std::string& what) { add(kBadFile, path, what); }
  void unknown(const std::string& path, std::string_view kind, std::string_view name,
               const std::vector<std::string>& known);
  bool too_many() const { return text_.size() > kMostText; }
  /// Throws Failure with all problems; the exit code is that of the first.
  void fail_if_any() const;

 private:
  static constexpr std::size_t kMostText = 10'000;
  void add(Exit exit, const std::string& path, const std::string& what);

  std::string file_, text_;
  Exit exit_ = kOk;
};

/// Whether the value is an object; reported if not.
bool is_object(const nlohmann::json& value, const std::string& path, Problems& problems);
/// The same; entries with unknown names are reported, too.
bool is_object_of(const nlohmann::json& value, const std::string& path, const std::vector<std::string>& known,
                  Problems& problems);

/// `count` numbers; a single one may be written without brackets.
std::optional<std::vector<double>> numbers(const nlohmann::json& value, int count, const std::string& path,
                                           Problems& problems);

}  // namespace kansetsu::cli
