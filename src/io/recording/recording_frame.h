#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "kansetsu/io/recording.h"

/// The message kansetsu.Frame: a frame, bit exact.
namespace kansetsu::io {

/// The vectors of a contact or a connection, in the order of all formats.
inline constexpr std::array kContactVectors = {"point", "normal", "force", "moment", "impulse"};
inline constexpr std::array kConnectionVectors = {"point", "force", "moment"};
template <class Record>
auto vectors_of(Record& record) {
  if constexpr (requires { record.normal; })
    return std::array{&record.point, &record.normal, &record.force, &record.moment, &record.impulse};
  else
    return std::array{&record.point, &record.wrench.f, &record.wrench.t};
}
bool is_finite(const Vec3<>& a);
template <class Record>
bool is_finite(const Record& record) {
  for (const Vec3<>* v : vectors_of(record)) {
    if (!is_finite(*v)) return false;
  }
  return true;
}
/// Whether the body exists in the header; the world always does.
bool fits(const BodyRef& body, const RecordingHeader& header);

std::string encode_frame(const RecordedFrame& frame);
/// None if the bytes are damaged or inconsistent with the header (sizes, figures, links).
std::optional<RecordedFrame> decode_frame(std::string_view bytes, const RecordingHeader& header);
/// Approximate memory of a frame in bytes.
std::size_t memory_of(const RecordedFrame& frame);

inline constexpr double kLatestTime = 1e9;  ///< [s] that a frame may have

}  // namespace kansetsu::io
