#include "io/xml_document.h"

#include <fmt/format.h>

#include "io/text.h"

namespace kansetsu::io {
namespace {

struct Format {
  std::string_view root, what, hint;
};
constexpr Format kHtml{"html", "an HTML page", "the download gave a web page; fetch the raw file"};
constexpr Format kFormats[] = {
    {"robot", "a URDF file", "open it as URDF"},
    {"sdf", "an SDF file", "open it as SDF: its name ends in .sdf or .world"},
    {"gazebo", "an SDF file", "open it as SDF: its name ends in .sdf or .world"},
    {"mujoco", "an MJCF file", "open it as MJCF"},
    {"mujocoinclude", "part of an MJCF file", "open the MJCF file that includes it"},
    {"OpenSimDocument", "an OpenSim file", "open it as OSIM"},
    {"COLLADA", "a COLLADA mesh", "open the model that uses the mesh"},
    kHtml,
};

Diagnostic problem(const char* code, int line, std::string message, std::string hint) {
  return {Severity::kError, code, {}, line, {}, std::move(message), std::move(hint)};
}

Diagnostic other_format(const Format& format, int line, const XmlDialect& dialect) {
  return problem(dialect.other_format, line, fmt::format("this is {}, not {}", format.what, dialect.name),
                 std::string(format.hint));
}

std::string one_root(const XmlDialect& dialect) {
  return fmt::format("a file in {} contains one <{}> element", dialect.name, dialect.root);
}

bool looks_like_html(std::string_view text) {
  const std::string head = lower_case(text.substr(0, 1024));
  return head.find("<!doctype html") != std::string::npos || head.find("<html") != std::string::npos;
}

/// tinyxml2 puts the element's name behind "XMLElement name=".
std::string element_named_in(const char* error) {
  const std::string_view text = error ? error : "";
  const std::size_t at = text.rfind("name=");
  return at == std::string_view::npos ? "element" : fmt::format("<{}>", text.substr(at + 5, 60));
}

std::string syntax_message(const tinyxml2::XMLDocument& document) {
  const std::string element = element_named_in(document.ErrorStr());
  switch (document.ErrorID()) {
    case tinyxml2::XML_ERROR_MISMATCHED_ELEMENT:
      return fmt::format("{} that begins here is not closed by its own end tag", element);
    case tinyxml2::XML_ERROR_PARSING_ATTRIBUTE:
      return fmt::format("attributes of {} are not well formed, or one is given twice", element);
    case tinyxml2::XML_ERROR_PARSING_ELEMENT:
      return fmt::format("{} is not well formed", element);
    case tinyxml2::XML_ERROR_PARSING_COMMENT:
      return "comment is not closed by -->";
    case tinyxml2::XML_ERROR_PARSING_TEXT:
      return "text outside of elements, or not terminated";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "<?xml …?> is not at the beginning";
    default:
      return fmt::format("not well-formed XML ({})", document.ErrorName());
  }
}

/// Checks before parsing.
std::optional<Diagnostic> check_text(std::string_view text, const XmlDialect& dialect) {
  if (is_utf16(text)) return problem(dialect.binary, 0, "text is UTF-16", "save the file as UTF-8");
  if (is_binary(text)) {
    return problem(dialect.binary, 0, fmt::format("this is a binary file, not {}", dialect.name),
                   fmt::format("a file of {} is XML text", dialect.name));
  }
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    return problem(dialect.empty, 0, "the file is empty", one_root(dialect));
  }
  if (const std::size_t at = text.find("<!ENTITY"); at != std::string_view::npos) {
    return problem(dialect.entities, line_of(text, at), "document type with entity declarations is not supported",
                   "write the text out where the entity is used");
  }
  if (const auto line = crowded_element_line(text)) {
    return problem(dialect.syntax, *line, fmt::format("an element has more than {} attributes", kMostAttributes),
                   fmt::format("no element of {} has so many", dialect.name));
  }
  return std::nullopt;
}

/// The diagnostic for a document without a root element.
Diagnostic explain(std::string_view text, const tinyxml2::XMLDocument& document, const XmlDialect& dialect) {
  if (looks_like_html(text)) return other_format(kHtml, 1, dialect);
  if (document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED) {
    return problem(dialect.too_deep, document.ErrorLineNum(), "elements are nested too deeply",
                   fmt::format("no file of {} needs that", dialect.name));
  }
  if (text.find('<') == std::string_view::npos || !document.Error()) {
    return problem(dialect.syntax, 1, "not XML: there is no element", one_root(dialect));
  }
  return problem(dialect.syntax, document.ErrorLineNum(), syntax_message(document),
                 "correct the XML at this line or a little below");
}

}  // namespace

std::optional<Diagnostic> parse_xml(std::string_view text, tinyxml2::XMLDocument& document, const XmlDialect& dialect) {
  if (auto found = check_text(text, dialect)) return found;
  document.Parse(text.data(), text.size());
  if (document.Error() || !document.RootElement()) return explain(text, document, dialect);
  return std::nullopt;
}

std::optional<Diagnostic> check_root(const Element& root, const XmlDialect& dialect) {
  if (std::string_view(root.Name()) == dialect.root) return std::nullopt;
  for (const Format& format : kFormats) {
    if (lower_case(root.Name()) == lower_case(format.root)) return other_format(format, root.GetLineNum(), dialect);
  }
  return problem(dialect.other_format, root.GetLineNum(),
                 fmt::format("the root element is <{}>, not <{}>", tag_of(root), dialect.root), one_root(dialect));
}

bool load_xml(std::string_view text, const std::string& file, tinyxml2::XMLDocument& document,
              const XmlDialect& dialect, XmlReport& report) {
  std::optional<Diagnostic> problem = parse_xml(text, document, dialect);
  if (!problem) problem = check_root(*document.RootElement(), dialect);
  if (!problem) return true;
  problem->file = file;
  report.add(*std::move(problem));
  return false;
}

}  // namespace kansetsu::io
