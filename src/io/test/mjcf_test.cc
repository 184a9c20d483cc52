#include "kansetsu/io/mjcf.h"

#include <doctest/doctest.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "data_dir.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/model/model.h"

using namespace kansetsu;
using namespace kansetsu::io;

namespace {

namespace fs = std::filesystem;

const Diagnostic* find(const std::vector<Diagnostic>& diagnostics, std::string_view code) {
  for (const Diagnostic& d : diagnostics) {
    if (d.code == code) return &d;
  }
  return nullptr;
}

std::string model(const std::string& body) { return "<mujoco><worldbody>" + body + "</worldbody></mujoco>"; }

SceneDescription accepted(const std::string& text) {
  Loaded<SceneDescription> scene = parse_mjcf(text, "m.xml");
  INFO(to_string(scene.diagnostics));
  REQUIRE(scene);
  return *std::move(scene.value);
}

/// The code must be among the errors, at this line.
void refused(const std::string& text, std::string_view code, int line = 0) {
  const Loaded<SceneDescription> scene = parse_mjcf(text, "m.xml");
  INFO(text, "\n", to_string(scene.diagnostics));
  CHECK_FALSE(scene);
  const Diagnostic* d = find(scene.diagnostics, code);
  REQUIRE(d);
  CHECK(d->is_error());
  if (line > 0) CHECK(d->line == line);
}

}  // namespace

