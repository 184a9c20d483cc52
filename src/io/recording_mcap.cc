#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/foxglove.h"
#include "io/mcap.h"
#include "io/model_json.h"
#include "io/proto.h"
#include "io/proto_schema.h"
#include "io/recorders.h"
#include "io/recording_codes.h"
#include "io/recording_frame.h"
#include "io/recording_scene.h"
#include "kansetsu/base/error.h"

/// Recordings as MCAP: exact frames in chunks of their own, and beside them what other programs show (docs/formats/recording.md).
namespace kansetsu::io {
namespace {

constexpr char kFormat[] = "1";
constexpr char kFrameTopic[] = "/kansetsu/frame", kSceneName[] = "scene.json";
constexpr int kFrames = 0, kOthers = 1;                        // streams of chunks
constexpr std::size_t kLargestChunk = std::size_t{512} << 10;  // bytes before compression

std::string model_name(std::size_t figure) { return fmt::format("model/{}.json", figure); }

std::uint64_t nanoseconds(double time) { return static_cast<std::uint64_t>(std::llround(time * 1e9)); }

/// Puts frames into an mcap::Writer. Not yet a file: the sink says where bytes go.
class McapFrames {
 public:
  McapFrames(mcap::Sink sink, const RecordingHeader& header, const RecorderOptions& options)
      : header_(header), options_(options), out_(std::move(sink), options.compression, "kansetsu") {
    if (options.embed_meshes) meshes_ = collect_meshes(header, diagnostics);
    out_.add_metadata({"kansetsu", {{"format", kFormat}, {"figures", std::to_string(header.figures.size())}}});
    if (!header.notes.empty()) out_.add_metadata({"notes", header.notes});
    out_.add_attachment({kSceneName, "application/json", scene_json(header, meshes_)});
    for (std::size_t i = 0; i < header.figures.size(); ++i) {
      out_.add_attachment({model_name(i), "application/json", model_to_json(header.figures[i].model.description())});
    }
    for (const MeshFile& mesh : meshes_) out_.add_attachment({mesh.name, "application/octet-stream", mesh.data});
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
    frames_ = channel("kansetsu.Frame", kFrameTopic);
    if (!(options_.foxglove_rate > 0)) return;
    transforms_ = channel("foxglove.FrameTransforms", "/tf");
    scene_ = channel("foxglove.SceneUpdate", "/scene");
    for (const NumberChannel& number : header_.numbers) {
      numbers_.push_back(channel("kansetsu.Number", "/numbers/" + number.name, {{"unit", number.unit}}));
    }
  }

  void add_others(const RecordedFrame& frame, std::uint64_t time) {
    for (std::size_t i = 0; i < numbers_.size(); ++i) {
      out_.message(kOthers, numbers_[i], time, proto::Writer().number(1, frame.numbers[i]).bytes);
    }
    if (frame.time < next_) return;
    if (!started_) out_.message(kOthers, scene_, time, foxglove::shapes(header_, meshes_, frame.time));
    out_.message(kOthers, transforms_, time, foxglove::transforms(header_, frame));
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
  mcap::Writer out_;
  std::vector<MeshFile> meshes_;
  std::map<std::string, std::uint16_t> schemas_;
  std::uint16_t frames_ = 0, transforms_ = 0, scene_ = 0;
  std::vector<std::uint16_t> numbers_;
  double chunk_start_ = 0, next_ = 0;
  bool started_ = false, had_forces_ = false;
};

class McapRecorder final : public Recorder {
 public:
  McapRecorder(std::unique_ptr<OutputFile> file, RecordingHeader header, const RecorderOptions& options)
      : Recorder(std::move(header)), file_(std::move(file)), frames_(sink(), this->header(), options) {
    file_->flush();
  }
  ~McapRecorder() override { finish(); }

