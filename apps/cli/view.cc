/// kansetsu view FILE|SCENE|MODEL: shows a recording, a scene or a model in the browser, as a page, as a picture or as a video.

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>

#include "cli/arguments.h"
#include "cli/live_world.h"
#include "cli/load_model.h"
#include "cli/load_scene.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/recording.h"
#include "cli/serve_page.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "kansetsu/geometry/geometry.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/sim/world.h"
#include "serve/browser.h"
#include "serve/encoder.h"
#include "serve/page.h"
#include "serve/server.h"

namespace kansetsu::cli {
namespace {

namespace fs = std::filesystem;

constexpr int kLargestSide = 8192;  // pixels
constexpr auto kPictureTime = std::chrono::minutes(2), kVideoTime = std::chrono::minutes(60);

struct ViewArguments {
  ModelSource source;
  std::string html, png, video, size, camera = "angle", look = "light", show = "contacts", body = "shapes";
  int strip = 0;
  std::optional<double> from, to;
  double fps = 30;
  std::uint16_t port = 0;
  bool live = false, no_browser = false;
};

/// The depth of the figure's shapes below its base.
double lowest_point(const Model& model, const Eigen::VectorXd& q) {
  const auto poses = io::recorded_poses(model, q);
  const auto shapes = io::body_shapes(model);
  double lowest = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < poses.size(); ++i) {
    for (const LinkShape& shape : shapes[i]) {
      if (std::holds_alternative<Mesh>(shape.shape)) continue;
      lowest = std::min(lowest, bounds(Geometry(shape.shape), poses[i] * to_transform(shape.origin)).lower.z);
    }
  }
  return std::isfinite(lowest) ? lowest : 0;
}

/// A model as a recording of one frame; a figure with a free base is put on the ground.
std::string still_of(const Model& model) {
  State state(model);
  if (model.base() == Base::kFree) state.q[2] -= lowest_point(model, state.q);
  io::Recording recording{.header = {.figures = {{model.name().empty() ? "model" : model.name(), model}},
                                     .notes = {{"title", model.name()}}}};
  recording.frames.push_back({.time = 0, .states = {state}});
  return io::to_mcap(recording);
}

/// The initial state of a scene, as a recording of one frame.
std::string still_of(const SceneDescription& scene) {
  const World world = world_or_fail(scene, 1);
  std::size_t told = 0;
  const std::vector<NumberGroup> numbers = usual_numbers(world, scene);
  io::Recording recording{.header = header_of(world, scene, numbers)};
  recording.frames.push_back(frame_of(world, numbers, told));
  return io::to_mcap(recording);
}

serve::Content content_of(const ViewArguments& options) {
  const std::string& name = options.source.name;
  std::error_code ignored;
  if (names_recording(name)) {
    if (fs::exists(name, ignored) && !fs::is_regular_file(name, ignored))
      throw Failure(kBadFile,
                    fmt::format("{}: not a regular file; the viewer needs random access to a recording", name));
    const io::Recording recording = recording_or_fail(name);  // errors are reported here, not only in the page
    const double end = recording.frames.empty() ? 0 : recording.frames.back().time;
    if (options.from && *options.from > end)
      throw Failure(kBadUsage,
                    fmt::format("kansetsu view: --from {} is after the end of {}, {:g} s", *options.from, name, end));
    return {.name = fs::path(name).filename().string(), .file = fs::absolute(name)};
  }
  if (names_scene({.name = name})) {
    return {.name = fs::path(name).filename().string(), .bytes = still_of(scene_or_fail(name, options.source.base))};
  }
  const Model model = model_or_fail(options.source);
  return {.name = fs::path(name).filename().string(), .bytes = still_of(model)};
}

std::string bytes_of(const serve::Content& content) {
  if (content.file.empty()) return content.bytes;
  std::ifstream stream(content.file, std::ios::binary | std::ios::ate);
  std::string bytes(stream ? std::size_t(stream.tellg()) : 0, '\0');
  if (!stream.seekg(0).read(bytes.data(), std::streamsize(bytes.size())) || bytes.empty())
    throw Failure(kBadFile, fmt::format("{}: cannot be read", content.file.string()));
  return bytes;
}

Exit write_page(const ViewArguments& options, const serve::Content& content) {
  // Without the channels for other programs: a third of the size.
  std::string bytes = bytes_of(content);
  if (!content.file.empty()) {
    const Loaded<io::Recording> read = io::parse_recording(bytes);
    const bool meshes = bytes.find("mesh/0.") != std::string::npos;  // meshes are only in the original file
    if (read && read.value->complete && !meshes)
      bytes = io::to_mcap(*read.value, {.compression = io::Compression::kZstd, .foxglove_rate = 0});
  }
  Output out{fs::path(options.html)};
  out.write(serve::page_with_recording(bytes, content.name));
  out.commit();
  tell_written(options.html);
  return kOk;
}

std::pair<int, int> size_of(const ViewArguments& options) {
  const int count = std::max(options.strip, 1);
  if (options.size.empty())
    return count > 1 ? std::pair{std::min(240 * count, kLargestSide), 420} : std::pair{1280, 720};
  int width = 0, height = 0;
  const char* end = options.size.data() + options.size.size();
  const auto first = std::from_chars(options.size.data(), end, width);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == 'x') {
    const auto second = std::from_chars(first.ptr + 1, end, height);
    const bool fits = width >= 16 && height >= 16 && width <= kLargestSide && height <= kLargestSide;
    if (second.ec == std::errc() && second.ptr == end && fits) return {width, height};
  }
  throw Failure(kBadUsage, fmt::format("kansetsu view: --size '{}' is not WIDTHxHEIGHT, 16 to {} each", options.size,
                                       kLargestSide));
}