TEST_CASE("children of the world that move are figures, the rest is the environment") {
  const SceneDescription scene = accepted(model(R"(
      <geom name="floor" type="plane" size="0 0 1"/>
      <body name="post" pos="1 0 0"><geom name="pole" type="cylinder" size="0.1 0.5" pos="0 0 0.5"/></body>
      <body name="ball" pos="0 0 2"><freejoint/><geom size="0.1"/></body>
      <body name="arm"><joint name="hinge"/><geom type="capsule" size="0.1 0.2"/></body>)"));
  REQUIRE(scene.environment.size() == 2);
  CHECK(scene.environment[0].shape.shape == Shape{Plane{}});
  CHECK(scene.environment[1].shape.origin.p == Vec3<>{1, 0, 0.5});
  REQUIRE(scene.figures.size() == 2);
  CHECK(scene.figures[0].model.base == Base::kFree);
  CHECK(scene.figures[0].initial.base.p.z == 2);
  CHECK(scene.figures[0].model.links[0].inertial->mass == doctest::Approx(1000 * 4.0 / 3 * M_PI * 1e-3));
  CHECK(scene.figures[1].model.base == Base::kFixed);
  CHECK(scene.figures[1].model.links.front().name == "world");
}

TEST_CASE("several joints of a body are a chain of links without mass, in MuJoCo's coordinates") {
  const SceneDescription scene = accepted(model(R"(
      <body name="b" pos="0 0 1"><joint name="x" axis="1 0 0" pos="0 0 0.1" ref="90"/><joint name="y" axis="0 2 0"/>
      <joint name="s" type="slide" ref="0.5" springref="0.2" stiffness="3"/><geom size="0.1"/></body>)"));
  const FigureDescription& figure = scene.figures[0];
  REQUIRE(figure.model.joints.size() == 3);
  CHECK(figure.model.joints[0].socket.p == Vec3<>{0, 0, 1.1});
  CHECK(figure.model.joints[0].plug.p == Vec3<>{0, 0, 0.1});
  CHECK(figure.model.joints[0].plug.rpy.x == doctest::Approx(M_PI / 2));
  CHECK(figure.model.joints[1].axis == Vec3<>{0, 1, 0});
  CHECK(figure.model.joints[2].type == JointType::kPrismatic);
  CHECK(figure.model.joints[2].dofs[0].rest == 0.2);
  CHECK(figure.model.joints[2].dofs[0].stiffness == 3);
  CHECK(figure.initial.q.at("x") == std::vector{M_PI / 2});
  CHECK(figure.initial.q.at("s") == std::vector{0.5});
  CHECK(figure.model.links.size() == 4);
}

TEST_CASE("equalities are loops, connections and couplings at the reference configuration") {
  const SceneDescription scene = accepted(R"(<mujoco><worldbody>
      <body name="a"><joint name="ja"/><geom size="0.1"/><body name="b" pos="1 0 0"><joint name="jb" ref="30"/><geom size="0.1"/></body></body>
      <body name="c" pos="0 2 0"><freejoint/><geom size="0.1"/></body></worldbody>
      <equality><connect name="loop" body1="b" body2="a" anchor="0.5 0 0"/><weld body1="c" body2="b"/>
      <connect body1="a" anchor="0 0 0" active="false"/><joint joint1="jb" joint2="ja" polycoef="0.1 2 3"/></equality></mujoco>)");
  const FigureDescription& figure = scene.figures[0];
  REQUIRE(figure.loops.size() == 1);
  CHECK(figure.loops[0].mask == kPointMask);
  CHECK(figure.loops[0].pose_b.p == Vec3<>{1.5, 0, 0});
  REQUIRE(scene.connections.size() == 2);
  CHECK(scene.connections[0].mask == kWeldMask);
  CHECK(scene.connections[0].a.pose.p == Vec3<>{1, -2, 0});  // of b seen from c
  CHECK_FALSE(scene.connections[1].active);
  REQUIRE(figure.couplings.size() == 1);
  CHECK(figure.couplings[0].coefficient == std::array<double, 5>{0.1, 2, 3, 0, 0});
  CHECK(figure.couplings[0].reference == doctest::Approx(M_PI / 6));
}

TEST_CASE("friction of pairs follows condim and priority") {
  const SceneDescription scene = accepted(model(R"(<geom type="plane" size="1 1 1"/>
      <body><freejoint/><geom size="0.1" condim="1" friction="0.7"/></body>
      <body pos="1 0 0"><freejoint/><geom size="0.1" priority="1" friction="0.2"/></body>)"));
  CHECK(scene.surfaces.size() == 3);
  CHECK(scene.surface_rules.friction == CombineRule::kMaximum);
  std::map<std::pair<std::string, std::string>, double> pairs;
  for (const SurfacePair& p : scene.surface_pairs) pairs[{p.a, p.b}] = p.material.mu_s;
  CHECK(pairs.size() == 3);
  CHECK(pairs.at({"smooth_0.7", "smooth_0.7"}) == 0);
  CHECK(pairs.at({"friction_0.2_priority_1", "smooth_0.7"}) == 0.2);
  CHECK(pairs.at({"friction_0.2_priority_1", "friction_1"}) == 0.2);
}

TEST_CASE("actuators, keyframes, exclusions and options") {
  const SceneDescription scene =
      accepted(R"(<mujoco><option timestep="0.01" gravity="0 0 -5" integrator="RK4"><flag limit="disable"/></option>
      <worldbody><body name="a"><freejoint/><geom size="0.1"/><body name="b" pos="1 0 0"><joint name="j" range="-90 90" damping="2"
      armature="0.3" frictionloss="0.1" actuatorfrcrange="-4 4"/><geom size="0.1"/></body></body></worldbody>
      <actuator><motor name="m" joint="j" gear="3" ctrlrange="-2 2"/><position joint="j" kp="50" kv="2" forcerange="-9 9"/></actuator>
      <contact><exclude body1="a" body2="b"/></contact>
      <keyframe><key name="k" qpos="1 2 3 0 1 0 0 0.5" qvel="1 0 0 0 0 1 2"/></keyframe></mujoco>)");
  CHECK(scene.time_step == 0.01);
  CHECK(scene.integrator == Integrator::kRk4);
  CHECK(scene.gravity == Vec3<>{0, 0, -5});
  const FigureDescription& figure = scene.figures[0];
  CHECK_FALSE(figure.switches.limits);
  const DofDescription& dof = figure.model.joints[0].dofs[0];
  CHECK(dof.upper == doctest::Approx(M_PI / 2));
  CHECK(dof.effort == 4);
  CHECK(dof.rotor_inertia == 0.3);
  CHECK(dof.friction == 0.1);
  REQUIRE(figure.actuation.actuators.size() == 2);
  const ActuatorDescription &motor = figure.actuation.actuators[0], &servo = figure.actuation.actuators[1];
  CHECK(motor.gear == 3);
  CHECK(motor.control_range == Interval{-2, 2});
  CHECK(servo.gain_numbers[0] == 50);
  CHECK(servo.bias_numbers[1] == -50);
  CHECK(servo.bias_numbers[2] == -2);
  CHECK(servo.force_range == Interval{-9, 9});
  CHECK(scene.controllers.empty());
  CHECK(figure.model.collision_filters == std::vector<CollisionFilter>{{"a", "b"}});
  const FigureState& state = scene.keyframes[0].figures.at("a");
  CHECK(state.base.p == Vec3<>{1, 2, 3});
  CHECK(std::abs(state.base.rpy.x) == doctest::Approx(M_PI));
  CHECK(state.q.at("j") == std::vector{0.5});
  CHECK(state.velocity.w.z == doctest::Approx(-1));  // ω is in body axes there, and the body is upside down
  CHECK(state.velocity.v.x == 1);
}

TEST_CASE("errors name the line") {
  refused("", "MJCF005");
  refused("<mujoco", "MJCF007");
  refused("<robot name='x'/>", "MJCF008");
  refused("<!DOCTYPE x [<!ENTITY a 'b'>]><mujoco/>", "MJCF009");
  refused("<mujoco><worldbody>\n<geom size='1' pos='1 a 2'/></worldbody></mujoco>", "MJCF011", 2);
  refused(model("<geom size='1 2 3 4'/>"), "MJCF012");
  refused(model("<geom size='1' quat='0 0 0 0'/>"), "MJCF013");
  refused(model("<geom type='cube' size='1'/>"), "MJCF014");
  refused(model("<geom size='-1'/>"), "MJCF015");
  refused(model("<geom/>"), "MJCF010");
  refused(model("<body name='a'/><body name='a'/>"), "MJCF018");
  refused("<mujoco><worldbody/><contact><exclude body1='a' body2='b'/></contact></mujoco>", "MJCF019");
  refused(model("<body childclass='no'/>"), "MJCF021");
  refused("<mujoco><option><flag/><flag/></option></mujoco>", "MJCF023");
  refused("<mujoco><include file='nowhere.xml'/></mujoco>", "MJCF024");
  refused("<mujoco><compiler coordinate='global'/></mujoco>", "MJCF025");
  refused(model("<body><geom size='1'/><body><freejoint/><geom size='1'/></body></body>"), "MJCF026");
  refused(model("<geom size='1' quat='1 0 0 0' euler='0 0 0'/>"), "MJCF027");
  refused("<mujoco><worldbody/><keyframe><key qpos='1'/></keyframe></mujoco>", "MJCF028");
  refused(model("<body><joint axis='0 0 0'/><geom size='1'/></body>"), "MJCF013");
  CHECK(find(read_mjcf("/no/such.xml").diagnostics, "MJCF001"));
}

TEST_CASE("one pass tells every problem") {
  const auto scene = parse_mjcf(model("<geom size='x'/>\n<geom type='cube'/>\n<body childclass='no'/>"), "m.xml");
  CHECK(find(scene.diagnostics, "MJCF011"));
  CHECK(find(scene.diagnostics, "MJCF014"));
  CHECK(find(scene.diagnostics, "MJCF021"));
}

TEST_CASE("files that include each other in a circle are refused") {
  const fs::path folder = fs::temp_directory_path() / "kansetsu_mjcf_include";
  fs::create_directories(folder);
  std::ofstream(folder / "a.xml") << "<mujoco><include file='b.xml'/><worldbody><geom size='1'/></worldbody></mujoco>";
  std::ofstream(folder / "b.xml")
      << "<mujocoinclude><worldbody>\n<geom size='2' pos='x'/></worldbody><include file='b.xml'/></mujocoinclude>";
  const auto scene = read_mjcf(folder / "a.xml");
  fs::remove_all(folder);
  CHECK_FALSE(scene);
  CHECK(find(scene.diagnostics, "MJCF024"));
  const Diagnostic* number = find(scene.diagnostics, "MJCF011");
  REQUIRE(number);
  CHECK(fs::path(number->file).filename() == "b.xml");
  CHECK(number->line == 2);
}

TEST_CASE("what is not supported is a warning") {
  const auto scene = parse_mjcf(
      R"(<mujoco><option collision="pair" integrator="implicit"/><asset><mesh name="m" file="none.stl"/></asset><worldbody>
      <site name="s"/><body mocap="true"><site name="given"/></body><body><site name="own"/><joint name="j"/><geom type="ellipsoid" size="1 2 3" condim="4" solref="1 1" colour="1"/><geom type="mesh" mesh="m"/><plugin/></body></worldbody>
      <tendon><spatial><site site="given"/><site site="own"/></spatial></tendon>
      <actuator><plugin joint="j"/></actuator><equality><flex/></equality><sensor><user dim="1"/></sensor><deformable/><nonsense/></mujoco>)");
  INFO(to_string(scene.diagnostics));
  CHECK(scene);
  for (const char* code :
       {"MJCF040", "MJCF041", "MJCF042", "MJCF043", "MJCF044", "MJCF045", "MJCF047", "MJCF051", "MJCF060", "MJCF061"}) {
    CAPTURE(code);
    const Diagnostic* d = find(scene.diagnostics, code);
    REQUIRE(d);
    CHECK_FALSE(d->is_error());
  }
}

TEST_CASE("what is left out makes a model partial") {
  const auto partial = [](const std::string& option, const std::string& geom) {
    const auto scene = parse_mjcf("<mujoco>" + option + "<worldbody><body><joint name='j'/><geom size='1' " + geom +
                                  "/></body></worldbody></mujoco>");
    INFO(to_string(scene.diagnostics));
    REQUIRE(scene);
    return scene.partial();
  };
  CHECK_FALSE(partial("", ""));
  CHECK_FALSE(partial("<visual><map zfar='3'/></visual><statistic extent='2'/>", "rgba='1 0 0 1' solref='0.01 1'"));
  CHECK_FALSE(partial("<option density='0' wind='0 0 0'/>", "margin='0'"));
  CHECK_FALSE(partial("<default><default class='unused'><geom margin='1'/></default></default>", ""));
  CHECK(partial("<option collision='pair'/>", ""));
  CHECK_FALSE(partial("", "fluidshape='ellipsoid'"));
  CHECK_FALSE(partial("<default><geom fluidshape='ellipsoid'/></default>", ""));
  CHECK(partial("", "nonsense='1'"));
  CHECK(partial("<deformable/>", ""));
  for (const char* word : {"stiffness", "damping", "armature", "frictionloss"}) {  // MuJoCo takes them as they are
    CAPTURE(word);
    CHECK(partial("<default><joint " + std::string(word) + "='-0.01'/></default>", ""));
    CHECK_FALSE(partial("<default><joint " + std::string(word) + "='0'/></default>", ""));
  }
  // A file that is not there counts where it gives mass or contact.
  const char* asset = "<asset><mesh name='m' file='no.stl'/></asset>";
  const auto with_mesh = [&](const std::string& more) {
    const auto scene = parse_mjcf("<mujoco>" + std::string(asset) +
                                  "<worldbody><body><joint name='j'/><geom size='1'/><geom type='mesh' mesh='m' " +
                                  more + "/></body></worldbody></mujoco>");
    REQUIRE(scene);
    CHECK(find(scene.diagnostics, "MJCF046"));
    return scene.partial();
  };
  CHECK_FALSE(with_mesh("mass='0' contype='0' conaffinity='0'"));
  CHECK(with_mesh("mass='0'"));
  CHECK(with_mesh("contype='0' conaffinity='0'"));
  CHECK(partial_summary(parse_mjcf("<mujoco><deformable/><extension/><deformable/></mujoco>").diagnostics) ==
        "partial model: <deformable> is not supported and ignored (2 times, first here); <extension> "
        "is not "
        "supported and ignored");
}

TEST_CASE("a time constant and a damping ratio are a spring and a damper") {
  const auto scene = parse_mjcf(R"(<mujoco><worldbody><body><joint name="j" type="slide" springdamper="0.5 2"/>
      <geom size="0.1" mass="3"/></body></worldbody></mujoco>)");
  REQUIRE(scene);
  CHECK_FALSE(scene.partial());
  const DofDescription& dof = scene.value->figures[0].model.joints[0].dofs[0];
  CHECK(dof.stiffness == doctest::Approx(3));  // m/(τ·ζ)²
  CHECK(dof.damping == doctest::Approx(12));   // 2·m/τ
}

TEST_CASE("a start outside of limits is told, with the nearest within") {
  const auto warned = [](const std::string& range) {
    const auto scene = parse_mjcf("<mujoco><compiler angle='radian'/><worldbody><body><joint name='j' range='" + range +
                                  "'/><geom size='1'/></body></worldbody></mujoco>");
    REQUIRE(scene);
    const Diagnostic* d = find(scene.diagnostics, "SCENE126");
    return d ? d->hint : "";
  };
  CHECK(warned("-1 0") == "");
  CHECK(warned("9e-7 1") == "");
  CHECK(warned("2e-6 1") == "nearest within: j = 2e-06");
  CHECK(warned("-2 -1") == "nearest within: j = -1");
}

TEST_CASE("a scene names mesh files from its own folder") {
  namespace fs = std::filesystem;
  const fs::path folder = fs::temp_directory_path() / "kansetsu_scene_meshes";
  fs::create_directories(folder / "robot");
  fs::create_directories(folder / "out");
  std::ofstream(folder / "robot" / "a.obj")
      << "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";
  std::ofstream(folder / "robot" / "m.xml")
      << "<mujoco><asset><mesh file='a.obj'/></asset><worldbody><body><freejoint/>"
         "<geom type='mesh' mesh='a'/></body></worldbody></mujoco>";
  const auto scene = read_mjcf(folder / "robot" / "m.xml");
  REQUIRE(scene);
  CHECK(scene.value->figures[0].model.links[0].inertial->mass == doctest::Approx(1000.0 / 6));
  CHECK_FALSE(has_errors(write_scene(*scene.value, folder / "out" / "m.toml")));
  std::ifstream file(folder / "out" / "m.toml");
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  CHECK(text.find("file = \"../robot/a.obj\"") != std::string::npos);
  fs::remove_all(folder);
}

TEST_CASE("meshes weigh what they enclose") {
  // A tetrahedron with corners at the origin and one on each axis: volume 1/6, centre at a quarter.
  const auto mass = [](const std::string& mesh, const std::string& geom) {
    const auto scene = parse_mjcf("<mujoco><asset><mesh name='m' vertex='0 0 0 1 0 0 0 1 0 0 0 1' " + mesh +
                                  "/></asset><worldbody><body><freejoint/><geom type='mesh' mesh='m' " + geom +
                                  "/></body></worldbody></mujoco>");
    INFO(to_string(scene.diagnostics));
    REQUIRE(scene);
    CHECK_FALSE(scene.partial());
    return scene.value->figures[0].model.links[0].inertial.value();
  };
  const Inertial exact = mass("inertia='exact'", "");
  CHECK(exact.mass == doctest::Approx(1000.0 / 6));
  CHECK(exact.origin.p.x == doctest::Approx(0.25));
  CHECK(exact.inertia.xx == doctest::Approx(1000.0 / 80));  // m/10·(y² + z²) less the shift: 1/30 − 1/6·2/16
  CHECK(mass("", "").mass == doctest::Approx(exact.mass));
  CHECK(mass("inertia='convex'", "density='6'").mass == doctest::Approx(1));
  CHECK(mass("inertia='shell'", "").mass == doctest::Approx(1000 * (1.5 + std::sqrt(3.0) / 2)));
  CHECK(mass("scale='2 1 -3'", "").mass == doctest::Approx(1000));
  CHECK(mass("refpos='1 2 3'", "pos='1 1 1' mass='5'").origin.p.y == doctest::Approx(-0.75));
  CHECK(mass("refquat='0.7071067811865476 0 0 0.7071067811865476'", "").origin.p.y == doctest::Approx(-0.25));
}

TEST_CASE("[data] files that MuJoCo refuses are refused, at their line") {
  const fs::path data = kansetsu::test::data_dir();
  struct Row {
    const char *file, *code;
    int line;
  };
  static constexpr Row kRows[] = {{"mujoco_inline__InvalidNumber.xml", "MJCF011", 4},
                                  {"mujoco_inline__InvalidArrayElement.xml", "MJCF011", 4},
                                  {"mujoco_inline__InvalidArrayLength.xml", "MJCF012", 4},
                                  {"mujoco_inline__InvalidQuaternion.xml", "MJCF013", 4},
                                  {"mujoco_inline__InvalidNumberRange.xml", "MJCF011", 3},
                                  {"mujoco_inline__RepeatedDefaultName.xml", "MJCF022", 6},
                                  {"mujoco_inline__InvalidDefaultClassName.xml", "MJCF021", 9},
                                  {"mujoco_inline__DuplicateFrameName.xml", "MJCF018", 7},
                                  {"mujoco_inline__UniqueElementTest.xml", "MJCF023", 4},
                                  {"mujoco__malformed_duplicated.xml", "MJCF018", 4},
                                  {"mujoco__parent_error.xml", "MJCF024", 5}};
  std::size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(data / "odd_models/mjcf")) {
    const std::string name = entry.path().filename().string();
    const auto scene = read_mjcf(entry.path());
    CAPTURE(name);
    INFO(to_string(scene.diagnostics));
    const auto* row = std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return name == r.file; });
    ++seen;
    if (row == std::end(kRows)) {
      CHECK(scene);
      continue;
    }
    CHECK_FALSE(scene);
    const Diagnostic* d = find(scene.diagnostics, row->code);
    REQUIRE(d);
    CHECK(d->line == row->line);
  }
  CHECK(seen == std::size(kRows) + 2);  // pinocchio__closed_chain and mujoco__planks_nonascii are accepted
}

