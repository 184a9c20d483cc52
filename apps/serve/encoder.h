#pragma once

#include <string>
#include <string_view>

namespace kansetsu::serve {

/// Turns PNG pictures into a film by ffmpeg: .mp4, .webm or .gif.
class VideoEncoder {
 public:
  /// Throws Error if there is no ffmpeg (KANSETSU_FFMPEG names one), or the ending is another. The file may have any name.
  VideoEncoder(const std::string& file, const std::string& ending, double rate);
  ~VideoEncoder();
  VideoEncoder(const VideoEncoder&) = delete;
  VideoEncoder& operator=(const VideoEncoder&) = delete;

  bool add(std::string_view png);  ///< false: ffmpeg has ended
  bool finish();                   ///< whether the film is complete

 private:
  int process_ = -1, pipe_ = -1;
};

}  // namespace kansetsu::serve
