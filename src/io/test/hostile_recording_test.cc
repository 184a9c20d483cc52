#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "io/json.h"
#include "io/recording/compress.h"
#include "io/test/recording_edit.h"
#include "io/test/recording_support.h"
#include "kansetsu/base/error.h"
#include "kansetsu/io/recording.h"
#include "kansetsu/io/urdf.h"

/// Recordings and models made to do harm: each is refused or harmless.
namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;
using test::Checksum;

constexpr char kSecret[] = "root:x:0:0 the secret of this test";

struct Folder {
  fs::path path = fs::temp_directory_path() / ("kansetsu_hostile_" + std::to_string(std::random_device{}()));
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }

  fs::path write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return path / name;
  }
};

std::string small_recording() {
  Recording recording{.header = {.figures = {{"pendulum", pendulum()}}}};
  recording.frames.push_back({.time = 0, .states = {State(pendulum())}});
  return to_mcap(recording);
}

std::string with_scene(const std::function<void(Json&)>& change, Checksum checksum = Checksum::kRight) {
  return test::with_attachment(
      small_recording(), "scene.json",
      [&](std::string_view data) {
        Json json = Json::parse(data);
        change(json);
        return json.dump();
      },
      checksum);
}

std::string with_environment(const Json& shape, Checksum checksum = Checksum::kRight) {
  Json whole{{"name", "x"}, {"pose", {0, 0, 0}}, {"rpy", {0, 0, 0}}};
  whole.update(shape);
  return with_scene([&](Json& scene) { scene["environment"].push_back(whole); }, checksum);
}

std::string with_visual(const Json& shape) {
  return test::with_attachment(small_recording(), "model/0.json", [&](std::string_view data) {
    Json json = Json::parse(data);
    json["links"][1]["visuals"].push_back({{"shape", shape}});
    return json.dump();
  });
}

bool has_code(const std::vector<Diagnostic>& all, const char* code) {
  return std::any_of(all.begin(), all.end(), [&](const Diagnostic& d) { return d.code == code; });
}

std::string triangle_mesh(const std::string& name = "t") {  // text STL
  return "solid " + name +
         "\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";
}

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

std::string urdf_with_mesh(const std::string& file) {
  return R"(<robot name="a"><link name="b"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial><visual><geometry><mesh filename=")" +
         file + R"("/></geometry></visual></link></robot>)";
}

/// All that a recording of the model gives away.
std::string recorded(const Model& model, std::vector<Diagnostic>& diagnostics, const Folder& folder) {
  Recording recording{.header = {.figures = {{"a", model}}}};
  recording.frames.push_back({.time = 0, .states = {State(model)}});
  std::string all;
  for (const char* name : {"out.mcap", "out.glb", "out.npz", "out.csv"}) {
    const auto found = write_recording(recording, folder.path / name, {.compression = Compression::kNone});
    diagnostics.insert(diagnostics.end(), found.begin(), found.end());
    all += content(folder.path / name);
  }
  return all;
}

}  // namespace

