#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "io/bytes.h"
#include "io/recording/proto.h"
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

/// A subject with a sound model of one coordinate and a trial of one frame; `input` has the size of more fields of the header, these,
/// and the frames.
inline std::string composed_b3d(std::string_view input) {
  constexpr const char* kModel =
      "<OpenSimDocument Version='40000'><Model name='m'><BodySet><objects><Body name='b'><mass>1</mass><mass_center>0 "
      "0 "
      "0</mass_center><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects><PinJoint "
      "name='j'><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/b</"
      "socket_child_frame><coordinates><Coordinate name='x'/></coordinates></PinJoint></objects></JointSet></Model></"
      "OpenSimDocument>";
  const std::size_t more = input.empty() ? 0 : std::min<std::size_t>(std::uint8_t(input.front()), input.size() - 1);
  proto::Writer header, model, trial, pass;
  model.text(2, kModel);
  pass.varint(1, 0);
  trial.text(1, "t").varint(3, 1).number(4, 0.01).message(5, pass);
  header.varint(1, 1).varint(3, 26).varint(4, 10).message(5, model).message(9, trial).text(17, "M");
  if (!input.empty()) header.bytes += input.substr(1, more);
  ByteWriter out;
  out.put(std::uint64_t(header.bytes.size())).raw(header.bytes);
  return out.raw(input.substr(std::min(input.size(), more + 1))).bytes;
}

/// The first byte tells what the rest is.
inline std::string measured_violation(std::string_view input) {
  if (input.empty()) return "";
  const std::string_view rest = input.substr(1);
  if (input.front() == 'b') return violation_of(parse_b3d(rest));
  if (input.front() == 'B') return violation_of(parse_b3d(composed_b3d(rest)));
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
