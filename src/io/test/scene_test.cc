#include "kansetsu/io/scene.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>

#include "io/text.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/model/model.h"
#include "scene/scene_schema.h"

using namespace kansetsu;
using namespace kansetsu::io;

namespace {

namespace fs = std::filesystem;

const fs::path kRoot = fs::path(KANSETSU_TEST_VECTORS).parent_path().parent_path();

const Diagnostic* find(const std::vector<Diagnostic>& diagnostics, std::string_view code) {
  for (const Diagnostic& d : diagnostics) {
    if (d.code == code) return &d;
  }
  return nullptr;
}

SceneDescription accepted(const std::string& text) {
  Loaded<SceneDescription> scene = parse_scene(text, "s.toml");
  INFO(text, "\n", to_string(scene.diagnostics));
  REQUIRE(scene);
  return *std::move(scene.value);
}

void refused(const std::string& text, std::string_view code, int line = 0) {
  const Loaded<SceneDescription> scene = parse_scene(text, "s.toml");
  INFO(text, "\n", to_string(scene.diagnostics));
  CHECK_FALSE(scene);
  const Diagnostic* d = find(scene.diagnostics, code);
  REQUIRE(d);
  if (line > 0) CHECK(d->line == line);
}

std::set<std::string> codes_in(const std::string& text, const char* pattern) {
  const std::regex code(pattern);
  std::set<std::string> codes;
  for (std::sregex_iterator it(text.begin(), text.end(), code), end; it != end; ++it) codes.insert(it->str(1));
  return codes;
}

/// What a scene holds, as text: equal texts are equal scenes.
std::string text_of(const SceneDescription& scene) {
  Loaded<std::string> text = to_scene(scene);
  INFO(to_string(text.diagnostics));
  REQUIRE(text);
  return *text.value;
}

const std::string kBox = "[[body]]\nname = 'box'\ntype = 'box'\nsize = [1, 1, 1]\nmass = 1\n";

}  // namespace

TEST_CASE("every scene of examples/scenes is read without a word, and survives being written and read again") {
  int count = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "examples/scenes")) {
    if (entry.path().extension() != ".toml") continue;
    CAPTURE(entry.path().string());
    const auto scene = read_scene(entry.path());
    INFO(to_string(scene.diagnostics));
    REQUIRE(scene);
    CHECK(scene.diagnostics.empty());
    const std::string once = text_of(*scene.value);
    CHECK(text_of(accepted(once)) == once);
    for (const FigureDescription& figure : scene.value->figures) CHECK(Model::build(figure.model));
    ++count;
  }
  CHECK(count >= 7);
}

TEST_CASE("the examples of docs/formats/scene.md are scenes, and use every key they document") {
  const std::string page = read_file(kRoot / "docs/formats/scene.md").text;
  std::string all;
  const std::regex block("```toml\n([^`]*)```");
  int count = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), block), end; it != end; ++it, ++count)
    all += it->str(1) + "\n";
  CHECK(count >= 8);
  const SceneDescription scene = accepted(all);
  CHECK(scene.figures.size() >= 3);
  // Keys stand in the first column of the tables; each must occur in an example.
  const std::regex key("\n\\| `([a-z_]+)`[^|]*\\|");
  int keys = 0;
  for (std::sregex_iterator it(page.begin(), page.end(), key), end; it != end; ++it, ++keys) {
    const std::regex use("\\b" + it->str(1) + " =|\\." + it->str(1) + "\\]|\\[" + it->str(1) + "\\]");
    CHECK_MESSAGE(std::regex_search(all, use), it->str(1));
  }
  CHECK(keys > 80);
}

