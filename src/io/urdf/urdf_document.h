#pragma once

#include <tinyxml2.h>

#include <optional>
#include <string_view>

#include "kansetsu/base/diagnostic.h"

/// What a file is before it is read as URDF.
namespace kansetsu::io::urdf {

/// Parses the text; the reason if it is no XML document whose root is <robot>, or one that xacro has yet to expand.
/// Its file is left empty.
std::optional<Diagnostic> parse_document(std::string_view text, tinyxml2::XMLDocument& document);

}  // namespace kansetsu::io::urdf
