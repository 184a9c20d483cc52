#include "kansetsu/io/measured.h"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

#include "io/test/measured_property.h"
#include "io/test/osim_property.h"

using namespace kansetsu;
using io::test::violation_of;

namespace {

Measurement sample() {
  Measurement m;
  m.markers.names = {"heel", "toe"};
  m.markers.rate = 100;
  ForcePlate plate;
  plate.corners = {Vec3<>{0.5, 0, 0}, {0, 0, 0}, {0, 0.6, 0}, {0.5, 0.6, 0}};
  for (int k = 0; k < 12; ++k) {
    m.markers.times.push_back(k / 100.);
    m.markers.points.push_back({0.1 * k, 0.25, 0.5});
    m.markers.points.push_back(k == 4 ? Vec3<>{NAN, NAN, NAN} : Vec3<>{0.1, 0.25 * k, -0.5});
    for (int s = 0; s < 2; ++s) {
      m.analog.times.push_back((k + 0.5 * s) / 100);
      plate.force.push_back({1.5 * k, -3, 700});
      plate.moment.push_back({14, -7. * k, 1});
    }
  }
  m.plates = {plate};
  m.events = {{0.03, "Foot Strike", "Left"}};
  return m;
}

constexpr const char* kTrc =
    "PathFileType\t4\t(X/Y/"
    "Z)\ta.trc\nDataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\t"
    "OrigNumFrames\n60\t60\t2\t2\tmm\t60\t1\t2\nFrame#\tTime\tA\t\t\tB\t\t\t\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
    "1\t0\t1\t2\t3\t4\t5\t6\n2\t0.017\t1\t2\t3\t\t\t\n";
constexpr const char* kSto =
    "x\nnRows=2\nnColumns=3\ninDegrees=yes\nendheader\ntime\tknee\thip\n0\t1\t2,3\n0.5\t3\tnan,4\n";
constexpr const char* kOsim = R"(<OpenSimDocument Version="40000"><Model name="m"><BodySet><objects>
<Body name="a"><mass>1</mass><inertia>1 1 1 0 0 0</inertia><WrapObjectSet><objects><WrapCylinder name="w"><translation>0 -0.2 0</translation><quadrant>-x</quadrant><radius>0.02</radius><length>0.1</length></WrapCylinder></objects></WrapObjectSet></Body>
<Body name="b"><mass>1</mass><inertia>1 1 1 0 0 0</inertia></Body></objects></BodySet><JointSet><objects>
<CustomJoint name="j"><socket_parent_frame>/ground</socket_parent_frame><socket_child_frame>/bodyset/a</socket_child_frame><coordinates><Coordinate name="c"/></coordinates>
<SpatialTransform><TransformAxis><coordinates>c</coordinates><axis>0 0 1</axis><function><SimmSpline><x>0 1 2 3</x><y>0 1 4 9</y></SimmSpline></function></TransformAxis></SpatialTransform></CustomJoint>
<PinJoint name="k"><socket_parent_frame>/bodyset/a</socket_parent_frame><socket_child_frame>/bodyset/b</socket_child_frame><coordinates><Coordinate name="d"/></coordinates></PinJoint></objects></JointSet>
<ForceSet><objects><Thelen2003Muscle name="n"><GeometryPath><PathPointSet><objects>
<PathPoint name="1"><socket_parent_frame>/bodyset/a</socket_parent_frame><location>0.1 0 0</location></PathPoint>
<ConditionalPathPoint name="2"><socket_parent_frame>/bodyset/a</socket_parent_frame><location>0 0 0.1</location><socket_coordinate>/jointset/k/d</socket_coordinate><range>-1 1</range></ConditionalPathPoint>
<MovingPathPoint name="3"><socket_parent_frame>/bodyset/b</socket_parent_frame><socket_x_coordinate>/jointset/k/d</socket_x_coordinate><x_location><SimmSpline><x>-1 0 1</x><y>0 1 0</y></SimmSpline></x_location></MovingPathPoint>
</objects></PathPointSet><PathWrapSet><objects><PathWrap><wrap_object>w</wrap_object><range>-1 -1</range></PathWrap></objects></PathWrapSet></GeometryPath>
<max_isometric_force>500</max_isometric_force></Thelen2003Muscle></objects></ForceSet></Model></OpenSimDocument>)";

