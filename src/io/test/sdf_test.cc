#include "kansetsu/io/sdf.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <numbers>
#include <string>

#include "data_dir.h"
#include "io/test/scene_property.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/model/model.h"

using namespace kansetsu;
using namespace kansetsu::io;

namespace {

namespace fs = std::filesystem;

std::string sdf(const std::string& parts, const char* version = "1.9") {
  return std::string("<sdf version=\"") + version + "\">\n" + parts + "</sdf>";
}
std::string sdf_model(const std::string& parts, const char* version = "1.9") {
  return sdf("<model name=\"m\">\n" + parts + "</model>", version);
}
std::string sdf_link(const std::string& name, const std::string& parts = {}) {
  return "<link name=\"" + name + "\"><inertial><mass>2</mass></inertial>" + parts + "</link>\n";
}
std::string hinge(const std::string& name, const std::string& parent, const std::string& child,
                  const std::string& parts = {}, const std::string& type = "revolute") {
  return "<joint name=\"" + name + "\" type=\"" + type + "\"><parent>" + parent + "</parent><child>" + child +
         "</child><axis><xyz>0 0 1</xyz></axis>" + parts + "</joint>\n";
}

SceneDescription sdf_accepted(const std::string& text) {
  Loaded<SceneDescription> scene = parse_sdf(text, "m.sdf");
  INFO(text, "\n", to_string(scene.diagnostics));
  REQUIRE(scene);
  CHECK(io::test::scene_violation(scene) == "");
  return *std::move(scene.value);
}

const Diagnostic* find_code(const Loaded<SceneDescription>& scene, std::string_view code) {
  for (const Diagnostic& d : scene.diagnostics) {
    if (d.code == code) return &d;
  }
  return nullptr;
}

void sdf_refused(const std::string& text, std::string_view code, int line = 0) {
  const Loaded<SceneDescription> scene = parse_sdf(text, "m.sdf");
  INFO(text, "\n", to_string(scene.diagnostics));
  CHECK_FALSE(scene);
  const Diagnostic* d = find_code(scene, code);
  REQUIRE(d);
  CHECK(d->is_error());
  if (line > 0) CHECK(d->line == line);
}
/// Read, but not whole.
void sdf_partial(const std::string& text, std::string_view code) {
  const Loaded<SceneDescription> scene = parse_sdf(text, "m.sdf");
  INFO(text, "\n", to_string(scene.diagnostics));
  REQUIRE(scene);
  const Diagnostic* d = find_code(scene, code);
  REQUIRE(d);
  CHECK(d->partial);
  CHECK(scene.partial());
}

void check_near(const Vec3<>& a, const Vec3<>& b) {
  CHECK(norm(a - b) < 1e-12);  // rounding of a few products of poses of size 1
}

const JointDescription& joint_of(const SceneDescription& scene, std::string_view name) {
  for (const FigureDescription& f : scene.figures) {
    for (const JointDescription& joint : f.model.joints) {
      if (joint.name == name) return joint;
    }
  }
  FAIL("no such joint");
  std::abort();
}

}  // namespace

TEST_CASE("SDF: models that nothing holds float, a fixed joint to the world holds, static ones are the environment") {
  const SceneDescription scene =
      sdf_accepted(sdf(R"(<world name="w"><gravity>0 0 -1.6</gravity>
      <physics type="ode"><max_step_size>0.004</max_step_size></physics>
      <model name="floor"><static>true</static><link name="l"><collision name="c"><pose>0 0 1 0 0 0</pose>
        <geometry><plane><normal>0 1 0</normal></plane></geometry></collision></link></model>
      <model name="ball"><pose>1 2 3 0 0 0</pose>)" +
                       sdf_link("l") + R"(</model>
      <model name="post"><pose>0 0 5 0 0 0</pose>)" +
                       sdf_link("a") + sdf_link("b") + hinge("fix", "world", "a", "", "fixed") + hinge("j", "a", "b") +
                       "</model></world>"));
  CHECK(scene.gravity.z == -1.6);
  CHECK(scene.time_step == 0.004);
  REQUIRE(scene.environment.size() == 1);
  check_near(to_transform(scene.environment[0].shape.origin).R * Vec3<>{0, 0, 1}, {0, 1, 0});
  REQUIRE(scene.figures.size() == 2);
  CHECK(scene.figures[0].name == "post");
  CHECK(scene.figures[0].model.base == Base::kFixed);
  CHECK(scene.figures[0].initial.base.p.z == 5);
  CHECK(scene.figures[0].model.joints.size() == 1);
  CHECK(scene.figures[1].name == "ball");
  CHECK(scene.figures[1].model.base == Base::kFree);
  check_near(scene.figures[1].initial.base.p, {1, 2, 3});
}

