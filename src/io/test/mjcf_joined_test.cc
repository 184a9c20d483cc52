#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <string>

#include "kansetsu/io/mjcf.h"

using namespace kansetsu;
using namespace kansetsu::io;

namespace {

namespace fs = std::filesystem;

SceneDescription whole(const Loaded<SceneDescription>& scene) {
  INFO(to_string(scene.diagnostics));
  REQUIRE(scene);
  CHECK_FALSE(scene.partial());
  return *scene.value;
}
SceneDescription whole(const std::string& parts) {
  return whole(parse_mjcf("<mujoco>" + parts + "</mujoco>", "m.xml"));
}

const JointDescription& joint(const FigureDescription& figure, const std::string& name) {
  const auto found = std::ranges::find(figure.model.joints, name, &JointDescription::name);
  REQUIRE(found != figure.model.joints.end());
  return *found;
}

constexpr const char* kTwo =
    "<worldbody><body name='a'><joint name='ja' type='slide'/><geom size='1'/><site name='sa'/></body>"
    "<body name='b' pos='3 0 0'><joint name='jb'/><geom size='1'/><site name='sb' pos='0 1 0'/></body>"
    "<body name='c'><joint name='jc'/><geom size='1'/></body></worldbody>";

}  // namespace

TEST_CASE("a free joint with damping is three slides in the world and a ball joint") {
  const SceneDescription scene = whole(R"(<worldbody><body name="box" pos="1 2 3" euler="0 0 90">
      <joint name="f" type="free" damping="2" armature="0.5" frictionloss="0.1"/><geom size="1"/></body></worldbody>
      <keyframe><key qpos="4 5 6 1 0 0 0" qvel="1 2 3 4 5 6"/></keyframe>)");
  const FigureDescription& figure = scene.figures.at(0);
  CHECK(figure.model.base == Base::kFixed);
  REQUIRE(figure.model.joints.size() == 4);
  CHECK(joint(figure, "f").type == JointType::kBall);
  for (const char* name : {"f/x", "f/y", "f/z"}) {
    const JointDescription& slide = joint(figure, name);
    CHECK(slide.type == JointType::kPrismatic);
    CHECK(slide.dofs.at(0).damping == 2);
    CHECK(slide.dofs.at(0).rotor_inertia == 0.5);
    CHECK(slide.dofs.at(0).friction == 0.1);
  }
  CHECK(norm(joint(figure, "f/x").axis - Vec3<>{1, 0, 0}) < 1e-15);
  CHECK(figure.initial.q.at("f/y").at(0) == 2);
  CHECK(figure.initial.q.at("f").at(2) == doctest::Approx(std::sqrt(0.5)));
  const FigureState& key = scene.keyframes.at(0).figures.at("box");
  CHECK(key.q.at("f/z").at(0) == 6);
  CHECK(key.q.at("f").at(3) == 1);
  CHECK(key.v.at("f").at(2) == 6);
  // One without stays free.
  CHECK(whole("<worldbody><body><freejoint/><geom size='1'/></body></worldbody>").figures[0].model.base == Base::kFree);
  // A spring that rests where the body is turned is not known here, and an actuator keeps a joint free.
  const auto partial = [](const std::string& text) {
    const auto read = parse_mjcf("<mujoco>" + text + "</mujoco>", "m.xml");
    INFO(to_string(read.diagnostics));
    REQUIRE(read);
    return read.partial();
  };
  const std::string sprung = "<joint type='free' name='f' stiffness='1'/><geom size='1'/></body></worldbody>";
  CHECK(partial("<worldbody><body euler='0 0 90'>" + sprung));
  CHECK_FALSE(partial("<worldbody><body pos='1 2 3'>" + sprung));
  CHECK(partial("<worldbody><body>" + sprung + "<actuator><motor joint='f'/></actuator>"));
}

