#include "kansetsu/io/recording.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <sstream>

#include "io/recording/mcap.h"
#include "io/test/recording_support.h"
#include "kansetsu/base/error.h"

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

/// A folder for one test, removed behind it.
struct Folder {
  fs::path path = fs::temp_directory_path() / ("kansetsu_recording_" + std::to_string(std::random_device{}()));
  Folder() { fs::create_directories(path); }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  ~Folder() { fs::remove_all(path); }
};

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

bool has_code(const std::vector<Diagnostic>& all, std::string_view code) {
  return std::any_of(all.begin(), all.end(), [&](const Diagnostic& d) { return d.code == code; });
}

void check_same(const Recording& a, const Recording& b) {
  REQUIRE(a.frames.size() == b.frames.size());
  for (std::size_t i = 0; i < a.frames.size(); ++i) CHECK(same(a.frames[i], b.frames[i]));
  REQUIRE(a.header.figures.size() == b.header.figures.size());
  for (std::size_t i = 0; i < a.header.figures.size(); ++i) {
    CHECK(a.header.figures[i].name == b.header.figures[i].name);
    CHECK(a.header.figures[i].model.description() == b.header.figures[i].model.description());
  }
  CHECK(a.header.environment == b.header.environment);
  CHECK(a.header.numbers == b.header.numbers);
  CHECK(a.header.notes == b.header.notes);
}

}  // namespace

TEST_CASE("a recording comes back to the bit, models and environment included") {
  for (const Compression compression : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      CAPTURE(seed);
      const Recording recording = random_recording(seed, 40);
      const Loaded<Recording> read = parse_recording(to_mcap(recording, {.compression = compression}));
      CAPTURE(to_string(read.diagnostics));
      REQUIRE(read);
      CHECK(read.diagnostics.empty());
      CHECK(read.value->complete);
      check_same(recording, *read.value);
    }
  }
}

TEST_CASE("a recording without foreign channels, frames or figures is a recording") {
  Recording nothing;
  const Loaded<Recording> read = parse_recording(to_mcap(nothing, {.foxglove_rate = 0}));
  REQUIRE(read);
  CHECK(read.diagnostics.empty());
  CHECK(read.value->frames.empty());
}

TEST_CASE("whatever is cut off, the frames before it can be read") {
  const Recording recording = random_recording(7, 60, 0.0625);
  const std::string whole = to_mcap(recording, {.chunk_seconds = 0.5});
  std::size_t last = 0, lengths = 0;
  for (std::size_t length = 0; length < whole.size(); length += 1 + length / 64) {
    const Loaded<Recording> read = parse_recording(std::string_view(whole).substr(0, length));
    if (!read) {  // the models are not in yet
      CHECK(last == 0);
      CHECK(has_errors(read.diagnostics));
      continue;
    }
    CHECK_FALSE(read.value->complete);
    CHECK(has_code(read.diagnostics, "REC010"));
    REQUIRE(read.value->frames.size() >= last);
    last = read.value->frames.size();
    lengths += last > 0;
    for (std::size_t i = 0; i < last; ++i) REQUIRE(same(read.value->frames[i], recording.frames[i]));
  }
  CHECK(last == recording.frames.size());
  CHECK(lengths > 20);
}

TEST_CASE("a run that is killed leaves all but the last chunk") {
  const Folder folder;
  const Recording recording = random_recording(8, 50);
  Loaded<std::unique_ptr<Recorder>> recorder = make_recorder(folder.path / "a.mcap", recording.header);
  REQUIRE(recorder);
  for (const RecordedFrame& frame : recording.frames) (*recorder.value)->add(frame);
  // Not finished: what a reader finds now is what it would find after a crash.
  const Loaded<Recording> read = read_recording(folder.path / "a.mcap");
  REQUIRE(read);
  CHECK_FALSE(read.value->complete);
  const double lost = recording.frames.back().time - read.value->frames.back().time;
  CHECK(lost <= RecorderOptions{}.chunk_seconds + 0.125);  // one chunk, and the frame that is due next
}

TEST_CASE("damaged bytes give messages, never a crash or a frame that does not fit") {
  const Recording recording = random_recording(9, 20);
  for (const Compression compression : {Compression::kNone, Compression::kLz4, Compression::kZstd}) {
    const std::string whole = to_mcap(recording, {.compression = compression});
    std::mt19937_64 rng(10);
    for (int i = 0; i < 400; ++i) {
      CAPTURE(i);
      std::string damaged = whole;
      const int flips = 1 + int(rng() % 8);
      for (int k = 0; k < flips; ++k) damaged[rng() % damaged.size()] = static_cast<char>(rng());
      if (rng() % 4 == 0) damaged.erase(rng() % damaged.size(), rng() % 100);
      const Loaded<Recording> read = parse_recording(damaged);
      CHECK(read.value.has_value() == !has_errors(read.diagnostics));
      if (!read) continue;
      for (const RecordedFrame& frame : read.value->frames) {
        REQUIRE(frame.states.size() == 3);
        REQUIRE(frame.states[0].q.size() == 35);
      }
    }
  }
  std::mt19937_64 rng(11);
  for (int i = 0; i < 400; ++i) {  // noise behind the right beginning
    std::string noise(mcap::kMagic);
    for (std::size_t k = 0, n = rng() % 300; k < n; ++k) noise += static_cast<char>(rng() % (i % 2 ? 256 : 16));
    CHECK_FALSE(parse_recording(noise));
  }
}

