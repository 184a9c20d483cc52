#pragma once

#include <memory>

#include "kansetsu/io/output_file.h"
#include "kansetsu/io/recording.h"

/// The recorders behind make_recorder(), one per format.
namespace kansetsu::io {

/// Closes the file; an error if that fails.
std::vector<Diagnostic> close(OutputFile& file);

/// `file` is open. CSV has the columns time, every q, every v, every number.
std::unique_ptr<Recorder> make_mcap_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header,
                                             const RecorderOptions& options);
std::unique_ptr<Recorder> make_csv_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header);
std::unique_ptr<Recorder> make_npz_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header);
std::unique_ptr<Recorder> make_gltf_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header,
                                             const RecorderOptions& options);

}  // namespace kansetsu::io
