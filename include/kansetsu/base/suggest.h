#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kansetsu {

/// "did you mean 'X'?" for the known name nearest to a misspelt one, "" if none is near.
std::string nearest_name(std::string_view name, const std::vector<std::string>& known);

}  // namespace kansetsu