/// The parameters of the page.
std::string picture_query(const ViewArguments& options) {
  const auto [width, height] = size_of(options);
  std::string query =
      fmt::format("&picture=1&width={}&height={}&count={}&camera={}&look={}&show={}&style={}", width, height,
                  std::max(options.strip, 1), options.camera, options.look, options.show, options.body);
  if (options.from) query += fmt::format("&from={}", *options.from);
  if (options.to) query += fmt::format("&to={}", *options.to);
  return query;
}

/// An interrupted picture or video: the old file is unchanged.
Exit not_written(const std::string& file, int signal) {
  fmt::print(stderr, "kansetsu view: interrupted; {} was not written\n", file);
  return static_cast<Exit>(128 + signal);
}

/// Passes pictures from the page to ffmpeg, one after the other.
Exit write_video(const ViewArguments& options, serve::Content content) {
  Output out{fs::path(options.video)};  // opened and locked before the work begins; ffmpeg writes the temporary file
  if (out.part().empty()) throw Failure(kBadFile, fmt::format("{}: not a regular file", options.video));
  serve::VideoEncoder encoder(out.part().string(), fs::path(options.video).extension().string(), options.fps);
  serve::Server* running = nullptr;
  std::string why;
  std::size_t count = 0;
  bool done = false;
  Progress progress("pictures of " + options.video, 0);
  const auto end = [&](std::string reason) {
    why = std::move(reason);
    running->stop();
  };
  serve::Server server(std::move(content), {.on_picture =
                                                [&](const std::string& png) {
                                                  progress.done(++count);
                                                  if (!encoder.add(png)) end("ffmpeg ended early");
                                                },
                                            .on_failed = end,
                                            .on_finished =
                                                [&] {
                                                  done = true;
                                                  running->stop();
                                                }});
  running = &server;
  server.stop_by_signals();
  {
    const std::string query = picture_query(options) + fmt::format("&video={}", options.fps);
    const serve::HeadlessBrowser browser(server.browser_url(query));
    server.run_for(kVideoTime);
  }
  const bool complete = encoder.finish() && done;
  if (server.stopped_by() != 0) return not_written(options.video, server.stopped_by());
  if (!why.empty()) throw Failure(kBadFile, fmt::format("kansetsu view: {}", why));
  if (!complete) throw Failure(kBadFile, "kansetsu view: the video was not completed");
  out.commit();
  tell_written(options.video);
  return kOk;
}

Exit write_picture(const ViewArguments& options, serve::Content content) {
  const std::string query = picture_query(options);
  Output out{fs::path(options.png)};
  std::string picture, why;
  serve::Server* running = nullptr;
  const auto keep = [&](std::string& to) {
    return [&](std::string text) {
      to = std::move(text);
      running->stop();
    };
  };
  serve::Server server(std::move(content), {.on_picture = keep(picture), .on_failed = keep(why)});
  running = &server;
  server.stop_by_signals();
  const serve::HeadlessBrowser browser(server.browser_url(query));
  server.run_for(kPictureTime);
  if (server.stopped_by() != 0) return not_written(options.png, server.stopped_by());
  if (!why.empty()) throw Failure(kBadFile, fmt::format("kansetsu view: {}", why));
  if (!picture.starts_with("\x89PNG")) throw Failure(kBadFile, "kansetsu view: Chromium did not produce a picture");
  out.write(picture);
  out.commit();
  tell_written(options.png);
  return kOk;
}

