#include "cli/recording.h"

#include <fmt/format.h>

#include "cli/command.h"
#include "cli/output.h"
#include "serve/page.h"

namespace kansetsu::cli {
namespace {

constexpr double kPageRate = 60;  // [Hz] of pages, unless told

io::BodyRef to_recorded(const BodyRef& body) {
  return body.is_world() ? io::BodyRef{} : io::BodyRef{body.figure.value(), body.link.value()};
}

}  // namespace

io::RecordingHeader header_of(const World& world, const SceneDescription& scene) {
  io::RecordingHeader header;
  for (int i = 0; i < world.figure_count(); ++i) {
    header.figures.push_back({world.name(FigureId(i)), world.model(FigureId(i))});
  }
  for (const EnvironmentShape& e : scene.environment) header.environment.push_back(e.shape);
  header.numbers = {{"kinetic energy", "J"}, {"potential energy", "J"}, {"contacts", ""},
                    {"penetration", "m"},    {"residual", ""},          {"gap", "m"}};
  for (const std::string& sensor : world.sensor_names()) {
    for (size_t k = 0; k < world.sensor(sensor).size(); ++k)
      header.numbers.push_back({fmt::format("{}[{}]", sensor, k), ""});
  }
  header.notes = {{"title", scene.name}, {"scene", scene.name}, {"seed", fmt::format("{}", scene.seed)}};
  return header;
}

io::RecordedFrame frame_of(const World& world, std::size_t& told) {
  io::RecordedFrame frame;
  frame.time = world.time();
  for (int i = 0; i < world.figure_count(); ++i) {
    State state;
    state.q = world.q(FigureId(i)), state.v = world.v(FigureId(i));
    frame.states.push_back(std::move(state));
  }
  const StepReport& report = world.report();
  frame.numbers = {world.kinetic_energy(), world.potential_energy(), 0,
                   report.penetration,     report.residual,          report.loop_gap};
  for (const ContactReport& c : report.contacts) {
    if (c.mode == ContactMode::kOpen) continue;
    ++frame.numbers[2];
    frame.contacts.push_back({to_recorded(c.b), to_recorded(c.a), c.pressure, c.normal, c.wrench.f});
  }
  for (const ConnectionReport& c : report.connections) {
    frame.connections.push_back({std::string(c.name), to_recorded(c.b), to_recorded(c.a), c.p, c.wrench});
  }
  for (const std::string& sensor : world.sensor_names()) {
    const std::vector<double>& value = world.sensor(sensor);
    frame.numbers.insert(frame.numbers.end(), value.begin(), value.end());
  }
  for (; told < world.events().size(); ++told) {
    const Event& e = world.events()[told];
    frame.events.push_back(fmt::format("{} {}", to_string(e.kind), e.name));
  }
  return frame;
}

WorldRecorder::WorldRecorder(const World& world, const SceneDescription& scene, const std::vector<std::string>& files,
                             double rate) {
  for (const std::string& file : files) open(world, scene, file, rate);
  for (const RecordingDescription& r : scene.recordings) open(world, scene, r.file, r.rate);
}

void WorldRecorder::open(const World& world, const SceneDescription& scene, const std::string& name, double rate) {
  if (std::filesystem::path(name).extension() == ".html") {
    if (serve::viewer_page().empty())
      throw Failure(kBadUsage, fmt::format("{}: this kansetsu was built without the viewer; record an .mcap", name));
    files_.push_back({name, nullptr, {.header = header_of(world, scene)}, rate > 0 ? rate : kPageRate, 0});
    return;
  }
  Loaded<std::unique_ptr<io::Recorder>> recorder = io::make_recorder(name, header_of(world, scene));
  if (!recorder) throw Failure(kBadFile, to_string(recorder.diagnostics));
  files_.push_back({name, std::move(*recorder.value), {}, rate, 0});
}

void WorldRecorder::add(const World& world) {
  if (world.status() == WorldStatus::kFailed) return;
  std::optional<io::RecordedFrame> frame;
  for (File& file : files_) {
    if (world.time() < file.next - 1e-9) continue;
    if (!frame) frame = frame_of(world, events_);
    if (file.recorder)
      file.recorder->add(*frame);
    else
      file.page.frames.push_back(*frame);
    file.next = file.rate > 0 ? file.next + 1 / file.rate : 0;
  }
}

void WorldRecorder::finish() {
  for (File& file : files_) {
    if (!file.recorder) {
      Output out{std::filesystem::path(file.name)};
      const std::string bytes = io::to_mcap(file.page, {.compression = io::Compression::kZstd, .foxglove_rate = 0});
      out.write(serve::page_with_recording(bytes, std::filesystem::path(file.name).stem().string()));
      out.commit();
      continue;
    }
    const std::vector<Diagnostic> problems = file.recorder->finish();
    if (has_errors(problems)) throw Failure(kBadFile, to_string(problems));
  }
}

}  // namespace kansetsu::cli
