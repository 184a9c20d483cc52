#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "io/mjcf/mjcf_reader.h"
#include "io/text.h"

namespace kansetsu::io::mjcf {
namespace {

constexpr std::size_t kMostClasses = 10000;
constexpr std::size_t kMostDefaults = 1'000'000;  // values of all classes, including inherited ones
constexpr std::size_t kLongestDefault = 1000;     // characters; parsed again for every element of the class

std::string kind_of(std::string_view tag) {
  static constexpr std::array<std::string_view, 11> kActuators{"general",     "motor",  "position", "velocity",
                                                               "intvelocity", "damper", "cylinder", "muscle",
                                                               "adhesion",    "plugin", "dcmotor"};
  if (contains(kActuators, tag)) return "actuator";
  return std::string(tag);
}

/// Reads a <default> and its nested classes. Recursion is limited by the depth of the XML document.
void read_class(Reader& reader, const Element& element, const DefaultClass* parent) {
  std::string name = read_text(reader.report, element, "class").value_or("");
  if (name.empty()) {
    if (parent) return report_missing(reader.report, element, "attribute class", "a class within a class needs a name");
    name = "main";
  }
  DefaultClass fresh = parent ? *parent : DefaultClass{};
  const bool known = reader.classes.contains(name);
  if (parent && known) {
    reader.report.error(element, kRepeatedClass, fmt::format("repeated default class name {}", quote(name)),
                        "each class is defined once");
  }
  if (!parent && known) fresh = reader.classes[name];  // several <default> sections are merged
  fresh.name = name;
  std::vector<const Element*> inner;
  std::set<std::string_view> seen;
  for (const Element* child : children(reader, element)) {
    if (std::string_view(child->Name()) == "default") {
      inner.push_back(child);
      continue;
    }
    if (!seen.insert(child->Name()).second) {
      reader.report.error(*child, kUnique, fmt::format("unique element {} found twice", quote(child->Name())),
                          "join them");
    }
    const std::string kind = kind_of(child->Name());
    if (kind == "actuator") read_default_law(reader, *child, fresh);
    AttributeMap& map = fresh.kinds[kind];
    for (const tinyxml2::XMLAttribute* a = child->FirstAttribute(); a; a = a->Next()) {
      if (std::string_view(a->Value()).size() > kLongestDefault)
        reader.report.error(
            *child, kTooMuchData,
            fmt::format("the default of {} has more than {} characters", quote(a->Name()), kLongestDefault),
            "write long values where they belong");
      else if (!is_blank(a->Value()) || !map.contains(std::string_view(a->Name())))
        map[a->Name()] = {a->Value(), child};
    }
  }
  for (const auto& [kind, values] : fresh.kinds) reader.default_values += values.size();
  if (reader.classes.size() > kMostClasses || reader.default_values > kMostDefaults)
    return reader.report.error(element, kTooLargeModel, "default classes are too many, or inherit too much",
                               fmt::format("at most {} classes with {} values together", kMostClasses, kMostDefaults));
  const DefaultClass& stored = reader.classes[name] = std::move(fresh);
  for (const Element* child : inner) read_class(reader, *child, &stored);
}

}  // namespace

Attributes::Found Attributes::find(const char* name) const {
  const Found found = find_any(name);
  if (!is_blank(found.text)) return found;
  if (found.at != &element_ || !defaults_) return {};
  const DefaultValue* inherited = find_in(*defaults_, std::string_view(name));
  return inherited && !is_blank(inherited->text) ? Found{inherited->text, inherited->at} : Found{};
}

Attributes::Found Attributes::find_any(const char* name) const {
  if (const char* own = element_.Attribute(name)) return {own, &element_};
  if (!defaults_) return {};
  const DefaultValue* inherited = find_in(*defaults_, std::string_view(name));
  return inherited ? Found{inherited->text, inherited->at} : Found{};
}

std::optional<std::string> Attributes::text(const char* name) const {
  const Found found = find(name);
  if (!found.text) return std::nullopt;
  if (is_clean(found.text)) return found.text;
  return reader_.report.refuse(*found.at, kCharacters,
                               fmt::format("{}={} contains control characters", name, quote(found.text)),
                               "use letters, digits and punctuation");
}

int Attributes::numbers(const char* name, std::span<double> out, int least) const {
  const Found found = find(name);
  if (!found.text) return 0;
  const int count = count_words(found.text);
  if (count > int(out.size())) {
    reader_.report.error(
        *found.at, kTooMuchData,
        fmt::format("attribute '{}' has too much data: {} numbers, expected {}", name, count, out.size()),
        "numbers are separated by blanks");
    return 0;
  }
  std::vector<double> values(std::size_t(std::max(count, least)));
  if (auto problem = parse_numbers(found.text, values)) {
    reader_.report.error(*found.at, kNumber, fmt::format("bad format in attribute '{}': {}", name, *problem),
                         "write plain numbers separated by blanks, e.g. 0.5 or 1e-3");
    return 0;
  }
  std::copy(values.begin(), values.end(), out.begin());
  return count;
}

bool Attributes::integer(const char* name, int& out) const {
  double value = 0;
  if (!number(name, value)) return false;
  if (value != std::floor(value) || std::abs(value) > 2147483647.0)
    return reader_.report.fail(element_, kNumber, fmt::format("bad format in attribute '{}': not an integer", name),
                               "write a whole number");
  out = int(value);
  return true;
}

bool Attributes::vec3(const char* name, Vec3<>& out) const {
  std::array<double, 3> v{};
  if (numbers(name, v, 3) != 3) return false;
  out = {v[0], v[1], v[2]};
  return true;
}

std::optional<int> Attributes::keyword(const char* name, Names known) const {
  const Found found = find_any(name);
  if (!found.text) return std::nullopt;
  for (int i = 0; const std::string_view word : known) {
    if (word == found.text) return i;
    ++i;
  }
  std::string list;
  for (const std::string_view word : known) list += (list.empty() ? "" : ", ") + std::string(word);
  return reader_.report.refuse(*found.at, kKeyword, fmt::format("{}={} is not known", name, quote(found.text)),
                               "known: " + list);
}

std::optional<bool> Attributes::boolean(const char* name) const {
  const auto value = keyword(name, {"false", "true"});
  return value ? std::optional<bool>(*value == 1) : std::nullopt;
}

bool is_blank(const char* value) {
  return !value || std::string_view(value).find_first_not_of(" \t\r\n") == std::string_view::npos;
}

void read_defaults(Reader& reader, const Element& root) {
  reader.classes["main"].name = "main";
  for (const Element* section : children(reader, root)) {
    if (std::string_view(section->Name()) == "default") read_class(reader, *section, nullptr);
  }
}

Attributes attributes_of(Reader& reader, const Element& element, std::string_view kind, const std::string& childclass) {
  const DefaultClass* found = class_of(reader, element, childclass);
  if (!found) {
    const char* own = element.Attribute("class");
    reader.report.error(element, kUnknownClass,
                        fmt::format("unknown default class name {}", quote(own ? own : childclass)),
                        "define it in <default>, or correct the name");
    return {reader, element, nullptr};
  }
  return {reader, element, find_in(found->kinds, kind)};
}

const DefaultClass* class_of(const Reader& reader, const Element& element, const std::string& childclass) {
  const char* own = element.Attribute("class");
  return find_in(reader.classes, own ? std::string_view(own) : childclass.empty() ? "main" : childclass);
}

double read_amount(Reader& reader, const Attributes& a, const char* name) {
  std::array<double, 4> values{};
  const int count = a.numbers(name, values, 1);
  if (count > 1 && (values[1] != 0 || values[2] != 0 || values[3] != 0))
    reader.report.missing(a.element(), kUnsupportedAttribute, fmt::format("higher terms of '{}' are ignored", name));
  if (values[0] >= 0) return values[0];
  reader.report.missing(a.element(), kNegative, fmt::format("negative {} is ignored", name), "give zero or more");
  return 0;
}

double read_margin(Reader& reader, const Attributes& a) {
  double margin = 0;
  a.number("margin", margin);
  if (margin >= 0) return margin;
  reader.report.missing(a.element(), kUnsupportedAttribute, "a margin below 0 is not supported and ignored");
  return 0;
}

void gather_names(Reader& reader, const Element& root) {
  std::vector<const Element*> open{&root};
  while (!open.empty()) {
    const Element* element = open.back();
    open.pop_back();
    if (const char* name = element->Attribute("name")) reader.given_names.insert(name);
    for (const Element* child : children(reader, *element)) open.push_back(child);
  }
}

std::string take_name(Reader& reader, const Element& element, const std::string& kind, const std::string& fallback) {
  std::set<std::string>& taken = reader.names[kind];
  const std::string own = read_text(reader.report, element, "name").value_or("");
  std::string name = own.empty() ? fallback : own;
  for (int i = 2; own.empty() && (taken.contains(name) || reader.given_names.contains(name)); ++i)
    name = fmt::format("{}_{}", fallback, i);
  if (!taken.insert(name).second) {
    reader.report.error(element, kRepeatedName, fmt::format("repeated name {} in {}", quote(name), kind),
                        "names of elements of one kind must be unique");
  }
  return name;
}

}  // namespace kansetsu::io::mjcf
