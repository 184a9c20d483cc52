#include "io/xml_writer.h"

#include <cmath>

#include "io/number.h"
#include "io/text.h"

namespace kansetsu::io {

const std::string& XmlValues::checked(const std::string& text) {
  clean = clean && is_clean(text);
  return text;
}

std::string XmlValues::number_text(std::span<const double> numbers) {
  std::string text;
  for (const double x : numbers) {
    finite = finite && std::isfinite(x);
    text += (text.empty() ? "" : " ") + format_number(x);
  }
  return text;
}

XmlWriter& XmlWriter::open(const char* tag) {
  OpenElement(tag);
  return *this;
}

XmlWriter& XmlWriter::attribute(const char* name, const std::string& text) {
  PushAttribute(name, values_.checked(text).c_str());
  return *this;
}

XmlWriter& XmlWriter::attribute(const char* name, std::span<const double> numbers) {
  return attribute(name, values_.number_text(numbers));
}

XmlWriter& XmlWriter::close() {
  CloseElement();
  return *this;
}

}  // namespace kansetsu::io
