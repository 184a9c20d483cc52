#pragma once

#include <fmt/format.h>

#include <map>
#include <set>
#include <string>

namespace kansetsu::io {

/// The stem, with a number if it is taken; adds it to `taken`.
inline std::string unique_name(std::set<std::string>& taken, const std::string& stem) {
  std::string name = stem;
  for (int i = 2; !taken.insert(name).second; ++i) name = fmt::format("{}_{}", stem, i);
  return name;
}

/// Makes names unique by numbers, in constant time per name.
class UniqueNames {
 public:
  std::string take(const std::string& stem) { return take(stem, stem); }
  /// `first` if it is free, otherwise the stem with a number.
  std::string take(const std::string& first, const std::string& stem) {
    if (taken_.insert(first).second) return first;
    std::string out;
    int& number = next_.try_emplace(stem, 2).first->second;
    do out = fmt::format("{}_{}", stem, number++);
    while (!taken_.insert(out).second);
    return out;
  }
  bool contains(const std::string& name) const { return taken_.contains(name); }
  void clear() { taken_.clear(), next_.clear(); }

 private:
  std::set<std::string> taken_;
  std::map<std::string, int> next_;  ///< next number, by stem
};

}  // namespace kansetsu::io