TEST_CASE("[data] robots in MJCF load, and every warning they give is known") {
  const fs::path data = kansetsu::test::data_dir();
  static constexpr std::string_view kKnown[] = {"MJCF042", "MJCF043", "MJCF044",  "MJCF045",  "MJCF046",
                                                "MJCF047", "MJCF048", "MJCF051",  "MJCF055",  "MJCF057",
                                                "MJCF060", "MJCF061", "MODEL033", "MODEL070", "SCENE126"};
  int count = 0;
  for (const auto& entry : fs::directory_iterator(data / "robots/mjcf")) {
    const auto scene = read_mjcf(entry.path());
    CAPTURE(entry.path().string());
    INFO(to_string(scene.diagnostics));
    ++count;
    // Its humanoid comes from a file that is not there.
    if (entry.path().stem() == "mujoco_humanoid100") {
      CHECK(find(scene.diagnostics, "MJCF024"));
      continue;
    }
    // MuJoCo 3 refuses their global coordinates, too.
    if (entry.path().stem() == "gym_hopper" || entry.path().stem() == "gym_walker2d") {
      CHECK(find(scene.diagnostics, "MJCF025"));
      continue;
    }
    REQUIRE(scene);
    for (const Diagnostic& d : scene.diagnostics) {
      CHECK_MESSAGE(std::find(std::begin(kKnown), std::end(kKnown), d.code) != std::end(kKnown), to_string(d));
    }
    for (const FigureDescription& figure : scene.value->figures) CHECK(Model::build(figure.model));
  }
  CHECK(count >= 18);
}

