#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <string>

#include "io/mjcf/mjcf_surface.h"
#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/model/model.h"

using namespace kansetsu;
using namespace kansetsu::io;

namespace {

SceneDescription scene_of(const std::string& toml) {
  Loaded<SceneDescription> scene = parse_scene(toml, "s.toml");
  INFO(to_string(scene.diagnostics));
  REQUIRE(scene);
  return *std::move(scene.value);
}

std::string figure_of(const std::string& name, const std::string& joints, const std::string& more = {}) {
  return "[[figure]]\nname = \"" + name + "\"\n" + more +
         "[[figure.link]]\nname = \"a\"\nmass = 1\ninertia = [1, 1, 1, 0, 0, 0]\n[[figure.link.shape]]\ntype = "
         "\"sphere\"\nradius = 0.1\n"
         "[[figure.link]]\nname = \"b\"\nmass = 2\ninertia = [1, 1, 1, 0, 0, 0]\n[[figure.link.shape]]\ntype = "
         "\"sphere\"\nradius = 0.2\n" +
         joints;
}
std::string joint_of_type(const std::string& type, const std::string& more = {}) {
  return "[[figure.joint]]\nname = \"j\"\ntype = \"" + type + "\"\nparent = \"a\"\nchild = \"b\"\n" + more;
}

struct Written {
  std::string text;
  std::vector<Diagnostic> diagnostics;
  SceneDescription again;

  bool tells(std::string_view words) const {
    return std::ranges::any_of(diagnostics,
                               [&](const Diagnostic& d) { return d.message.find(words) != std::string::npos; });
  }
  bool has(std::string_view words) const { return text.find(words) != std::string::npos; }
};

/// But for the last digits of numbers: turns go through roll, pitch and yaw.
bool same_text(const std::string& a, const std::string& b) {
  std::istringstream x(a), y(b);
  for (std::string word, other; x >> word;) {
    if (!(y >> other)) return false;
    if (word == other) continue;
    const std::size_t quote = word.find("=\""), start = quote == std::string::npos ? 0 : quote + 2;
    if (word.substr(0, start) != other.substr(0, start)) return false;
    char* end = nullptr;
    const double number = std::strtod(word.c_str() + start, &end);
    if (end == word.c_str() + start || !(std::abs(number - std::strtod(other.c_str() + start, nullptr)) < 1e-12))
      return false;
  }
  return true;
}

/// Written and read again. From then on nothing changes; the first time figures take the names of their first bodies.
Written written(const SceneDescription& scene) {
  Loaded<std::string> text = to_mjcf(scene);
  INFO(to_string(text.diagnostics));
  REQUIRE(text);
  CAPTURE(*text.value);
  Loaded<SceneDescription> again = parse_mjcf(*text.value, "again.xml");
  INFO(to_string(again.diagnostics));
  REQUIRE(again);
  const std::string second = to_mjcf(*again.value).value.value_or("");
  const Loaded<SceneDescription> third = parse_mjcf(second, "third.xml");
  REQUIRE(third);
  CHECK(same_text(to_mjcf(*third.value).value.value_or(""), second));
  return {*text.value, std::move(text.diagnostics), *std::move(again.value)};
}

int coordinates(const SceneDescription& scene) {
  int nv = 0;
  for (const FigureDescription& f : scene.figures) nv += value_or_throw(Model::build(f.model)).nv();
  return nv;
}

}  // namespace

