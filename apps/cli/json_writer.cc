#include "cli/json_writer.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <utility>

#include "cli/utf8.h"

namespace kansetsu::cli {

JsonWriter& JsonWriter::key(std::string_view name) {
  separate();
  quote(name);
  text_ += ": ";
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::value(std::string_view text) {
  separate();
  quote(text);
  return *this;
}

JsonWriter& JsonWriter::value(double x) {
  separate();
  if (!std::isfinite(x)) {
    finite_ = false;
    text_ += "null";
  } else if (x == 0) {
    text_ += std::signbit(x) ? "-0.0" : "0";  // a plain -0 would be read as an integer, without its sign
  } else {
    char digits[32];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, x).ptr);
  }
  return *this;
}

JsonWriter& JsonWriter::value(int x) { return raw(std::to_string(x)); }
JsonWriter& JsonWriter::value(bool x) { return raw(x ? "true" : "false"); }
JsonWriter& JsonWriter::value(const Vec3<>& x) { return begin_array().value(x.x).value(x.y).value(x.z).end_array(); }

JsonWriter& JsonWriter::value(const Eigen::Ref<const Eigen::VectorXd>& x) {
  begin_array();
  for (const double number : x) value(number);
  return end_array();
}

JsonWriter& JsonWriter::matrix(const Eigen::Ref<const Eigen::MatrixXd>& x) {
  begin_array();
  for (Eigen::Index i = 0; i < x.rows(); ++i) {
    begin_array();
    for (Eigen::Index j = 0; j < x.cols(); ++j) value(x(i, j));
    end_array();
  }
  return end_array();
}

JsonWriter& JsonWriter::raw(std::string_view json) {
  separate();
  text_ += json;
  return *this;
}

JsonWriter& JsonWriter::line() {
  line_ = true;
  return *this;
}

std::string JsonWriter::take() { return std::exchange(text_, {}); }

JsonWriter& JsonWriter::begin(char bracket) {
  separate();
  text_ += bracket;
  first_ = true;
  return *this;
}

JsonWriter& JsonWriter::end(char bracket) {
  text_ += bracket;
  first_ = false;
  return *this;
}

void JsonWriter::separate() {
  if (!first_) text_ += line_ ? "," : ", ";
  if (line_) text_ += "\n";
  first_ = line_ = false;
}

void JsonWriter::quote(std::string_view text) {
  text_ += '"';
  for (const std::string valid = replace_invalid_utf8(text); const char c : valid) {
    if (c == '"' || c == '\\') {
      text_ += '\\';
      text_ += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      text_ += fmt::format("\\u{:04x}", static_cast<int>(c));
    } else {
      text_ += c;
    }
  }
  text_ += '"';
}

}  // namespace kansetsu::cli
