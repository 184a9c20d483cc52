#include "kansetsu/io/capture.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <random>
#include <regex>
#include <set>

#include "io/test/capture_property.h"

using namespace kansetsu;

namespace {

constexpr const char* kBvh =
    "HIERARCHY\r\n"
    "ROOT Hips\n"
    "{\r\n"
    "  OFFSET 0 0.5 0\r\n"
    "  CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation \r\n"
    "  JOINT LeftUpLeg\r\n"
    "  {\r\n"
    "    OFFSET 0.1 0 0\r\n"
    "    CHANNELS 3 Yrotation Xrotation Zrotation\r\n"
    "    JOINT LeftLeg\r\n"
    "    {\r\n"
    "      OFFSET 0 -0.4 0\r\n"
    "      CHANNELS 1 Xrotation\r\n"
    "      End Site\r\n"
    "      {\r\n"
    "        OFFSET 0 -0.4 0.05\r\n"
    "      }\r\n"
    "    }\r\n"
    "  }\r\n"
    "  JOINT Spine\r\n"
    "  {\r\n"
    "    OFFSET 0 0.2 0\r\n"
    "    CHANNELS 6 Zrotation Yrotation Xrotation Xposition Yposition Zposition\r\n"
    "  }\r\n"
    "}\r\n"
    "MOTION\r\n"
    "Frames:\t2\r\n"
    "Frame Time: .01\r\n"
    "1 2 3 0 0 0  0 0 0  0  0 0 0 0 0.2 0\r\n"
    "1 2 3 90 0 0  10 20 30  40  0 0 90 0 0.25 0.5\r\n";

constexpr const char* kAsf =
    "# a skeleton\n:version 1.10\n:units\n  mass 1\n  length 0.45\n  angle deg\n"
    ":root\n  order TX TY TZ RX RY RZ\n  axis XYZ\n  position 0 0 0\n  orientation 0 0 0\n"
    ":bonedata\n  begin\n    id 1\n    name thigh\n    direction 0 -1 0\n    length 7\n    axis 0 0 20 XYZ\n"
    "    dof rx ry rz\n    limits (-160 20)\n           (-70 70)\n           (-60 70)\n  end\n"
    "  begin\n    id 2\n    name shin\n    direction 0 -2 0\n    length 6\n    axis 0 90 0 XYZ\n    dof rx\n  end\n"
    ":hierarchy\n  begin\n    root thigh\n    thigh shin\n  end\n";
constexpr const char* kAmc =
    "#!OML:ASF x.ASF\n:FULLY-SPECIFIED\n:DEGREES\n"
    "1\nroot 1 2 3 0 0 0\nthigh 0 0 0\nshin 0\n"
    "2\nroot 1 2 3 10 20 30\nthigh 10 -20 30\nshin 90\n";

std::string with(std::string text, const std::string& from, const std::string& to) {
  const std::size_t at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

/// The text is refused by this code, at this line.
void check_refused(const Loaded<Capture>& read, const std::string& code, int line) {
  CHECK(!read);
  const bool found = std::any_of(read.diagnostics.begin(), read.diagnostics.end(), [&](const Diagnostic& d) {
    return d.code == code && d.line == line && d.is_error() && !d.hint.empty();
  });
  CHECK_MESSAGE(found, code, " at line ", line, " expected, got\n", to_string(read.diagnostics));
}

Mat3<> about(char axis, double degrees) {
  const double a = degrees * std::numbers::pi / 180;
  return exp_rotation(Vec3<>{axis == 'x' ? a : 0, axis == 'y' ? a : 0, axis == 'z' ? a : 0});
}
double apart(const BonePose& pose, const Mat3<>& R) { return angular_distance(to_mat3(pose.turn), R); }

std::set<std::string> codes_in(const std::string& file) {
  std::ifstream stream(std::string(KANSETSU_TEST_VECTORS) + "/../../" + file);
  REQUIRE(stream);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  std::set<std::string> found;
  const std::regex code("(CAP|MAP)[0-9]{3}");
  for (std::sregex_iterator i(text.begin(), text.end(), code), end; i != end; ++i) found.insert(i->str());
  return found;
}

}  // namespace

TEST_CASE("BVH: channels in any order and number, mixed line ends, several children") {
  const Loaded<Capture> read = io::parse_bvh(kBvh, "folder/clip.bvh");
  REQUIRE_MESSAGE(read, to_string(read.diagnostics));
  const Capture& c = *read.value;
  CHECK(c.name == "clip");
  CHECK(c.frames() == 2);
  CHECK(c.frame_time == 0.01);
  REQUIRE(c.bones.size() == 4);
  CHECK(c.bones[2].parent == 1);
  CHECK(c.bones[3].parent == 0);
  CHECK(c.bones[2].tip == Vec3<>{0, -0.4, 0.05});
  CHECK(!c.bones[3].tip);
  CHECK(c.bones[1].order == EulerOrder::kYXZ);
  CHECK((c.bones[0].moves && !c.bones[1].moves && c.bones[3].moves));
  // Positions take the place of the offset; turns are about axes already turned, in the order of the file.
  CHECK(c.pose(1, 0).p == Vec3<>{1, 2, 3});
  CHECK(c.pose(1, 1).p == c.bones[1].offset);
  CHECK(c.pose(1, 3).p == Vec3<>{0, 0.25, 0.5});
  constexpr double kRound = 1e-7;  // an angle near zero comes from a cosine: √eps
  CHECK(apart(c.pose(1, 0), about('z', 90)) < kRound);
  CHECK(apart(c.pose(1, 1), about('y', 10) * about('x', 20) * about('z', 30)) < kRound);
  CHECK(apart(c.pose(1, 2), about('x', 40)) < kRound);
  CHECK(apart(c.pose(1, 3), about('x', 90)) < kRound);
}

TEST_CASE("BVH: written and read it is the same") {
  CHECK(io::test::bvh_violation(kBvh) == "");
  const Capture c = value_or_throw(io::parse_bvh(kBvh));
  const std::string text = io::to_bvh(c);
  CHECK(value_or_throw(io::parse_bvh(text)).bones == c.bones);
  CHECK(io::to_bvh(value_or_throw(io::parse_bvh(text))).size() == text.size());
}

TEST_CASE("BVH: what is wrong is told with its line, joint and frame") {
  const auto refused = [](const std::string& from, const std::string& to, const char* code, int line) {
    CAPTURE(to);
    check_refused(io::parse_bvh(with(kBvh, from, to), "x.bvh"), code, line);
  };
  refused("HIERARCHY", "<xml/>", "CAP005", 1);
  refused("OFFSET 0 0.5 0", "OFSET 0 0.5 0", "CAP010", 4);
  refused("OFFSET 0 0.5 0", "OFFSET 0 nan 0", "CAP012", 4);
  refused("OFFSET 0 0.5 0", "OFFSET 0 1e300 0", "CAP012", 4);
  refused("CHANNELS 6 X", "CHANNELS 5 X", "CAP013", 5);
  refused("CHANNELS 3 Yrotation X", "CHANNELS 3 Yrotation Y", "CAP013", 9);
  refused("CHANNELS 1 Xrotation", "CHANNELS 1 Xscale", "CAP013", 13);
  refused("JOINT Spine", "JOINT LeftLeg", "CAP014", 20);
  refused("JOINT Spine", "JOINT", "CAP014", 20);
  refused("MOTION", "ROOT Second\n{\n}\nMOTION", "CAP015", 26);
  refused("Frames:\t2", "Frames:\t-2", "CAP020", 27);
  refused("Frames:\t2", "Frames:\tmany", "CAP020", 27);
  refused("Time: .01", "Time: 0", "CAP021", 28);
  refused("Frames:\t2", "Frames:\t3", "CAP023", 31);
  refused("Frames:\t2", "Frames:\t999999999", "CAP023", 31);  // and no memory is taken for them
  refused("1 2 3 0 0 0", "1 2 3 0 0", "CAP022", 29);
  refused("1 2 3 90 0 0", "1 2 3 90 nan 0", "CAP012", 30);
  refused(" 0 0 90 0 0.25 0.5", " 0 0 90 0 0.25", "CAP023", 30);
  check_refused(io::parse_bvh(""), "CAP005", 0);
  check_refused(io::parse_bvh(std::string("HIER\0ARCHY", 10)), "CAP005", 0);
  const Loaded<Capture> nan = io::parse_bvh(with(kBvh, "10 20 30", "10 inf 30"), "x.bvh");
  REQUIRE(nan.diagnostics.size() == 1);
  CHECK(to_string(nan.diagnostics[0]).find("x.bvh:30: error[CAP012]: value 8 is 'inf'") == 0);
  CHECK(nan.diagnostics[0].path == "frame 1, joint LeftUpLeg");
  // All of them, not the first only.
  CHECK(io::parse_bvh(with(with(kBvh, "0 -0.4 0\r", "0 a 0\r"), "CHANNELS 1 X", "CHANNELS 2 X")).diagnostics.size() ==
        2);
}

TEST_CASE("BVH: lines after the last frame are left out with a warning") {
  const Loaded<Capture> read = io::parse_bvh(with(kBvh, "Frames:\t2", "Frames:\t1"));
  REQUIRE(read);
  CHECK(read.value->frames() == 1);
  CHECK(std::any_of(read.diagnostics.begin(), read.diagnostics.end(), [](auto& d) { return d.code == "CAP030"; }));
}

TEST_CASE("bones without channels cannot make a small file large") {
  std::string text = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n";
  constexpr int kBones = 9000;
  for (int i = 0; i < kBones; ++i) text += "JOINT b" + std::to_string(i) + "\n{\nOFFSET 0 0 0\n}\n";
  text += "}\nMOTION\nFrames: 1000000\nFrame Time: 0.01\n";
  for (int i = 0; i < 4000; ++i) text += "1\n";  // 36 million poses of bones, if it were believed
  check_refused(io::parse_bvh(text), "CAP016", 36010 + 12);
}

TEST_CASE("ASF and AMC: turns are given in the bone's own axes") {
  const Loaded<Capture> read = io::parse_asf_amc(kAsf, kAmc, "1.asf", "1_2.amc");
  REQUIRE_MESSAGE(read, to_string(read.diagnostics));
  const Capture& c = *read.value;
  CHECK(c.name == "1_2");
  CHECK(c.frames() == 2);
  REQUIRE(c.bones.size() == 3);
  CHECK(c.bones[1].offset == Vec3<>{});          // a child of the root begins at the root
  CHECK(c.bones[2].offset == Vec3<>{0, -7, 0});  // others where their parent ends
  CHECK(c.bones[2].tip == Vec3<>{0, -6, 0});     // directions are of unit length, whatever is written
  constexpr double kRound = 1e-7;                // as above
  CHECK(apart(c.pose(1, 0), about('z', 30) * about('y', 20) * about('x', 10)) < kRound);
  const Mat3<> C = about('z', 20), D = about('y', 90);
  CHECK(apart(c.pose(1, 1), C * about('z', 30) * about('y', -20) * about('x', 10) * transpose(C)) < kRound);
  CHECK(apart(c.pose(1, 2), D * about('x', 90) * transpose(D)) < kRound);
  CHECK(c.pose(1, 0).p == Vec3<>{1, 2, 3});
  CHECK(io::test::capture_violation(read) == "");
  // The same in radians.
  const Capture rad = value_or_throw(
      io::parse_asf_amc(kAsf, with(with(kAmc, "DEGREES", "RADIANS"), "shin 90", "shin 1.5707963267948966")));
  CHECK(apart(rad.pose(1, 2), D * about('x', 90) * transpose(D)) < kRound);
}

TEST_CASE("ASF and AMC: what is wrong is told with its file, line, bone and frame") {
  const auto asf = [](const std::string& from, const std::string& to, const char* code, int line) {
    CAPTURE(to);
    const auto read = io::parse_asf_amc(with(kAsf, from, to), kAmc, "1.asf", "1.amc");
    check_refused(read, code, line);
    for (const Diagnostic& d : read.diagnostics) CHECK(d.file == "1.asf");
  };
  asf(":version", "version", "CAP005", 2);
  asf("length 0.45", "length x", "CAP012", 5);
  asf("angle deg", "angle grad", "CAP010", 6);
  asf("order TX TY", "order TX TX", "CAP013", 8);
  asf("direction 0 -1 0", "direction 0 -1", "CAP012", 16);
  asf("axis 0 0 20 XYZ", "axis 0 0 20 XYX", "CAP010", 18);
  asf("name shin", "name thigh", "CAP014", 31);
  asf("root thigh\n", "root knee\n", "CAP024", 34);
  asf("thigh shin", "", "CAP015", 0);
  asf("thigh shin", "shin shin", "CAP015", 0);
  const auto amc = [](const std::string& from, const std::string& to, const char* code, int line) {
    CAPTURE(to);
    const auto read = io::parse_asf_amc(kAsf, with(kAmc, from, to), "1.asf", "1.amc");
    check_refused(read, code, line);
    for (const Diagnostic& d : read.diagnostics) CHECK(d.file == "1.amc");
  };
  amc("1\nroot", "root", "CAP005", 4);
  amc("thigh 0 0 0", "thigh 0 0", "CAP022", 6);
  amc("thigh 0 0 0", "thigh 0 nan 0", "CAP012", 6);
  amc("thigh 0 0 0", "knee 0 0 0", "CAP024", 6);
  amc("thigh 0 0 0\n", "", "CAP025", 4);
  amc("shin 90\n", "", "CAP023", 8);
  amc("shin 90\n", "shin\n", "CAP023", 11);
  const auto renumbered = io::parse_asf_amc(kAsf, with(kAmc, "\n2\n", "\n7\n"));
  REQUIRE(renumbered);
  CHECK(renumbered.diagnostics[0].code == "CAP033");
}

TEST_CASE("files: missing, foreign, without skeleton") {
  check_refused(io::read_capture("nowhere.bvh"), "CAP001", 0);
  check_refused(io::read_capture("nowhere.amc"), "CAP001", 0);
  check_refused(io::read_capture("clip.fbx"), "CAP006", 0);
  const auto folder = std::filesystem::temp_directory_path() / "kansetsu_capture_test";
  std::filesystem::create_directories(folder);
  std::filesystem::remove(folder / "07.asf");
  std::ofstream(folder / "07_01.amc") << kAmc;
  check_refused(io::read_capture(folder / "07_01.amc"), "CAP007", 0);
  std::ofstream(folder / "07.asf") << kAsf;
  const Loaded<Capture> read = io::read_capture(folder / "07_01.amc");
  REQUIRE(read);
  CHECK(io::write_bvh(*read.value, folder / "out.bvh").empty());
  CHECK(io::read_capture(folder / "out.bvh").value->frames() == 2);
  CHECK(io::write_centres_csv(*read.value, folder / "no/such/folder.csv").at(0).code == "CAP040");
  std::filesystem::remove_all(folder);
}

TEST_CASE("joint centres as CSV") {
  Capture c = value_or_throw(io::parse_bvh(kBvh, "x.bvh", {.unit = 0.5, .up = UpAxis::kY}));
  c.bones[3].name = "a,b";
  const std::string csv = io::to_centres_csv(c);
  CHECK(csv.find("time,Hips.x,Hips.y,Hips.z,LeftUpLeg.x") == 0);
  CHECK(csv.find(",\"a,b.x\",") != std::string::npos);
  // File (1, 2, 3) with y up and z forward is world (3, 1, 2), halved.
  CHECK(csv.find("\n0,1.5,0.5,1,") != std::string::npos);
}

TEST_CASE("tables of landmarks are written and read, and misspelt ones told") {
  LandmarkTable table = skeleton_tables()[2];
  table.links[Landmark::kKneeL] = {"left \"shin\"", {0.1, 0, -2}};
  const Loaded<LandmarkTable> read = io::parse_landmarks(io::to_toml(table), "t.toml");
  REQUIRE_MESSAGE(read, to_string(read.diagnostics));
  CHECK(read.value->name == table.name);
  CHECK(read.value->bones == table.bones);
  CHECK(read.value->links == table.links);
  const Loaded<LandmarkTable> wrong = io::parse_landmarks(
      "[bones]\nkneeL = 3\nkneel = \"a\"\n[links]\nhipL = { link = \"a\", at = [1, 2] }\nhipR = \"b\"\n[x]\n");
  CHECK(!wrong);
  std::vector<int> lines;
  for (const Diagnostic& d : wrong.diagnostics) {
    CHECK(d.code == "CAP041");
    lines.push_back(d.line);
  }
  std::sort(lines.begin(), lines.end());
  CHECK(lines == std::vector{2, 3, 5, 7});
  CHECK(io::parse_landmarks("[bones\n").diagnostics.at(0).code == "CAP010");
}

TEST_CASE("damaged captures are refused or read, and never anything else") {
  constexpr const char* kPieces[] = {"{",
                                     "}",
                                     "nan",
                                     "inf",
                                     "1e999",
                                     "-1",
                                     "0",
                                     "\n",
                                     "\r\n",
                                     " ",
                                     "JOINT x",
                                     "End Site",
                                     "OFFSET 1 2 3",
                                     "CHANNELS 3 Xrotation Yrotation Zrotation",
                                     "Frames: 99999999",
                                     "MOTION",
                                     ":root",
                                     "begin",
                                     "end",
                                     "dof rx",
                                     "3",
                                     "root",
                                     "\xff",
                                     ":hierarchy",
                                     "root thigh"};
  const std::string both = std::string(kAsf) + "===" + kAmc;
  constexpr unsigned kSeed = 7;
  CAPTURE(kSeed);
  std::mt19937 rng(kSeed);
  int accepted = 0;
  for (int round = 0; round < 4000; ++round) {
    const bool bvh = round % 2 == 0;
    std::string text = bvh ? kBvh : both;
    const auto wounds = 1 + rng() % 3;
    for (auto w = 0 * wounds; w < wounds; ++w) {
      const std::size_t at = rng() % (text.size() + 1), span = std::min<std::size_t>(rng() % 12, text.size() - at);
      switch (rng() % 4) {
        case 0:
          text.resize(at);
          break;
        case 1:
          text.erase(at, span);
          break;
        case 2:
          text.insert(at, kPieces[rng() % std::size(kPieces)]);
          break;
        default:
          if (at < text.size()) text[at] = static_cast<char>(rng());
      }
    }
    const std::string violation = bvh ? io::test::bvh_violation(text) : io::test::asf_amc_violation(text);
    CAPTURE(round);
    REQUIRE_MESSAGE(violation.empty(), violation, "\n", text);
    accepted += bvh && io::parse_bvh(text).value.has_value();
  }
  CHECK(accepted > 50);  // some wounds are harmless: the property is tested beyond refusal
}

TEST_CASE("every code of captures is documented, and no other") {
  auto known = codes_in("src/io/capture/capture_codes.h");
  const auto mapping = codes_in("src/motion/retarget_codes.h");
  CHECK(known.size() > 20);
  known.insert(mapping.begin(), mapping.end());
  CHECK(codes_in("docs/formats/capture.md") == known);
}
