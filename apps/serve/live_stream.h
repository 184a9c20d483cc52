#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kansetsu/io/recording.h"

namespace kansetsu::serve {

/// Compact frames for viewers: a viewer that has the previous frame gets only the changes
/// (docs/formats/live.md). Numbers are single precision and are sent again when they have moved by kQuietRatio.
class LiveStream {
 public:
  using Message = std::shared_ptr<const std::string>;

  /// Sets the next frame, for change() and whole().
  void next(const io::RecordedFrame& frame);
  /// For viewers that have the previous frame.
  Message change() const { return change_; }
  /// For all others.
  Message whole();
  std::size_t value_count() const { return values_.size(); }

 private:
  std::vector<float> values_, wanted_;  ///< numbers that viewers have; present numbers
  std::string parts_;                   ///< which bodies touch and are connected, encoded
  std::string events_;
  double time_ = 0;
  Message change_, whole_;
};

/// A number is sent again when it has changed by more than this share, or by kQuiet: well below a pixel and the digits of plots.
inline constexpr float kQuietRatio = 1e-6F, kQuiet = 1e-9F;

}  // namespace kansetsu::serve
