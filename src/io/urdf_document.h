#pragma once

#include <tinyxml2.h>

#include <optional>
#include <string>
#include <string_view>

#include "kansetsu/base/diagnostic.h"

/// What a file is before it is read as URDF.
namespace kansetsu::io::urdf {

/// Parses the text; the reason if it is no XML document whose root is <robot>, or one that xacro has yet to expand.
std::optional<Diagnostic> parse_document(std::string_view text, const std::string& file,
                                         tinyxml2::XMLDocument& document);

}  // namespace kansetsu::io::urdf
