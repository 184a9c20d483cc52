#include <fmt/format.h>

#include "io/osim/osim_codes.h"
#include "io/osim/osim_reader.h"
#include "io/text.h"
#include "io/xml_document.h"

namespace kansetsu::io::osim {
const XmlCodes& codes() {
  static constexpr XmlCodes kCodes{kMissing, kNumber, kName, kName, kIgnored, kIgnored, kTooMany};
  return kCodes;
}

bool open_document(const std::filesystem::path& file, tinyxml2::XMLDocument& document, XmlReport& report) {
  const FileText read = read_file(file);
  if (read.problem) {
    report.add(unreadable(read, file, FileCodes::one(kFile)));
    return false;
  }
  return parse_document(read.text, document, report);
}

bool parse_document(std::string_view text, tinyxml2::XMLDocument& document, XmlReport& report) {
  static constexpr XmlDialect kDialect{"OpenSim", "OpenSimDocument", kDocument, kDocument,
                                       kDocument, kDocument,         kDocument, kDocument};
  return load_xml(text, report.file(), document, kDialect, report);
}

std::string child_text(const Element& element, const char* child) {
  const Element* found = element.FirstChildElement(child);
  const char* text = found ? found->GetText() : nullptr;
  return text ? std::string(trim(text)) : "";
}

std::string last_part(const std::string& path) {
  const std::size_t at = path.rfind('/');
  return at == std::string::npos ? path : path.substr(at + 1);
}

bool child_numbers(XmlReport& report, const Element& element, const char* child, std::span<double> out) {
  const Element* found = element.FirstChildElement(child);
  if (!found) return false;
  std::vector<double> values(out.size());
  if (const auto problem = parse_numbers(child_text(element, child), values))
    return report.fail(*found, kNumber, *problem, fmt::format("{} finite number(s) are needed", out.size()));
  std::copy(values.begin(), values.end(), out.begin());
  return true;
}

double child_number(XmlReport& report, const Element& element, const char* child, double otherwise) {
  child_numbers(report, element, child, {&otherwise, 1});
  return otherwise;
}

Vec3<> child_vector(XmlReport& report, const Element& element, const char* child) {
  double v[3] = {};
  child_numbers(report, element, child, v);
  return {v[0], v[1], v[2]};
}

std::vector<double> child_list(XmlReport& report, const Element& element, const char* child) {
  const std::string text = child_text(element, child);
  std::vector<double> out(std::size_t(count_words(text)));
  if (!out.empty()) child_numbers(report, element, child, out);
  return out;
}

bool child_flag(const Element& element, const char* child, bool otherwise) {
  const std::string text = child_text(element, child);
  return text.empty() ? otherwise : same_word(text, "true");
}

std::vector<const Element*> objects_of(const Element& element, const char* set) {
  std::vector<const Element*> out;
  const Element* list = element.FirstChildElement(set);
  if (!list) return out;
  if (const Element* objects = list->FirstChildElement("objects")) list = objects;
  for (const Element* e = list->FirstChildElement(); e; e = e->NextSiblingElement())
    if (std::string_view(e->Name()) != "groups" && std::string_view(e->Name()) != "objects") out.push_back(e);
  return out;
}

std::optional<CoordinateFunction> read_function(XmlReport& report, const Element& element) {
  using F = CoordinateFunction;
  const std::string_view kind = element.Name();
  F out;
  if (kind == "Constant") {
    out = F::constant(child_number(report, element, "value", 0));
  } else if (kind == "LinearFunction" || kind == "PolynomialFunction") {
    out.coefficients = child_list(report, element, "coefficients");
  } else if (kind == "SimmSpline" || kind == "NaturalCubicSpline" || kind == "PiecewiseLinearFunction") {
    out.kind = kind == "PiecewiseLinearFunction" ? F::Kind::kSegments : F::Kind::kSpline;
    out.x = child_list(report, element, "x"), out.y = child_list(report, element, "y");
  } else if (kind == "Sine") {
    out.kind = F::Kind::kSine;
    for (const auto& [name, otherwise] : {std::pair{"amplitude", 1.0}, {"omega", 1.0}, {"phase", 0.0}, {"offset", 0.0}})
      out.coefficients.push_back(child_number(report, element, name, otherwise));
  } else if (kind == "MultiplierFunction") {
    const Element* inner = element.FirstChildElement("function");
    if (inner) inner = inner->FirstChildElement();
    for (const char* name : {"Constant", "LinearFunction", "SimmSpline", "NaturalCubicSpline", "PolynomialFunction"})
      if (!inner) inner = element.FirstChildElement(name);
    if (!inner || std::string_view(inner->Name()) == "MultiplierFunction")
      return report.refuse(element, kFunction, "there is no function to multiply", "name one in <function>");
    std::optional<F> read = read_function(report, *inner);
    if (!read) return std::nullopt;
    read->scale = child_number(report, element, "scale", 1);
    return read;
  } else {
    return report.refuse(element, kFunction, fmt::format("functions of kind <{}> are not known", tag_of(element)),
                         "known: Constant, LinearFunction, PolynomialFunction, SimmSpline, NaturalCubicSpline, "
                         "PiecewiseLinearFunction, Sine, MultiplierFunction");
  }
  if (const auto problem = out.prepare())
    return report.refuse(element, kFunction, "the function cannot be used: " + *problem, "check its numbers");
  return out;
}

}  // namespace kansetsu::io::osim
