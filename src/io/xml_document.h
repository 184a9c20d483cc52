#pragma once

#include "io/xml.h"

/// What a text is before it is read as a format of XML.
namespace kansetsu::io {

/// A format of XML: its name, its root element, and the codes of texts that are none of it.
struct XmlDialect {
  const char *name, *root;
  const char *binary, *empty, *entities, *syntax, *too_deep, *other_format;
};

/// Parses the text; the reason if it is no XML document of one root element. The file of the reason is left empty.
std::optional<Diagnostic> parse_xml(std::string_view text, tinyxml2::XMLDocument& document, const XmlDialect& dialect);
/// The reason if the root is that of another format.
std::optional<Diagnostic> check_root(const Element& root, const XmlDialect& dialect);
/// Both. False if there is a reason, which is then reported, about that file.
bool load_xml(std::string_view text, const std::string& file, tinyxml2::XMLDocument& document,
              const XmlDialect& dialect, XmlReport& report);

}  // namespace kansetsu::io
