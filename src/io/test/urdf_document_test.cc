#include <unistd.h>

#include <fstream>

#include "io/test/urdf_support.h"
#include "io/text.h"

using namespace kansetsu;
using namespace kansetsu::io;
using namespace kansetsu::io::test;
namespace fs = std::filesystem;

namespace {

Loaded<ModelDescription> parse(std::string_view text) { return parse_urdf(text, "r.urdf"); }

struct TemporaryFolder {
  fs::path path = fs::temp_directory_path() / "kansetsu_urdf_test";
  TemporaryFolder() {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~TemporaryFolder() { fs::remove_all(path); }
};

}  // namespace

TEST_CASE("a file that cannot be read is refused with the reason") {
  const TemporaryFolder folder;
  CHECK(refused(read_urdf(folder.path / "no.urdf"), "URDF001").message == "there is no such file");
  refused(read_urdf(folder.path), "URDF002");
  std::ofstream(folder.path / "empty.urdf").flush();
  CHECK(refused(read_urdf(folder.path / "empty.urdf"), "URDF005").file == (folder.path / "empty.urdf").string());
  if (geteuid() != 0) {  // root reads everything
    std::ofstream(folder.path / "secret.urdf") << "<robot/>";
    fs::permissions(folder.path / "secret.urdf", fs::perms::none);
    refused(read_urdf(folder.path / "secret.urdf"), "URDF003");
  }
}

TEST_CASE("a file beyond the size limit is refused") {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "large.urdf";
  std::ofstream(file).flush();
  fs::resize_file(file, kMaxFileSize + 1);  // sparse: takes no room
  refused(read_urdf(file), "URDF004");
}

TEST_CASE("what is no URDF is named") {
  refused(parse(""), "URDF005");
  refused(parse(" \n\t\n"), "URDF005");
  refused(parse(std::string_view("\x7f"
                                 "ELF\0\0",
                                 6)),
          "URDF006");
  refused(parse("\xff\xfe<\x01r"), "URDF006");
  CHECK(refused(parse("This is not a valid URDF file."), "URDF007").line == 1);
  refused(parse("<?xml version='1.0'?>"), "URDF007");
  CHECK(refused(parse("<sdf version='1.6'/>"), "URDF008").message == "this is an SDF file, not URDF");
  CHECK(refused(parse("<mujoco model='x'/>"), "URDF008").message == "this is an MJCF file, not URDF");
  CHECK(refused(parse("<!DOCTYPE html>\n<html><head><br></head></html>"), "URDF008").message ==
        "this is an HTML page, not URDF");
  CHECK(refused(parse("<HTML></HTML>"), "URDF008").message == "this is an HTML page, not URDF");
  CHECK(refused(parse("\n<svg/>"), "URDF008").message == "the root element is <svg>, not <robot>");
}

TEST_CASE("XML that is not well formed is refused with the line") {
  CHECK(refused(parse("<robot name='r'>\n<link name='a'>\n</joint>\n</robot>"), "URDF007").message ==
        "<link> that begins here is not closed by its own end tag");
  CHECK(refused(parse("<robot name='r'>\n<link name='a'>\n</joint>\n</robot>"), "URDF007").line == 2);
  CHECK(refused(parse("<robot name='r'>\n\n<link name='a' name='b'/></robot>"), "URDF007").line == 3);
  refused(parse("<robot name='r'>\n<link name=a/></robot>"), "URDF007");
  refused(parse("<robot name='r'>"), "URDF007");
  refused(parse("<robot name='r'/>junk"), "URDF007");
  CHECK(refused(parse("<robot name='r'/>\n<robot name='s'/>"), "URDF007").line == 2);
  refused(parse("<robot name='r'><!-- </robot>"), "URDF007");
}

TEST_CASE("declarations may be misspelt or missing, and a byte order mark may stand before them") {
  accepted(parse("<?xml verison=\"1.0\"?>\n<robot name='r'><link name='a'/></robot>"));
  accepted(parse("\xef\xbb\xbf<?xml version=\"1.0\"?><robot name='r'><link name='a'/></robot>"));
  accepted(parse("\r\n<!-- by hand -->\r\n<robot name='r'>\r\n<link name='a'/>\r\n</robot>\r\n"));
}

TEST_CASE("elements nested too deeply are refused, not followed") {
  std::string text = "<robot name='r'>";
  for (int i = 0; i < 100'000; ++i) text += "<link name='a'>";
  CHECK(refused(parse(text), "URDF015").line == 1);
}

TEST_CASE("entities are not expanded") {
  const char* bomb = R"(<?xml version="1.0"?><!DOCTYPE r [<!ENTITY a "xxxxxxxxxx"><!ENTITY b "&a;&a;&a;&a;">]>
<robot name="&b;"><link name="a"/></robot>)";
  refused(parse(bomb), "URDF016");
  CHECK(accepted(parse("<robot name='&b;'><link name='a'/></robot>")).name == "&b;");
  CHECK(accepted(parse("<robot name='a&amp;&lt;&#x3c9;'><link name='a'/></robot>")).name == "a&<ω");
}

TEST_CASE("xacro that has not been run is named, once") {
  const auto text = parse(R"(<robot name="r" xmlns:xacro="http://www.ros.org/wiki/xacro">
<xacro:property name="w" value="1"/>
<link name="a"><visual><geometry><box size="${w} 1 1"/></geometry></visual></link></robot>)");
  const Diagnostic d = refused(text, "URDF009");
  CHECK(text.diagnostics.size() == 1);
  CHECK(d.line == 2);
  CHECK(d.path == "robot[r]/xacro:property[w]");
  CHECK(d.message == "xacro has not been run on this file: <xacro:property> (2 places)");
  CHECK(d.hint.find("xacro FILE") != std::string::npos);
  CHECK(refused(parse("<robot name='r'><link name='${prefix}a'/></robot>"), "URDF009").path ==
        "robot[r]/link[${prefix}a]");
  refused(
      parse("<robot name='r'><link name='a'><visual><geometry><mesh filename='$(find x)/a.stl'/></geometry></visual>"
            "</link></robot>"),
      "URDF009");
  accepted(parse("<robot name='r' xmlns:xacro='http://www.ros.org/wiki/xacro'><link name='a'/></robot>"));
}

TEST_CASE("a robot needs a name and links") {
  refused(parse("<robot><link name='a'/></robot>"), "URDF010");
  const Diagnostic d = refused(parse("\n<robot name='r'/>"), "MODEL001");
  CHECK(d.line == 2);
  CHECK(d.path == "robot[r]");
}

TEST_CASE("versions are checked") {
  CHECK(remarks(parse("<robot name='r' version='1.0'><link name='a'/></robot>")).empty());
  CHECK(remarks(parse("<robot name='r' version='1.2'><link name='a'/></robot>")).empty());
  warned(parse("<robot name='r' version='2.0'><link name='a'/></robot>"), "URDF031");
}

TEST_CASE("Latin-1 is read with a warning") {
  const auto loaded = parse("<robot name='r'>\n<!-- caf\xe9 -->\n<link name='\xe9'/></robot>");
  CHECK(warned(loaded, "URDF032").line == 2);
  CHECK(loaded.value->links[0].name == "é");
}

TEST_CASE("what is not used or not known is a warning, once each") {
  const auto loaded = parse_body(R"(<link name="a"><gazebo/></link>
<transmission name="t"/><transmission name="u"/><gazebo reference="a"/><sensor name="s"/>
<plugin/><plugin/><link name="b" colour="red" size="3"/>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/><joint_properties damping="1"/></joint>)");
  CHECK(warned(loaded, "URDF022").line == 3);
  REQUIRE(remarks(loaded).size() == 7);
  CHECK(remarks(loaded)[0].message == "<gazebo> is not used");
  CHECK(remarks(loaded)[2].message == "<transmission> is not used (2 times, first here)");
  CHECK(warned(loaded, "URDF020").message == "<plugin> in <robot> is not known and ignored (2 times, first here)");
  CHECK(warned(loaded, "URDF021").message == "attribute 'colour' of <link> is not known and ignored");
}

TEST_CASE("all problems are reported at once, in the order of lines") {
  const auto loaded = parse_body(R"(<link name="a"><inertial><mass value="x"/></inertial></link>
<link name="b"/>
<link name="b"/>
<joint name="j" type="hinge"><parent link="a"/><child link="b"/><axis xyz="0 0"/></joint>
<joint name="k" type="revolute"><parent link="a"/><child link="c"/><axis xyz="0 0"/></joint>)");
  CHECK_FALSE(loaded);
  std::vector<std::pair<int, std::string>> errors;
  for (const Diagnostic& d : loaded.diagnostics) {
    if (d.is_error()) errors.emplace_back(d.line, d.code);
  }
  CHECK(errors == std::vector<std::pair<int, std::string>>{
                      {2, "URDF011"}, {4, "MODEL003"}, {5, "URDF013"}, {6, "URDF011"}, {6, "MODEL008"}});
}

TEST_CASE("a hopeless file does not fill the memory with diagnostics") {
  std::string text = "<robot name='r'>";
  for (int i = 0; i < 5000; ++i) text += "<link/><joint name='j' type='x'/>";
  const auto loaded = parse(text + "</robot>");
  CHECK_FALSE(loaded);
  CHECK(find(loaded.diagnostics, "URDF019"));
}

TEST_CASE("the base is fixed unless the file or the caller says otherwise") {
  const char* plain =
      "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' "
      "izz='1'/></inertial></link></robot>";
  CHECK(accepted(parse(plain)).base == Base::kFixed);
  CHECK(accepted(parse_urdf(plain, "", {.base = Base::kFree})).base == Base::kFree);
  std::string free = plain;
  free.insert(free.find("</robot>"), "<kansetsu base='free'/>");
  CHECK(accepted(parse(free)).base == Base::kFree);
  CHECK(accepted(parse_urdf(free, "", {.base = Base::kFixed})).base == Base::kFixed);
}

TEST_CASE("fixed links are merged if asked") {
  const char* text =
      R"(<robot name="r"><link name="a"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<link name="b"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint></robot>)";
  CHECK(accepted(parse(text)).links.size() == 2);
  const ModelDescription merged = accepted(parse_urdf(text, "", {.merge_fixed = true}));
  REQUIRE(merged.links.size() == 1);
  CHECK(merged.links[0].inertial->mass == 3);
}
