#include <cctype>
#include <cmath>

#include "io/model_json.h"
#include "io/recording/foxglove.h"
#include "io/recording/mcap.h"
#include "io/recording/proto.h"
#include "io/recording/proto_schema.h"
#include "io/recording/recorders.h"
#include "io/recording/recording_frame.h"
#include "io/recording/recording_parts.h"
#include "io/recording/recording_scene.h"

/// Recordings as MCAP: exact frames in chunks of their own, and beside them what other programs show (docs/formats/recording.md).
namespace kansetsu::io {
namespace {

constexpr int kFrames = 0, kOthers = 1;                        // streams of chunks
constexpr std::size_t kLargestChunk = std::size_t{512} << 10;  // bytes before compression

/// The topic of a number: rerun and others want no spaces in it.
std::string number_topic(std::string name) {
  for (char& c : name) {
    if (std::isspace(static_cast<unsigned char>(c))) c = '_';
  }
  return "/numbers/" + name;
}

std::uint64_t nanoseconds(double time) { return static_cast<std::uint64_t>(std::llround(time * 1e9)); }

/// Puts frames into an mcap::Writer. Not yet a file: the sink says where bytes go.
class McapFrames {
 public:
  McapFrames(mcap::Sink sink, const RecordingHeader& header, const RecorderOptions& options)
      : header_(header), options_(options), joints_(header), out_(std::move(sink), options.compression, "kansetsu") {
    if (options.embed_meshes) meshes_ = collect_meshes(header, diagnostics);
    out_.add_metadata(
        {"kansetsu", {{"format", recording::kFormat}, {"figures", std::to_string(header.figures.size())}}});
    if (!header.notes.empty()) out_.add_metadata({"notes", header.notes});
    out_.add_attachment({recording::kSceneName, "application/json", scene_json(header, meshes_)});
    for (std::size_t i = 0; i < header.figures.size(); ++i) {
      out_.add_attachment(
          {recording::model_name(i), "application/json", model_to_json(header.figures[i].model.description())});
    }
    for (const MeshFile& mesh : meshes_.all()) out_.add_attachment({mesh.name, "application/octet-stream", *mesh.data});
    add_channels();
  }

  void add(const RecordedFrame& frame) {
    const std::uint64_t time = nanoseconds(frame.time);
    out_.message(kFrames, frames_, time, encode_frame(frame));
    if (options_.foxglove_rate > 0) add_others(frame, time);
    const bool due = frame.time - chunk_start_ >= options_.chunk_seconds;
    if (due || out_.pending(kFrames) > kLargestChunk) out_.end_chunk(kFrames);
    if (due || out_.pending(kOthers) > kLargestChunk) out_.end_chunk(kOthers);
    if (due) chunk_start_ = frame.time;
  }
  void finish() { out_.finish(); }

  std::vector<Diagnostic> diagnostics;

 private:
  std::uint16_t channel(const std::string& schema, const std::string& topic,
                        const std::map<std::string, std::string>& metadata = {}) {
    auto [known, is_new] = schemas_.try_emplace(schema, std::uint16_t{0});
    if (is_new) known->second = out_.add_schema(schema, "protobuf", proto::descriptor_set(schema));
    return out_.add_channel(known->second, topic, "protobuf", metadata);
  }

  void add_channels() {
    frames_ = channel("kansetsu.Frame", recording::kFrameTopic);
    if (!(options_.foxglove_rate > 0)) return;
    transforms_ = channel("foxglove.FrameTransforms", "/tf");
    scene_ = channel("foxglove.SceneUpdate", "/scene");
    if (!joints_.empty()) joint_states_ = channel("foxglove.JointStates", "/joint_states");
    for (std::size_t i = 0; i < header_.numbers.size(); ++i) {
      const NumberChannel& number = header_.numbers[i];
      if (!number.topic) continue;
      numbers_.emplace_back(
          i, channel("kansetsu.Number", number_topic(number.name), {{"name", number.name}, {"unit", number.unit}}));
    }
  }

  void add_others(const RecordedFrame& frame, std::uint64_t time) {
    for (const auto& [index, topic] : numbers_) {
      out_.message(kOthers, topic, time, proto::Writer().number(1, frame.numbers[index]).bytes);
    }
    if (frame.time < next_) return;
    if (!started_) out_.message(kOthers, scene_, time, foxglove::shapes(header_, meshes_, frame.time, diagnostics));
    out_.message(kOthers, transforms_, time, foxglove::transforms(header_, frame));
    if (!joints_.empty()) out_.message(kOthers, joint_states_, time, joints_.message(frame));
    const bool loaded = !frame.contacts.empty() || !frame.connections.empty();
    if (loaded || had_forces_) out_.message(kOthers, scene_, time, foxglove::forces(frame));
    had_forces_ = loaded;
    // The next one is due on the grid of the rate; half a millisecond of grace for times that are sums of steps.
    const double period = 1 / options_.foxglove_rate;
    next_ = (std::floor(frame.time / period + 0.5) + 1) * period - 5e-4;
    started_ = true;
  }

  const RecordingHeader& header_;
  RecorderOptions options_;
  foxglove::JointStates joints_;
  mcap::Writer out_;
  MeshFiles meshes_;
  std::map<std::string, std::uint16_t> schemas_;
  std::uint16_t frames_ = 0, transforms_ = 0, scene_ = 0, joint_states_ = 0;
  std::vector<std::pair<std::size_t, std::uint16_t>> numbers_;  ///< those with a topic of their own
  double chunk_start_ = 0, next_ = 0;
  bool started_ = false, had_forces_ = false;
};

class McapRecorder final : public Recorder {
 public:
  McapRecorder(std::unique_ptr<OutputFile> file, RecordingHeader header, const RecorderOptions& options)
      : Recorder(std::move(header)), file_(std::move(file)), frames_(sink(), this->header(), options) {}
  ~McapRecorder() override { finish_begun(); }

 protected:
  void write(const RecordedFrame& frame) override {
    file_->start();
    frames_.add(frame);
  }
  std::vector<Diagnostic> close() override {
    frames_.finish();
    std::vector<Diagnostic> diagnostics = std::move(frames_.diagnostics);
    for (Diagnostic& d : io::close(*file_)) diagnostics.push_back(std::move(d));
    return diagnostics;
  }

 private:
  /// Records are handed over whole; flushed, they survive whatever happens to the program.
  mcap::Sink sink() {
    return [this](std::string_view bytes) { return file_->write(bytes) && file_->flush(); };
  }

  std::unique_ptr<OutputFile> file_;
  McapFrames frames_;
};

}  // namespace

std::unique_ptr<Recorder> make_mcap_recorder(std::unique_ptr<OutputFile> file, RecordingHeader header,
                                             const RecorderOptions& options) {
  return std::make_unique<McapRecorder>(std::move(file), std::move(header), options);
}

std::string to_mcap(const Recording& recording, const RecorderOptions& options) {
  std::string bytes;
  McapFrames frames(
      [&](std::string_view piece) {
        bytes += piece;
        return true;
      },
      recording.header, options);
  for (const RecordedFrame& frame : recording.frames) frames.add(frame);
  frames.finish();
  return bytes;
}

SceneMessage to_scene_message(const RecordingHeader& header) {
  SceneMessage out;
  const MeshFiles meshes = collect_meshes(header, out.diagnostics);
  out.json = scene_json(header, meshes);
  for (const MeshFile& mesh : meshes.all()) out.files.emplace(mesh.name, mesh.data);
  return out;
}

}  // namespace kansetsu::io