namespace {

template <class Record, class Member>
constexpr bool is_record_list(Member Record::*) {
  return kIsRecordList<Member>;
}

/// Keys of records that docs/formats/scene.md does not name. Members that are lists are tables in the singular, and records whose keys
/// are among those of another have no key of their own.
template <class... Records>
std::vector<std::string> undocumented(const std::string& page) {
  std::vector<std::string> out;
  const auto look = [&](const auto& field) {
    using Field = std::remove_cvref_t<decltype(field)>;
    using Member = std::remove_cvref_t<decltype(std::declval<Field>().member)>;
    if (Field::nesting != Nesting::kOwnTable) return;
    std::string key = field.key;
    if (is_record_list(static_cast<Member>(nullptr))) key.pop_back();
    if (!std::regex_search(page, std::regex("\\b" + key + "\\b"))) out.push_back(key);
  };
  (for_each_field<Records>(look), ...);
  return out;
}

}  // namespace

TEST_CASE("docs/formats/scene.md names every key of the schema") {
  const std::string page = read_file(kRoot / "docs/formats/scene.md").text;
  const auto missing =
      undocumented<SceneDescription, Medium, CombineRules, ContactMaterial, Surface, SurfacePair, ShapeRef, ContactPair,
                   PrescribedMotion, Anchor, FigureState, JointSwitches, PolynomialCoupling, FigureDescription,
                   Compliance, ConnectionDescription, SpringDescription, JointControl, ControllerDescription,
                   SensorDescription, EventDescription, RecordingDescription, Keyframe, Pose, DofDescription,
                   JointDescription, Coupling, FrameDescription, CollisionFilter, LoopClosure, TendonDescription,
                   TendonPart, TendonShift, TendonCondition, CoordinateFunction, ActuatorDescription>(page);
  for (const std::string& key : missing) FAIL_CHECK(key);
}

TEST_CASE("docs list exactly the codes of the sources") {
  const auto source = [](const char* file) { return read_file(kRoot / file).text; };
  auto scene = codes_in(source("src/io/scene/scene_codes.h"), "\"(SCENE\\d{3})\"");
  scene.merge(codes_in(source("src/scene/scene_codes.h"), "\"(SCENE\\d{3})\""));
  scene.merge(codes_in(source("src/model/actuator_codes.h"), "\"(SCENE\\d{3})\""));
  CHECK(codes_in(source("docs/formats/scene.md"), "\\| (SCENE\\d{3}) \\|") == scene);
  CHECK(codes_in(source("docs/formats/mjcf.md"), "\\| (MJCF\\d{3}) \\|") ==
        codes_in(source("src/io/mjcf/mjcf_codes.h"), "\"(MJCF\\d{3})\""));
}

TEST_CASE("figures are built in, from files, or written in the scene") {
  const SceneDescription scene = accepted(
      "[[figure]]\nname = 'a'\nmodel = 'human28'\nbase = 'free'\nq = {kneeL_y = 0.3}\n"
      "[[figure]]\nname = 'b'\n[[figure.link]]\nname = 'l'\ndensity = 10\n[[figure.link.shape]]\ntype = 'box'\nsize = "
      "[1, 1, 1]\n");
  REQUIRE(scene.figures.size() == 2);
  CHECK(scene.figures[0].initial.q.at("kneeL_y") == std::vector{0.3});
  CHECK(scene.figures[1].model.links[0].inertial->mass == doctest::Approx(10));
}

TEST_CASE("an MJCF file is a scene, and its conversion to TOML is the same scene") {
  const auto scene = parse_mjcf(
      "<mujoco model='m'><compiler angle='radian'/><worldbody><geom type='plane' size='1 1 1'/><body name='a' pos='0 0 "
      "1'><freejoint/>"
      "<geom type='ellipsoid' size='1 2 3'/><body name='b'><joint name='j' ref='0.3' range='-1 1' damping='2'/>"
      "<joint name='k' axis='1 0 0' pos='1 2 3'/><geom type='capsule' size='0.1 0.2' "
      "friction='0.3'/></body></body></worldbody>"
      "<actuator><position joint='j' kp='3'/></actuator><keyframe><key qpos='0 0 2 1 0 0 0 0.1 "
      "0.2'/></keyframe></mujoco>");
  REQUIRE(scene);
  const std::string once = text_of(*scene.value);
  const SceneDescription again = accepted(once);
  CHECK(text_of(again) == once);
  CHECK(again.figures[0].model.joints.size() == scene.value->figures[0].model.joints.size());
  CHECK(again.figures[0].model.joints[0].plug == scene.value->figures[0].model.joints[0].plug);
}

