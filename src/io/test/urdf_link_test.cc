#include "io/test/urdf_support.h"

using namespace kansetsu;
using namespace kansetsu::io::test;

TEST_CASE("a link carries its inertia, shapes and line") {
  const ModelDescription model = accepted(parse_link(R"(
    <inertial><origin xyz="1 2 3" rpy="0.1 0.2 0.3"/><mass value="2"/>
      <inertia ixx="1" ixy="0.01" ixz="0.02" iyy="1.5" iyz="0.03" izz="2"/></inertial>
    <visual name="skin"><origin xyz="0 0 1"/><geometry><box size="1 2 3"/></geometry></visual>
    <visual><geometry><sphere radius="0.5"/></geometry></visual>
    <collision><geometry><cylinder radius="0.1" length="2"/></geometry></collision>
    <collision name="c"><origin rpy="1 0 0"/><geometry><capsule radius="0.1" length="0"/></geometry></collision>)"));
  REQUIRE(model.links.size() == 1);
  const LinkDescription& link = model.links[0];
  CHECK(link.name == "a");
  CHECK(link.line == 2);
  REQUIRE(link.inertial);
  CHECK(link.inertial->mass == 2);
  CHECK(link.inertial->origin == Pose{{1, 2, 3}, {0.1, 0.2, 0.3}});
  CHECK(link.inertial->inertia == Sym3<>{1, 0.01, 0.02, 1.5, 0.03, 2});
  REQUIRE(link.visuals.size() == 2);
  CHECK(link.visuals[0] == LinkShape{"skin", {{0, 0, 1}, {}}, Box{{1, 2, 3}}, {}});
  CHECK(link.visuals[1] == LinkShape{"", {}, Sphere{0.5}, {}});
  REQUIRE(link.collisions.size() == 2);
  CHECK(link.collisions[0] == LinkShape{"", {}, Cylinder{0.1, 2}, {}});
  CHECK(link.collisions[1] == LinkShape{"c", {{}, {1, 0, 0}}, Capsule{0.1, 0}, {}});
}

TEST_CASE("links without inertia are massless; that none has mass, or one that moves has not, is remarked") {
  const auto bare = parse_body("<link name='a'/>");
  CHECK_FALSE(accepted(bare).links[0].inertial);
  CHECK(warned(bare, "URDF033").line == 1);
  const auto chain = [](const char* first, const char* second) {
    return parse_body(
        std::string("<link name='a'/><link name='d'/>\n<link name='b'/>\n<link name='c'><inertial><mass value='1'/>"
                    "<inertia ixx='1' iyy='1' izz='1'/></inertial></link>"
                    "<joint name='ad' type='fixed'><parent link='a'/><child link='d'/></joint>"
                    "<joint name='ab' type='") +
        first + "'><parent link='a'/><child link='b'/></joint><joint name='bc' type='" + second +
        "'><parent link='b'/><child link='c'/></joint>");
  };
  CHECK(warned(chain("continuous", "continuous"), "URDF034").path == "robot[r]/link[b]");
  CHECK(warned(chain("continuous", "continuous"), "URDF034").line == 3);
  CHECK(chain("continuous", "fixed").diagnostics.empty());
  CHECK(chain("fixed", "continuous").diagnostics.empty());
}

TEST_CASE("what validation finds is on the line of the element that is wrong") {
  const auto inertial = [](const char* mass, const char* ixx) {
    return parse_link("<inertial>\n<mass value='" + std::string(mass) + "'/>\n<inertia ixx='" + ixx +
                      "' iyy='1' izz='1'/></inertial>");
  };
  CHECK(refused(inertial("-1", "1"), "MODEL030").line == 4);
  CHECK(refused(inertial("1", "-1"), "MODEL032").line == 5);
  CHECK(warned(inertial("1", "3"), "MODEL033").line == 5);
}

TEST_CASE("mass without inertia is a point mass, inertia without mass value an error") {
  const auto point = parse_link("<inertial><mass value='2'/></inertial>");
  warned(point, "URDF029");
  CHECK(point.value->links[0].inertial->inertia == Sym3<>{});
  CHECK(refused(parse_link("<inertial><inertia ixx='1' iyy='1' izz='1'/></inertial>"), "URDF010").line == 3);
  CHECK(refused(parse_link("<inertial><mass/></inertial>"), "URDF010").message == "<mass> has no attribute value");
  CHECK(refused(parse_link("<inertial><mass value='1'/><inertia ixx='1' iyy='1'/></inertial>"), "URDF010").path ==
        "robot[r]/link[a]/inertial/inertia");
}

TEST_CASE("products of inertia may be left out") {
  const auto model = accepted(parse_link("<inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1'/></inertial>"));
  CHECK(model.links[0].inertial->inertia == Sym3<>::diagonal(1, 1, 1));
}

TEST_CASE("bad numbers are errors with value, line and path") {
  const Diagnostic d = refused(parse_link("\n<inertial>\n<mass value='two'/></inertial>"), "URDF011");
  CHECK(d.file == "r.urdf");
  CHECK(d.line == 5);
  CHECK(d.path == "robot[r]/link[a]/inertial/mass");
  CHECK(d.message == "value='two': 'two' is not a number");

  const auto box = [](const char* size) {
    return parse_link("<visual><geometry><box size='" + std::string(size) + "'/></geometry></visual>");
  };
  CHECK(refused(box("1 2"), "URDF011").message == "size='1 2': expected 3 numbers, found 2");
  CHECK(refused(box("1 2 1e999"), "URDF011").message == "size='1 2 1e999': '1e999' is too large");
  CHECK(refused(box("1 2 nan"), "URDF011").line == 3);
  CHECK(refused(box("1 2 inf"), "URDF011").line == 3);
  CHECK(refused(box("1,0 2,0 3,0"), "URDF011").hint.find("comma") != std::string::npos);
  CHECK(refused(box("1 -2 3"), "URDF014").message == "size is negative: '1 -2 3'");
  CHECK(accepted(box("\n 1\t2\n\n 3 ")).links[0].visuals[0].shape == Shape{Box{{1, 2, 3}}});
}

TEST_CASE("shapes need their sizes and a geometry") {
  CHECK(refused(parse_link("<visual><geometry><sphere/></geometry></visual>"), "URDF010").message ==
        "<sphere> has no attribute radius");
  CHECK(refused(parse_link("<collision><geometry><cylinder radius='1'/></geometry></collision>"), "URDF010").message ==
        "<cylinder> has no attribute length");
  refused(parse_link("<visual><geometry><box/></geometry></visual>"), "URDF010");
  refused(parse_link("<visual><geometry/></visual>"), "URDF010");
  refused(parse_link("<visual/>"), "URDF010");
  refused(parse_link("<visual><geometry><mesh/></geometry></visual>"), "URDF010");
  refused(parse_link("<visual><geometry><sphere radius='-1'/></geometry></visual>"), "URDF014");
}

TEST_CASE("a shape that is not known is left out with a warning") {
  const auto loaded = parse_link("<collision><geometry><cone height='1'/></geometry></collision>");
  CHECK(warned(loaded, "URDF020").message == "<cone> in <geometry> is not known and ignored");
  CHECK(loaded.value->links[0].collisions.empty());
}

TEST_CASE("the first of two shapes, origins or inertials counts") {
  const auto shapes = parse_link("<visual><geometry><sphere radius='1'/><box size='1 1 1'/></geometry></visual>");
  warned(shapes, "URDF023");
  CHECK(shapes.value->links[0].visuals[0].shape == Shape{Sphere{1}});
  const auto origins = parse_link(
      "<visual><origin xyz='1 0 0'/><origin xyz='2 0 0'/><geometry><sphere radius='1'/></geometry></visual>");
  CHECK(warned(origins, "URDF023").message == "second <origin> in one <visual>; the first is used");
  CHECK(origins.value->links[0].visuals[0].origin.p == Vec3<>{1, 0, 0});
}

TEST_CASE("meshes keep their name, and tell where the file is not") {
  const auto missing = parse_link("<visual><geometry><mesh filename='no.stl' scale='1 -1 2'/></geometry></visual>");
  CHECK(warned(missing, "URDF024").hint == "the first is 'no.stl'");
  const auto& mesh = std::get<Mesh>(missing.value->links[0].visuals[0].shape);
  CHECK(mesh.uri == "no.stl");
  CHECK(mesh.path.empty());
  CHECK(mesh.scale == Vec3<>{1, -1, 2});
  const auto package = parse_link(R"(
    <visual><geometry><mesh filename="package://no_such_package/a.stl"/></geometry></visual>
    <visual><geometry><mesh filename="package://no_such_package/b.stl"/></geometry></visual>)");
  const Diagnostic d = warned(package, "URDF025");
  CHECK(d.message == "package 'no_such_package' is not found (2 times, first here)");
  CHECK(d.path == "robot[r]/link[a]/visual[1]/geometry/mesh");
  CHECK(d.line == 4);
  warned(parse_link("<visual><geometry><mesh filename='http://x.org/a.stl'/></geometry></visual>"), "URDF026");
}

TEST_CASE("materials are resolved by name, wherever they are defined") {
  const auto model = accepted(parse_body(R"(
    <link name="a">
      <visual><geometry><sphere radius="1"/></geometry><material name="late"/></visual>
      <visual><geometry><sphere radius="1"/></geometry><material name="inner"/></visual>
      <visual><geometry><sphere radius="1"/></geometry><material name="inner"><color rgba="1 0 0 1"/></material></visual>
      <visual><geometry><sphere radius="1"/></geometry><material name=""><color rgba="0 1 0 1"/></material></visual>
      <visual><geometry><sphere radius="1"/></geometry><material name="wood"><texture filename="w.png"/></material></visual>
    </link>
    <material name="late"><color rgba="0 0 1 0.5"/></material>)"));
  const auto& visuals = model.links[0].visuals;
  REQUIRE(model.materials.size() == 1);
  CHECK(*visuals[0].material == Material{"late", std::vector<double>{0, 0, 1, 0.5}, ""});
  CHECK(visuals[1].material == visuals[2].material);
  CHECK(*visuals[3].material == Material{"", std::vector<double>{0, 1, 0, 1}, ""});
  CHECK(*visuals[4].material == Material{"wood", {}, "w.png"});
}

TEST_CASE("odd materials are warnings") {
  const auto use = [](const char* material) {
    return parse_link("<visual><geometry><sphere radius='1'/></geometry>" + std::string(material) + "</visual>");
  };
  CHECK(warned(use("<material name='no'/>"), "URDF027").message == "material 'no' is not defined");
  const auto bright = use("<material name='m'><color rgba='255 -1 0 1'/></material>");
  warned(bright, "URDF027");
  CHECK(*bright.value->links[0].visuals[0].material->rgba == std::vector<double>{1, 0, 0, 1});
  const auto twice = parse_body(
      "<link name='a'/><material name='m'><color rgba='1 1 1 1'/></material><material name='m'><color rgba='0 0 0 1'/>"
      "</material>");
  warned(twice, "URDF027");
  CHECK(twice.value->materials.size() == 1);
  refused(parse_body("<link name='a'/><material><color rgba='1 1 1 1'/></material>"), "URDF010");
  refused(use("<material name='m'><color rgba='1 1 1'/></material>"), "URDF011");
}

TEST_CASE("an orientation may be a quaternion") {
  const auto pose = [](const char* origin) {
    return accepted(parse_link("<visual>" + std::string(origin) + "<geometry><sphere radius='1'/></geometry></visual>"))
        .links[0]
        .visuals[0]
        .origin;
  };
  const Pose turned = pose("<origin xyz='1 2 3' quat_xyzw='0 0 2 2'/>");  // a quarter turn about z, not of unit length
  CHECK(turned.p == Vec3<>{1, 2, 3});
  CHECK(turned.rpy.z == doctest::Approx(1.5707963267948966).epsilon(1e-12));  // rounding of one atan2
  CHECK(std::abs(turned.rpy.x) + std::abs(turned.rpy.y) < 1e-12);             // the same
  refused(parse_link("<visual><origin quat_xyzw='0 0 0 0'/><geometry><sphere radius='1'/></geometry></visual>"),
          "URDF014");
}

TEST_CASE("links without a name are refused once") {
  CHECK(refused(parse_body("<link naQQQme='a'/>"), "URDF010").message == "<link> has no attribute name");
  refused(parse_body("<link name=''/>"), "URDF010");
  const auto unnamed = io::parse_urdf("<robot name=''><link name='a'/></robot>", "x.urdf");
  REQUIRE(unnamed);
  CHECK(unnamed.value->name == "robot");
  CHECK(std::any_of(unnamed.diagnostics.begin(), unnamed.diagnostics.end(),
                    [](const Diagnostic& d) { return d.code == "URDF036" && !d.is_error(); }));
  refused(parse_body("<link name='a&#7;b'/>"), "URDF017");
  refused(parse_body("<link name='a&#xD800;'/>"), "URDF017");
}
