#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "base/lookup.h"
#include "io/file_report.h"
#include "io/json.h"
#include "io/mesh/mesh_content.h"
#include "io/model_json.h"
#include "io/recording/mcap.h"
#include "io/recording/recording_codes.h"
#include "io/recording/recording_frame.h"
#include "io/recording/recording_parts.h"
#include "io/recording/recording_scene.h"
#include "kansetsu/io/recording.h"

/// Recordings back from MCAP. A file may come from anywhere: nothing in it is believed before it is checked.
namespace kansetsu::io {
namespace {

const mcap::Attachment* find(const mcap::Contents& contents, const std::string& name) {
  return find_named(contents.attachments, name);
}

constexpr std::uintmax_t kLargestRecording = std::uintmax_t{16} << 30;
/// JSON in memory takes some twenty times the bytes of its text.
constexpr std::size_t kLargestJson = std::size_t{64} << 20;
constexpr std::size_t kMostFigures = 10'000;

Vec3<> vec3_of(const nlohmann::json& a) { return {a.at(0), a.at(1), a.at(2)}; }

/// The shapes that models of URDF have not.
void read_surface(const std::string& type, const nlohmann::json& json, Shape& shape) {
  const auto vertices = [&] {
    std::vector<Vec3<>> found;
    for (const auto& v : json.at("vertices")) found.push_back(vec3_of(v));
    return found;
  };
  if (type == "plane") shape = Plane{};
  if (type == "hull") shape = ConvexHull{vertices()};
  if (type == "heights") {
    shape = HeightField{int_from(json.at("columns")), int_from(json.at("rows")), json.at("size").at(0),
                        json.at("size").at(1), json.at("heights").get<std::vector<double>>()};
  }
  if (type == "triangles") {
    auto data = std::make_shared<TriangleMeshData>();
    data->vertices = vertices();
    for (const auto& corners : json.at("triangles")) {
      if (corners.size() != 3) throw WrongJson("a triangle has three corners");
      data->triangles.push_back({int_from(corners.at(0)), int_from(corners.at(1)), int_from(corners.at(2))});
    }
    shape = TriangleMesh{std::move(data)};
  }
}

LinkShape shape_of(const nlohmann::json& json) {
  LinkShape shape{.name = json.value("name", "")};
  shape.origin = {vec3_of(json.at("pose")), vec3_of(json.at("rpy"))};
  const std::string type = json.at("type");
  if (type == "sphere") shape.shape = Sphere{json.at("radius")};
  if (type == "box") shape.shape = Box{vec3_of(json.at("size"))};
  if (type == "cylinder") shape.shape = Cylinder{json.at("radius"), json.at("length")};
  if (type == "capsule") shape.shape = Capsule{json.at("radius"), json.at("length")};
  read_surface(type, json, shape.shape);
  if (type == "mesh") shape.shape = Mesh{json.at("uri"), {}, vec3_of(json.at("scale"))};
  if (json.contains("color")) shape.material = Material{.rgba = json.at("color").get<std::vector<double>>()};
  return shape;
}

/// The mesh files that shapes of the scene name, with what they hold.
class AttachedMeshes {
 public:
  AttachedMeshes(const mcap::Contents& contents, RecordingHeader& header) : header_(header) {
    for (const mcap::Attachment& a : contents.attachments) attachments_.try_emplace(a.name, &a);
  }
  void add(const nlohmann::json& shape, int figure) {
    if (shape.value("type", "") == "mesh") add(shape.at("file"), shape.at("uri"), figure);
    if (shape.contains("texture")) add(shape.at("texture"), shape.value("texture_name", ""), figure);
  }

 private:
  void add(const std::string& name, const std::string& uri, int figure) {
    const auto found = attachments_.find(name);
    if (found == attachments_.end() || !known_.insert({figure, uri}).second) return;
    auto& data = data_[name];
    if (!data) data = std::make_shared<const std::string>(found->second->data);
    header_.meshes.push_back({figure, uri, lower_ending(name), data});
  }

