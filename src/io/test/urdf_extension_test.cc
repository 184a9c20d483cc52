#include "io/test/urdf_support.h"

using namespace kansetsu;
using namespace kansetsu::io::test;

TEST_CASE("the model's extension holds base, gravity, gears, motors and filters") {
  const auto model = accepted(
      parse_body(R"(<link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="b"/><link name="c"/><link name="d"/>
<joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
<joint name="k" type="planar"><parent link="a"/><child link="c"/></joint>
<joint name="l" type="continuous"><parent link="a"/><child link="d"/></joint>
<kansetsu base="free" gravity="0 0 -1.62"><origin xyz="0 0 1"/>
  <coupling joint="l" offset="0.5"><term joint="j" ratio="2"/><term joint="k" index="2"/></coupling>
  <actuator name="m" joint="k" index="1" gear="50" effort="3"/>
  <collision_filter a="b" b="d"/></kansetsu>
<frame name="f" link="b" xyz="1 2 3" rpy="0 0 1"/>)"));
  CHECK(model.base == Base::kFree);
  CHECK(model.gravity == Vec3<>{0, 0, -1.62});
  CHECK(model.base_pose == Pose{{0, 0, 1}, {}});
  REQUIRE(model.couplings.size() == 1);
  CHECK(model.couplings[0] == Coupling{{"l", 0}, {{{"j", 0}, 2}, {{"k", 2}, 1}}, 0.5, 0});
  REQUIRE(model.actuators.size() == 1);
  CHECK(model.actuators[0] == Actuator{"m", {"k", 1}, 50, 3});
  CHECK(model.collision_filters == std::vector<CollisionFilter>{{"b", "d"}});
  CHECK(model.frames == std::vector<FrameDescription>{{"f", "b", {{1, 2, 3}, {0, 0, 1}}}});
}

TEST_CASE("the joint's extension holds what URDF does not know of its coordinates") {
  const auto joint = accepted(parse_joint("continuous",
                                          "<dynamics damping='1'/><kansetsu><dof rotor_inertia='0.1' stiffness='2' "
                                          "rest='3' lower='-1' upper='4'/></kansetsu>"))
                         .joints[0];
  DofDescription dof;
  dof.damping = 1;
  dof.rotor_inertia = 0.1;
  dof.stiffness = 2;
  dof.rest = 3;
  dof.lower = -1;
  dof.upper = 4;
  CHECK(joint.dofs[0] == dof);

  const auto planar =
      accepted(parse_joint("planar", "<kansetsu><dof index='2' lower='-1' effort='inf'/></kansetsu>")).joints[0];
  CHECK(planar.dofs[0] == DofDescription{});
  CHECK(planar.dofs[2].lower == -1);

  const auto ball =
      accepted(parse_joint("ball", "<kansetsu><swing_twist swing='1' lower='-0.5'/></kansetsu>")).joints[0];
  CHECK(*ball.swing_twist == SwingTwistLimit{1, -0.5, kInfinity});
  CHECK(accepted(parse_joint("universal", "<kansetsu second_axis='0 0 1'/>")).joints[0].second_axis == Vec3<>{0, 0, 1});
}

TEST_CASE("mistakes in extensions are errors") {
  const auto extension = [](const char* text) {
    return parse_body("<link name='a'/>\n<kansetsu>" + std::string(text) + "</kansetsu>");
  };
  refused(parse_body("<link name='a'/><kansetsu base='loose'/>"), "URDF014");
  CHECK(refused(extension("<actuator name='m' joint='no'/>"), "MODEL014").line == 3);
  refused(extension("<actuator joint='no'/>"), "URDF010");
  CHECK(refused(extension("<collision_filter a='a' b='no'/>"), "MODEL015").line == 3);
  refused(extension("<collision_filter a='a'/>"), "URDF010");
  CHECK(find(extension("<coupling joint='x' index='7'><term joint='y'/></coupling>").diagnostics, "URDF014"));
  warned(extension("<colour/>"), "URDF020");
  refused(parse_joint("continuous", "<kansetsu><dof index='1'/></kansetsu>"), "URDF014");
  refused(parse_joint("continuous", "<kansetsu><dof index='0.5'/></kansetsu>"), "URDF014");
  CHECK(refused(parse_body("<link name='a'/>\n<frame name='f' link='no'/>"), "MODEL013").line == 3);
  refused(parse_body("<link name='a'/><frame link='a'/>"), "URDF010");
}

TEST_CASE("Drake's collision filter groups become pairs") {
  const auto model = accepted(parse_body(R"(<link name="a"/><link name="b"/><link name="c"/>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>
<joint name="k" type="fixed"><parent link="a"/><child link="c"/></joint>
<drake:collision_filter_group name="one"><drake:member link="a"/><drake:member link="b"/>
  <drake:ignored_collision_filter_group name="one"/><drake:ignored_collision_filter_group name="two"/>
</drake:collision_filter_group>
<drake:collision_filter_group name="two"><drake:member link="c"/>
  <drake:ignored_collision_filter_group name="one"/></drake:collision_filter_group>)"));
  CHECK(model.collision_filters == std::vector<CollisionFilter>{{"a", "b"}, {"a", "c"}, {"b", "c"}});
  refused(parse_body("<link name='a'/><drake:collision_filter_group name='g'>"
                     "<drake:ignored_collision_filter_group name='h'/></drake:collision_filter_group>"),
          "URDF010");
}
