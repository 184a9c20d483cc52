#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace kansetsu::cli {

/// Parses JSON strictly: syntax errors, numbers beyond the range of a double, repeated keys and deep nesting throw Failure
/// "NAME:LINE:COLUMN: error: …". @param name  of the file, for messages
nlohmann::json parse_json(const std::string& text, const std::string& name);

}  // namespace kansetsu::cli
