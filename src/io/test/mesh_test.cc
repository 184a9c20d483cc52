#include "kansetsu/io/mesh.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <regex>
#include <set>

#include "kansetsu/geometry/geometry.h"

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

bool reports(const std::vector<Diagnostic>& list, const std::string& code, int line = 0) {
  for (const Diagnostic& d : list) {
    if (d.code == code && (line == 0 || d.line == line)) return true;
  }
  return false;
}

constexpr char kTetrahedron[] =
    "# a comment\nv 0 0 0\nv 1 0 0\nv 0 1 0 1.0\nv 0 0 1\nvn 0 0 1\nvt 0 0\no thing\nf 1 3 2\nf 1/1 2/1 4/1\nf 2//1 "
    "3//1 4//1\n"
    "f -4/1/1 -1/1/1 -2/1/1 # the last\n";

std::string text_stl() {
  std::string s = "solid t\r\n";
  const int triangles[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}};
  const char* corner[] = {"0 0 0", "1 0 0", "0 1 0", "0 0 1e0"};
  for (const auto& t : triangles) {
    s += " facet normal 0 0 0\n  outer loop\n";
    for (int v : t) s += std::string("   vertex ") + corner[v] + "\n";
    s += "  endloop\n endfacet\n";
  }
  return s + "endsolid t\n";
}

std::string binary_stl(const TriangleMeshData& mesh) {
  std::string s(80, ' ');
  s.replace(0, 5, "solid");  // as many programs write
  const auto add = [&](auto value) { s.append(reinterpret_cast<const char*>(&value), sizeof value); };
  add(std::uint32_t(mesh.triangles.size()));
  for (const auto& t : mesh.triangles) {
    for (int i = 0; i < 3; ++i) add(0.0f);
    for (int v : t) {
      add(float(mesh.vertices[std::size_t(v)].x));
      add(float(mesh.vertices[std::size_t(v)].y));
      add(float(mesh.vertices[std::size_t(v)].z));
    }
    add(std::uint16_t(0));
  }
  return s;
}

}  // namespace

