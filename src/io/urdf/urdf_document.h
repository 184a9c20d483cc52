#pragma once

#include <tinyxml2.h>

#include <optional>
#include <string_view>

#include "kansetsu/base/diagnostic.h"

/// Parsing a URDF document.
namespace kansetsu::io::urdf {

/// Parses the text; returns a diagnostic without file name if it is not a URDF document, or an unexpanded xacro file.
std::optional<Diagnostic> parse_document(std::string_view text, tinyxml2::XMLDocument& document);

}  // namespace kansetsu::io::urdf
