#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "kansetsu/io/recording.h"

/// The message kansetsu.Frame: everything of a frame, to the bit.
namespace kansetsu::io {

std::string encode_frame(const RecordedFrame& frame);
/// None if the bytes are damaged or do not fit the header (sizes, figures, links).
std::optional<RecordedFrame> decode_frame(std::string_view bytes, const RecordingHeader& header);
/// Bytes that a frame takes, about.
std::size_t memory_of(const RecordedFrame& frame);

inline constexpr double kLatestTime = 1e9;  ///< [s] that a frame may have

}  // namespace kansetsu::io
