#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/output.h"
#include "cli/recorded_numbers.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/sim/world.h"

namespace kansetsu::cli {

/// Whether the name is that of a recording: by its ending, or by what is in the file.
bool names_recording(const std::string& name);
/// Reads a recording; warnings go to standard error, errors are thrown.
io::Recording recording_or_fail(const std::string& file);
std::string recording_text(const io::Recording& recording);
std::string recording_json(const io::Recording& recording);

/// The header of recordings and viewers of a world.
io::RecordingHeader header_of(const World& world, const SceneDescription& scene,
                              const std::vector<NumberGroup>& numbers);
/// Its present frame. `told` counts the events that earlier frames contained.
io::RecordedFrame frame_of(const World& world, const std::vector<NumberGroup>& numbers, std::size_t& told);

/// Writes a world to files, frame by frame: recordings, or .html, a page that shows one. All of them are opened before any is changed:
/// if one cannot be, the others are as before.
class WorldRecorder {
 public:
  /// @param rate  frames per second; 0: every step. Recordings that the scene asks for come with their own.
  WorldRecorder(const World& world, const SceneDescription& scene, const std::vector<std::string>& files, double rate);

  void add(const World& world);  ///< the present moment, if it is due
  /// Completes all files, also when the simulation was interrupted; throws Failure with what could not be written.
  void finish();
  std::vector<std::string> names() const;  ///< of the files

 private:
  struct File {
    std::string name;
    std::unique_ptr<io::Recorder> recorder;  ///< none: a page, which is written at the end
    std::unique_ptr<Output> out;             ///< of a page
    io::Recording page;
    std::vector<NumberGroup> numbers;
    bool contacts = true, connections = true, events = true;  ///< whether it has them
    double rate = 0, next = 0;
    std::size_t told = 0;                        ///< events written so far
    std::vector<io::RecordedContact> impacts{};  ///< since its last frame
  };
  void open(const World& world, const SceneDescription& scene, File file);

  std::vector<File> files_;
};

}  // namespace kansetsu::cli