TEST_CASE("what is wrong is told with the line, the column and the nearest known name") {
  refused("[scene\n", "SCENE002", 1);
  refused("[scene]\ntimestep = 1\n", "SCENE003", 2);
  refused("[[figure]]\nmodel = 'human28'\n", "SCENE004");
  refused("[scene]\ngravity = 'down'\n", "SCENE005", 2);
  refused("[scene]\ntime_step = nan\n", "SCENE005", 2);
  refused("[scene]\nintegrator = 'euler'\n", "SCENE006", 2);
  refused("[scene]\ngravity = [0, 0]\n", "SCENE007", 2);
  refused(kBox + "pose = {quat_xyzw = [0, 0, 0, 2]}\n", "SCENE008");
  refused("[[environment]]\nname = 'b'\ntype = 'sphere'\nradius = -1\n", "SCENE009");
  refused("[[figure]]\nname = 'a'\nmodel = 'human27'\n", "SCENE010", 3);
  refused("[[figure]]\nname = 'a'\nmodel = 'human28'\n[[figure.adjust]]\njoint = 'nee'\n", "SCENE011");
  refused(kBox + "density = 1\n", "SCENE013");
  refused(kBox + kBox, "SCENE101");
  refused("[[controller]]\nname = 'c'\nfigure = 'x'\n", "SCENE102");
  refused(kBox + "[[sensor]]\nname = 's'\nkind = 'imu'\nat = {figure = 'box', link = 'bos'}\n", "SCENE103");
  refused("[[figure]]\nname = 'a'\nmodel = 'human28'\nq = {knee = 1}\n", "SCENE104");
  refused(kBox + "surface = 'ice'\n", "SCENE105");
  refused("[[event]]\nname = 'e'\nwhen = 'time'\ndo = 'cut'\ntarget = 'c'\n", "SCENE106");
  refused("[[event]]\nname = 'e'\nwhen = 'time'\ndo = 'stop_controller'\ntarget = 'c'\n", "SCENE107");
  refused("[[exclude]]\na = {shape = 'floor'}\nb = {}\n", "SCENE108");
  refused("[scene]\ngravity = [0, 0, -1e300]\n", "SCENE110");
  refused("[scene]\ntime_step = 0\n", "SCENE111");
  refused("[[figure]]\nname = 'a'\nmodel = 'human28'\nq = {kneeL_y = [1, 2]}\n", "SCENE112");
  refused(kBox + "[[connection]]\nname = 'c'\na = {}\nb = {}\n", "SCENE116");
  refused(kBox + "[[connection]]\nname = 'c'\na = {figure = 'box'}\nb = {}\nconstrain = []\n", "SCENE117");
  CHECK(find(read_scene("/no/such.toml").diagnostics, "SCENE001"));

  const auto misspelt = parse_scene("[scene]\ntimestep = 1\ngravty = [0, 0, 1]\n", "s.toml");
  REQUIRE(misspelt.diagnostics.size() == 2);  // both, not the first only
  CHECK(misspelt.diagnostics[0].hint == "did you mean 'time_step'?");
  CHECK(misspelt.diagnostics[1].hint == "did you mean 'gravity'?");
  CHECK(misspelt.diagnostics[1].path == "scene, column 10");
  const auto section = parse_scene("[scene]\n[[figur]]\nname = 'a'\n", "s.toml");
  CHECK(find(section.diagnostics, "SCENE003")->path == "column 1");  // of the file itself, which has no path
}

TEST_CASE("a scene with every letter lost once is refused or read, never more") {
  const std::string text = read_file(kRoot / "examples/scenes/pinch.toml").text;
  int read = 0;
  for (std::size_t i = 0; i < text.size(); i += 3) {
    std::string damaged = text;
    damaged.erase(i, 1);
    const auto scene = parse_scene(damaged, "s.toml");
    CHECK(bool(scene) == !has_errors(scene.diagnostics));
    if (scene) ++read;
  }
  CHECK(read > 0);
}