std::string wounded(std::string text, std::mt19937& rng) {
  for (int wounds = 1 + int(rng() % 4); wounds > 0 && !text.empty(); --wounds) {
    const std::size_t at = rng() % text.size();
    switch (rng() % 4) {
      case 0:
        text.resize(at);
        break;
      case 1:
        text.erase(at, 1 + rng() % 20);
        break;
      case 2:
        text.insert(at, std::string(1 + rng() % 8, static_cast<char>(rng())));
        break;
      default:
        text[at] = static_cast<char>(rng());
    }
  }
  return text;
}

}  // namespace

TEST_CASE("C3D files that are written are read again") {
  const Measurement m = sample();
  const Loaded<std::string> bytes = io::to_c3d(m);
  REQUIRE(bytes);
  const Loaded<Measurement> again = io::parse_c3d(*bytes.value, "again.c3d");
  REQUIRE_MESSAGE(again, to_string(again.diagnostics));
  const Measurement& r = *again.value;
  CHECK(r.markers.names == m.markers.names);
  REQUIRE(r.markers.frames() == 12);
  CHECK(!Markers::seen(r.markers.point(4, 1)));
  CHECK(norm(r.markers.point(7, 1) - m.markers.point(7, 1)) < 1e-6);  // 32-bit numbers of millimetres
  REQUIRE(r.plates.size() == 1);
  CHECK(norm(r.plates[0].force[5] - m.plates[0].force[5]) < 1e-3);  // 32-bit numbers up to 700
  CHECK(norm(r.plates[0].moment[5] - m.plates[0].moment[5]) < 1e-3);
  REQUIRE(r.events.size() == 1);
  CHECK(r.events[0].time == doctest::Approx(0.03));
  CHECK(r.events[0].context == "Left");
}

TEST_CASE("the centre of pressure takes the moment along the surface") {
  const Measurement m = sample();
  for (int k = 0; k < 24; k += 5) {
    const Pressure p = pressure_of(m.plates[0], k, 20);
    CHECK(std::abs(p.moment.x) < 1e-12);  // taken away exactly but for rounding
    CHECK(std::abs(p.moment.y) < 1e-12);
    const Vec3<> back = p.moment + cross(p.point - m.plates[0].centre(), m.plates[0].force[std::size_t(k)]);
    CHECK(norm(back - m.plates[0].moment[std::size_t(k)]) < 1e-12);  // rounding
    CHECK(pressure_of(m.plates[0], k, 1e4).point == m.plates[0].centre());
  }
}

TEST_CASE("upward is the normal of plates, or where markers spread") {
  Measurement m = sample();
  CHECK(guess_up(m) == UpAxis::kZ);
  m.plates.clear();
  for (Vec3<>& p : m.markers.points) p = {p.x, 3 * p.z, p.y};
  CHECK(guess_up(m) == UpAxis::kY);
  CHECK(norm(axes_with_up(UpAxis::kY) * Vec3<>{0, 1, 0} - Vec3<>{0, 0, 1}) == 0);
  CHECK(norm(axes_with_up(UpAxis::kX) * Vec3<>{1, 0, 0} - Vec3<>{0, 0, 1}) == 0);
}

TEST_CASE("wounded measurements and models are refused or whole, never worse") {
  std::mt19937 rng(20);  // the seed
  const std::string c3d = *io::to_c3d(sample()).value;
  int accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    CAPTURE(round);
    const auto check = [&](const auto& read) {
      REQUIRE(violation_of(read) == "");
      accepted += int(bool(read));
    };
    check(io::parse_c3d(wounded(c3d, rng)));
    check(io::parse_trc(wounded(kTrc, rng)));
    check(io::parse_table(wounded(kSto, rng)));
    check(io::parse_osim(wounded(kOsim, rng)));
  }
  const Loaded<io::OsimModel> whole = io::parse_osim(kOsim);
  REQUIRE(whole);
  CHECK(whole.value->actuation.tendons.at(0).path.size() == 5);  // what is wounded has muscles, too
  CHECK(accepted > 100);  // some wounds are harmless: the property is tested beyond refusal
}