TEST_CASE("the same surface from OBJ and both kinds of STL") {
  const auto obj = parse_mesh(kTetrahedron, MeshFormat::kObj);
  REQUIRE(obj);
  CHECK(obj.diagnostics.empty());
  const TriangleMeshData& mesh = *obj.value->data;
  CHECK(mesh.vertices.size() == 4);
  CHECK(mesh.triangles == std::vector<std::array<int, 3>>{{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {0, 3, 2}});
  const auto text = parse_mesh(text_stl(), MeshFormat::kStl), binary = parse_mesh(binary_stl(mesh), MeshFormat::kStl);
  REQUIRE(text);
  REQUIRE(binary);
  CHECK(text.value->data->vertices.size() == 4);
  CHECK(*text.value == *binary.value);
  const auto corners = [](const TriangleMeshData& m) {
    std::vector<Vec3<>> list;
    for (const auto& t : m.triangles) {
      for (int v : t) list.push_back(m.vertices[std::size_t(v)]);
    }
    return list;
  };
  CHECK(corners(*text.value->data) == corners(mesh));
  CHECK(Geometry(*text.value).kind() == ShapeKind::kTriangleMesh);
}

TEST_CASE("scales stretch, and mirrors keep the outside outside") {
  const auto mirrored = parse_mesh(kTetrahedron, MeshFormat::kObj, {}, {2, 3, -1});
  REQUIRE(mirrored);
  CHECK(mirrored.value->data->vertices[3] == Vec3<>{0, 0, -1});
  CHECK(mirrored.value->data->vertices[1] == Vec3<>{2, 0, 0});
  CHECK(mirrored.value->data->triangles[0] == std::array{0, 1, 2});
  CHECK(reports(parse_mesh(kTetrahedron, MeshFormat::kObj, {}, {1, 0, 1}).diagnostics, "MESH011"));
}

TEST_CASE("polygons become fans, empty triangles go with a warning") {
  const auto quad = parse_mesh("v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\nf 1 1 2\n", MeshFormat::kObj);
  REQUIRE(quad);
  CHECK(quad.value->data->triangles.size() == 2);
  CHECK(reports(quad.diagnostics, "MESH020"));
}

TEST_CASE("a quadrilateral becomes two triangles along its shorter diagonal, whichever corner is the first") {
  const std::string corners = "v 0 0 0\nv 2 0 0.1\nv 2.1 1 0\nv 0 1 0.1\n";  // 2 to 4 is shorter than 1 to 3
  for (const char* face : {"f 1 2 3 4\n", "f 2 3 4 1\n"}) {
    CAPTURE(face);
    const auto mesh = parse_mesh(corners + face, MeshFormat::kObj);
    REQUIRE(mesh);
    REQUIRE(mesh.value->data->triangles.size() == 2);
    for (const auto& triangle : mesh.value->data->triangles) {
      CHECK(std::ranges::find(triangle, 1) != triangle.end());
      CHECK(std::ranges::find(triangle, 3) != triangle.end());
    }
  }
}

TEST_CASE("every problem of a mesh file has its line and code") {
  const auto obj = [](const char* text) { return parse_mesh(text, MeshFormat::kObj, "a.obj").diagnostics; };
  CHECK(reports(obj("v 0 0 x\nv 1 0\nf 1 2 9\n"), "MESH008", 1));
  CHECK(reports(obj("v 0 0 x\nv 1 0\nf 1 2 9\n"), "MESH008", 2));
  CHECK(reports(obj("v 0 0 0\nv 1 0 0\nf 1 2 9\n"), "MESH010", 3));
  CHECK(reports(obj("v 0 0 0\nf 0 1 1\n"), "MESH010", 2));
  CHECK(reports(obj("v 0 0 0\nf -2 1 1\n"), "MESH010", 2));
  CHECK(reports(obj("v 0 0 0\nf 1 1\n"), "MESH009", 2));
  CHECK(reports(obj("v 0 0 nan\n"), "MESH008", 1));
  CHECK(reports(obj(""), "MESH006"));
  CHECK(reports(obj("v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n"), "MESH006"));
  const auto stl = [](const std::string& text) { return parse_mesh(text, MeshFormat::kStl, "a.stl").diagnostics; };
  CHECK(reports(stl("solid\nfacet\nvertex 0 0 0\nendfacet\n"), "MESH009", 4));
  CHECK(reports(stl("solid\nfacet\nvertex 0 0 0\n"), "MESH007", 3));
  CHECK(reports(stl("hello\n"), "MESH009", 1));
  CHECK(reports(stl("solid\nfacet\nvertex 0 0\n"), "MESH008", 3));
  CHECK(stl(std::string(2000, '\n') + "x\n").size() >= 1);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "v a b c\n";
  CHECK(obj(many.c_str()).size() == 21);
  TriangleMeshData one{{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {{0, 1, 2}}};
  std::string binary = binary_stl(one);
  CHECK(reports(stl(binary.substr(0, binary.size() - 7)), "MESH007"));
  CHECK(reports(stl(binary + "xx"), "MESH021"));
  CHECK(reports(stl(std::string(40, '\0')), "MESH007"));
  one.vertices[1].y = std::numeric_limits<double>::quiet_NaN();
  CHECK(reports(stl(binary_stl(one)), "MESH008"));
}

TEST_CASE("mesh files by name") {
  const fs::path folder = fs::temp_directory_path() / "kansetsu_mesh_test";
  fs::create_directories(folder);
  const fs::path file = folder / "T.OBJ";
  std::ofstream(file) << kTetrahedron;
  CHECK(load_mesh(file));
  CHECK(load_mesh(Mesh{.uri = "package://p/T.OBJ", .path = file.string(), .scale = {2, 2, 2}})
            .value->data->vertices[1]
            .x == 2);
  CHECK(reports(load_mesh(Mesh{.uri = "package://p/T.OBJ"}).diagnostics, "MESH001"));
  CHECK(reports(load_mesh(folder / "none.stl").diagnostics, "MESH001"));
  CHECK(reports(load_mesh(folder / "a.dae").diagnostics, "MESH005"));
  fs::create_directories(folder / "folder.stl");
  CHECK(reports(load_mesh(folder / "folder.stl").diagnostics, "MESH002"));
  fs::remove_all(folder);
}

}  // namespace kansetsu::io
