#pragma once

#include <tinyxml2.h>

#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/lookup.h"
#include "io/file_report.h"
#include "io/number.h"
#include "kansetsu/base/diagnostic.h"
#include "kansetsu/spatial/vec3.h"

/// Shared by the readers of XML formats: reading attributes, and diagnostics with line and path.
namespace kansetsu::io {

using Element = tinyxml2::XMLElement;

/// A format's codes for problems of any XML element.
struct XmlCodes {
  const char* missing;            ///< required attribute or element
  const char* number;             ///< bad number
  const char* characters;         ///< control characters or invalid UTF-8 in a name
  const char* repeated;           ///< repeated element where only the first counts
  const char* unknown_element;    ///< ignored
  const char* unknown_attribute;  ///< ignored
  const char* too_many;           ///< the number of diagnostics exceeds the limit
  const char* too_large = "";     ///< a limit on resources is exceeded; later diagnostics are dropped
};

/// The line of the first element with more than kMostAttributes. Called before parsing: tinyxml2 takes quadratic time in them.
inline constexpr int kMostAttributes = 1000;
std::optional<int> crowded_element_line(std::string_view text);

/// The element's name for a message, shortened if necessary.
std::string tag_of(const Element& element);

/// The path of an element: robot[g1]/joint[left_knee]/axis. Brackets contain the name, or the position among siblings of one kind.
std::string path_of(const Element& element);

/// Collects the diagnostics of one document.
class XmlReport : public FileReport {
 public:
  XmlReport(std::string file, const XmlCodes& codes) : FileReport(std::move(file), codes.too_many), codes_(codes) {}

  /// Diagnostics about elements of this document use this file name.
  void set_file(const tinyxml2::XMLDocument& document, std::string file) { files_[&document] = std::move(file); }
  /// Diagnostics about a copy refer to its original.
  void set_origin(const Element& copy, const Element& original) { origins_[&copy] = &origin(original); }
  const Element& origin(const Element& element) const {
    const auto* found = find_in(origins_, &element);
    return found ? **found : element;
  }
  const XmlCodes& codes() const { return codes_; }

  void error(const Element& at, const char* code, std::string message, std::string hint);
  /// Report an error and return false, or no value.
  bool fail(const Element& at, const char* code, std::string message, std::string hint) {
    return error(at, code, std::move(message), std::move(hint)), false;
  }
  std::nullopt_t refuse(const Element& at, const char* code, std::string message, std::string hint) {
    return error(at, code, std::move(message), std::move(hint)), std::nullopt;
  }
  void warning(const Element& at, const char* code, std::string message, std::string hint = {});
  /// A warning that is reported once, at the first element, with the number of occurrences.
  void repeated_warning(const Element& at, const char* code, std::string message, std::string hint = {});
  /// The same, for something that the model lacks (Diagnostic::partial).
  void missing(const Element& at, const char* code, std::string message, std::string hint = {});

  /// Returns and removes all diagnostics, ordered by line.
  std::vector<Diagnostic> take();

  /// The file of an element, or of its original.
  const std::string& file_of(const Element& element) const;

 private:
  struct Repeated {
    Diagnostic first;
    int count = 0;
  };

  bool says_more(Severity severity) const { return !ended_ && !full(severity); }
  Diagnostic finding(Severity severity, const Element& at, const char* code, std::string message,
                     std::string hint) const;

  std::map<const tinyxml2::XMLDocument*, std::string> files_;
  std::unordered_map<const Element*, const Element*> origins_;
  const XmlCodes& codes_;
  std::map<std::pair<std::string, std::string>, Repeated> repeated_;  // by code and message
  bool ended_ = false;  // too_large was reported; later diagnostics are dropped
};

using Names = std::initializer_list<std::string_view>;

/// Reports unlisted attributes and children, and repeated children of those allowed once.
void check_element(XmlReport& report, const Element& element, Names attributes, Names once = {}, Names any_number = {});

/// An attribute's text; none if it is absent, or invalid (then an error is reported).
std::optional<std::string> read_text(XmlReport& report, const Element& element, const char* attribute);
/// The same for a required attribute.
std::optional<std::string> read_required_text(XmlReport& report, const Element& element, const char* attribute);

/// Numbers of an attribute. `out` is unchanged if it is absent, or invalid (then an error is reported). True if it was read.
bool read_numbers(XmlReport& report, const Element& element, const char* attribute, std::span<double> out,
                  Infinity infinity = Infinity::kRefuse);
bool read_number(XmlReport& report, const Element& element, const char* attribute, double& out,
                 Infinity infinity = Infinity::kRefuse);
bool read_vec3(XmlReport& report, const Element& element, const char* attribute, Vec3<>& out);
/// The same for a required attribute; `report_missing` is called if it is absent.
bool read_required_number(XmlReport& report, const Element& element, const char* attribute, double& out);

/// Reports a missing attribute or child element.
void report_missing(XmlReport& report, const Element& element, const std::string& what, std::string hint);

}  // namespace kansetsu::io
