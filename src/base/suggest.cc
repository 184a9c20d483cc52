#include "kansetsu/base/suggest.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kansetsu {
namespace {

constexpr std::size_t kLongest = 100;  // nobody misspells more; keeps the cost of hostile names down

/// How many letters must be inserted, deleted or replaced (Levenshtein).
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = diagonal + (a[i] == b[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({replaced, diagonal + 1, row[j] + 1});
    }
  }
  return row.back();
}

}  // namespace

std::string nearest_name(std::string_view name, const std::vector<std::string>& known) {
  if (name.size() > kLongest) return {};
  const std::string* nearest = nullptr;
  std::size_t least = name.size() / 3 + 2;  // at least two thirds of it must be right
  for (const std::string& candidate : known) {
    if (candidate.size() > kLongest) continue;
    // Somebody who typed a word for its beginning, or the beginning for the word, is near too.
    const bool begins = name.size() > 1 && (candidate.starts_with(name) || name.starts_with(candidate));
    const std::size_t distance = begins ? 1 : edit_distance(name, candidate);
    if (distance >= least || distance >= candidate.size()) continue;
    least = distance;
    nearest = &candidate;
  }
  return nearest ? "did you mean '" + *nearest + "'?" : "";
}

std::string NameHints::nearest(std::string_view name, std::size_t size,
                               const std::function<std::vector<std::string>()>& known) {
  if (size > kMostComparisons - used_) return {};
  used_ += size;
  return nearest_name(name, known());
}

}  // namespace kansetsu