TEST_CASE("children of the world that a tendon, a coupling or an actuator joins are one figure") {
  const auto figures = [](const std::string& parts) { return whole(kTwo + parts).figures; };
  CHECK(figures("").size() == 3);
  for (const char* parts :
       {"<tendon><spatial><site site='sa'/><site site='sb'/></spatial></tendon>",
        "<tendon><fixed><joint joint='ja' coef='1'/><joint joint='jb' coef='2'/></fixed></tendon>",
        "<equality><joint joint1='ja' joint2='jb'/></equality>", "<actuator><motor site='sa' refsite='sb'/></actuator>",
        "<tendon><fixed name='s'><joint joint='ja' coef='1'/></fixed><fixed name='t'><joint joint='jb' "
        "coef='1'/></fixed></tendon><equality><tendon tendon1='s' tendon2='t'/></equality>"}) {
    CAPTURE(parts);
    const auto two = figures(parts);
    REQUIRE(two.size() == 2);
    CHECK(two[0].name == "a");
    CHECK(joint(two[0], "jb").parent == "world");
    CHECK(two[1].name == "c");
  }
  // A free body that is joined has slides and a ball joint; one that stands on the world is fixed to the figure's own.
  const SceneDescription mixed = whole(R"(<worldbody><body name="post" pos="0 0 1"><geom name="foot" size="1"/>
      <body name="arm"><joint name="j"/><geom size="1"/><site name="s"/></body></body>
      <body name="ball"><freejoint name="f"/><geom size="1"/><site name="t"/></body></worldbody>
      <tendon><spatial><site site="s"/><site site="t"/></spatial></tendon>)");
  REQUIRE(mixed.figures.size() == 1);
  CHECK(joint(mixed.figures[0], "post_fixed").parent == "world");
  CHECK(joint(mixed.figures[0], "f").type == JointType::kBall);
}

TEST_CASE("a site may be called as a body, and an unnamed element not as a later one") {
  const SceneDescription scene = whole(R"(<worldbody><site name="up" pos="0 0 2"/><body name="cup"><joint name="j"/>
      <geom size="1"/><site name="cup" pos="0 1 0"/></body></worldbody>
      <tendon><spatial><site site="cup"/><site site="up"/></spatial><fixed name="tendon1"><joint joint="j" coef="1"/></fixed></tendon>
      <actuator><motor site="cup"/></actuator>)");
  const FigureDescription& figure = scene.figures.at(0);
  REQUIRE(figure.model.frames.size() == 1);
  const std::string frame = figure.model.frames[0].name;
  CHECK(frame != "cup");
  CHECK(figure.actuation.tendons.at(0).path.at(0).at.link == frame);
  CHECK(figure.actuation.tendons.at(0).name != "tendon1");
  CHECK(figure.actuation.actuators.at(0).target == frame);
}

TEST_CASE("files are named from the main file's folder, or else from that of the file that names them") {
  const fs::path folder = fs::temp_directory_path() / "kansetsu_mjcf_beside";
  fs::create_directories(folder / "parts" / "more");
  const auto triangle = [](const fs::path& file, const char* size) {
    std::ofstream(file) << "v 0 0 0\nv " << size << " 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  };
  std::ofstream(folder / "main.xml") << "<mujoco><include file='parts/a.xml'/><worldbody><body><joint name='j'/>"
                                        "<geom type='mesh' mesh='m'/></body></worldbody></mujoco>";
  std::ofstream(folder / "parts" / "a.xml") << "<parts><include file='more/b.xml'/></parts>";  // its root has any name
  std::ofstream(folder / "parts" / "more" / "b.xml") << "<mujoco><asset><mesh name='m' file='m.obj'/></asset></mujoco>";
  triangle(folder / "parts" / "more" / "m.obj", "1");
  const double beside = whole(read_mjcf(folder / "main.xml")).figures.at(0).model.links.back().inertial.value().mass;
  triangle(folder / "m.obj", "6");
  const double first = whole(read_mjcf(folder / "main.xml")).figures.at(0).model.links.back().inertial.value().mass;
  fs::remove_all(folder);
  CHECK(beside == doctest::Approx(1000.0 / 6));
  CHECK(first == doctest::Approx(1000.0));
}

TEST_CASE("activations have as many numbers as their law") {
  const auto partial = [](const std::string& actuator) {
    const auto scene =
        parse_mjcf("<mujoco><worldbody><body><joint name='j'/><geom size='1'/></body></worldbody><actuator>" +
                   actuator + "</actuator></mujoco>");
    REQUIRE(scene);
    return scene.partial();
  };
  CHECK_FALSE(partial("<general joint='j' actdim='0'/>"));
  CHECK_FALSE(partial("<general joint='j' dyntype='filter' actdim='1'/>"));
  CHECK(partial("<general joint='j' dyntype='filter' actdim='2'/>"));
}

TEST_CASE("a class may hold the range of position servos and that of motors") {
  const SceneDescription scene =
      whole(R"(<default><position inheritrange="1" kp="5"/><motor ctrlrange="-7 7"/></default>
      <worldbody><body><joint name="j" range="-90 90"/><geom size="1"/></body></worldbody>
      <actuator><motor joint="j"/><position joint="j"/></actuator>)");
  const auto& actuators = scene.figures.at(0).actuation.actuators;
  CHECK(actuators.at(0).control_range.upper == 7);
  CHECK(actuators.at(1).control_range.upper == doctest::Approx(std::acos(0.0)));
}
