#include "io/test/urdf_support.h"
#include "io/text.h"

using namespace kansetsu;
using namespace kansetsu::io;
using namespace kansetsu::io::test;
namespace fs = std::filesystem;

namespace {

ModelDescription two_links(JointDescription joint) {
  ModelDescription model;
  model.name = "m";
  model.links = {{.name = "a"}, {.name = "b"}};
  joint.name = "j";
  joint.parent = "a";
  joint.child = "b";
  model.joints = {std::move(joint)};
  return model;
}

}  // namespace

TEST_CASE("a model is written in URDF's own terms where it has them") {
  JointDescription joint{
      .type = JointType::kRevolute, .axis = {0, 1, 0}, .dofs = {{.lower = -1, .upper = 1.5, .damping = 0.1}}};
  ModelDescription model = two_links(joint);
  model.links[1].inertial = Inertial{2, {{0, 0, 0.5}, {}}, Sym3<>::diagonal(1, 1, 1)};
  model.links[1].visuals = {{"v", {}, Box{{1, 2, 3}}, Material{"red", std::vector<double>{1, 0, 0, 1}, ""}}};
  model.materials = {{"red", std::vector<double>{1, 0, 0, 1}, ""}};
  const auto written = to_urdf(model);
  CHECK(written.diagnostics.empty());
  CHECK(*written.value == R"(<?xml version="1.0" encoding="UTF-8"?>
<robot name="m">
  <material name="red">
    <color rgba="1 0 0 1"/>
  </material>
  <link name="a"/>
  <link name="b">
    <inertial>
      <origin xyz="0 0 0.5" rpy="0 0 0"/>
      <mass value="2"/>
      <inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>
    </inertial>
    <visual name="v">
      <geometry>
        <box size="1 2 3"/>
      </geometry>
      <material name="red"/>
    </visual>
  </link>
  <joint name="j" type="revolute">
    <parent link="a"/>
    <child link="b"/>
    <axis xyz="0 1 0"/>
    <limit lower="-1" upper="1.5" effort="1.7976931348623157e+308" velocity="1.7976931348623157e+308"/>
    <dynamics damping="0.1" friction="0"/>
  </joint>
</robot>
)");
}

TEST_CASE("what other programs do not understand is a warning") {
  const auto ball = to_urdf(two_links({.type = JointType::kBall}));
  REQUIRE(ball);
  CHECK(find(ball.diagnostics, "URDF041")->message == "URDF has no ball joints; only Kansetsu will read this file");

  ModelDescription model = two_links({.type = JointType::kPlanar});
  model.couplings = {{{"j", 2}, {{{"j", 0}, 2}}, 0, 0}};
  const auto gear = to_urdf(model);
  REQUIRE(gear);
  CHECK(find(gear.diagnostics, "URDF042"));
}

TEST_CASE("what cannot be written is an error") {
  CHECK(find(to_urdf(two_links({.plug = {{1, 0, 0}, {}}})).diagnostics, "URDF040")->path == "joint[j]");
  CHECK_FALSE(to_urdf(two_links({.plug = {{1, 0, 0}, {}}})));
  ModelDescription model = two_links({});
  model.links[0].visuals = {{"", {}, Sphere{1}, Material{"m\x01", {}, "t"}}};
  CHECK(find(to_urdf(model).diagnostics, "URDF017"));
  CHECK(find(to_urdf(two_links({.name = "", .parent = "x", .axis = {}, .pitch = kInfinity})).diagnostics, "MODEL020"));
  CHECK(find(to_urdf({}).diagnostics, "MODEL001"));
}

TEST_CASE("names may hold any character") {
  ModelDescription model = two_links({});
  model.name = "a<b>&\"c'd ω 関節 &amp; ]]> <!--";
  model.links[0].name = model.joints[0].parent = "x & <y>";
  const auto text = to_urdf(model);
  REQUIRE(text);
  CHECK(accepted(parse_urdf(*text.value)) == model);
}

TEST_CASE("a written file is whole or not there") {
  const fs::path file = fs::temp_directory_path() / "kansetsu_writer_test.urdf";
  fs::remove(file);
  const ModelDescription model = two_links({});
  CHECK(write_urdf(model, file).empty());
  CHECK(accepted(read_urdf(file)) == model);
  const auto failed = write_urdf(two_links({.plug = {{1, 0, 0}, {}}}), file);
  CHECK(find(failed, "URDF040")->file == file.string());
  CHECK(accepted(read_urdf(file)) == model);
  fs::remove(file);
  CHECK(find(write_urdf(model, "/no/such/folder/m.urdf"), "URDF044"));
}

TEST_CASE("shapes that URDF does not have are left out, with a warning that names the link") {
  const Shape shapes[] = {Plane{}, ConvexHull{{{0, 0, 0}}}, HeightField{2, 2, 1, 1, {0, 0, 0, 0}}, TriangleMesh{}};
  for (const Shape& shape : shapes) {
    ModelDescription model;
    model.name = "m";
    model.links = {{.name = "ground", .collisions = {{.shape = shape}}}};
    const auto text = to_urdf(model);
    REQUIRE(text);
    CHECK(text.value->find("collision") == std::string::npos);
    REQUIRE(find(text.diagnostics, "URDF045"));
    CHECK(find(text.diagnostics, "URDF045")->path == "link[ground]");
  }
}
