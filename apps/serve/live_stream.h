#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kansetsu/io/recording.h"

namespace kansetsu::serve {

/// Frames for viewers, as small as they can be: a viewer that has the frame before gets what changed since
/// (docs/formats/live.md). Numbers are single precision and are sent again when they have moved by kQuietRatio.
class LiveStream {
 public:
  using Message = std::shared_ptr<const std::string>;

  /// The next frame; change() and whole() are of it.
  void next(const io::RecordedFrame& frame);
  /// For viewers that have the frame before.
  Message change() const { return change_; }
  /// For all others.
  Message whole();
  std::size_t value_count() const { return values_.size(); }

 private:
  std::vector<float> values_, wanted_;  ///< as viewers have them; as they are
  std::string parts_;                   ///< which bodies touch and are connected, encoded
  std::string events_;
  double time_ = 0;
  Message change_, whole_;
};

/// A number is sent again when it has changed by more than this part of itself, or by kQuiet: well below a pixel and what plots print.
inline constexpr float kQuietRatio = 1e-6F, kQuiet = 1e-9F;

}  // namespace kansetsu::serve
