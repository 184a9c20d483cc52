#include "kansetsu/io/recording.h"

#include <fmt/format.h>

#include <cerrno>
#include <cmath>
#include <cstring>
#include <set>

#include "io/recorders.h"
#include "io/recording_codes.h"
#include "kansetsu/base/error.h"

namespace kansetsu::io {
namespace {

bool finite(const Vec3<>& a) { return std::isfinite(a.x) && std::isfinite(a.y) && std::isfinite(a.z); }

void check_body(const RecordingHeader& header, const BodyRef& body) {
  if (body == BodyRef{}) return;
  const bool figure = body.figure >= 0 && std::size_t(body.figure) < header.figures.size();
  if (figure && body.link >= 0 && body.link < header.figures[std::size_t(body.figure)].model.link_count()) return;
  throw Error(fmt::format("Recorder::add: there is no link {} of figure {}", body.link, body.figure));
}

void check_state(const RecordedFigure& figure, const State& state) {
  check_size("Recorder::add", "q", state.q.size(), figure.model.nq());
  check_size("Recorder::add", "v", state.v.size(), figure.model.nv());
  if (state.q.allFinite() && state.v.allFinite()) return;
  throw Error(fmt::format("Recorder::add: the state of '{}' is not finite", figure.name));
}

void check_forces(const RecordingHeader& header, const RecordedFrame& frame) {
  const auto check = [&](const BodyRef& a, const BodyRef& b, std::initializer_list<Vec3<>> values) {
    check_body(header, a);
    check_body(header, b);
    for (const Vec3<>& value : values) {
      if (!finite(value)) throw Error(fmt::format("Recorder::add: a contact at {} s is not finite", frame.time));
    }
  };
  for (const auto& c : frame.contacts) check(c.a, c.b, {c.point, c.normal, c.force});
  for (const auto& c : frame.connections) check(c.a, c.b, {c.point, c.wrench.f, c.wrench.t});
}

}  // namespace

Recorder::Recorder(RecordingHeader header) : header_(std::move(header)) {
  std::set<std::string> names;
  for (const RecordedFigure& figure : header_.figures) {
    if (figure.name.empty() || !names.insert(figure.name).second) {
      throw Error(fmt::format("Recorder: '{}' is not a name of one figure only", figure.name));
    }
  }
}

void Recorder::add(const RecordedFrame& frame) {
  if (finished_) throw Error("Recorder::add: the recording is finished");
  if (!(frame.time >= last_time_) || !(frame.time < 1e9)) {
    throw Error(fmt::format("Recorder::add: time {} s after {} s", frame.time, last_time_));
  }
  check_size("Recorder::add", "states", long(frame.states.size()), long(header_.figures.size()));
  check_size("Recorder::add", "numbers", long(frame.numbers.size()), long(header_.numbers.size()));
  for (std::size_t i = 0; i < frame.states.size(); ++i) check_state(header_.figures[i], frame.states[i]);
  check_forces(header_, frame);
  last_time_ = frame.time;
  write(frame);
}

std::vector<Diagnostic> Recorder::finish() {
  if (finished_) return {};
  finished_ = true;
  return close();
}

Diagnostic cannot_write(const std::filesystem::path& file, const std::string& reason) {
  return {Severity::kError,
          recording::kCannotWrite,
          file.string(),
          0,
          {},
          "cannot be written: " + reason,
          "check the folder, its permissions and the space on the disk"};
}

OutputFile::OutputFile(std::filesystem::path path) : path_(std::move(path)), stream_(std::fopen(path_.c_str(), "wb")) {
  if (!stream_) note();
}

OutputFile::~OutputFile() {
  if (stream_) std::fclose(stream_);
}

void OutputFile::note() {
  if (!problem_) problem_ = std::strerror(errno);
}

bool OutputFile::write(std::string_view bytes) {
  if (ok() && std::fwrite(bytes.data(), 1, bytes.size(), stream_) != bytes.size()) note();
  return ok();
}

bool OutputFile::flush() {
  if (ok() && std::fflush(stream_) != 0) note();
  return ok();
}

std::vector<Diagnostic> OutputFile::close() {
  if (stream_ && std::fclose(stream_) != 0) note();
  stream_ = nullptr;
  if (!problem_) return {};
  return {cannot_write(path_, *problem_)};
}

Loaded<std::unique_ptr<Recorder>> make_recorder(const std::filesystem::path& file, RecordingHeader header,
                                                const RecorderOptions& options) {
  const std::string extension = file.extension().string();
  if (extension == ".mcap") return make_mcap_recorder(file, std::move(header), options);
  if (extension == ".csv") {
    auto out = std::make_unique<OutputFile>(file);
    if (!out->ok()) return {std::nullopt, out->close()};
    return {make_csv_recorder(std::move(out), std::move(header)), {}};
  }
  if (extension == ".npz") return {make_npz_recorder(file, std::move(header)), {}};
  if (extension == ".glb") return {make_gltf_recorder(file, std::move(header), options), {}};
  return {std::nullopt,
          {{Severity::kError,
            recording::kUnknownFormat,
            file.string(),
            0,
            {},
            fmt::format("'{}' is no format of recordings", extension),
            "name a file that ends in .mcap, .csv, .npz or .glb"}}};
}

std::vector<Diagnostic> write_recording(const Recording& recording, const std::filesystem::path& file,
                                        const RecorderOptions& options) {
  Loaded<std::unique_ptr<Recorder>> made = make_recorder(file, recording.header, options);
  if (!made) return made.diagnostics;
  for (const RecordedFrame& frame : recording.frames) (*made.value)->add(frame);
  std::vector<Diagnostic> diagnostics = std::move(made.diagnostics);
  for (Diagnostic& d : (*made.value)->finish()) diagnostics.push_back(std::move(d));
  return diagnostics;
}

}  // namespace kansetsu::io
