#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace kansetsu::cli {

/// "; did you mean 'X'?" for the known name that is most similar; "" if none is similar.
std::string did_you_mean(std::string_view name, const std::vector<std::string>& known);

/// "unknown KIND 'NAME'; did you mean 'X'?\n  known: A, B, …"
std::string unknown_name(std::string_view kind, std::string_view name, const std::vector<std::string>& known);

}  // namespace kansetsu::cli
