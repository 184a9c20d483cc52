#include <numbers>

#include "io/test/urdf_support.h"

using namespace kansetsu;
using namespace kansetsu::io::test;

TEST_CASE("every URDF joint type is read") {
  const auto type = [](const char* name) {
    return accepted(parse_joint(name, "<limit lower='0' upper='1'/>")).joints[0];
  };
  CHECK(type("revolute").type == JointType::kRevolute);
  CHECK_FALSE(type("revolute").continuous);
  CHECK(type("continuous").type == JointType::kRevolute);
  CHECK(type("continuous").continuous);
  CHECK(type("prismatic").type == JointType::kPrismatic);
  CHECK(type("fixed").type == JointType::kFixed);
  CHECK(type("floating").type == JointType::kFree);
  CHECK(type("planar").type == JointType::kPlanar);
}

TEST_CASE("Kansetsu's own joint types are read by name") {
  for (const JointTypeInfo& row : joint_table()) {
    if (row.nv == 1) continue;
    CHECK(accepted(parse_joint(row.name, "")).joints[0].type == row.type);
  }
  CHECK(accepted(parse_joint("helical", "<limit lower='0' upper='1'/><kansetsu pitch='0.5'/>")).joints[0].pitch == 0.5);
}

TEST_CASE("a joint is read with everything on it") {
  const auto loaded = parse_joint("revolute", R"(<origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><axis xyz="0 2 0"/>
    <limit lower="-1" upper="2" effort="30" velocity="4"/><dynamics damping="0.5" friction="0.25"/>
    <calibration rising="0"/><safety_controller soft_lower_limit="0" k_velocity="1"/>)");
  CHECK(remarks(loaded).empty());
  const JointDescription joint = accepted(loaded).joints[0];
  CHECK(joint.name == "j");
  CHECK(joint.line == 3);
  CHECK(joint.parent == "a");
  CHECK(joint.child == "b");
  CHECK(joint.socket == Pose{{1, 2, 3}, {0.1, 0.2, 0.3}});
  CHECK(joint.plug == Pose{});
  CHECK(joint.axis == Vec3<>{0, 2, 0});
  REQUIRE(joint.dofs.size() == 1);
  const DofDescription& dof = joint.dofs[0];
  CHECK(dof.lower == -1);
  CHECK(dof.upper == 2);
  CHECK(dof.effort == 30);
  CHECK(dof.velocity == 4);
  CHECK(dof.damping == 0.5);
  CHECK(dof.friction == 0.25);
}

TEST_CASE("defaults are those of URDF") {
  const JointDescription joint = accepted(parse_joint("continuous", "")).joints[0];
  CHECK(joint.axis == Vec3<>{1, 0, 0});
  CHECK(joint.socket == Pose{});
  CHECK(joint.dofs[0] == DofDescription{});
  CHECK(accepted(parse_joint("planar", "")).joints[0].axis == Vec3<>{1, 0, 0});
  CHECK(accepted(parse_joint("revolute", "<limit upper='2'/>")).joints[0].dofs[0].lower == 0);
  CHECK(accepted(parse_joint("revolute", "<limit lower='-2'/>")).joints[0].dofs[0].upper == 0);
}

TEST_CASE("limits that are missing or do not apply are warnings") {
  CHECK(warned(parse_joint("revolute", ""), "URDF028").message == "revolute joint has no lower and upper limit");
  const auto open = parse_joint("prismatic", "<limit effort='1' velocity='1'/>");
  warned(open, "URDF028");
  CHECK(open.value->joints[0].dofs[0].upper == kInfinity);
  CHECK_FALSE(find(parse_joint("continuous", "").diagnostics, "URDF028"));
  CHECK_FALSE(find(parse_joint("fixed", "<limit lower='0' upper='0'/>").diagnostics, "URDF022"));
  const auto free = parse_joint("continuous", "<limit lower='-1' upper='1' effort='2' velocity='3'/>");
  warned(free, "URDF022");
  CHECK(free.value->joints[0].dofs[0].upper == kInfinity);
  CHECK(free.value->joints[0].dofs[0].effort == 2);
  warned(parse_joint("planar", "<limit lower='-1' upper='1'/>"), "URDF022");
}