TEST_CASE("what would never happen, or crash, is told instead") {
  const std::string ball = "[[body]]\nname = \"ball\"\ntype = \"sphere\"\nradius = 0.1\nmass = 1.0\n";
  const std::string grip = "[[connection]]\nname = \"grip\"\na = {figure = \"ball\"}\nb = {}\nactive = false\n";
  const auto event = [&](const std::string& keys) {
    return ball + grip + "[[event]]\nname = \"e\"\nconnection = \"grip\"\ndo = \"connect\"\ntarget = \"grip\"\n" + keys;
  };
  accepted(event("when = \"near\"\ndistance = 0.1\n"));
  refused(event("when = \"near\"\n"), "SCENE004", 11);
  accepted(event("when = \"force\"\ntorque = 1.0\n"));
  refused(event("when = \"force\"\n"), "SCENE004", 11);
  refused(ball + "[[sensor]]\nname = \"imu\"\nkind = \"imu\"\nat = {p = [0.0, 0.0, 1.0]}\n", "SCENE116", 6);
  refused(ball + "[[exclude]]\na = {link = \"ball\"}\nb = {}\n", "SCENE004", 7);
  refused(
      "[[figure]]\nname = \"man\"\nmodel = \"human28_ball\"\n"
      "[[controller]]\nname = \"pd\"\nfigure = \"man\"\nkind = \"pd\"\nkp = 1.0\njoints = [\"waist\"]\n",
      "SCENE119", 4);
  std::string deep = "[a";
  for (int i = 0; i < 100000; ++i) deep += ".b";
  refused(deep + "]\n", "SCENE002", 1);
  accepted("[scene]\nname = \"" + std::string(1000, '.') + "\"\n" + ball);  // dots in texts are no keys

  const Loaded<SceneDescription> nan = parse_scene(ball + "density = nan\n", "s.toml");
  REQUIRE(find(nan.diagnostics, "SCENE005"));
  CHECK(find(nan.diagnostics, "SCENE005")->message == "density is nan, not a finite number");
}

TEST_CASE("mesh files become shapes that can be touched: triangles around, hulls on links") {
  const fs::path folder = fs::temp_directory_path() / "kansetsu_scene_meshes";
  fs::create_directories(folder);
  std::ofstream(folder / "t.obj") << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  std::ofstream(folder / "bad.obj") << "v 0 0\n";
  const std::string mesh = "type = \"mesh\"\nfile = \"t.obj\"\nscale = [2.0, 2.0, 2.0]\n";
  const std::string text = "[[environment]]\nname = \"rock\"\n" + mesh +
                           "[[environment]]\nname = \"bad\"\ntype = \"mesh\"\nfile = \"bad.obj\"\n" +
                           "[[figure]]\nname = \"f\"\n[[figure.link]]\nname = \"l\"\nmass = 1.0\ninertia = [0.1, 0.1, "
                           "0.1]\n[[figure.link.shape]]\n" +
                           mesh;
  Loaded<SceneDescription> scene = parse_scene(text, (folder / "s.toml").string());
  INFO(to_string(scene.diagnostics));
  REQUIRE(scene);
  const std::vector<Diagnostic> told = load_meshes(*scene.value);
  REQUIRE(told.size() == 1);
  CHECK(told[0].code.starts_with("MESH"));
  CHECK_FALSE(told[0].is_error());
  const auto* rock = std::get_if<TriangleMesh>(&scene.value->environment[0].shape.shape);
  REQUIRE(rock);
  CHECK(rock->data->triangles.size() == 4);
  CHECK(std::holds_alternative<Mesh>(scene.value->environment[1].shape.shape));
  const auto* link = std::get_if<ConvexHull>(&scene.value->figures[0].model.links[0].collisions[0].shape);
  REQUIRE(link);
  CHECK(link->vertices[1] == Vec3<>{2, 0, 0});
  fs::remove_all(folder);
}