TEST_CASE("MJCF out: joints of several coordinates are several joints of one body") {
  for (const auto& [type, count] : {std::pair{"revolute", 1},
                                    {"prismatic", 1},
                                    {"cylindrical", 2},
                                    {"universal", 2},
                                    {"planar", 3},
                                    {"ball", 3},
                                    {"ball_zyx", 3},
                                    {"fixed", 0}}) {
    CAPTURE(type);
    const Written out = written(scene_of(figure_of("f", joint_of_type(type))));
    CHECK(out.diagnostics.empty());
    REQUIRE(out.again.figures.size() == (count > 0 ? 1 : 0));  // what cannot move is the environment
    CHECK(coordinates(out.again) == count);
  }
  const Written screw = written(scene_of(figure_of("f", joint_of_type("helical", "pitch = 0.1\n"))));
  CHECK(screw.tells("screw joints"));
  CHECK(coordinates(screw.again) == 2);
  CHECK(screw.again.figures[0].couplings.at(0).coefficient[1] == 0.1);
}

TEST_CASE("MJCF out: two figures of one model have names of their own") {
  const Written out =
      written(scene_of(figure_of("left", joint_of_type("revolute")) + figure_of("right", joint_of_type("revolute"))));
  CHECK(out.has("name=\"a\""));
  CHECK(out.has("name=\"right/a\""));
  CHECK(out.has("name=\"right/j\""));
  CHECK(out.again.figures.size() == 2);
}

TEST_CASE("MJCF out: the scene's beginning is the reference configuration, and a keyframe tells the rest") {
  const SceneDescription plain = scene_of(figure_of("f", joint_of_type("revolute"), "q = {j = 0.3}\n"));
  const Written still = written(plain);
  CHECK(still.has("ref=\"0.3\""));
  CHECK_FALSE(still.has("<keyframe>"));
  CHECK(still.again.figures[0].initial.q.at("j").at(0) == 0.3);
  const Written moving = written(scene_of(figure_of("f", joint_of_type("revolute"), "q = {j = 0.3}\nv = {j = 2}\n")));
  REQUIRE(moving.again.keyframes.size() == 1);
  CHECK(moving.again.keyframes[0].name == "initial");
  CHECK(moving.again.keyframes[0].figures.at("a").v.at("j").at(0) == 2);
}

TEST_CASE("MJCF out: who may not touch is excluded, where MuJoCo's own rule does not") {
  const auto excludes = [](const Written& out) {
    std::size_t count = 0;
    for (std::size_t at = out.text.find("<exclude"); at != std::string::npos; at = out.text.find("<exclude", at + 1))
      ++count;
    return count;
  };
  const std::string third =
      joint_of_type("revolute") +
      "[[figure.link]]\nname = \"c\"\nmass = 1\ninertia = [1, 1, 1, 0, 0, 0]\n[[figure.link.shape]]\ntype = "
      "\"sphere\"\nradius = 0.1\n[[figure.joint]]\nname = \"k\"\ntype = \"revolute\"\nparent = \"b\"\nchild = \"c\"\n";
  // The base is fixed: MuJoCo lets its child touch it. Neighbours that move never touch there.
  CHECK(excludes(written(scene_of(figure_of("f", third, "base = \"fixed\"\n")))) == 1);
  CHECK(excludes(written(scene_of(figure_of("f", third, "base = \"free\"\n")))) == 0);
  CHECK(excludes(written(scene_of(figure_of("f", third, "base = \"free\"\nself_collision = \"none\"\n")))) == 1);
  const Written all = written(scene_of(figure_of("f", third, "base = \"free\"\nself_collision = \"all\"\n")));
  CHECK(all.tells("contacts between neighbours"));
}

TEST_CASE("MJCF out: what it cannot hold is told") {
  const std::string base = figure_of("f", joint_of_type("revolute", "velocity = 3\n"), "base = \"free\"\n");
  const Written out = written(scene_of(
      base +
      "[[surface]]\nname = \"default\"\nstatic_friction = 0.8\ndynamic_friction = 0.5\nrestitution = "
      "0.5\n[[controller]]\nname = "
      "\"c\"\nfigure = \"f\"\nkind = \"torque\"\njoints = []\n[[event]]\nname = \"e\"\nwhen = \"time\"\ntime = 1.0\ndo "
      "= "
      "\"note\"\n[[connection]]\nname = \"grip\"\na = {}\nb = {figure = \"f\", link = \"a\"}\nkind = \"hinge\"\n"));
  for (const char* words : {"velocity limits", "dynamic friction", "controllers", "events", "connections other than"}) {
    CAPTURE(words);
    CHECK(out.tells(words));
  }
}

