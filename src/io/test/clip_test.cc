#include "kansetsu/io/clip.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "io/bytes.h"
#include "io/recording/npz_reader.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;
namespace fs = std::filesystem;

namespace {

io::Recording two_figures(const Model& a, const Model& b) {
  io::Recording out;
  out.header.figures = {{"first", a}, {b.name(), b}};
  std::mt19937_64 rng(3);
  for (int k = 0; k < 7; ++k) {
    io::RecordedFrame frame{.time = 0.1 * k};
    for (const Model* m : {&a, &b}) {
      State state(*m);
      state.q = random_configuration(*m, rng);
      frame.states.push_back(state);
    }
    out.frames.push_back(frame);
  }
  return out;
}

bool has_code(const std::vector<Diagnostic>& list, const std::string& code) {
  return std::any_of(list.begin(), list.end(), [&](const Diagnostic& d) { return d.code == code; });
}

const char kHeader[] = "time,pendulum/q/hinge1,pendulum/v/hinge1\n";

}  // namespace

TEST_CASE("clips come back from recordings to the bit, by the model's name or by its coordinates") {
  const Model human = human28(), rod = pendulum(3);
  const io::Recording recording = two_figures(human, rod);
  for (const char* name : {"kansetsu_clip_test.mcap", "kansetsu_clip_test.csv", "kansetsu_clip_test.npz"}) {
    CAPTURE(name);
    const fs::path file = fs::temp_directory_path() / name;
    REQUIRE(io::write_recording(recording, file).empty());
    for (std::size_t i = 0; i < 2; ++i) {
      const Loaded<Clip> clip = io::read_clip(i == 0 ? human : rod, file);
      REQUIRE_MESSAGE(clip, to_string(clip.diagnostics));
      CHECK(clip.value->frames() == 7);
      for (std::size_t k = 0; k < 7; ++k) {
        CHECK(clip.value->times[k] == recording.frames[k].time);
        CHECK(clip.value->q.col(long(k)) == recording.frames[k].states[i].q);
      }
    }
    CHECK(has_code(io::read_clip(chain(4), file).diagnostics,
                   fs::path(name).extension() == ".csv" ? "REC030" : "REC033"));
    fs::remove(file);
  }
}

TEST_CASE("every bad line of a table is told") {
  const Model model = pendulum();
  const Loaded<Clip> clip = io::parse_clip_csv(
      model, std::string(kHeader) + "# a comment\n0,1,0\n0.1,x,0\n\n0.2,1\n0.1,nan,0\n0.3,2,0\r\n0.25,1,0\n", "t.csv");
  CHECK(!clip);
  std::vector<int> lines;
  for (const Diagnostic& d : clip.diagnostics) {
    CHECK(d.code == "REC031");
    lines.push_back(d.line);
  }
  CHECK(lines == std::vector{4, 6, 7, 9});
}

TEST_CASE("tables without the columns, without frames, with the same time twice") {
  const Model model = pendulum();
  CHECK(has_code(io::parse_clip_csv(model, "t,a\n1,2\n").diagnostics, "REC030"));
  const Loaded<Clip> foreign = io::parse_clip_csv(model, "time,x/q/knee\n1,2\n");
  REQUIRE(foreign.diagnostics.size() == 1);
  CHECK(foreign.diagnostics[0].message.find("1 of 1 positions of 'pendulum'") != std::string::npos);
  CHECK(has_code(io::parse_clip_csv(model, kHeader).diagnostics, "REC032"));
  CHECK(has_code(io::parse_clip_csv(model, "").diagnostics, "REC032"));
  const Loaded<Clip> twice = io::parse_clip_csv(model, std::string(kHeader) + "0,1,0\n0,2,0\n1,3,0\n");
  REQUIRE(twice);
  CHECK(twice.value->q.row(0) == Eigen::RowVector2d(2, 3));
  CHECK(has_code(twice.diagnostics, "REC034"));
  CHECK(has_code(io::read_clip(model, "/nowhere/at.csv").diagnostics, "REC001"));
  CHECK(has_code(io::read_clip(model, "/nowhere/at.mcap").diagnostics, "REC001"));
  CHECK(has_code(io::read_clip(model, "clip.txt").diagnostics, "REC021"));
}

TEST_CASE("arrays that share their bytes are refused") {
  // 2000 names for one array of 80 kB: as a file of 300 kB, 160 MB of numbers.
  const std::string head = "{'descr': '<f8', 'fortran_order': False, 'shape': (10000,), }\n";
  io::ByteWriter array, directory, out;
  array.raw("\x93NUMPY").put(std::uint8_t{1}).put(std::uint8_t{0}).put(std::uint16_t(head.size())).raw(head);
  array.raw(std::string(80000, '\0'));
  const auto common = [&](io::ByteWriter& to, const std::string& name) {
    to.put(std::uint16_t{20}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint32_t{0}).put(std::uint32_t{0});
    to.put(std::uint32_t(array.bytes.size())).put(std::uint32_t(array.bytes.size()));
    to.put(std::uint16_t(name.size())).put(std::uint16_t{0});
  };
  common(out.raw("PK\x03\x04"), "");
  out.raw(array.bytes);
  for (int i = 0; i < 2000; ++i) {
    const std::string name = std::to_string(i) + ".npy";
    common(directory.raw("PK\x01\x02").put(std::uint16_t{20}), name);
    directory.put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint16_t{0}).put(std::uint32_t{0});
    directory.put(std::uint32_t{0}).raw(name);
  }
  const std::size_t at = out.bytes.size();
  out.raw(directory.bytes).raw("PK\x05\x06").put(std::uint16_t{0}).put(std::uint16_t{0});
  out.put(std::uint16_t{2000}).put(std::uint16_t{2000}).put(std::uint32_t(directory.bytes.size()));
  out.put(std::uint32_t(at)).put(std::uint16_t{0});
  const io::NpzFile file = io::parse_npz(out.bytes);
  CHECK(file.problem == "its arrays overlap");
  CHECK(file.arrays.size() < 4);
}

TEST_CASE("arrays that are cut, damaged or compressed give diagnostics") {
  const Model model = pendulum(2);
  const fs::path file = fs::temp_directory_path() / "kansetsu_clip_cut.npz";
  REQUIRE(io::write_recording(two_figures(model, pendulum(3)), file).empty());
  std::ifstream stream(file, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(stream)), {});
  fs::remove(file);
  REQUIRE(io::parse_clip_npz(model, bytes));
  // The last two bytes are the length of a comment: without them all is there.
  for (std::size_t size = 0; size + 2 < bytes.size(); size += 7)
    CHECK(!io::parse_clip_npz(model, bytes.substr(0, size)));
  std::mt19937 rng(2);
  for (int trial = 0; trial < 2000; ++trial) {  // whatever it says, it says something
    std::string damaged = bytes;
    for (int k = 0; k < 4; ++k) damaged[rng() % damaged.size()] = char(rng());
    const Loaded<Clip> clip = io::parse_clip_npz(model, damaged);
    CHECK(clip.value.has_value() != has_errors(clip.diagnostics));
  }
}
