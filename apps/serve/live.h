#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "serve/live_source.h"
#include "serve/live_stream.h"

namespace kansetsu::serve {

inline constexpr std::size_t kLargestMessage = std::size_t{16} << 10;  ///< bytes, from a viewer
/// Largest recording [bytes of frames]; it is kept in memory until a viewer fetches it. Ten minutes of a robot with 30 joints.
inline constexpr std::size_t kLargestLiveRecording = std::size_t{256} << 20;

/// Connects a running simulation to viewers: takes their messages and makes frames for them. It knows nothing of sockets.
class LiveSession {
 public:
  explicit LiveSession(LiveSource& source) : source_(source), scene_(io::to_scene_message(source.header())) {}

  /// The first message to a viewer.
  std::string hello() const;
  /// A file of the scene (mesh/0.stl), the last recording (recording.mcap), or none.
  const std::string* file(const std::string& name) const;
  /// Handles a message of a viewer. Returns the reply to all viewers (the new state) or none; an error goes to `problem`.
  std::optional<std::string> handle(std::string_view message, std::string& problem);
  /// Advances by `seconds` of wall time. Returns whether there is a new frame: not while nothing moves and none was requested.
  bool tick(double seconds);
  /// The last frame, encoded for viewers.
  LiveStream& stream() { return stream_; }
  /// After tick(): new messages for all viewers, such as why the simulation stopped.
  std::vector<std::string> news();

  bool recording() const { return recording_.has_value(); }
  double time() const { return time_; }

 private:
  std::string state() const;
  void keep(io::RecordedFrame frame);
  void finish_recording();

  LiveSource& source_;
  io::SceneMessage scene_;
  LiveStream stream_;
  bool playing_ = true, wanted_ = true, failed_ = false;
  int steps_ = 0;
  double speed_ = 1, time_ = 0;
  std::string broken_;  ///< text of the exception that the source threw, until reset
  std::optional<io::Recording> recording_;
  std::size_t recorded_ = 0;   ///< bytes of its frames
  bool full_ = false;          ///< it reached its limit, and viewers have not been notified
  std::string recorded_file_;  ///< the last recording, as a file
};

/// The message that reports an error.
std::string problem_message(std::string_view why);

}  // namespace kansetsu::serve
