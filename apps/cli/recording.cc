#include "cli/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/command.h"
#include "cli/output.h"
#include "serve/page.h"

namespace kansetsu::cli {
namespace {

constexpr double kPageRate = 60;  // [Hz] of pages, unless told

io::BodyRef to_recorded(const BodyRef& body) {
  return body.is_world() ? io::BodyRef{} : io::BodyRef{body.figure.value(), body.link.value()};
}

io::RecordingHeader header_with(const World& world, const SceneDescription& scene,
                                const std::vector<NumberGroup>& numbers) {
  io::RecordingHeader header;
  for (int i = 0; i < world.figure_count(); ++i) {
    header.figures.push_back({world.name(FigureId(i)), world.model(FigureId(i))});
  }
  for (const EnvironmentShape& e : scene.environment) header.environment.push_back(e.shape);
  for (const NumberGroup& group : numbers)
    header.numbers.insert(header.numbers.end(), group.channels.begin(), group.channels.end());
  header.notes = {{"title", scene.name}, {"scene", scene.name}, {"seed", fmt::format("{}", scene.seed)}};
  return header;
}

io::RecordedFrame frame_with(const World& world, const std::vector<NumberGroup>& numbers, std::size_t& told) {
  io::RecordedFrame frame;
  frame.time = world.time();
  for (int i = 0; i < world.figure_count(); ++i) {
    State state;
    state.q = world.q(FigureId(i)), state.v = world.v(FigureId(i));
    frame.states.push_back(std::move(state));
  }
  const StepReport& report = world.report();
  for (const NumberGroup& group : numbers) group.append(world, frame.numbers);
  for (const ContactReport& c : report.contacts) {
    if (c.mode == ContactMode::kOpen) continue;
    frame.contacts.push_back({to_recorded(c.b), to_recorded(c.a), c.pressure, c.normal, c.wrench.f});
  }
  for (const ConnectionReport& c : report.connections) {
    frame.connections.push_back({std::string(c.name), to_recorded(c.b), to_recorded(c.a), c.p, c.wrench});
  }
  for (; told < world.events().size(); ++told) {
    const Event& e = world.events()[told];
    frame.events.push_back(fmt::format("{} {}", to_string(e.kind), e.name));
  }
  return frame;
}

bool recording_wants(const RecordingDescription& r, Recorded what) {
  return std::find(r.what.begin(), r.what.end(), what) != r.what.end();
}

}  // namespace

io::RecordingHeader header_of(const World& world, const SceneDescription& scene) {
  return header_with(world, scene, usual_numbers(world));
}
io::RecordedFrame frame_of(const World& world, std::size_t& told) {
  return frame_with(world, usual_numbers(world), told);
}

WorldRecorder::WorldRecorder(const World& world, const SceneDescription& scene, const std::vector<std::string>& files,
                             double rate) {
  for (const std::string& name : files) {
    File file;
    file.name = name, file.rate = rate;
    file.numbers = usual_numbers(world);
    open(world, scene, std::move(file));
  }
  for (const RecordingDescription& r : scene.recordings) {
    File file;
    file.name = r.file, file.rate = r.rate;
    file.numbers = chosen_numbers(world, scene, r.what);
    file.contacts = recording_wants(r, Recorded::kContacts);
    file.connections = recording_wants(r, Recorded::kConnections);
    file.events = recording_wants(r, Recorded::kEvents);
    open(world, scene, std::move(file));
  }
}

void WorldRecorder::open(const World& world, const SceneDescription& scene, File file) {
  if (std::filesystem::path(file.name).extension() == ".html") {
    if (serve::viewer_page().empty()) {
      throw Failure(kBadUsage,
                    fmt::format("{}: this kansetsu was built without the viewer; record an .mcap", file.name));
    }
    file.page.header = header_with(world, scene, file.numbers);
    if (!(file.rate > 0)) file.rate = kPageRate;
  } else {
    Loaded<std::unique_ptr<io::Recorder>> recorder =
        io::make_recorder(file.name, header_with(world, scene, file.numbers));
    if (!recorder) throw Failure(kBadFile, to_string(recorder.diagnostics));
    file.recorder = std::move(*recorder.value);
  }
  files_.push_back(std::move(file));
}

void WorldRecorder::add(const World& world) {
  if (world.status() == WorldStatus::kFailed) return;
  for (File& file : files_) {
    if (world.time() < file.next - 1e-9) continue;
    io::RecordedFrame frame = frame_with(world, file.numbers, file.told);
    if (!file.contacts) frame.contacts.clear();
    if (!file.connections) frame.connections.clear();
    if (!file.events) frame.events.clear();
    if (file.recorder)
      file.recorder->add(frame);
    else
      file.page.frames.push_back(std::move(frame));
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
