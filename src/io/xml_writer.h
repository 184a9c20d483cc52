#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu::io {

/// Indented XML as text. Attributes follow open(); an element without content closes itself.
///
///   xml.open("axis").attribute("xyz", axis).close();      →  <axis xyz="0 0 1"/>
class XmlWriter {
 public:
  XmlWriter& open(std::string_view tag);
  XmlWriter& attribute(std::string_view name, std::string_view text);
  XmlWriter& attribute(std::string_view name, const char* text) { return attribute(name, std::string_view(text)); }
  XmlWriter& attribute(std::string_view name, double number);
  XmlWriter& attribute(std::string_view name, int number);
  XmlWriter& attribute(std::string_view name, const Vec3<>& vector);
  XmlWriter& attribute(std::string_view name, const std::vector<double>& numbers);
  XmlWriter& close();

  const std::string& text() const { return text_; }
  /// Whether every number so far was finite.
  bool finite() const { return finite_; }
  /// Whether every text so far was UTF-8 without control characters.
  bool clean() const { return clean_; }

 private:
  std::string number(double value);

  std::string text_ = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  std::vector<std::string> open_;
  bool empty_ = false;  // the innermost element has no content yet
  bool finite_ = true;
  bool clean_ = true;
};

}  // namespace kansetsu::io
