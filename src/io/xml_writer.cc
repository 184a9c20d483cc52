#include "io/xml_writer.h"

#include <algorithm>
#include <cmath>

#include "io/number.h"
#include "io/text.h"

namespace kansetsu::io {

const std::string& XmlValues::checked(const std::string& text) {
  clean = clean && is_clean(text);
  return text;
}

std::string XmlValues::number_text(std::span<const double> numbers) {
  finite = finite && std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
  return format_numbers(numbers);
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
