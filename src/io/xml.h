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

#include "io/file_report.h"
#include "io/number.h"
#include "kansetsu/base/diagnostic.h"
#include "kansetsu/spatial/vec3.h"

/// What the readers of XML formats share: elements read with defaults, and every problem reported with line and path.
namespace kansetsu::io {

using Element = tinyxml2::XMLElement;

/// The codes under which a format reports what can go wrong in any XML element.
struct XmlCodes {
  const char* missing;            ///< required attribute or element
  const char* number;             ///< bad number
  const char* characters;         ///< control characters or invalid UTF-8 in a name
  const char* repeated;           ///< second element where one counts
  const char* unknown_element;    ///< ignored
  const char* unknown_attribute;  ///< ignored
  const char* too_many;           ///< the list of problems was cut short
  const char* too_large = "";     ///< the file asks for too much: what is read of it after that says nothing about it
};

/// The line of the first element with more than kMostAttributes. To be looked for before parsing: tinyxml2 compares each attribute
/// with all before it.
inline constexpr int kMostAttributes = 1000;
std::optional<int> crowded_element_line(std::string_view text);

/// The element's name for a message, however long it is.
std::string tag_of(const Element& element);

/// Where an element is: robot[g1]/joint[left_knee]/axis. The bracket holds the name, or the position among several
/// elements of one kind.
std::string path_of(const Element& element);

/// Collects the diagnostics of one document.
class XmlReport : public FileReport {
 public:
  XmlReport(std::string file, const XmlCodes& codes) : FileReport(std::move(file), codes.too_many), codes_(codes) {}

  /// Diagnostics about elements of this document name this file instead.
  void set_file(const tinyxml2::XMLDocument& document, std::string file) { files_[&document] = std::move(file); }
  /// Diagnostics about a copy are about what it was copied from.
  void set_origin(const Element& copy, const Element& original) { origins_[&copy] = &origin(original); }
  const Element& origin(const Element& element) const {
    const auto found = origins_.find(&element);
    return found == origins_.end() ? element : *found->second;
  }
  const XmlCodes& codes() const { return codes_; }

  void error(const Element& at, const char* code, std::string message, std::string hint);
  /// An error that ends what is read: false, no value.
  bool fail(const Element& at, const char* code, std::string message, std::string hint) {
    return error(at, code, std::move(message), std::move(hint)), false;
  }
  std::nullopt_t refuse(const Element& at, const char* code, std::string message, std::string hint) {
    return error(at, code, std::move(message), std::move(hint)), std::nullopt;
  }
  void warning(const Element& at, const char* code, std::string message, std::string hint = {});
  /// A warning that many elements may give: reported once, at the first of them, with their number.
  void repeated_warning(const Element& at, const char* code, std::string message, std::string hint = {});
  /// The same, for what is left out of the model.
  void missing(const Element& at, const char* code, std::string message, std::string hint = {});

  /// All diagnostics, in the order of lines; leaves none.
  std::vector<Diagnostic> take();

  /// The file of an element, or of what it was copied from.
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
  bool ended_ = false;                                                // the file is too large, and nothing follows that
};

using Names = std::initializer_list<std::string_view>;

/// Reports attributes and children that are not listed, and a second one of those that count once.
void check_element(XmlReport& report, const Element& element, Names attributes, Names once = {}, Names any_number = {});

/// The attribute's text, none if it is absent or no clean text (then an error is reported).
std::optional<std::string> read_text(XmlReport& report, const Element& element, const char* attribute);
/// The same, where absence and an empty text are errors.
std::optional<std::string> read_required_text(XmlReport& report, const Element& element, const char* attribute);

/// Numbers: `out` keeps its value if the attribute is absent, or bad (then an error is reported). True if it was read.
bool read_numbers(XmlReport& report, const Element& element, const char* attribute, std::span<double> out,
                  Infinity infinity = Infinity::kRefuse);
bool read_number(XmlReport& report, const Element& element, const char* attribute, double& out,
                 Infinity infinity = Infinity::kRefuse);
bool read_vec3(XmlReport& report, const Element& element, const char* attribute, Vec3<>& out);
/// The same, where absence is an error.
bool read_required_number(XmlReport& report, const Element& element, const char* attribute, double& out);

/// An error that names the attribute or child element that is not there.
void report_missing(XmlReport& report, const Element& element, const std::string& what, std::string hint);

}  // namespace kansetsu::io