TEST_CASE("[data] loops of the closed chain come from its equalities") {
  const fs::path data = kansetsu::test::data_dir();
  const auto scene = read_mjcf(data / "odd_models/mjcf/pinocchio__closed_chain.xml");
  REQUIRE(scene);
  REQUIRE(scene.value->figures.size() == 1);
  CHECK(scene.value->figures[0].loops.size() == 4);
}

TEST_CASE("a body that is welded to the world may touch its children, as in MuJoCo, unless they are excluded") {
  const auto filters = [](const std::string& contact) {
    const Loaded<SceneDescription> scene = parse_mjcf(
        "<mujoco><worldbody><body name='base'><geom size='0.1'/><body name='arm'><joint/><geom size='0.1'/>"
        "<body name='hand'><joint/><geom size='0.1'/></body></body></body></worldbody>" +
        contact + "</mujoco>");
    REQUIRE(scene);
    CHECK(scene.value->figures[0].self_collision == SelfCollision::kAll);
    return scene.value->figures[0].model.collision_filters;
  };
  CHECK(filters("") == std::vector<CollisionFilter>{{"hand", "arm"}});
  CHECK(filters("<contact><exclude body1='base' body2='arm'/></contact>").size() == 2);
}

TEST_CASE("a body without shapes does not keep those apart that it joins, as in MuJoCo") {
  const auto may_touch = [](const std::string& middle, const std::string& end) {
    const Loaded<SceneDescription> scene =
        parse_mjcf("<mujoco><worldbody><body name='a'><freejoint/><geom size='0.1'/><body name='b'><joint/>" + middle +
                   "<body name='c'>" + end + "<geom size='0.1'/></body></body></body></worldbody></mujoco>");
    REQUIRE(scene);
    const FigureDescription& figure = scene.value->figures[0];
    const Model model = value_or_throw(Model::build(figure.model));
    CHECK_FALSE(model.may_collide(model.link_id("b"), model.link_id("c")));
    if (figure.self_collision == SelfCollision::kAll) return model.may_collide(model.link_id("a"), model.link_id("c"));
    CHECK(figure.model.collision_filters.empty());
    return false;  // the world keeps the nearest with shapes apart
  };
  const std::string joint = "<joint axis='0 1 0'/>";
  const std::string weight = "<inertial pos='0 0 0' mass='1' diaginertia='1 1 1'/>";
  CHECK(may_touch(weight, joint));
  CHECK(may_touch(weight + "<geom size='0.1' contype='0' conaffinity='0'/>", joint));
  CHECK_FALSE(may_touch(weight, ""));  // welded to what the joint joins
}

