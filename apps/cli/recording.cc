#include "cli/recording.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/allowed_paths.h"
#include "cli/command.h"
#include "cli/output.h"
#include "serve/page.h"

namespace kansetsu::cli {
namespace {

constexpr double kPageRate = 60;  // [Hz] default of pages

io::BodyRef to_recorded(const BodyRef& body) {
  return body.is_world() ? io::BodyRef{} : io::BodyRef{body.figure.value(), body.link.value()};
}

/// A contact at its centre of pressure; the reported wrench is about another point.
io::RecordedContact to_recorded(const ContactReport& c) {
  static constexpr io::ContactState kStates[] = {io::ContactState::kStick, io::ContactState::kSlide,
                                                 io::ContactState::kSpin};
  const bool open = c.mode == ContactMode::kOpen;
  const Vec3<> point = open ? c.p : c.pressure;
  return {.a = to_recorded(c.b),
          .b = to_recorded(c.a),
          .point = point,
          .normal = c.normal,
          .force = c.wrench.f,
          .moment = c.wrench.t - cross(point - c.p, c.wrench.f),
          .impulse = c.impulse.f,
          .state = open ? io::ContactState::kImpact : kStates[std::size_t(c.slip)]};
}

/// Impacts of a step that is not recorded are part of the next frame.
void keep_impacts(const World& world, std::vector<io::RecordedContact>& impacts) {
  for (const ContactReport& c : world.report().contacts) {
    if (c.impulse.f == Vec3<>{}) continue;
    io::RecordedContact impact = to_recorded(c);
    impact.force = impact.moment = {};
    impact.state = io::ContactState::kImpact;
    impacts.push_back(impact);
  }
}

}  // namespace

io::RecordingHeader header_of(const World& world, const SceneDescription& scene,
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

io::RecordedFrame frame_of(const World& world, const std::vector<NumberGroup>& numbers, std::size_t& told) {
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
    if (c.mode == ContactMode::kOpen && c.impulse.f == Vec3<>{}) continue;
    frame.contacts.push_back(to_recorded(c));
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

namespace {

/// A scene is untrusted: it may write only below the current folder, or where the user allows.
void check_place(const std::string& name) {
  namespace fs = std::filesystem;
  const fs::path file = fs::weakly_canonical(fs::absolute(name));
  const auto below = [&](const fs::path& folder) {
    const fs::path relative = file.lexically_relative(fs::weakly_canonical(fs::absolute(folder)));
    return !relative.empty() && *relative.begin() != "..";
  };
  const auto& allowed = allowed_paths();
  if (below(fs::current_path()) || std::any_of(allowed.begin(), allowed.end(), below)) return;
  throw Failure(kBadFile,
                fmt::format("{}: the scene records to a file outside of the current folder\n  help: --allow-path {}",
                            name, file.parent_path().string()));
}

bool recording_wants(const RecordingDescription& r, Recorded what) {
  return std::find(r.what.begin(), r.what.end(), what) != r.what.end();
}

}  // namespace

WorldRecorder::WorldRecorder(const World& world, const SceneDescription& scene, const std::vector<std::string>& files,
                             double rate) {
  for (const std::string& name : files) {
    File file;
    file.name = name, file.rate = rate;
    file.numbers = usual_numbers(world, scene);
    open(world, scene, std::move(file));
  }
  for (const RecordingDescription& r : scene.recordings) {
    check_place(r.file);
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
    file.out = std::make_unique<Output>(std::filesystem::path(file.name));
    file.page.header = header_of(world, scene, file.numbers);
    if (!(file.rate > 0)) file.rate = kPageRate;
  } else {
    Loaded<std::unique_ptr<io::Recorder>> recorder =
        io::make_recorder(file.name, header_of(world, scene, file.numbers));
    if (!recorder) throw Failure(kBadFile, to_string(recorder.diagnostics));
    file.recorder = std::move(*recorder.value);
  }
  files_.push_back(std::move(file));
}

void WorldRecorder::add(const World& world) {
  if (world.status() == WorldStatus::kFailed) return;
  for (File& file : files_) {
    if (world.time() < file.next - 1e-9) {
      keep_impacts(world, file.impacts);
      continue;
    }
    io::RecordedFrame frame = frame_of(world, file.numbers, file.told);
    frame.contacts.insert(frame.contacts.end(), file.impacts.begin(), file.impacts.end());
    file.impacts.clear();
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

std::vector<std::string> WorldRecorder::names() const {
  std::vector<std::string> out;
  for (const File& file : files_) out.push_back(file.name);
  return out;
}

void WorldRecorder::finish() {
  std::string problems;  // an error in one file does not prevent the others from being completed
  for (File& file : files_) {
    if (file.recorder) {
      const std::vector<Diagnostic> found = file.recorder->finish();
      if (has_errors(found)) problems += to_string(found);
      continue;
    }
    try {
      const std::string bytes = io::to_mcap(file.page, {.compression = io::Compression::kZstd, .foxglove_rate = 0});
      file.out->write(serve::page_with_recording(bytes, std::filesystem::path(file.name).stem().string()));
      file.out->commit();
    } catch (const Failure& failure) {
      problems += std::string(failure.what()) + "\n";
    }
  }
  if (!problems.empty()) throw Failure(kBadFile, problems);
}

}  // namespace kansetsu::cli
