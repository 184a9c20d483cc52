#include "io/urdf/urdf_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "io/text.h"
#include "io/urdf/urdf_codes.h"
#include "io/xml.h"

namespace kansetsu::io::urdf {
namespace {

constexpr std::string_view kOneRobot = "a URDF file holds one <robot> element";

struct Format {
  std::string_view root, message, hint;
};
constexpr Format kHtml{"html", "this is an HTML page, not URDF", "the download gave a web page; fetch the raw file"};
constexpr Format kFormats[] = {
    {"sdf", "this is an SDF file, not URDF", "open it as SDF: its name ends in .sdf or .world"},
    {"gazebo", "this is an SDF file, not URDF", "open it as SDF: its name ends in .sdf or .world"},
    {"mujoco", "this is an MJCF file, not URDF", "open it as MJCF"},
    {"mujocoinclude", "this is part of an MJCF file, not URDF", "open the MJCF file that includes it"},
    {"OpenSimDocument", "this is an OpenSim file, not URDF", "open it as OSIM"},
    {"COLLADA", "this is a COLLADA mesh, not URDF", "open the model that uses the mesh"},
    kHtml,
};

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
      return "text outside of elements, or that does not end";
    case tinyxml2::XML_ERROR_PARSING_DECLARATION:
      return "<?xml …?> does not stand at the beginning";
    default:
      return fmt::format("not well-formed XML ({})", document.ErrorName());
  }
}

bool is_expression(std::string_view text) {
  return text.find("${") != std::string_view::npos || text.find("$(") != std::string_view::npos;
}

/// What xacro would still have to do at this element; empty if nothing.
std::string xacro_in(const Element& element) {
  if (std::string_view(element.Name()).starts_with("xacro:")) return fmt::format("<{}>", tag_of(element));
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next()) {
    if (is_expression(a->Value())) return fmt::format("{}={}", a->Name(), quote(a->Value()));
  }
  return {};
}

/// Looks at the whole tree (tinyxml2 bounds its depth) but not into <gazebo>, whose plugins have a syntax of their own.
class XacroSearch : public tinyxml2::XMLVisitor {
 public:
  bool VisitEnter(const Element& element, const tinyxml2::XMLAttribute* /*first*/) override {
    if (std::string_view(element.Name()) == "gazebo") return false;
    if (const std::string what = xacro_in(element); !what.empty()) {
      if (count++ == 0) first = &element, first_what = what;
    }
    return true;
  }

  int count = 0;
  const Element* first = nullptr;
  std::string first_what;
};

Diagnostic problem(const char* code, int line, std::string message, std::string_view hint) {
  return {Severity::kError, code, {}, line, {}, std::move(message), std::string(hint)};
}

Diagnostic other_format(const Format& format, int line) {
  return problem(kOtherFormat, line, std::string(format.message), format.hint);
}

/// What can be said before the XML is looked at.
std::optional<Diagnostic> check_text(std::string_view text) {
  if (is_utf16(text)) return problem(kBinary, 0, "text is UTF-16", "save the file as UTF-8");
  if (is_binary(text)) return problem(kBinary, 0, "this is a binary file, not URDF", "a URDF file is XML text");
  if (text.find_first_not_of(" \t\r\n\f\v") == std::string_view::npos) {
    return problem(kEmpty, 0, "the file is empty", kOneRobot);
  }
  if (const std::size_t at = text.find("<!ENTITY"); at != std::string_view::npos) {
    return problem(kEntities, line_of(text, at), "document type with entity declarations is not supported",
                   "write the text out where the entity is used");
  }
  if (const auto line = crowded_element_line(text)) {
    return problem(kSyntax, *line, fmt::format("an element has more than {} attributes", kMostAttributes),
                   "no element of URDF has so many");
  }
  return std::nullopt;
}

/// Why there is no root element.
Diagnostic explain(std::string_view text, const tinyxml2::XMLDocument& document) {
  if (looks_like_html(text)) return other_format(kHtml, 1);
  if (document.ErrorID() == tinyxml2::XML_ELEMENT_DEPTH_EXCEEDED) {
    return problem(kTooDeep, document.ErrorLineNum(), "elements are nested too deeply", "URDF needs six levels");
  }
  if (text.find('<') == std::string_view::npos || !document.Error()) {
    return problem(kSyntax, 1, "this is not XML: there is no element", kOneRobot);
  }
  return problem(kSyntax, document.ErrorLineNum(), syntax_message(document),
                 "correct the XML at this line or a little below");
}

std::optional<Diagnostic> check_root(const Element& root) {
  for (const Format& format : kFormats) {
    if (lower_case(root.Name()) == lower_case(format.root)) return other_format(format, root.GetLineNum());
  }
  if (std::string_view(root.Name()) != "robot") {
    return problem(kOtherFormat, root.GetLineNum(), fmt::format("the root element is <{}>, not <robot>", tag_of(root)),
                   kOneRobot);
  }
  if (const Element* second = root.NextSiblingElement()) {
    return problem(kSyntax, second->GetLineNum(), fmt::format("second root element <{}>", tag_of(*second)), kOneRobot);
  }
  return std::nullopt;
}

std::optional<Diagnostic> check_xacro(const Element& root) {
  XacroSearch xacro;
  root.Accept(&xacro);
  if (xacro.count == 0) return std::nullopt;
  Diagnostic found =
      problem(kXacro, xacro.first->GetLineNum(),
              fmt::format("xacro has not been run on this file: {} ({} places)", xacro.first_what, xacro.count),
              "run 'xacro FILE > robot.urdf' and open robot.urdf");
  found.path = path_of(*xacro.first);
  return found;
}

}  // namespace

std::optional<Diagnostic> parse_document(std::string_view text, tinyxml2::XMLDocument& document) {
  if (auto found = check_text(text)) return found;
  document.Parse(text.data(), text.size());
  if (document.Error() || !document.RootElement()) return explain(text, document);
  if (auto found = check_root(*document.RootElement())) return found;
  return check_xacro(*document.RootElement());
}

}  // namespace kansetsu::io::urdf
