#include "io/xml_writer.h"

#include <cmath>

#include "io/number.h"
#include "io/text.h"

namespace kansetsu::io {
namespace {

std::string escaped(std::string_view text) {
  std::string result;
  for (const char c : text) {
    switch (c) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += c;
    }
  }
  return result;
}

}  // namespace

XmlWriter& XmlWriter::open(std::string_view tag) {
  if (empty_) text_ += ">\n";
  text_.append(2 * open_.size(), ' ');
  text_ += '<';
  text_ += tag;
  open_.emplace_back(tag);
  empty_ = true;
  return *this;
}

XmlWriter& XmlWriter::attribute(std::string_view name, std::string_view text) {
  clean_ = clean_ && is_clean(text);
  text_ += ' ';
  text_ += name;
  text_ += "=\"";
  text_ += escaped(text);
  text_ += '"';
  return *this;
}

XmlWriter& XmlWriter::attribute(std::string_view name, double value) {
  return attribute(name, std::string_view(number(value)));
}

XmlWriter& XmlWriter::attribute(std::string_view name, int value) {
  return attribute(name, std::string_view(std::to_string(value)));
}

XmlWriter& XmlWriter::attribute(std::string_view name, const Vec3<>& v) {
  return attribute(name, std::string_view(number(v.x) + " " + number(v.y) + " " + number(v.z)));
}

XmlWriter& XmlWriter::attribute(std::string_view name, const std::vector<double>& numbers) {
  std::string text;
  for (const double x : numbers) text += (text.empty() ? "" : " ") + number(x);
  return attribute(name, std::string_view(text));
}

XmlWriter& XmlWriter::close() {
  const std::string tag = std::move(open_.back());
  open_.pop_back();
  if (empty_) {
    text_ += "/>\n";
  } else {
    text_.append(2 * open_.size(), ' ');
    text_ += "</" + tag + ">\n";
  }
  empty_ = false;
  return *this;
}

std::string XmlWriter::number(double value) {
  finite_ = finite_ && std::isfinite(value);
  return format_number(value);
}

}  // namespace kansetsu::io
