#include <fmt/format.h>

#include <array>
#include <cmath>
#include <numbers>

#include "io/sdf/sdf_reader.h"
#include "io/shapes.h"
#include "io/text.h"
#include "kansetsu/spatial/quaternion.h"

/// Values in SDF are the text of elements.
namespace kansetsu::io::sdf {

const Element* find_child(const Element& element, const char* tag) { return element.FirstChildElement(tag); }

std::optional<std::string> child_text(Reader& reader, const Element& element, const char* tag) {
  const Element* child = find_child(element, tag);
  const char* text = child ? child->GetText() : nullptr;
  if (!text) return std::nullopt;
  const std::string_view rest = trim(text);
  if (rest.empty()) return std::nullopt;
  if (is_clean(rest)) return std::string(rest);
  return reader.report.refuse(*child, kCharacters,
                              fmt::format("{} contains control characters or is not valid UTF-8", quote(rest)),
                              "use letters, digits and punctuation");
}

bool child_numbers(Reader& reader, const Element& element, const char* tag, std::span<double> out) {
  const Element* child = find_child(element, tag);
  if (!child) return false;
  const char* text = child->GetText() ? child->GetText() : "";
  std::array<double, 8> values{};
  const std::span<double> read(values.data(), out.size());
  if (auto problem = parse_numbers(text, read, Infinity::kAllow))
    return reader.report.fail(*child, kNumber, fmt::format("<{}>: {}", tag, *problem),
                              "write plain numbers separated by blanks, e.g. 0.5 or 1e-3");
  std::copy(read.begin(), read.end(), out.begin());
  return true;
}

bool child_number(Reader& reader, const Element& element, const char* tag, double& out) {
  return child_numbers(reader, element, tag, {&out, 1});
}

bool child_vec3(Reader& reader, const Element& element, const char* tag, Vec3<>& out) {
  std::array<double, 3> v{};
  if (!child_numbers(reader, element, tag, v)) return false;
  const bool finite = std::isfinite(v[0]) && std::isfinite(v[1]) && std::isfinite(v[2]);
  if (finite) out = {v[0], v[1], v[2]};
  if (!finite) reader.report.error(*find_child(element, tag), kNumber, "not finite", "write finite numbers");
  return finite;
}

std::optional<bool> child_bool(Reader& reader, const Element& element, const char* tag) {
  const auto text = child_text(reader, element, tag);
  if (!text) return std::nullopt;
  if (*text == "true" || *text == "1") return true;
  if (*text == "false" || *text == "0") return false;
  return reader.report.refuse(*find_child(element, tag), kKeyword,
                              fmt::format("<{}>: {} is neither true nor false", tag, quote(*text)),
                              "write true or false");
}

namespace {

bool is_true(const char* text) { return text && (std::string_view(text) == "true" || std::string_view(text) == "1"); }

/// A rotation by roll, pitch and yaw, or by a quaternion x y z w.
std::optional<Mat3<>> rotation_of(Reader& reader, const Element& pose, const std::vector<double>& v) {
  if (v.size() == 7) {
    const Quaternion<> q{v[3], v[4], v[5], v[6]};
    const double length = std::sqrt(dot(q, q));
    if (has_direction(length)) return to_mat3(q);
    return reader.report.refuse(pose, kRange, "the quaternion has no direction", "the identity is 0 0 0 1");
  }
  const double unit = is_true(pose.Attribute("degrees")) ? std::numbers::pi / 180 : 1;
  return to_transform({{}, {unit * v[3], unit * v[4], unit * v[5]}}).R;
}

}  // namespace

WrittenPose read_pose(Reader& reader, const Element& element) {
  WrittenPose out;
  const Element* pose = find_child(element, "pose");
  if (!pose) return out;
  out.relative_to = read_text(reader.report, *pose, "relative_to").value_or("");
  if (out.relative_to.empty()) out.relative_to = read_text(reader.report, *pose, "frame").value_or("");  // before 1.7
  const char* format = pose->Attribute("rotation_format");
  const bool quaternion = format && std::string_view(format) == "quat_xyzw";
  if (format && !quaternion && std::string_view(format) != "euler_rpy") {
    reader.report.error(*pose, kKeyword, fmt::format("rotation_format={} is not known", quote(format)),
                        "known: euler_rpy, quat_xyzw");
    return out;
  }
  if (!pose->GetText()) return out;  // empty: identity
  std::vector<double> values(quaternion ? 7 : 6);
  if (!child_numbers(reader, element, "pose", values)) return out;
  for (const double x : values) {
    if (std::isfinite(x)) continue;
    reader.report.error(*pose, kNumber, "not finite", "write finite numbers");
    return out;
  }
  if (const auto R = rotation_of(reader, *pose, values)) out.X = {*R, {values[0], values[1], values[2]}};
  return out;
}

void unknown_name(Reader& reader, const Element& at, const char* kind, const std::string& name) {
  reader.report.error(at, kUnknownName, fmt::format("unknown {} {}", kind, quote(name)),
                      "define it, or correct the name");
}

}  // namespace kansetsu::io::sdf
