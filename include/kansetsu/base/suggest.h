#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace kansetsu {

/// "did you mean 'X'?" for the known name nearest to a misspelt one, "" if none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

/// The same for many names of one file. Each is compared with all known names, so a file full of wrong names would take quadratic
/// time: after kMostComparisons no more hints are given.
class NameHints {
 public:
  static constexpr std::size_t kMostComparisons =
      200'000;  ///< two seconds in the worst case, long names that are all alike
  /// @param size   number of known names
  /// @param known  makes their list; called only if a hint is given
  std::string nearest(std::string_view name, std::size_t size, const std::function<std::vector<std::string>()>& known);

 private:
  std::size_t used_ = 0;
};

}  // namespace kansetsu
