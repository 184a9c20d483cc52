#include "io/urdf/urdf_document.h"

#include <fmt/format.h>

#include "io/text.h"
#include "io/urdf/urdf_codes.h"
#include "io/xml.h"
#include "io/xml_document.h"

namespace kansetsu::io::urdf {
namespace {

constexpr XmlDialect kDialect{"URDF", "robot", kBinary, kEmpty, kEntities, kSyntax, kTooDeep, kOtherFormat};

bool is_expression(std::string_view text) {
  return text.find("${") != std::string_view::npos || text.find("$(") != std::string_view::npos;
}

/// An unexpanded xacro expression of this element; empty if there is none.
std::string xacro_in(const Element& element) {
  if (std::string_view(element.Name()).starts_with("xacro:")) return fmt::format("<{}>", tag_of(element));
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next()) {
    if (is_expression(a->Value())) return fmt::format("{}={}", a->Name(), quote(a->Value()));
  }
  return {};
}

/// Searches the tree except <gazebo>, whose plugins have their own syntax. tinyxml2 limits the depth.
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

std::optional<Diagnostic> check_xacro(const Element& root) {
  XacroSearch xacro;
  root.Accept(&xacro);
  if (xacro.count == 0) return std::nullopt;
  return Diagnostic{Severity::kError,
                    kXacro,
                    {},
                    xacro.first->GetLineNum(),
                    path_of(*xacro.first),
                    fmt::format("xacro has not been run on this file: {} ({} places)", xacro.first_what, xacro.count),
                    "run 'xacro FILE > robot.urdf' and open robot.urdf"};
}

}  // namespace

std::optional<Diagnostic> parse_document(std::string_view text, tinyxml2::XMLDocument& document) {
  if (auto found = parse_xml(text, document, kDialect)) return found;
  const Element& root = *document.RootElement();
  if (auto found = check_root(root, kDialect)) return found;
  if (const Element* second = root.NextSiblingElement()) {
    return Diagnostic{Severity::kError,
                      kSyntax,
                      {},
                      second->GetLineNum(),
                      {},
                      fmt::format("second root element <{}>", tag_of(*second)),
                      "a URDF file contains one <robot> element"};
  }
  return check_xacro(root);
}

}  // namespace kansetsu::io::urdf