TEST_CASE("SDF: poses are relative to the frames they name, through nested models and placement frames") {
  const SceneDescription scene = sdf_accepted(sdf_model(R"(
      <pose>0 0 10 0 0 1.5707963267948966</pose>
      <link name="a"><pose relative_to="f">1 0 0 0 0 0</pose></link>
      <frame name="f" attached_to="b"><pose degrees="true">0 0 1 0 0 90</pose></frame>
      <link name="b"><pose>0 2 0 0 0 0</pose></link>
      <joint name="j" type="prismatic"><pose relative_to="f">0 0 3 0 0 0</pose><parent>b</parent><child>a</child>
        <axis><xyz expressed_in="__model__">1 0 0</xyz></axis></joint>
      <model name="inner" placement_frame="tip"><pose relative_to="a">0 0 1 0 0 0</pose><link name="l"/>
        <frame name="tip"><pose>0 5 0 0 0 0</pose></frame></model>
      <joint name="k" type="ball"><parent>a</parent><child>inner::tip</child></joint>)"));
  REQUIRE(scene.figures.size() == 1);
  const ModelDescription& m = scene.figures[0].model;
  REQUIRE(m.links.size() == 3);
  CHECK(m.links[0].name == "b");
  CHECK(m.links[2].name == "inner::l");
  // In the model's frame f is at (0, 2, 1), turned by 90° about z; a at (0, 3, 1); the joint at (0, 2, 4) along x of the model.
  check_near(scene.figures[0].initial.base.p, {-2, 0, 10});
  const JointDescription& j = joint_of(scene, "j");
  check_near(j.socket.p, {0, 0, 4});
  check_near(j.plug.p, {-1, 0, 3});
  check_near(to_transform(j.socket).R * j.axis, {1, 0, 0});
  // tip is at a + (0, 0, 1), and l five along −y of a, which is x of the model.
  const JointDescription& k = joint_of(scene, "k");
  check_near(k.socket.p, {0, 0, 1});
  check_near(k.plug.p, {0, 5, 0});
}

TEST_CASE("SDF: kinds of joints") {
  const SceneDescription scene = sdf_accepted(sdf_model(
      sdf_link("a") + sdf_link("b") + sdf_link("c") + sdf_link("d") + sdf_link("e") + sdf_link("f") +
      hinge("fix", "world", "a", "", "fixed") +
      R"(<joint name="r" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 2 0</xyz><limit><lower>-1</lower>
        <upper>1e16</upper><effort>5</effort><velocity>3</velocity></limit><dynamics><damping>0.1</damping><friction>0.2</friction>
        <spring_stiffness>4</spring_stiffness><spring_reference>0.5</spring_reference></dynamics></axis></joint>
      <joint name="u" type="universal"><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz>
        <limit><upper>2</upper></limit></axis2></joint>
      <joint name="s" type="screw"><parent>c</parent><child>d</child><screw_thread_pitch>0.5</screw_thread_pitch>
        <axis><xyz>0 0 1</xyz></axis></joint>
      <joint name="t" type="screw"><parent>c</parent><child>e</child><thread_pitch>-4</thread_pitch><axis><xyz>0 0 1</xyz></axis></joint>
      <joint name="m" type="continuous"><parent>d</parent><child>f</child><axis><xyz>0 0 1</xyz><mimic joint="r">
        <multiplier>2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic></axis></joint>)"));
  const JointDescription& r = joint_of(scene, "r");
  CHECK(r.type == JointType::kRevolute);
  CHECK(r.dofs.at(0) ==
        DofDescription{
            .lower = -1, .velocity = 3, .effort = 5, .damping = 0.1, .friction = 0.2, .stiffness = 4, .rest = 0.5});
  const JointDescription& u = joint_of(scene, "u");
  CHECK(u.type == JointType::kUniversal);
  check_near(u.second_axis, {0, 1, 0});
  CHECK(u.dofs.at(1).upper == 2);
  CHECK(joint_of(scene, "s").pitch == doctest::Approx(0.25 / std::numbers::pi));
  CHECK(joint_of(scene, "t").pitch == doctest::Approx(0.25));
  REQUIRE(scene.figures[0].model.couplings.size() == 1);
  const Coupling& mimic = scene.figures[0].model.couplings[0];
  CHECK(mimic.terms.at(0).ratio == 2);
  CHECK(mimic.offset == doctest::Approx(0.1));
}

TEST_CASE("SDF: a gearbox turns its child against its parent by the ratio") {
  const std::string box =
      R"(<joint name="box" type="gearbox"><parent>p</parent><child>c</child><gearbox_ratio>3</gearbox_ratio>
      <gearbox_reference_body>a</gearbox_reference_body><axis><xyz>0 0 1</xyz></axis><axis2><xyz>0 0 -1</xyz></axis2></joint>)";
  const std::string parts = sdf_link("a") + sdf_link("p") + sdf_link("c") + hinge("jp", "a", "p") + box;
  const SceneDescription scene = sdf_accepted(sdf_model(parts + hinge("jc", "a", "c")));
  REQUIRE(scene.figures[0].model.couplings.size() == 1);
  CHECK(scene.figures[0].model.couplings[0].dependent.joint == "jc");
  CHECK(scene.figures[0].model.couplings[0].terms.at(0).ratio == 3);  // the second axis is the other way round
  sdf_partial(sdf_model(parts + hinge("jc", "p", "c")), "SDF048");
}

TEST_CASE("SDF: a second joint to a link closes a loop, or joins two figures") {
  const std::string parts =
      sdf_link("a") + sdf_link("b") + sdf_link("c") + hinge("ab", "a", "b") + hinge("bc", "b", "c");
  const SceneDescription loop = sdf_accepted(sdf_model(parts + hinge("close", "a", "c")));
  REQUIRE(loop.figures.size() == 1);
  REQUIRE(loop.figures[0].loops.size() == 1);
  CHECK(loop.figures[0].loops[0].mask == kHingeMask);
  const SceneDescription two = sdf_accepted(sdf_model(parts + sdf_link("d") + hinge("dc", "d", "c", "", "ball")));
  CHECK(two.figures.size() == 2);
  REQUIRE(two.connections.size() == 1);
  CHECK(two.connections[0].mask == kPointMask);
  sdf_accepted(sdf_model(parts + hinge("round", "c", "a")));
  const std::string universal =
      R"(<joint name="x" type="universal"><parent>a</parent><child>c</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>)";
  sdf_partial(sdf_model(parts + universal), "SDF047");
}

TEST_CASE("SDF: axes were those of the model before 1.5, and with a flag until 1.6") {
  const std::string parts = "<link name=\"a\"/><link name=\"b\"><pose>0 0 0 0 0 1.5707963267948966</pose></link>";
  const auto axis = [&](const char* version, const std::string& flag) {
    const SceneDescription scene = sdf_accepted(
        sdf_model(parts + "<joint name='j' type='revolute'><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>" +
                      flag + "</axis></joint>",
                  version));
    return to_transform(joint_of(scene, "j").socket).R * joint_of(scene, "j").axis;
  };
  check_near(axis("1.4", ""), {1, 0, 0});
  check_near(axis("1.5", ""), {0, 1, 0});
  check_near(axis("1.6", "<use_parent_model_frame>true</use_parent_model_frame>"), {1, 0, 0});
  check_near(axis("1.10", ""), {0, 1, 0});
}

TEST_CASE("SDF: surfaces, masks, gravity, and masses that files leave out") {
  const SceneDescription scene = sdf_accepted(sdf_model(R"(<link name="a"><gravity>false</gravity>
      <collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry><surface><friction><ode><mu>0.5</mu></ode></friction>
        <bounce><restitution_coefficient>0.25</restitution_coefficient></bounce></surface></collision></link>
      <link name="b"><inertial auto="true"/><collision name="c"><density>100</density><geometry><box><size>1 1 2</size></box></geometry>
        </collision></link>)" + hinge("j", "a", "b")));
  const FigureDescription& f = scene.figures.at(0);
  CHECK(f.model.links[0].inertial->mass == 1);
  CHECK(f.model.links[1].inertial->mass == doctest::Approx(200));
  CHECK(f.gravity_compensation.at("a") == 1);
  CHECK(f.self_collision == SelfCollision::kNone);
  CHECK(f.model.links[0].collisions.at(0).contype == 1);
  REQUIRE(scene.surfaces.size() == 1);
  CHECK(scene.surfaces[0].material.mu_s == 0.5);
  CHECK(scene.surfaces[0].material.restitution == 0.25);
}

TEST_CASE("SDF: bad files are refused with the line") {
  sdf_refused("", "SDF002");
  sdf_refused("<sdf", "SDF003");
  sdf_refused("<robot name='x'/>", "SDF004");
  sdf_refused("<sdf><model name='m'><link name='l'/></model></sdf>", "SDF005");
  sdf_refused(sdf("", "2.0"), "SDF005");
  sdf_refused(sdf(""), "SDF010");
  sdf_refused(sdf_model(""), "SDF010");
  sdf_refused(sdf_model("<link/>"), "SDF010");
  sdf_refused(sdf_model("<link name='l'><pose>1 2 three 0 0 0</pose></link>"), "SDF011", 3);
  sdf_refused(sdf_model("<link name='l'/>\n<link name='l'/>"), "SDF013", 4);
  sdf_refused(sdf_model("<link name='world'/>"), "SDF019");
  sdf_refused(sdf_model("<link name='l'><pose relative_to='x'/></link>"), "SDF014");
  sdf_refused(sdf_model("<link name='a'><pose relative_to='b'/></link><link name='b'><pose relative_to='a'/></link>"),
              "SDF017");
  sdf_refused(sdf_model(sdf_link("a") + hinge("j", "a", "b")), "SDF014");
  sdf_refused(sdf_model(sdf_link("a") + hinge("j", "a", "a")), "SDF018");
  sdf_refused(sdf_model(sdf_link("a") + sdf_link("b") + hinge("j", "a", "b", "", "wheel")), "SDF015");
  sdf_refused(sdf_model("<link name='a'><collision "
                        "name='c'><geometry><sphere><radius>-1</radius></sphere></geometry></collision></link>"),
              "SDF016");
}

TEST_CASE("SDF: what is not read makes a model partial, what does not matter does not") {
  sdf_partial(sdf_model(sdf_link("a") + "<plugin name='p' filename='p.so'/>"), "SDF042");
  sdf_partial(sdf_model(sdf_link("a", "<velocity_decay><linear>1</linear></velocity_decay>")), "SDF042");
  sdf_partial(sdf_model(sdf_link("a", "<strange/>")), "SDF040");
  sdf_partial(
      sdf_model(sdf_link("a", "<collision name='c'><geometry><mesh><uri>x.stl</uri></mesh></geometry></collision>")),
      "SDF046");
  sdf_partial(sdf_model(sdf_link("a") + "<include><uri>model://none</uri></include>"), "SDF006");
  const Loaded<SceneDescription> whole = parse_sdf(sdf_model(
      sdf_link("a",
               "<enable_wind>false</enable_wind><sensor name='s' type='camera'/><visual name='v'><geometry><mesh>"
               "<uri>x.dae</uri></mesh></geometry></visual>")));
  INFO(to_string(whole.diagnostics));
  CHECK(whole);
  CHECK_FALSE(whole.partial());
}

TEST_CASE("SDF: includes take models from folders, under other names, and none from outside") {
  const fs::path folder = fs::temp_directory_path() / "kansetsu_sdf_include" / "world";
  fs::remove_all(folder.parent_path());
  fs::create_directories(folder / "wheel");
  std::ofstream(folder / "wheel" / "model.config")
      << "<model><sdf version='1.5'>old.sdf</sdf><sdf version='1.9'>new.sdf</sdf></model>";
  std::ofstream(folder / "wheel" / "new.sdf") << sdf("<model name='wheel'>" + sdf_link("rim") + "</model>");
  std::ofstream(folder / "w.world") << sdf(
      R"(<world name='w'><include><uri>model://wheel</uri><name>left</name><pose>0 1 0 0 0 0</pose></include>
      <include><uri>wheel</uri><name>right</name><static>true</static></include></world>)");
  const Loaded<SceneDescription> scene = read_scene(folder / "w.world");
  INFO(to_string(scene.diagnostics));
  REQUIRE(scene);
  CHECK_FALSE(scene.partial());
  REQUIRE(scene.value->figures.size() == 1);
  CHECK(scene.value->figures[0].name == "left");
  CHECK(scene.value->figures[0].initial.base.p.y == 1);
  std::ofstream(folder / "wheel" / "new.sdf")
      << sdf("<model name='wheel'><include><uri>model://wheel</uri></include></model>");
  CHECK_FALSE(read_scene(folder / "w.world"));
  std::ofstream(folder / "w.world") << sdf("<world name='w'><include><uri>/etc/passwd</uri></include></world>");
  const Loaded<SceneDescription> outside = read_scene(folder / "w.world");
  REQUIRE(outside);
  CHECK(outside.partial());
  fs::remove_all(folder.parent_path());
}

TEST_CASE("SDF: odd files of others end in an answer [data]") {
  const fs::path folder = kansetsu::test::data_dir() / "odd_models" / "sdf";
  for (const auto& entry : fs::directory_iterator(folder)) {
    CAPTURE(entry.path().string());
    const Loaded<SceneDescription> scene = read_scene(entry.path());
    CHECK(io::test::scene_violation(scene) == "");
  }
}

TEST_CASE("an axis has a direction between two lengths, the same in SDF and MJCF") {
  const auto axis_in_sdf = [](const std::string& x) {
    std::string joint = hinge("j", "a", "b");
    joint.replace(joint.find("0 0 1"), 5, x + " 0 0");
    return bool(parse_sdf(sdf_model(sdf_link("a") + sdf_link("b") + joint), "m.sdf"));
  };
  const auto axis_in_mjcf = [](const std::string& x) {
    return bool(parse_mjcf(
        "<mujoco><worldbody><body><joint axis='" + x + " 0 0'/><geom size='1'/></body></worldbody></mujoco>", "m.xml"));
  };
  // On either side of the shortest, 1e-14, and of the longest, 1e15.
  for (const auto& [x, is_axis] :
       {std::pair{"0.9e-14", false}, {"1.1e-14", true}, {"1", true}, {"0.9e15", true}, {"1.1e15", false}}) {
    CAPTURE(x);
    CHECK(axis_in_sdf(x) == is_axis);
    CHECK(axis_in_mjcf(x) == is_axis);
  }
}