TEST_CASE("limits may be infinite") {
  const auto dof = [](const char* limit) {
    return accepted(parse_joint("prismatic", "<limit " + std::string(limit) + "/>")).joints[0].dofs[0];
  };
  CHECK(dof("lower='-inf' upper='inf' effort='inf' velocity='inf'") == DofDescription{});
  CHECK(dof("lower='-1.7976931348623157e+308' upper='1.7976931348623157e+308'") == DofDescription{});
  CHECK(dof("lower='0' upper='1e16'").upper == 1e16);
  refused(parse_joint("prismatic", "<limit lower='nan' upper='1'/>"), "URDF011");
  refused(parse_joint("prismatic", "<limit lower='2' upper='1'/>"), "MODEL044");
}

TEST_CASE("a zero axis is an error with line and remedy") {
  const auto loaded = parse_joint("revolute", "<limit lower='0' upper='1'/>\n<axis xyz='0 0 0'/>");
  CHECK(to_string(refused(loaded, "URDF012")) ==
        "r.urdf:5: error[URDF012]: axis is the zero vector (0 0 0)\n"
        "  at robot[r]/joint[j]/axis\n"
        "  help: give a direction, e.g. xyz=\"0 1 0\"; it is normalised on load\n");
}

TEST_CASE("the axis of a joint that has none is not looked at") {
  CHECK(remarks(parse_joint("fixed", "<axis xyz='0 0 0'/>")).empty());
  accepted(parse_joint("floating", "<axis xyz='nonsense'/>"));
}

TEST_CASE("damping of a joint with several coordinates is one number or one for each") {
  const auto damping = [](const char* text) {
    const auto joint = accepted(parse_joint("planar", "<dynamics damping='" + std::string(text) + "'/>")).joints[0];
    return Vec3<>{joint.dofs[0].damping, joint.dofs[1].damping, joint.dofs[2].damping};
  };
  CHECK(damping("0.5") == Vec3<>{0.5, 0.5, 0.5});
  CHECK(damping("1 2 3") == Vec3<>{1, 2, 3});
  refused(parse_joint("planar", "<dynamics damping='1 2'/>"), "URDF011");
}

TEST_CASE("joints need a name, a known type, a parent and a child") {
  const char* links = "<link name='a'/><link name='b'/>";
  const auto joint = [&](const std::string& text) { return parse_body(links + text); };
  CHECK(refused(joint("<joint type='fixed'><parent link='a'/><child link='b'/></joint>"), "URDF010").message ==
        "<joint> has no attribute name");
  refused(joint("<joint name='j'><parent link='a'/><child link='b'/></joint>"), "URDF010");
  CHECK(refused(joint("<joint name='j' type='hinge'><parent link='a'/><child link='b'/></joint>"), "URDF013").message ==
        "joint type 'hinge' is not known");
  CHECK(refused(joint("<joint name='j' type='fixed'><child link='b'/></joint>"), "URDF010").message ==
        "<joint> has no <parent>");
  CHECK(find(joint("<joint name='j' type='fixed'><parent link='a'/></joint>").diagnostics, "URDF010")->message ==
        "<joint> has no <child>");
  CHECK(find(joint("<joint name='j' type='fixed'><parent link='a'/><child/></joint>").diagnostics, "URDF010")->path ==
        "robot[r]/joint[j]/child");
}

