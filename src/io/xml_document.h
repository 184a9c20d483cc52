#pragma once

#include "io/xml.h"

/// Parsing XML documents, and recognising other formats.
namespace kansetsu::io {

/// An XML format: its name, root element, and codes for invalid documents.
struct XmlDialect {
  const char *name, *root;
  const char *binary, *empty, *entities, *syntax, *too_deep, *other_format;
};

/// Parses the text; returns a diagnostic without file name if it is not an XML document.
std::optional<Diagnostic> parse_xml(std::string_view text, tinyxml2::XMLDocument& document, const XmlDialect& dialect);
/// A diagnostic if the root element is another format's.
std::optional<Diagnostic> check_root(const Element& root, const XmlDialect& dialect);
/// Both; false if either fails, which is reported.
bool load_xml(std::string_view text, const std::string& file, tinyxml2::XMLDocument& document,
              const XmlDialect& dialect, XmlReport& report);

}  // namespace kansetsu::io
