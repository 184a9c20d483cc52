#pragma once

#include <string>
#include <string_view>

namespace kansetsu::serve {

/// Encodes PNG pictures as a video with ffmpeg: .mp4, .webm or .gif.
class VideoEncoder {
 public:
  /// Throws Error if ffmpeg is missing (KANSETSU_FFMPEG selects one) or the format is unknown. The file may have any name.
  VideoEncoder(const std::string& file, const std::string& ending, double rate);
  ~VideoEncoder();
  VideoEncoder(const VideoEncoder&) = delete;
  VideoEncoder& operator=(const VideoEncoder&) = delete;

  bool add(std::string_view png);  ///< false: ffmpeg has ended
  bool finish();                   ///< whether the video is complete

 private:
  int process_ = -1, pipe_ = -1;
};

}  // namespace kansetsu::serve
