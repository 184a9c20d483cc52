#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/recorded_numbers.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {

/// Whether the file is a recording, by its extension or its contents.
bool names_recording(const std::string& name);
/// Reads a recording; warnings go to standard error, errors are thrown.
io::Recording recording_or_fail(const std::string& file);
std::string recording_text(const io::Recording& recording);
std::string recording_json(const io::Recording& recording);

/// The header of a world, for recordings and viewers.
io::RecordingHeader header_of(const World& world, const SceneDescription& scene,
                              const std::vector<NumberGroup>& numbers);
/// The present frame of a world. `told` counts the events in earlier frames.
io::RecordedFrame frame_of(const World& world, const std::vector<NumberGroup>& numbers, std::size_t& told);

/// Writes a world to files, frame by frame: recordings, or .html, a page that shows one. All files are opened before any is
/// changed: if one cannot be opened, none is changed.
class WorldRecorder {
 public:
  /// @param rate  frames per second; 0: every step. Recordings of the scene have their own rates.
  WorldRecorder(const World& world, const SceneDescription& scene, const std::vector<std::string>& files, double rate);

  void add(const World& world);  ///< records the present state if a frame is due
  /// Completes all files, also after an interrupted simulation; throws Failure with the files that could not be written.
  void finish();
  std::vector<std::string> names() const;  ///< of the files

 private:
  struct File {
    std::string name;
    std::unique_ptr<io::Recorder> recorder;  ///< none: a page, which is written at the end
    std::unique_ptr<Output> out;             ///< of a page
    io::Recording page;
    std::vector<NumberGroup> numbers;
    bool contacts = true, connections = true, events = true;  ///< which of them it contains
    double rate = 0, next = 0;
    std::size_t told = 0;                        ///< events written so far
    std::vector<io::RecordedContact> impacts{};  ///< since its last frame
  };
  void open(const World& world, const SceneDescription& scene, File file);

  std::vector<File> files_;
};

}  // namespace kansetsu::cli