TEST_CASE("thousands of bodies that are welded together need no filters of their own") {
  const auto many = [](int count) {
    std::string out;
    for (int i = 0; i < count; ++i) out += "<body><geom size='0.1'/></body>";
    return out;
  };
  for (const std::string root : {"<freejoint/>", "<joint/>", ""}) {
    const Loaded<SceneDescription> scene =
        parse_mjcf("<mujoco><worldbody><body name='hub'>" + root + many(3000) + "<body><joint/><joint axis='1 0 0'/>" +
                   many(3000) + "</body></body></worldbody></mujoco>");
    REQUIRE(scene);
    CHECK(scene.value->figures[0].model.collision_filters.size() == (root.empty() ? 0 : 1));
  }
}

TEST_CASE("numbers that are blank are not given, as in MuJoCo; blank words are errors") {
  const auto mass = [](const std::string& classes, const std::string& geom) {
    const Loaded<SceneDescription> scene =
        parse_mjcf("<mujoco><option timestep=''/>" + classes + "<worldbody><body><joint range='' damping=' '/><geom " +
                   geom + "/></body></worldbody><keyframe><key qpos=''/></keyframe></mujoco>");
    REQUIRE(scene);
    CHECK(scene.diagnostics.empty());
    return value_or_throw(Model::build(scene.value->figures[0].model)).mass();
  };
  const double volume = 4 * 3.14159265358979 / 3000;
  CHECK(mass("", "size='0.1' density='' pos='' mass=''") == doctest::Approx(1000 * volume));
  CHECK(mass("<default><geom density='50'/></default>", "size='0.1' density=' '") == doctest::Approx(50 * volume));
  const std::string nested = "<default><geom density='50'/><default class='c'><geom density=''/></default></default>";
  CHECK(mass(nested, "class='c' size='0.1'") == doctest::Approx(50 * volume));
  for (const std::string word : {"<geom type='' size='0.1'/>", "<joint limited=''/>"})
    CHECK_FALSE(parse_mjcf("<mujoco><worldbody><body>" + word + "</body></worldbody></mujoco>"));
}

TEST_CASE("ctrl of a keyframe is what actuators hold from there on") {
  const auto read = [](const std::string& ctrl) {
    return parse_mjcf(
        "<mujoco><worldbody><body name='a'><joint name='j'/><geom size='0.1'/></body></worldbody><actuator>"
        "<motor joint='j'/><position name='p' joint='j' kp='100' gear='2'/></actuator>"
        "<keyframe><key name='home' qpos='0.3' ctrl='" +
        ctrl + "'/></keyframe></mujoco>");
  };
  Loaded<SceneDescription> scene = read("0 0.5");
  REQUIRE(scene);
  CHECK(scene.diagnostics.empty());
  apply_keyframe(*scene.value, "home");
  CHECK(scene.value->figures[0].initial.control.at("p") == 0.5);
  CHECK(scene.value->figures[0].initial.q.at("j") == std::vector{0.3});
  CHECK(read("1 0.5").diagnostics.empty());
  CHECK_FALSE(read("1"));
}