namespace {

/// A C3D file by hand: header, one block of parameters that the test writes, then frames.
struct HandMade {
  std::string bytes = std::string(512, '\0');
  std::string parameters{"\x01\x50\x02\x54", 4};  // Intel

  void word(std::size_t at, int value) {
    bytes[at] = char(value & 0xff);
    bytes[at + 1] = char(value >> 8 & 0xff);
  }
  static std::string number(float value) { return {reinterpret_cast<const char*>(&value), 4}; }
  HandMade(int points, int per_frame, int samples, int last) {
    bytes[0] = 2, bytes[1] = 0x50;
    word(2, points), word(4, per_frame), word(6, 1), word(8, last), word(16, 4), word(18, samples);
    bytes.replace(12, 4, number(-1)), bytes.replace(20, 4, number(100));
    group(1, "POINT"), group(2, "FORCE_PLATFORM"), group(3, "TRIAL"), group(4, "EVENT");
  }
  void group(int id, const std::string& name) {
    parameters += char(name.size());
    parameters += char(-id);
    parameters += name + std::string("\x03\0\0", 3);
  }
  /// One after the other; or, with `step`, the next begins that many bytes later, within this one.
  void add(int id, const std::string& name, const std::vector<int>& dims, const std::string& values, int type = 4,
           int step = 0) {
    parameters += char(name.size());
    parameters += char(id);
    parameters += name;
    if (step == 0) step = int(2 + 2 + dims.size() + values.size());
    parameters += char(step & 0xff);
    parameters += char(step >> 8);
    parameters += char(type);
    parameters += char(dims.size());
    for (const int d : dims) parameters += char(d);
    parameters += values;
  }
  Loaded<Measurement> read(std::size_t frames_size) const {
    std::string whole = bytes + parameters;
    whole.resize(std::max(whole.size(), std::size_t(3 * 512)));
    return io::parse_c3d(whole + std::string(frames_size, '\0'));
  }
};

}  // namespace

TEST_CASE("samples of no signal take no memory") {
  // 4000 frames of one point, 65535 samples each of nothing: half a gigabyte and more if they were counted.
  const Loaded<Measurement> read = HandMade(1, 1, 65535, 4000).read(16 * 4000);
  REQUIRE_MESSAGE(read, to_string(read.diagnostics));
  CHECK(read.value->markers.frames() == 4000);
  CHECK(read.value->analog.times.empty());
}

TEST_CASE("parameters that lie in each other are refused") {
  HandMade file(1, 0, 0, 1);
  // Each claims 48 KiB of the file and begins ten bytes after the one before.
  for (int i = 0; i < 100; ++i) file.add(1, "P" + std::to_string(i), {128, 96}, "", 4, 6);
  const Loaded<Measurement> read = file.read(60000);
  CHECK_FALSE(read);
  CHECK(to_string(read.diagnostics).find("overlaps another") != std::string::npos);
}

TEST_CASE("counts that are no numbers are refused or left out") {
  for (const float value : {NAN, INFINITY, -INFINITY, 1e30f, -1e30f}) {
    CAPTURE(value);
    const std::string bytes = HandMade::number(value);
    for (const char* name : {"USED", "FRAMES", "LONG_FRAMES", "DATA_START", "SCALE", "RATE"}) {
      CAPTURE(name);
      HandMade file(1, 0, 0, 3);
      file.add(1, name, {}, bytes);
      CHECK(violation_of(file.read(48)) == "");
    }
    HandMade file(1, 6, 1, 3);
    file.add(2, "USED", {}, bytes);
    file.add(2, "TYPE", {}, bytes);
    file.add(3, "ACTUAL_START_FIELD", {2}, bytes + bytes);
    file.add(3, "ACTUAL_END_FIELD", {2}, bytes + bytes);
    file.add(4, "USED", {}, bytes);
    file.add(4, "TIMES", {2, 1}, bytes + bytes);
    const Loaded<Measurement> read = file.read(3 * 40);
    REQUIRE_MESSAGE(read, to_string(read.diagnostics));
    CHECK(violation_of(read) == "");
    CHECK(read.value->plates.empty());
    CHECK(read.value->markers.frames() == 3);
  }
}