TEST_CASE("foreign, empty, newer and missing files are told apart") {
  const Folder folder;
  CHECK(has_code(parse_recording("").diagnostics, "REC002"));
  CHECK(has_code(parse_recording("solid cube").diagnostics, "REC002"));
  CHECK(has_code(read_recording(folder.path / "missing.mcap").diagnostics, "REC001"));
  CHECK(has_code(read_recording(folder.path).diagnostics, "REC001"));
  std::string bytes;
  const mcap::Sink sink = [&](std::string_view piece) {
    bytes += piece;
    return true;
  };
  mcap::Writer(sink, Compression::kNone, "other").finish();
  CHECK(has_code(parse_recording(bytes).diagnostics, "REC003"));
  bytes.clear();
  mcap::Writer newer(sink, Compression::kNone, "kansetsu");
  newer.add_metadata({"kansetsu", {{"format", "99"}}});
  newer.finish();
  CHECK(has_code(parse_recording(bytes).diagnostics, "REC004"));
  CHECK(has_code(make_recorder(folder.path / "a.avi", {}).diagnostics, "REC021"));
  CHECK(has_code(make_recorder(folder.path / "no" / "a.mcap", {}).diagnostics, "REC020"));
  CHECK(has_code(make_recorder(folder.path / "no" / "a.csv", {}).diagnostics, "REC020"));
}

TEST_CASE("a full disk is told at the end, and does not stop the run" * doctest::skip(!fs::exists("/dev/full"))) {
  const Folder folder;
  fs::create_symlink("/dev/full", folder.path / "full.mcap");
  const Recording recording = random_recording(12, 30);
  CHECK(has_code(write_recording(recording, folder.path / "full.mcap"), "REC020"));
}

TEST_CASE("frames that do not fit throw") {
  const Folder folder;
  const Recording recording = random_recording(13, 2);
  auto recorder = value_or_throw(make_recorder(folder.path / "a.mcap", recording.header));
  recorder->add(recording.frames[1]);
  CHECK_THROWS_AS(recorder->add(recording.frames[0]), Error);  // back in time
  const auto refuses = [&](auto&& change) {
    RecordedFrame frame = recording.frames[1];
    change(frame);
    CHECK_THROWS_AS(recorder->add(frame), Error);
  };
  refuses([](RecordedFrame& f) { f.states.pop_back(); });
  refuses([](RecordedFrame& f) { f.numbers.push_back(1); });
  refuses([](RecordedFrame& f) { f.states[0].q[3] = std::numeric_limits<double>::quiet_NaN(); });
  refuses([](RecordedFrame& f) { f.states[0].v.conservativeResize(3); });
  refuses([](RecordedFrame& f) { f.time = std::numeric_limits<double>::quiet_NaN(); });
  refuses([](RecordedFrame& f) { f.contacts = {{{0, 999}, {}, {}, {}, {}}}; });
  refuses([](RecordedFrame& f) { f.contacts = {{{0, 0}, {}, {kInfinity, 0, 0}, {}, {}}}; });
  CHECK(recorder->finish().empty());
  CHECK(recorder->finish().empty());
  CHECK_THROWS_AS(recorder->add(recording.frames[1]), Error);
  RecordingHeader twice = recording.header;
  twice.figures[1].name = "human";
  CHECK_THROWS_AS((void)make_recorder(folder.path / "b.mcap", twice), Error);
}

TEST_CASE("CSV holds every number exactly") {
  const Folder folder;
  Recording recording = random_recording(14, 5);
  recording.frames[2].numbers = {std::numeric_limits<double>::quiet_NaN(), kInfinity};
  CHECK(write_recording(recording, folder.path / "a.csv").empty());
  std::istringstream lines(content(folder.path / "a.csv"));
  std::string line, cell;
  std::getline(lines, line);
  CHECK(line.starts_with("time,human/q/base.x,human/q/base.y"));
  CHECK(line.ends_with(",energy [J],residual"));
  const auto columns = std::count(line.begin(), line.end(), ',') + 1;
  for (const RecordedFrame& frame : recording.frames) {
    REQUIRE(std::getline(lines, line));
    CHECK(std::count(line.begin(), line.end(), ',') + 1 == columns);
    std::istringstream cells(line);
    std::vector<double> row;
    while (std::getline(cells, cell, ',')) row.push_back(std::strtod(cell.c_str(), nullptr));
    CHECK(row[0] == frame.time);
    for (std::size_t i = 0; i < 35; ++i) CHECK(row[1 + i] == frame.states[0].q[Eigen::Index(i)]);
    CHECK((row.back() == frame.numbers[1] || std::isnan(frame.numbers[1])));
  }
  CHECK_FALSE(std::getline(lines, line));
}

TEST_CASE("a figure without shapes gets bones between its joints") {
  ModelDescription description = human28().description();
  for (LinkDescription& link : description.links) {
    link.visuals.clear();
    link.collisions.clear();
  }
  const Model model = value_or_throw(Model::build(description));
  const auto shapes = body_shapes(model);
  // The thigh: from the hip to the knee, 0.4 m down, 5 kg of water.
  const auto& thigh = shapes[std::size_t(model.link_id("UpperLegL").value())];
  REQUIRE(thigh.size() == 1);
  const auto* capsule = std::get_if<Capsule>(&thigh[0].shape);
  REQUIRE(capsule);
  CHECK(capsule->length == doctest::Approx(0.4));
  CHECK(capsule->radius == doctest::Approx(std::sqrt(5.0 / 1000 / (3.14159265 * 0.4))));
  CHECK(thigh[0].origin.p.z == doctest::Approx(-0.2));
  CHECK(shapes[std::size_t(model.link_id("hipL_z").value())].empty());
}

}  // namespace kansetsu::io