TEST_CASE("surfaces of a recording with indices or counts that lead outside are refused") {
  const Json vertices{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
  Json beyond = Json::array();
  for (int i = 3; i < 40; ++i) beyond.push_back({0, 1, i});
  const Json shapes[] = {
      {{"type", "triangles"}, {"vertices", vertices}, {"triangles", {{0, 1, 100000000}}}},
      {{"type", "triangles"}, {"vertices", vertices}, {"triangles", {{0, 1, -5}}}},
      {{"type", "triangles"}, {"vertices", vertices}, {"triangles", {{0, 1, 4294967296}}}},  // 0, cut off
      {{"type", "triangles"}, {"vertices", vertices}, {"triangles", {{0, 1, 1e300}}}},
      {{"type", "triangles"}, {"vertices", vertices}, {"triangles", {{0, 1}}}},
      {{"type", "triangles"}, {"vertices", vertices}, {"triangles", beyond}},
      {{"type", "heights"}, {"columns", 5000}, {"rows", 5000}, {"size", {1, 1}}, {"heights", {0, 0, 0}}},
      {{"type", "heights"}, {"columns", 2000000000}, {"rows", 2000000000}, {"size", {1, 1}}, {"heights", {0, 0, 0}}},
      {{"type", "heights"}, {"columns", 4294967298}, {"rows", 2}, {"size", {1, 1}}, {"heights", {0, 0, 0, 0}}},
      {{"type", "heights"}, {"columns", -1}, {"rows", -3}, {"size", {1, 1}}, {"heights", {0, 0, 0}}}};
  for (const Json& shape : shapes) {
    CAPTURE(shape.dump());
    for (const Checksum checksum : {Checksum::kRight, Checksum::kZero}) {
      const auto read = parse_recording(with_environment(shape, checksum));
      CHECK_FALSE(read);
      CHECK(has_code(read.diagnostics, "REC006"));
    }
    if (shape["type"] == "heights") continue;  // models keep their sizes by other names
    CHECK_FALSE(parse_recording(with_visual(shape)));
  }
  const Json heights{{"type", "height_field"}, {"columns", 3}, {"rows", 3}, {"size_x", 1}, {"size_y", 1},
                     {"heights", {0}}};
  CHECK_FALSE(parse_recording(with_visual(heights)));
  const Json sound{{"type", "triangles"}, {"vertices", vertices}, {"triangles", {{0, 1, 2}}}};
  CHECK(parse_recording(with_environment(sound)));
  CHECK(parse_recording(with_visual(sound)));
}

TEST_CASE("whoever hands such a surface to a recorder is told") {
  RecordingHeader header;
  header.environment.push_back({.shape = HeightField{4, 4, 1, 1, {0, 0}}});
  CHECK_THROWS_AS((void)make_recorder(fs::temp_directory_path() / "kansetsu_hostile.csv", header), Error);
}

TEST_CASE("an attachment without a checksum is damage: ours have one") {
  const std::string bytes = with_scene([](Json&) {}, Checksum::kZero);
  const auto read = parse_recording(bytes);
  CHECK_FALSE(read);
  CHECK(has_code(read.diagnostics, "REC011"));
  CHECK(parse_recording(with_scene([](Json&) {})));
}

TEST_CASE("a path in a recording is never opened") {
  const Folder folder;
  const fs::path secret = folder.write("secret.stl", triangle_mesh(kSecret));
  const auto read = parse_recording(with_visual({{"type", "mesh"}, {"uri", "x.stl"}, {"path", secret.string()}}));
  REQUIRE(read);
  const auto& shapes = read.value->header.figures[0].model.link(LinkId(1)).visuals;
  CHECK(std::get<Mesh>(shapes.back().shape).path.empty());
  for (const char* name : {"o.mcap", "o.glb", "o.csv", "o.npz"}) {
    write_recording(*read.value, folder.path / name, {.compression = Compression::kNone});
    CHECK(content(folder.path / name).find(kSecret) == std::string::npos);
    CHECK(content(folder.path / name).find(secret.string()) == std::string::npos);
  }
}

TEST_CASE("mesh files that a recording carries go on to copies of it") {
  const Folder folder;
  folder.write("robot/a.urdf", urdf_with_mesh("part.STL"));
  folder.write("robot/part.STL", triangle_mesh());
  const auto model = load_urdf(folder.path / "robot/a.urdf");
  REQUIRE(model);
  Recording recording{.header = {.figures = {{"a", *model.value}, {"b", *model.value}}}};
  recording.frames.push_back({.time = 0, .states = {State(*model.value), State(*model.value)}});
  std::string bytes = to_mcap(recording);
  fs::remove_all(folder.path / "robot");
  for (int generation = 0; generation < 3; ++generation) {
    const auto read = parse_recording(bytes);
    REQUIRE(read);
    CHECK(read.value->header.meshes.size() == 2);
    bytes = to_mcap(*read.value);
    CHECK(bytes.find(triangle_mesh()) != std::string::npos);
  }
}

TEST_CASE("only meshes get into recordings, whatever a model names") {
  const Folder folder;
  const std::string binary_head(80, 'h'), one = std::string("\1\0\0\0", 4);
  std::string triangle(50, '\0');
  const float corners[] = {0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  std::memcpy(triangle.data(), corners, sizeof corners);
  folder.write("robot/plain.txt", kSecret);
  folder.write("robot/plain.stl", kSecret);
  folder.write("robot/plain.obj", std::string("# ") + kSecret + "\nv 0 0 0\n");
  folder.write("robot/plain.dae", std::string("<note>") + kSecret + "</note>");
  folder.write("robot/plain.gltf", std::string("{\"a\": \"") + kSecret + "\"}");
  folder.write(
      "robot/remote.gltf",
      std::string(R"({"asset": {}, "meshes": [], "buffers": [{"uri": "http://x/"}], "a": ")") + kSecret + "\"}");
  folder.write("robot/plain.glb", std::string("glTF") + kSecret);
  folder.write("robot/plain.ply", kSecret);
  folder.write("robot/behind.stl", binary_head + one + triangle + kSecret);  // a mesh, and more behind it
  for (const char* name : {"plain.txt", "plain.stl", "plain.obj", "plain.dae", "plain.gltf", "remote.gltf", "plain.glb",
                           "plain.ply", "behind.stl"}) {
    CAPTURE(name);
    folder.write("robot/a.urdf", urdf_with_mesh(name));
    const auto model = load_urdf(folder.path / "robot/a.urdf");
    REQUIRE(model);
    std::vector<Diagnostic> diagnostics;
    CHECK(recorded(*model.value, diagnostics, folder).find(kSecret) == std::string::npos);
    CHECK(has_code(diagnostics, "REC022") == (std::string_view(name) != "behind.stl"));
  }
}

TEST_CASE("files outside of a model's package do not get into recordings") {
  const Folder folder;
  folder.write("secret.stl", triangle_mesh(kSecret));
  const fs::path file = folder.write("package/robots/a.urdf", urdf_with_mesh("../../secret.stl"));
  const auto refused = load_urdf(file), allowed = load_urdf(file, {.allowed_paths = {folder.path}});
  REQUIRE(refused);
  REQUIRE(allowed);
  CHECK(has_code(refused.diagnostics, "URDF035"));
  std::vector<Diagnostic> diagnostics;
  CHECK(recorded(*refused.value, diagnostics, folder).find(kSecret) == std::string::npos);
  CHECK(recorded(*allowed.value, diagnostics, folder).find(kSecret) != std::string::npos);
  for (const char* device : {"/etc/passwd", "/proc/self/environ", "/dev/zero"}) {
    const auto model = parse_urdf(urdf_with_mesh(device), file.string());
    REQUIRE(model);
    CHECK(std::get<Mesh>(model.value->links[0].visuals[0].shape).path.empty());
  }
}

TEST_CASE("JSON that is nested deeply takes no memory") {
  const auto nested = [](int levels) {
    return std::string(std::size_t(levels), '[') + std::string(std::size_t(levels), ']');
  };
  CHECK_FALSE(is_nested_too_deeply(nested(kDeepestJson)));
  CHECK(is_nested_too_deeply(nested(kDeepestJson + 1)));
  CHECK_FALSE(is_nested_too_deeply("{\"a\": \"\\\"" + nested(kDeepestJson + 1) + "\"}"));  // a text
  CHECK(is_nested_too_deeply("[\"\\\\\"" + nested(kDeepestJson) + "]"));                   // behind one
  for (const char* name : {"scene.json", "model/0.json"}) {
    const Loaded<Recording> read = parse_recording(
        test::with_attachment(small_recording(), name, [&](std::string_view) { return nested(kDeepestJson + 1); }));
    CHECK_FALSE(read);
    CHECK(to_string(read.diagnostics).find("nested too deeply") != std::string::npos);
  }
}

TEST_CASE("chunks that claim much are not believed") {
  const std::string zeros(std::size_t{64} << 20, '\0');
  const std::string packed = compress(zeros, Compression::kLz4);  // a quarter of a megabyte
  const std::string head = small_recording();
  const std::string one = test::chunk(zeros, packed, "lz4", zeros.size());
  bool first = true;
  const std::string bomb = test::edited(head, [&](mcap::Op op, std::string_view content) {
    std::string out = test::record(op, content);
    for (int i = 0; first && i < 40; ++i) out += one;  // 2.5 GiB when opened, from 10 MiB
    first = false;
    return out;
  });
  const auto read = parse_recording(bomb);
  CHECK_FALSE(read);
  CHECK(has_code(read.diagnostics, "REC007"));

  const std::string dense = compress(zeros, Compression::kZstd);  // more than any recording gets out of a byte
  const auto denser = parse_recording(test::edited(head, [&](mcap::Op op, std::string_view content) {
    return test::record(op, content) + test::chunk(zeros, dense, "zstd", zeros.size());
  }));
  REQUIRE(denser);
  CHECK(has_code(denser.diagnostics, "REC011"));
  for (const std::uint64_t claim : {std::uint64_t{1} << 29, ~std::uint64_t{0}, std::uint64_t{1} << 20}) {
    const std::string liar = test::edited(head, [&](mcap::Op op, std::string_view content) {
      return test::record(op, content) + test::chunk("abc", "abc", "", claim);
    });
    const auto told = parse_recording(liar);
    REQUIRE(told);
    CHECK(has_code(told.diagnostics, "REC011"));
  }
}

TEST_CASE("frames of nothing cannot fill the memory") {
  // A contact takes two bytes of a message and a hundred of memory.
  const std::string bytes = test::edited(small_recording(), [&](mcap::Op op, std::string_view content) {
    std::string out = test::record(op, content);
    if (op != mcap::Op::kChannel) return out;
    ByteReader in(content);
    ByteWriter message;
    message.put(in.take<std::uint16_t>()).put(std::uint32_t{0}).put(std::uint64_t{0}).put(std::uint64_t{0});
    std::string contacts;
    for (int i = 0; i < (1 << 22); ++i) contacts += std::string("\x1a\0", 2);
    return out + test::record(mcap::Op::kMessage, message.raw(contacts).bytes);
  });
  const auto read = parse_recording(bytes);
  REQUIRE(read);
  CHECK(has_code(read.diagnostics, "REC012"));
}

TEST_CASE("figures of a recording have names of their own, and models") {
  const auto name = [](const std::string& text) {
    return parse_recording(with_scene([&](Json& scene) { scene["figures"][0]["name"] = text; }));
  };
  CHECK(name("other"));
  CHECK_FALSE(name(""));
  CHECK_FALSE(name("a\nb"));
  CHECK_FALSE(parse_recording(with_scene([](Json& scene) { scene["figures"].push_back(scene["figures"][0]); })));
  CHECK_FALSE(parse_recording(with_scene([](Json& scene) {
    const Json figure = scene["figures"][0];
    for (int i = 0; i < 20000; ++i) scene["figures"].push_back(figure);
  })));
  CHECK_FALSE(parse_recording(with_scene([](Json& scene) { scene["version"] = 4294967297; })));
  CHECK_FALSE(parse_recording(with_scene([](Json& scene) { scene["version"] = "1"; })));
}

}  // namespace kansetsu::io