  RecordingHeader& header_;
  std::map<std::string, const mcap::Attachment*> attachments_;
  std::map<std::string, std::shared_ptr<const std::string>> data_;
  std::set<std::pair<int, std::string>> known_;
};

/// Shapes of the environment are checked as those of a link are.
void check_environment(const std::vector<LinkShape>& shapes, FileReport& report) {
  ModelDescription carrier;
  carrier.name = "environment";
  carrier.links = {{.name = "environment", .visuals = shapes}};
  for (const Diagnostic& d : validate(carrier)) {
    if (d.is_error()) report.error(0, recording::kBadScene, {}, fmt::format("the environment: {}", d.message), d.hint);
  }
}

void check_figures(const std::vector<std::string>& names, FileReport& report) {
  if (names.size() > kMostFigures)
    report.error(0, recording::kBadScene, {}, fmt::format("{} figures are too many", names.size()));
  std::set<std::string_view> seen;
  for (const std::string& name : names) {
    if (!name.empty() && is_clean(name) && seen.insert(name).second) continue;
    return report.error(0, recording::kBadScene, {}, fmt::format("{} is not a unique figure name", quote(name)));
  }
}

/// Environment, numbers, mesh files and names of figures; the models come from their own attachments.
std::vector<std::string> read_scene(const mcap::Contents& contents, std::string_view text, RecordingHeader& header,
                                    FileReport& report) {
  std::vector<std::string> names;
  const auto wrong = [&](const char* why) {
    report.error(0, recording::kBadScene, {}, fmt::format("{} cannot be parsed: {}", recording::kSceneName, why));
  };
  if (text.size() > kLargestJson) return wrong("it is too large"), names;
  try {
    const auto json = parse_json<nlohmann::json>(text);
    if (int_from(json.at("version")) > kSceneVersion) {
      report.error(0, recording::kNewer, {}, "the scene was written by a newer version of kansetsu", "update kansetsu");
      return names;
    }
    AttachedMeshes meshes(contents, header);
    for (const auto& figure : json.at("figures")) {
      for (const auto& link : figure.value("links", nlohmann::json::array())) {
        for (const auto& shape : link.value("shapes", nlohmann::json::array())) meshes.add(shape, int(names.size()));
      }
      names.push_back(figure.at("name"));
    }
    for (const auto& shape : json.at("environment")) {
      header.environment.push_back(shape_of(shape));
      meshes.add(shape, -1);
    }
    for (const auto& number : json.at("numbers")) {
      header.numbers.push_back({number.at("name"), number.at("unit"), number.value("topic", true)});
      const NumberChannel& read = header.numbers.back();
      if (!is_clean(read.name) || !is_clean(read.unit)) throw WrongJson("a number has control characters in its name");
    }
  } catch (const nlohmann::json::exception& error) {
    wrong(error.what());
  } catch (const WrongJson& error) {
    wrong(error.what());
  }
  check_environment(header.environment, report);
  check_figures(names, report);
  return names;
}

/// Keeps the name of a texture, not its folder.
void forget_path(Material& material) { material.texture = std::filesystem::path(material.texture).filename().string(); }

/// Paths of mesh files on the machine that recorded are dropped: no file is opened by them.
void forget_paths(ModelDescription& model) {
  for (Material& material : model.materials) forget_path(material);
  for (LinkDescription& link : model.links) {
    for (auto* shapes : {&link.visuals, &link.collisions}) {
      for (LinkShape& shape : *shapes) {
        if (auto* mesh = std::get_if<Mesh>(&shape.shape)) mesh->path.clear();
        if (shape.material) forget_path(*shape.material);
      }
    }
  }
}

Loaded<Model> model_of(const mcap::Attachment& text) {
  if (text.data.size() > kLargestJson) return {};
  Loaded<ModelDescription> description = model_from_json(text.data, text.name);
  if (!description) return {std::nullopt, std::move(description.diagnostics)};
  forget_paths(*description.value);
  return Model::build(*std::move(description.value));
}

void read_models(const mcap::Contents& contents, const std::vector<std::string>& names, RecordingHeader& header,
                 FileReport& report) {
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::string name = recording::model_name(i);
    const mcap::Attachment* text = find(contents, name);
    if (!text)
      return report.error(0, recording::kBadModel, {},
                          fmt::format("the model of '{}' is missing ({})", names[i], name));
    Loaded<Model> model = model_of(*text);
    if (model) {
      header.figures.push_back({names[i], *std::move(model.value)});
      continue;
    }
    report.error(0, recording::kBadModel, {}, fmt::format("the model of '{}' cannot be built", names[i]));
    for (Diagnostic& d : model.diagnostics) {
      if (d.is_error()) report.add(std::move(d));
    }
    return;
  }
}

/// Whether the file is a recording of ours, and one of a version we know.
bool check_kind(const mcap::Contents& contents, FileReport& report) {
  for (const mcap::Metadata& metadata : contents.metadata) {
    if (metadata.name != "kansetsu") continue;
    const auto format = metadata.values.find("format");
    if (format != metadata.values.end() && format->second == recording::kFormat) return true;
    return report.fail(0, recording::kNewer, {},
                       fmt::format("recordings of format {} are not known, only {}",
                                   format == metadata.values.end() ? "?" : format->second, recording::kFormat),
                       "update kansetsu");
  }
  return report.fail(
      0, recording::kForeign, {},
      contents.library.empty()
          ? std::string("an MCAP file, but not a recording of kansetsu")
          : fmt::format("an MCAP file written by '{}', but not a recording of kansetsu", contents.library),
      "name a file that 'kansetsu simulate --record' wrote");
}

std::optional<RecordingHeader> read_header(const mcap::Contents& contents, FileReport& report) {
  if (!check_kind(contents, report)) return std::nullopt;
  RecordingHeader header;
  for (const mcap::Metadata& metadata : contents.metadata) {
    if (metadata.name == "notes") header.notes = metadata.values;
  }
  const mcap::Attachment* scene = find(contents, recording::kSceneName);
  if (!scene) {
    report.error(0, recording::kBadScene, {}, fmt::format("{} is missing", recording::kSceneName),
                 "the file is truncated or damaged");
    return std::nullopt;
  }
  const auto names = read_scene(contents, scene->data, header, report);
  if (!report.failed()) read_models(contents, names, header, report);
  if (report.failed()) return std::nullopt;
  return header;
}

}  // namespace