TEST_CASE("MJCF out: springs are tendons, and what keeps its pose is welded where it is") {
  const Written out =
      written(scene_of(figure_of("f", joint_of_type("revolute"), "base = \"free\"\npose = {p = [0, 0, 1]}\n") +
                       "[[spring]]\nname = \"s\"\na = {p = [0, 0, 3]}\nb = {figure = \"f\", link = \"a\"}\nstiffness = "
                       "5\npull_only = true\n[[connection]]\n"
                       "name = \"grip\"\na = {p = [0, 0, 2]}\nb = {figure = \"f\", link = \"b\"}\nkind = "
                       "\"weld\"\nhold = \"relative_pose\"\n"));
  REQUIRE(out.again.figures[0].actuation.tendons.size() == 1);
  const TendonDescription& spring = out.again.figures[0].actuation.tendons[0];
  CHECK(spring.rest_lower == 0);
  CHECK(spring.rest_upper == 2);
  REQUIRE(out.again.connections.size() == 1);
  CHECK(out.again.connections[0].b.pose.p.z == doctest::Approx(1));
}

TEST_CASE("MJCF out: surfaces that combine as MuJoCo's keep what they do with each other") {
  using mjcf::SurfaceKey;
  const std::vector<SurfaceKey> keys{{.friction = 0.3},
                                     {.friction = 0.9, .spin = 0.01},
                                     {.friction = 0.5, .frictionless = true},
                                     {.friction = 0.7, .priority = 2},
                                     {.friction = 0.1, .priority = 5}};
  SceneDescription scene;
  mjcf::add_surfaces(keys, scene);
  std::vector<std::string> names;
  for (const SurfaceKey& key : keys) names.push_back(mjcf::surface_name(key));
  const mjcf::SurfaceKeys found(scene, names);
  CHECK(found.lost_pairs().empty());
  scene.surface_pairs.push_back({names[0], names[1], {.mu_s = 2, .mu_d = 2}});
  CHECK(mjcf::SurfaceKeys(scene, names).lost_pairs().size() == 1);
}

TEST_CASE("MJCF out: gears are held by equalities, and said so") {
  const std::string gear =
      joint_of_type("revolute") +
      "[[figure.link]]\nname = \"c\"\nmass = 1\ninertia = [1, 1, 1, 0, 0, 0]\n[[figure.joint]]\nname = \"k\"\ntype = "
      "\"revolute\"\nparent = \"b\"\nchild = \"c\"\n[[figure.gear]]\njoint = \"k\"\noffset = "
      "0.25\n[[figure.gear.term]]\n"
      "joint = \"j\"\nratio = -2.0\n";
  const Written out = written(scene_of(figure_of("f", gear)));
  CHECK(out.tells("gears"));
  REQUIRE(out.again.figures[0].couplings.size() == 1);
  CHECK(out.again.figures[0].couplings[0].coefficient == std::array<double, 5>{0.25, -2, 0, 0, 0});
}

TEST_CASE("MJCF out: slides and a ball joint are joints of one body") {
  const auto scene = parse_mjcf(R"(<mujoco><worldbody><body name="box" pos="1 2 3" euler="0 0 90">
      <joint name="f" type="free" damping="2"/><geom size="1"/></body></worldbody></mujoco>)");
  REQUIRE(scene);
  const Written out = written(*scene.value);
  CHECK(out.diagnostics.empty());
  REQUIRE(out.again.figures.size() == 1);
  CHECK(out.again.figures[0].name == "box");
  CHECK(out.again.figures[0].model.links.size() == 5);  // world, three between slides, box
}
