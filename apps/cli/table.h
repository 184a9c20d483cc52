#pragma once

#include <string>
#include <vector>

namespace kansetsu::cli {

/// Rows as aligned columns, two spaces apart, each line indented by two.
std::string table(const std::vector<std::vector<std::string>>& rows);

}  // namespace kansetsu::cli
