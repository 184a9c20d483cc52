#include "io/xml.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>

#include "io/text.h"

namespace kansetsu::io {
namespace {

bool is_namespace(std::string_view attribute) {
  return attribute.starts_with("xmlns") || attribute.starts_with("xml:");
}

std::string shorten(std::string_view text) {
  const std::string quoted = quote(text);
  return quoted.substr(1, quoted.size() - 2);
}

/// tag, tag[name] or tag[position among siblings of this tag]
std::string step_of(const Element& element) {
  const std::string tag = tag_of(element);
  if (const char* name = element.Attribute("name"); name && *name) return fmt::format("{}[{}]", tag, shorten(name));
  int position = 1;
  for (const Element* e = element.PreviousSiblingElement(element.Name()); e; e = e->PreviousSiblingElement(e->Name())) {
    ++position;
  }
  if (position == 1 && !element.NextSiblingElement(element.Name())) return tag;
  return fmt::format("{}[{}]", tag, position);
}

}  // namespace

std::optional<int> crowded_element_line(std::string_view text) {
  const auto behind = [&](std::string_view end, std::size_t from) {
    const std::size_t at = text.find(end, from);
    return at == std::string_view::npos ? text.size() : at + end.size();
  };
  for (std::size_t i = text.find('<'); i < text.size(); i = text.find('<', i)) {
    const std::string_view rest = text.substr(i);
    if (rest.starts_with("<!--")) {
      i = behind("-->", i + 4);
    } else if (rest.starts_with("<![CDATA[")) {
      i = behind("]]>", i + 9);
    } else if (rest.starts_with("<?")) {
      i = behind("?>", i + 2);
    } else {
      int count = 0;
      for (++i; i < text.size() && text[i] != '>';) {
        if (text[i] != '"' && text[i] != '\'') {
          ++i;
          continue;
        }
        if (++count > kMostAttributes) return line_of(text, i);
        i = behind(text.substr(i, 1), i + 1);
      }
    }
  }
  return std::nullopt;
}

std::string tag_of(const Element& element) { return shorten(element.Name()); }

std::string path_of(const Element& element) {
  std::string path = step_of(element);
  for (const tinyxml2::XMLNode* node = element.Parent(); node && node->ToElement(); node = node->Parent()) {
    path = step_of(*node->ToElement()) + "/" + path;
  }
  return path;
}

const std::string& XmlReport::file_of(const Element& element) const {
  const std::string* found = find_in(files_, origin(element).GetDocument());
  return found ? *found : file();
}

Diagnostic XmlReport::finding(Severity severity, const Element& at, const char* code, std::string message,
                              std::string hint) const {
  return {severity, code, file_of(at), origin(at).GetLineNum(), path_of(at), std::move(message), std::move(hint)};
}

void XmlReport::error(const Element& at, const char* code, std::string message, std::string hint) {
  if (!says_more(Severity::kError)) return;
  add(finding(Severity::kError, at, code, std::move(message), std::move(hint)));
  ended_ = code == std::string_view(codes_.too_large);
}

void XmlReport::warning(const Element& at, const char* code, std::string message, std::string hint) {
  if (says_more(Severity::kWarning)) add(finding(Severity::kWarning, at, code, std::move(message), std::move(hint)));
}

void XmlReport::repeated_warning(const Element& at, const char* code, std::string message, std::string hint) {
  if (ended_ || repeated_.size() > kMaxDiagnostics) return;
  Repeated& entry = repeated_[{code, message}];
  if (++entry.count == 1) entry.first = finding(Severity::kWarning, at, code, std::move(message), std::move(hint));
}

void XmlReport::missing(const Element& at, const char* code, std::string message, std::string hint) {
  const std::pair<std::string, std::string> key{code, message};
  repeated_warning(at, code, std::move(message), std::move(hint));
  if (const auto entry = repeated_.find(key); entry != repeated_.end()) entry->second.first.partial = true;
}

std::vector<Diagnostic> XmlReport::take() {
  for (auto& [key, entry] : repeated_) {
    if (entry.count > 1) entry.first.message += fmt::format(" ({} times, first here)", entry.count);
    add(std::move(entry.first));
  }
  repeated_.clear();
  std::vector<Diagnostic> diagnostics = FileReport::take();
  std::ranges::stable_sort(diagnostics, {}, &Diagnostic::line);
  return diagnostics;
}

void check_element(XmlReport& report, const Element& element, Names attributes, Names once, Names any_number) {
  for (const tinyxml2::XMLAttribute* a = element.FirstAttribute(); a; a = a->Next()) {
    if (contains(attributes, a->Name()) || is_namespace(a->Name())) continue;
    report.repeated_warning(
        element, report.codes().unknown_attribute,
        fmt::format("attribute {} of <{}> is not known and ignored", quote(a->Name()), tag_of(element)));
  }
  std::set<std::string_view> seen;
  for (const Element* child = element.FirstChildElement(); child; child = child->NextSiblingElement()) {
    const std::string_view name = child->Name();
    if (contains(any_number, name)) continue;
    if (!contains(once, name)) {
      report.repeated_warning(*child, report.codes().unknown_element,
                              fmt::format("<{}> in <{}> is not known and ignored", tag_of(*child), tag_of(element)));
    } else if (!seen.insert(name).second) {
      report.warning(*child, report.codes().repeated,
                     fmt::format("second <{}> in one <{}>; the first is used", tag_of(*child), tag_of(element)));
    }
  }
}

void report_missing(XmlReport& report, const Element& element, const std::string& what, std::string hint) {
  report.error(element, report.codes().missing, fmt::format("<{}> has no {}", tag_of(element), what), std::move(hint));
}

std::optional<std::string> read_text(XmlReport& report, const Element& element, const char* attribute) {
  const char* text = element.Attribute(attribute);
  if (!text) return std::nullopt;
  if (!is_clean(text))
    return report.refuse(element, report.codes().characters,
                         fmt::format("{}={} contains control characters or is not valid UTF-8", attribute, quote(text)),
                         "use letters, digits and punctuation");
  return text;
}

std::optional<std::string> read_required_text(XmlReport& report, const Element& element, const char* attribute) {
  const char* text = element.Attribute(attribute);
  if (!text || !*text) {
    report_missing(report, element, fmt::format("{}{}", text ? "text in its attribute " : "attribute ", attribute),
                   fmt::format("write <{} {}=\"…\">", tag_of(element), attribute));
    return std::nullopt;
  }
  return read_text(report, element, attribute);
}

bool read_numbers(XmlReport& report, const Element& element, const char* attribute, std::span<double> out,
                  Infinity infinity) {
  const char* text = element.Attribute(attribute);
  if (!text) return false;
  std::array<double, 16> values{};
  const std::span<double> read(values.data(), out.size());
  if (auto problem = parse_numbers(text, read, infinity)) {
    const bool comma = std::string_view(text).find(',') != std::string_view::npos;
    return report.fail(element, report.codes().number, fmt::format("{}={}: {}", attribute, quote(text), *problem),
                       comma ? "numbers are separated by blanks and have a decimal point, not a comma"
                             : "write plain numbers separated by blanks, e.g. 0.5 or 1e-3");
  }
  std::copy(read.begin(), read.end(), out.begin());
  return true;
}

bool read_number(XmlReport& report, const Element& element, const char* attribute, double& out, Infinity infinity) {
  return read_numbers(report, element, attribute, {&out, 1}, infinity);
}

bool read_vec3(XmlReport& report, const Element& element, const char* attribute, Vec3<>& out) {
  std::array<double, 3> v{};
  if (!read_numbers(report, element, attribute, v)) return false;
  out = {v[0], v[1], v[2]};
  return true;
}

bool read_required_number(XmlReport& report, const Element& element, const char* attribute, double& out) {
  if (element.Attribute(attribute)) return read_number(report, element, attribute, out);
  report_missing(report, element, fmt::format("attribute {}", attribute),
                 fmt::format("write <{} {}=\"…\"/>", tag_of(element), attribute));
  return false;
}

}  // namespace kansetsu::io
