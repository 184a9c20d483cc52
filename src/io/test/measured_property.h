#pragma once

#include <cmath>
#include <string>
#include <string_view>

#include "kansetsu/io/measured.h"
#include "kansetsu/io/subject.h"

/// What holds for bytes of any origin that are taken for a measurement or a table.
namespace kansetsu::io::test {

inline std::string violation_of(const Loaded<Measurement>& read) {
  if (bool(read) == has_errors(read.diagnostics)) return "a value with errors, or none without";
  if (!read) return "";
  const Measurement& m = *read.value;
  if (m.markers.points.size() != m.markers.names.size() * std::size_t(m.markers.frames()))
    return "frames are not whole";
  if (m.analog.values.cols() != m.analog.rows()) return "samples are not whole";
  for (const ForcePlate& p : m.plates)
    if (p.force.size() != m.analog.times.size() || p.moment.size() != p.force.size()) return "plates are not whole";
  for (const Vec3<>& p : m.markers.points)
    if (std::isinf(p.x + p.y + p.z)) return "infinite";
  return "";
}

inline std::string violation_of(const Loaded<TimeTable>& read) {
  if (bool(read) == has_errors(read.diagnostics)) return "a value with errors, or none without";
  return !read || read.value->values.cols() == read.value->rows() ? "" : "rows are not whole";
}

inline std::string violation_of(const Loaded<Subject>& read) {
  if (bool(read) == has_errors(read.diagnostics)) return "a value with errors, or none without";
  if (!read) return "";
  for (const SubjectTrial& t : read.value->trials)
    if (!t.coordinates.values.allFinite() || t.coordinates.values.cols() != t.coordinates.rows() ||
        t.markers.points.size() != t.markers.names.size() * std::size_t(t.markers.frames()))
      return "a trial is not whole";
  return "";
}

/// The first byte tells what the rest is.
inline std::string measured_violation(std::string_view input) {
  if (input.empty()) return "";
  const std::string_view rest = input.substr(1);
  if (input.front() == 'b') return violation_of(parse_b3d(rest));
  switch (input.front() & 3) {
    case 0:
      return violation_of(parse_c3d(rest));
    case 1:
      return violation_of(parse_trc(rest));
    default:
      return violation_of(parse_table(rest));
  }
}

}  // namespace kansetsu::io::test
