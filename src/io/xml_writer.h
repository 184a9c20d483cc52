#pragma once

#include <tinyxml2.h>

#include <array>
#include <span>
#include <string>

#include "kansetsu/spatial/vec3.h"

namespace kansetsu::io {

/// Formats values for XML and records invalid ones.
struct XmlValues {
  bool finite = true;  ///< all numbers so far were finite
  bool clean = true;   ///< all texts so far were UTF-8 without control characters

  const std::string& checked(const std::string& text);
  /// Separated by blanks.
  std::string number_text(std::span<const double> numbers);
};

/// Writes indented XML. Attributes follow open(); elements without content are self-closing.
///
///   xml.open("axis").attribute("xyz", axis).close();      →  <axis xyz="0 0 1"/>
class XmlWriter : private tinyxml2::XMLPrinter {
 public:
  XmlWriter() { PushDeclaration("xml version=\"1.0\" encoding=\"UTF-8\""); }

  XmlWriter& open(const char* tag);
  XmlWriter& attribute(const char* name, const std::string& text);
  XmlWriter& attribute(const char* name, std::span<const double> numbers);
  XmlWriter& attribute(const char* name, double number) { return attribute(name, std::span(&number, 1)); }
  XmlWriter& attribute(const char* name, int number) { return attribute(name, std::to_string(number)); }
  XmlWriter& attribute(const char* name, const Vec3<>& v) { return attribute(name, std::array{v.x, v.y, v.z}); }
  XmlWriter& close();

  std::string text() const { return CStr(); }
  const XmlValues& values() const { return values_; }

 private:
  void PrintSpace(int depth) override { Print("%*s", 2 * depth, ""); }

  XmlValues values_;
};

}  // namespace kansetsu::io