 protected:
  void write(const RecordedFrame& frame) override { frames_.add(frame); }
  std::vector<Diagnostic> close() override {
    frames_.finish();
    std::vector<Diagnostic> diagnostics = std::move(frames_.diagnostics);
    for (Diagnostic& d : file_->close()) diagnostics.push_back(std::move(d));
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

// ---------------------------------------------------------------------------------------------------------------- reading

const mcap::Attachment* find(const mcap::Contents& contents, const std::string& name) {
  for (const mcap::Attachment& a : contents.attachments) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

/// Collects what is wrong with one file.
class Complaints {
 public:
  explicit Complaints(std::string file) : file_(std::move(file)) {}
  void error(const char* code, std::string message, std::string hint = {}) {
    all.push_back({Severity::kError, code, file_, 0, {}, std::move(message), std::move(hint)});
  }
  void warning(const char* code, std::string message, std::string hint = {}) {
    all.push_back({Severity::kWarning, code, file_, 0, {}, std::move(message), std::move(hint)});
  }
  std::vector<Diagnostic> all;

 private:
  std::string file_;
};

Vec3<> vec3_of(const nlohmann::json& a) { return {a.at(0), a.at(1), a.at(2)}; }

LinkShape shape_of(const nlohmann::json& json) {
  LinkShape shape{.name = json.value("name", "")};
  shape.origin = {vec3_of(json.at("pose")), vec3_of(json.at("rpy"))};
  const std::string type = json.at("type");
  if (type == "sphere") shape.shape = Sphere{json.at("radius")};
  if (type == "box") shape.shape = Box{vec3_of(json.at("size"))};
  if (type == "cylinder") shape.shape = Cylinder{json.at("radius"), json.at("length")};
  if (type == "capsule") shape.shape = Capsule{json.at("radius"), json.at("length")};
  if (type == "mesh") shape.shape = Mesh{json.at("uri"), {}, vec3_of(json.at("scale"))};
  if (json.contains("color")) shape.material = Material{.rgba = json.at("color").get<std::vector<double>>()};
  return shape;
}

/// Environment, numbers and names of figures; the models come from their own attachments.
std::vector<std::string> read_scene(std::string_view text, RecordingHeader& header, Complaints& complaints) {
  std::vector<std::string> names;
  try {
    const auto json = nlohmann::json::parse(text);
    if (json.at("version").get<int>() > kSceneVersion) {
      complaints.error(recording::kNewer, "the scene was written by a newer version of kansetsu", "update kansetsu");
      return names;
    }
    for (const auto& figure : json.at("figures")) names.push_back(figure.at("name"));
    for (const auto& shape : json.at("environment")) header.environment.push_back(shape_of(shape));
    for (const auto& number : json.at("numbers")) header.numbers.push_back({number.at("name"), number.at("unit")});
  } catch (const nlohmann::json::exception& error) {
    complaints.error(recording::kBadScene, fmt::format("{} cannot be understood: {}", kSceneName, error.what()));
  }
  return names;
}

void read_models(const mcap::Contents& contents, const std::vector<std::string>& names, RecordingHeader& header,
                 Complaints& complaints) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = model_name(i);
    const mcap::Attachment* text = find(contents, name);
    if (!text) {
      complaints.error(recording::kBadModel, fmt::format("the model of '{}' is missing ({})", names[i], name));
      continue;
    }
    Loaded<ModelDescription> description = model_from_json(text->data, name);
    Loaded<Model> model = description ? Model::build(*std::move(description.value))
                                      : Loaded<Model>{{}, std::move(description.diagnostics)};
    if (model) {
      header.figures.push_back({names[i], *std::move(model.value)});
      continue;
    }
    complaints.error(recording::kBadModel, fmt::format("the model of '{}' cannot be built", names[i]));
    for (Diagnostic& d : model.diagnostics) {
      if (d.is_error()) complaints.all.push_back(std::move(d));
    }
  }
}

/// Whether the file is a recording of ours, and one of a version we know.
bool check_kind(const mcap::Contents& contents, Complaints& complaints) {
  for (const mcap::Metadata& metadata : contents.metadata) {
    if (metadata.name != "kansetsu") continue;
    const auto format = metadata.values.find("format");
    if (format != metadata.values.end() && format->second == kFormat) return true;
    complaints.error(recording::kNewer,
                     fmt::format("recordings of format {} are not known, only {}",
                                 format == metadata.values.end() ? "?" : format->second, kFormat),
                     "update kansetsu");
    return false;
  }
  complaints.error(recording::kForeign,
                   contents.library.empty()
                       ? std::string("an MCAP file, but no recording of kansetsu")
                       : fmt::format("an MCAP file written by '{}', but no recording of kansetsu", contents.library),
                   "name a file that 'kansetsu simulate --record' wrote");
  return false;
}

std::optional<RecordingHeader> read_header(const mcap::Contents& contents, Complaints& complaints) {
  if (!check_kind(contents, complaints)) return std::nullopt;
  RecordingHeader header;
  for (const mcap::Metadata& metadata : contents.metadata) {
    if (metadata.name == "notes") header.notes = metadata.values;
  }
  const mcap::Attachment* scene = find(contents, kSceneName);
  if (!scene) {
    complaints.error(recording::kBadScene, fmt::format("{} is missing", kSceneName),
                     "the file ends too early or is damaged");
    return std::nullopt;
  }
  const auto names = read_scene(scene->data, header, complaints);
  if (!has_errors(complaints.all)) read_models(contents, names, header, complaints);
  if (has_errors(complaints.all)) return std::nullopt;
  return header;
}

}  // namespace

Loaded<std::unique_ptr<Recorder>> make_mcap_recorder(const std::filesystem::path& file, RecordingHeader header,
                                                     const RecorderOptions& options) {
  auto out = std::make_unique<OutputFile>(file);
  if (!out->ok()) return {std::nullopt, out->close()};
  return {std::make_unique<McapRecorder>(std::move(out), std::move(header), options), {}};
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

Loaded<Recording> parse_recording(std::string_view bytes, const std::string& file_name) {
  Complaints complaints(file_name);
  std::vector<std::string> messages;  // decoded once the header is known: attachments may stand behind them
  const auto contents = mcap::read(bytes, [&](const mcap::Message& m) {
    if (m.channel.topic == kFrameTopic) messages.emplace_back(m.data);
  });
  if (!contents) {
    complaints.error(recording::kNotMcap, bytes.empty() ? "the file is empty" : "this is no MCAP file",
                     "recordings begin with the bytes 89 'MCAP' 30 0D 0A");
    return {std::nullopt, complaints.all};
  }
  std::optional<RecordingHeader> header = read_header(*contents, complaints);
  if (!header) return {std::nullopt, complaints.all};

  Recording recording{.header = *std::move(header), .complete = contents->complete};
  std::size_t bad = 0;
  for (const std::string& message : messages) {
    auto frame = decode_frame(message, recording.header);
    const bool in_order = frame && (recording.frames.empty() || frame->time >= recording.frames.back().time);
    if (in_order) {
      recording.frames.push_back(*std::move(frame));
    } else {
      ++bad;
    }
  }
  for (const std::string& what : contents->damage) complaints.warning(recording::kDamaged, what);
  if (bad > 0) complaints.warning(recording::kBadFrame, fmt::format("{} frames are damaged and left out", bad));
  if (!recording.complete) {
    const double end = recording.frames.empty() ? 0 : recording.frames.back().time;
    complaints.warning(
        recording::kInterrupted,
        fmt::format("the recording ends early: {} frames up to {} s are whole", recording.frames.size(), end),
        "it was interrupted while being written, or copied in part");
  }
  return {std::move(recording), complaints.all};
}

Loaded<Recording> read_recording(const std::filesystem::path& file) {
  Complaints complaints(file.string());
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    complaints.error(recording::kCannotRead, "this is a folder", "name the .mcap file in it");
    return {std::nullopt, complaints.all};
  }
  std::ifstream stream(file, std::ios::binary);
  std::string bytes{std::istreambuf_iterator<char>(stream), {}};
  if (!stream.is_open() || stream.bad()) {
    complaints.error(recording::kCannotRead, "cannot be read", "check the name, the folder and your permissions");
    return {std::nullopt, complaints.all};
  }
  return parse_recording(bytes, file.string());
}

bool is_mcap(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string start(mcap::kMagic.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  return stream.gcount() == static_cast<std::streamsize>(start.size()) && start == mcap::kMagic;
}

}  // namespace kansetsu::io