TEST_CASE("mimic is a gear") {
  const auto model = accepted(parse_body(R"(<link name="a"/><link name="b"/><link name="c"/><link name="d"/>
    <joint name="j" type="continuous"><parent link="a"/><child link="b"/></joint>
    <joint name="k" type="prismatic"><parent link="b"/><child link="c"/>
      <mimic joint="j" multiplier="-2" offset="0.5"/></joint>
    <joint name="l" type="continuous"><parent link="c"/><child link="d"/><mimic joint="k"/></joint>)"));
  REQUIRE(model.couplings.size() == 2);
  CHECK(model.couplings[0] == Coupling{{"k", 0}, {{{"j", 0}, -2}}, 0.5, 0});
  CHECK(model.couplings[0].line == 5);
  CHECK(model.couplings[1] == Coupling{{"l", 0}, {{{"k", 0}, 1}}, 0, 0});
}

TEST_CASE("mimic of a fixed joint is told and has no effect") {
  const auto loaded = parse_joint("fixed", "<mimic joint='nobody'/>");
  CHECK(remarks(loaded).size() == 1);
  CHECK(accepted(loaded).couplings.empty());
}

TEST_CASE("mimic of nothing, of itself or of a joint with several coordinates is an error") {
  refused(parse_joint("continuous", "<mimic/>"), "URDF010");
  refused(parse_joint("continuous", "<mimic joint='nobody'/>"), "MODEL050");
  refused(parse_joint("continuous", "<mimic joint='j'/>"), "MODEL052");
  refused(parse_joint("planar", "<mimic joint='k'/>"), "URDF018");
  CHECK(refused(parse_body(R"(<link name="a"/><link name="b"/><link name="c"/>
    <joint name="j" type="planar"><parent link="a"/><child link="b"/></joint>
    <joint name="k" type="continuous"><parent link="b"/><child link="c"/><mimic joint="j"/></joint>)"),
                "URDF018")
            .line == 4);
}

TEST_CASE("Drake's joints are read") {
  const auto model = accepted(parse_body(R"(<link name="a"/><link name="b"/><link name="c"/><link name="d"/>
    <drake:joint name="ball" type="ball"><parent link="a"/><child link="b"/><dynamics damping="0.1"/></drake:joint>
    <drake:joint name="uni" type="universal"><parent link="b"/><child link="c"/></drake:joint>
    <drake:joint name="screw" type="screw"><parent link="c"/><child link="d"/><axis xyz="0 0 1"/>
      <drake:screw_thread_pitch value="0.04"/></drake:joint>)"));
  CHECK(model.joints[0].type == JointType::kBall);
  CHECK(model.joints[0].dofs[2].damping == 0.1);
  CHECK(model.joints[1].type == JointType::kUniversal);
  CHECK(model.joints[1].axis == Vec3<>{1, 0, 0});
  CHECK(model.joints[1].second_axis == Vec3<>{0, 1, 0});
  CHECK(model.joints[2].type == JointType::kHelical);
  CHECK(model.joints[2].pitch == 0.04 / (2 * std::numbers::pi));
}

TEST_CASE("Drake's joints that are standard or unknown are errors") {
  const auto joint = [](const char* type) {
    return parse_body("<link name='a'/><link name='b'/><drake:joint name='j' type='" + std::string(type) +
                      "'><parent link='a'/><child link='b'/></drake:joint>");
  };
  CHECK(refused(joint("fixed"), "URDF013").message == "joint type 'fixed' is a standard one");
  CHECK(refused(joint("curvilinear"), "URDF013").message ==
        "joint type 'curvilinear' of <drake:joint> is not supported");
}

TEST_CASE("a joint may hang on the world without a link of that name") {
  const auto loaded =
      parse_body("<link name='a'/>\n<joint name='j' type='fixed'><parent link='world'/><child link='a'/></joint>");
  CHECK(warned(loaded, "URDF030").line == 3);
  CHECK(loaded.value->links[0].name == "world");
  refused(parse_body("<link name='a'/>\n<joint name='j' type='fixed'><parent link='earth'/><child link='a'/></joint>"),
          "MODEL007");
}

TEST_CASE("the world is not added to a file that misses other links as well") {
  const auto loaded = parse_body(
      "<link name='a'/><link name='b'/><joint name='j' type='fixed'><parent link='world'/><child link='a'/></joint>"
      "<joint name='k' type='fixed'><parent link='base'/><child link='b'/></joint>");
  CHECK(count_errors(loaded.diagnostics) == 2);
  CHECK_FALSE(find(loaded.diagnostics, "URDF030"));
}

TEST_CASE("a cycle is reported at a joint of it") {
  CHECK(refused(parse_body("<link name='a'/>\n<link name='b'/>\n<joint name='j' type='fixed'><parent link='a'/><child "
                           "link='b'/></joint>\n"
                           "<joint name='k' type='fixed'><parent link='b'/><child link='a'/></joint>"),
                "MODEL011")
            .line >= 4);
}

TEST_CASE("a link and a joint may share a name") {
  CHECK(remarks(parse_body("<link name='a'/><link name='b'/>"
                           "<joint name='a' type='fixed'><parent link='a'/><child link='b'/></joint>"))
            .empty());
}

TEST_CASE("what validation finds in a joint is on the line of the element that is wrong") {
  CHECK(refused(parse_joint("revolute", "<limit lower='2'\nupper='1'/>"), "MODEL044").line == 4);
  CHECK(refused(parse_joint("continuous", "\n<dynamics damping='-1'/>"), "MODEL042").line == 5);
  CHECK(refused(parse_joint("continuous", "\n\n<mimic joint='no'/>"), "MODEL050").line == 6);
  const auto unknown =
      parse_body("<link name='a'/>\n<joint name='j' type='fixed'>\n<parent link='a'/>\n<child link='x'/></joint>");
  CHECK(refused(unknown, "MODEL008").line == 5);
}
