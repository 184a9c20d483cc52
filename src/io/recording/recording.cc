#include "kansetsu/io/recording.h"

#include <fmt/format.h>

#include <set>

#include "io/recording/recorders.h"
#include "io/recording/recording_codes.h"
#include "io/recording/recording_frame.h"
#include "io/text.h"
#include "kansetsu/base/error.h"
#include "kansetsu/geometry/surface.h"

namespace kansetsu::io {
namespace {

void check_state(const RecordedFigure& figure, const State& state) {
  check_size("Recorder::add", "q", state.q.size(), figure.model.nq());
  check_size("Recorder::add", "v", state.v.size(), figure.model.nv());
  if (state.q.allFinite() && state.v.allFinite()) return;
  throw Error(fmt::format("Recorder::add: the state of '{}' is not finite", figure.name));
}

template <class Record>
void check_forces(const RecordingHeader& header, double time, const std::vector<Record>& records) {
  for (const Record& c : records) {
    for (const BodyRef& body : {c.a, c.b}) {
      if (fits(body, header)) continue;
      throw Error(fmt::format("Recorder::add: there is no link {} of figure {}", body.link, body.figure));
    }
    if (!is_finite(c)) throw Error(fmt::format("Recorder::add: a contact at {} s is not finite", time));
  }
}

}  // namespace

const char* to_string(ContactState state) {
  static constexpr const char* kNames[] = {"unknown", "stick", "slide", "spin", "impact"};
  return kNames[std::size_t(state)];
}

Recorder::Recorder(RecordingHeader header) : header_(std::move(header)) {
  for (const LinkShape& shape : header_.environment) {
    if (const std::string problem = surface_problem(shape.shape); !problem.empty()) throw Error("Recorder: " + problem);
  }
  std::set<std::string> names;
  for (const RecordedFigure& figure : header_.figures) {
    if (figure.name.empty() || !names.insert(figure.name).second) {
      throw Error(fmt::format("Recorder: '{}' is not a unique figure name", figure.name));
    }
  }
}

void Recorder::add(const RecordedFrame& frame) {
  if (finished_) throw Error("Recorder::add: the recording is finished");
  if (!(frame.time >= last_time_) || !(frame.time < kLatestTime)) {
    throw Error(fmt::format("Recorder::add: time {} s after {} s", frame.time, last_time_));
  }
  check_size("Recorder::add", "states", long(frame.states.size()), long(header_.figures.size()));
  check_size("Recorder::add", "numbers", long(frame.numbers.size()), long(header_.numbers.size()));
  for (std::size_t i = 0; i < frame.states.size(); ++i) check_state(header_.figures[i], frame.states[i]);
  check_forces(header_, frame.time, frame.contacts);
  check_forces(header_, frame.time, frame.connections);
  last_time_ = frame.time;
  begun_ = true;
  write(frame);
}

std::vector<Diagnostic> Recorder::finish() {
  if (finished_) return {};
  finished_ = true;
  return close();
}

Recorder::~Recorder() = default;

void Recorder::finish_begun() noexcept {
  try {
    if (begun_) finish();
  } catch (...) {  // a destructor cannot report; the frames in the file are whole
  }
}

std::vector<Diagnostic> close(OutputFile& file) {
  const std::optional<std::string> reason = file.close();
  if (!reason) return {};
  return {about_file(Severity::kError, recording::kCannotWrite, file.path(), "cannot be written: " + *reason,
                     "check the folder, its permissions and the space on the disk")};
}

namespace {

/// `streamed`: how a format that is written as frames come is.
Loaded<std::unique_ptr<Recorder>> open_recorder(const std::filesystem::path& file, RecordingHeader header,
                                                const RecorderOptions& options, Writing streamed) {
  const std::string extension = file.extension().string();
  const bool streams = extension == ".mcap" || extension == ".csv";
  if (!streams && extension != ".npz" && extension != ".glb") {
    return {std::nullopt,
            {about_file(Severity::kError, recording::kUnknownFormat, file,
                        fmt::format("'{}' is not a recording format", extension),
                        "name a file that ends in .mcap, .csv, .npz or .glb")}};
  }
  auto out = std::make_unique<OutputFile>(file, streams ? streamed : Writing::kBeside);
  if (!out->ok()) return {std::nullopt, close(*out)};
  if (extension == ".mcap") return {make_mcap_recorder(std::move(out), std::move(header), options), {}};
  if (extension == ".csv") return {make_csv_recorder(std::move(out), std::move(header)), {}};
  if (extension == ".npz") return {make_npz_recorder(std::move(out), std::move(header)), {}};
  return {make_gltf_recorder(std::move(out), std::move(header), options), {}};
}

}  // namespace

Loaded<std::unique_ptr<Recorder>> make_recorder(const std::filesystem::path& file, RecordingHeader header,
                                                const RecorderOptions& options) {
  return open_recorder(file, std::move(header), options, Writing::kInPlace);
}

std::vector<Diagnostic> write_recording(const Recording& recording, const std::filesystem::path& file,
                                        const RecorderOptions& options) {
  Loaded<std::unique_ptr<Recorder>> made = open_recorder(file, recording.header, options, Writing::kBeside);
  if (!made) return made.diagnostics;
  try {
    for (const RecordedFrame& frame : recording.frames) (*made.value)->add(frame);
  } catch (...) {
    (*made.value)->abandon();
    throw;
  }
  std::vector<Diagnostic> diagnostics = std::move(made.diagnostics);
  for (Diagnostic& d : (*made.value)->finish()) diagnostics.push_back(std::move(d));
  return diagnostics;
}

}  // namespace kansetsu::io