Exit serve_live(const ViewArguments& options) {
  const std::string& name = options.source.name;
  if (!options.html.empty() || !options.png.empty() || !options.video.empty())
    throw Failure(kBadUsage, "kansetsu view: --live opens a browser; --html, --png and --video are for recordings");
  if (names_recording(name))
    throw Failure(kBadUsage, fmt::format("kansetsu view: --live runs a scene or a model; {} is a recording", name));
  SceneDescription scene = scene_or_fail(name, options.source.base);
  // A model without an environment is shown on a floor. A scene is shown as it is: free fall may be intended.
  if (fs::exists(name) && io::find_format(name) != io::FileFormat::kScene && add_missing_floor(scene))
    fmt::print(stderr, "{}: no ground in this file; the live view adds a floor\n", name);
  LiveWorld world(std::move(scene), 1);
  return serve_page({.name = fs::path(name).filename().string(), .live = &world}, {options.port, options.no_browser});
}

Exit run_view(const ViewArguments& options) {
  need_viewer("kansetsu view");
  if (options.strip > 0 && options.png.empty()) throw Failure(kBadUsage, "kansetsu view: --strip needs --png");
  if (options.from && options.to && *options.to < *options.from)
    throw Failure(kBadUsage, fmt::format("kansetsu view: --to {} is before --from {}", *options.to, *options.from));
  if (options.live) return serve_live(options);
  serve::Content content = content_of(options);
  if (!options.html.empty()) return write_page(options, content);
  if (!options.video.empty()) return write_video(options, std::move(content));
  if (!options.png.empty()) return write_picture(options, std::move(content));
  return serve_page(std::move(content), {options.port, options.no_browser});
}

/// The error in a list of overlays; empty if there is none.
std::string unknown_overlay(std::string_view words) {
  static const std::vector<std::string> kKnown{"contacts", "com", "joints", "frames", "trails"};
  while (!words.empty()) {
    const std::string word(words.substr(0, words.find(',')));
    if (!word.empty() && std::find(kKnown.begin(), kKnown.end(), word) == kKnown.end())
      return unknown_name("word", word, kKnown);
    words.remove_prefix(std::min(word.size() + 1, words.size()));
  }
  return "";
}

/// An option with a fixed set of values.
void add_choice(Arguments& args, const std::string& name, std::string& value, const std::vector<std::string>& words,
                const std::string& help) {
  args.add(name, value, help).one_of(words);
}

}  // namespace

Runner declare_view(Arguments& args) {
  auto options = std::make_shared<ViewArguments>();
  args.add("FILE", options->source.name,
           "recording (.mcap), scene (.toml), model (URDF, MJCF, SDF), or a built-in figure: human28, …")
      .required();
  add_base_option(args, options->source.base);
  add_path_option(args);
  args.add_flag("--live", options->live,
                "simulate the scene, or the model on a floor, live: drag and hold bodies, move sliders");
  args.add("--html OUT", options->html, "write a self-contained page instead of starting the server");
  args.add("--png OUT", options->png, "write a picture, rendered by headless Chromium");
  args.add("--video OUT", options->video, "write a video (.mp4, .webm or .gif), rendered by Chromium and ffmpeg");
  args.add("--fps HZ", options->fps, "frame rate of the video [Hz]").between(1.0, 120.0).show_default();
  args.add("--strip N", options->strip, "number of pictures side by side, evenly spaced from --from to --to")
      .between(1, 24);
  args.add("--size WxH", options->size, "size of the picture [pixels]; default: 1280x720");
  args.add("--from T", options->from, "time of the picture, or start of a strip or video [s]; default: 0")
      .not_negative();
  args.add("--to T", options->to, "end of a strip or video [s]; default: that of the recording").not_negative();
  add_choice(args, "--camera", options->camera, {"angle", "front", "side", "top"}, "camera position; default: angle");
  add_choice(args, "--look", options->look, {"light", "dark"}, "colours of the picture; default: light");
  add_choice(args, "--body", options->body, {"shapes", "bones"},
             "links as their shapes, or as capsules from joint to joint; default: shapes");
  args.add("--show WORD,...", options->show, "overlays: contacts, com, joints, frames, trails")
      .check([](const std::string& words) { return unknown_overlay(words); });
  args.add("--port N", options->port, "port of the server; default: any free port");
  args.add_flag("--no-browser", options->no_browser, "print the address only");
  return [options] { return run_view(*options); };
}

}  // namespace kansetsu::cli