Loaded<Recording> parse_recording(std::string_view bytes, const std::string& file_name) {
  FileReport report(file_name, recording::kTooMuch);
  const auto top = mcap::read(bytes, {});  // attachments may stand behind the frames that need them
  if (!top) {
    report.error(0, recording::kNotMcap, {}, bytes.empty() ? "the file is empty" : "not an MCAP file",
                 "recordings begin with the bytes 89 'MCAP' 30 0D 0A");
    return {std::nullopt, report.take()};
  }
  std::optional<RecordingHeader> header = read_header(*top, report);
  if (!header) {
    for (const std::string& what : top->damage) report.warn(0, recording::kDamaged, {}, what);
    return {std::nullopt, report.take()};
  }

  Recording recording{.header = *std::move(header), .complete = top->complete};
  const std::size_t budget = std::max(kLeastMemory, kMemoryPerByte * bytes.size());
  std::size_t bad = 0, used = 0;
  const auto contents = mcap::read(
      bytes,
      [&](const mcap::Message& m) {
        if (m.channel.topic != recording::kFrameTopic || used > budget) return;
        auto frame = decode_frame(m.data, recording.header);
        const bool in_order = frame && (recording.frames.empty() || frame->time >= recording.frames.back().time);
        if (!in_order) {
          ++bad;
          return;
        }
        used += memory_of(*frame);
        recording.frames.push_back(*std::move(frame));
      },
      budget);
  if (contents->too_large || used > budget) {
    report.error(
        0, recording::kTooMuch, {},
        fmt::format("the frames take more than {} MiB, from a file of {} KiB", budget >> 20, bytes.size() >> 10),
        "a recording of that kind is not written by kansetsu; cut it with a tool for MCAP files");
    return {std::nullopt, report.take()};
  }
  for (const std::string& what : contents->damage) report.warn(0, recording::kDamaged, {}, what);
  for (const std::string& what : top->damage) {
    if (std::ranges::find(contents->damage, what) == contents->damage.end())
      report.warn(0, recording::kDamaged, {}, what);
  }
  if (bad > 0) report.warn(0, recording::kBadFrame, {}, fmt::format("{} damaged frames are skipped", bad));
  if (!recording.complete) {
    const double end = recording.frames.empty() ? 0 : recording.frames.back().time;
    report.warn(0, recording::kInterrupted, {},
                fmt::format("the recording is truncated: {} complete frames up to {} s", recording.frames.size(), end),
                "it was interrupted while being written, or copied in part");
  }
  return {std::move(recording), report.take()};
}

Loaded<Recording> read_recording(const std::filesystem::path& file) {
  FileCodes codes = FileCodes::one(recording::kCannotRead);
  codes.smaller = "cut it with a tool for MCAP files";
  const auto parse = [&](const std::string& bytes) { return parse_recording(bytes, file.string()); };
  return parse_file(file, codes, parse, kLargestRecording);
}

bool is_mcap(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  std::string start(mcap::kMagic.size(), '\0');
  stream.read(start.data(), static_cast<std::streamsize>(start.size()));
  return stream.gcount() == static_cast<std::streamsize>(start.size()) && start == mcap::kMagic;
}

}  // namespace kansetsu::io
