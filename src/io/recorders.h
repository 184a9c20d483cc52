#pragma once

#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "kansetsu/io/recording.h"

/// The recorders behind make_recorder(), one per format.
namespace kansetsu::io {

/// A file that is written front to back and keeps the first thing that went wrong.
class OutputFile {
 public:
  explicit OutputFile(std::filesystem::path path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  bool write(std::string_view bytes);
  bool flush();
  /// What went wrong, closing included; nothing if all is well.
  std::vector<Diagnostic> close();
  bool ok() const { return !problem_; }

 private:
  void note();
  std::filesystem::path path_;
  std::FILE* stream_;
  std::optional<std::string> problem_;
};

Diagnostic cannot_write(const std::filesystem::path& file, const std::string& reason);

Loaded<std::unique_ptr<Recorder>> make_mcap_recorder(const std::filesystem::path& file, RecordingHeader header,
                                                     const RecorderOptions& options);
/// `file` is open; columns: time, every q, every v, every number.
std::unique_ptr<Recorder> make_csv_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header);
std::unique_ptr<Recorder> make_npz_recorder(const std::filesystem::path& file, RecordingHeader header);
std::unique_ptr<Recorder> make_gltf_recorder(const std::filesystem::path& file, RecordingHeader header,
                                             const RecorderOptions& options);

}  // namespace kansetsu::io
