#include "io/recording/recording_meshes.h"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "io/mesh/mesh_content.h"
#include "io/recording/crc32.h"
#include "io/recording/foxglove.h"
#include "io/recording/recording_scene.h"

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

const std::string kTriangle =
    "solid t\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\nendsolid\n";

Model with_visuals(std::vector<LinkShape> visuals) {
  ModelDescription model;
  model.name = "robot";
  model.links = {{.name = "base",
                  .inertial = Inertial{.mass = 1, .inertia = Sym3<>::diagonal(1, 1, 1)},
                  .visuals = std::move(visuals)}};
  return value_or_throw(Model::build(std::move(model)));
}

LinkShape shown(std::string uri, std::string path = {}) {
  return {.shape = Mesh{std::move(uri), std::move(path), {1, 1, 1}}};
}

std::string chunk(const std::string& type, const std::string& data) {
  const auto number = [](std::uint32_t n) {
    return std::string{char(n >> 24), char(n >> 16 & 255), char(n >> 8 & 255), char(n & 255)};
  };
  return number(std::uint32_t(data.size())) + type + data + number(crc32(type + data));
}
std::string png(char width_high, const std::string& more = {}) {
  const std::string head = std::string{0, 0, width_high, 1, 0, 0, 0, 1} + std::string("\x08\x02\x00\x00\x00", 5);
  return "\x89PNG\r\n\x1a\n" + chunk("IHDR", head) + chunk("IDAT", "pixels") + more + chunk("IEND", "");
}

}  // namespace

TEST_CASE("a mesh file is taken once, by whatever names it goes") {
  const fs::path folder = fs::temp_directory_path() / "kansetsu_mesh_names";
  fs::create_directories(folder / "x");
  std::ofstream(folder / "a.stl") << kTriangle;
  fs::remove(folder / "link.stl");
  fs::create_symlink(folder / "a.stl", folder / "link.stl");
  const Model model =
      with_visuals({shown("a", (folder / "a.stl").string()), shown("b", (folder / "x/../a.stl").string()),
                    shown("c", (folder / "link.stl").string()), shown("a", (folder / "a.stl").string())});
  std::vector<Diagnostic> told;
  const MeshFiles files = collect_meshes({.figures = {{"r", model}}}, told);
  CHECK(told.empty());
  REQUIRE(files.all().size() == 1);
  for (const LinkShape& shape : model.link(LinkId(0)).visuals)
    CHECK(files.find(std::get<Mesh>(shape.shape), 0) == &files.all()[0]);
  fs::remove_all(folder);
}

TEST_CASE("many names of one attachment cost neither bytes nor much time") {
  constexpr int kNames = 30'000;
  RecordingHeader header;
  std::vector<LinkShape> visuals;
  const auto data = std::make_shared<const std::string>(kTriangle);
  for (int i = 0; i < kNames; ++i) {
    visuals.push_back(shown(std::to_string(i)));
    visuals.back().material = Material{.name = std::to_string(i)};
    header.meshes.push_back({0, std::to_string(i), ".stl", data});
  }
  header.figures = {{"r", with_visuals(std::move(visuals))}};
  const auto start = std::chrono::steady_clock::now();
  std::vector<Diagnostic> told;
  const MeshFiles files = collect_meshes(header, told);
  CHECK(files.all().size() == 1);
  CHECK(scene_json(header, files).find("mesh/0.stl") != std::string::npos);
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  CHECK(seconds < 20);  // a tenth of a second on an idle machine; a search from name to name took minutes
}

TEST_CASE("meshes beyond the budget are left out with a warning") {
  RecordingHeader header;
  std::vector<LinkShape> visuals;
  for (int i = 0; i < 3; ++i) {
    visuals.push_back(shown(std::to_string(i)));
    header.meshes.push_back({0, std::to_string(i), ".stl", std::make_shared<const std::string>(kTriangle)});
  }
  header.figures = {{"r", with_visuals(std::move(visuals))}};
  std::vector<Diagnostic> told;
  CHECK(collect_meshes(header, told, 2 * kTriangle.size()).all().size() == 2);
  REQUIRE(told.size() == 1);
  CHECK(told[0].code == "REC022");

  told.clear();
  const MeshFiles files = collect_meshes(header, told);
  REQUIRE(told.empty());
  const std::string all = foxglove::shapes(header, files, 0, told, 3 * kTriangle.size());
  CHECK(told.empty());
  const std::string some = foxglove::shapes(header, files, 0, told, 3 * kTriangle.size() - 1);
  REQUIRE(told.size() == 1);
  CHECK(told[0].code == "REC022");
  CHECK(all.size() > some.size() + kTriangle.size());
}

TEST_CASE("a picture is what its chunks say, and no more") {
  CHECK(mesh_content(png(0), ".png") == png(0));
  CHECK(mesh_content(png(0) + "a secret behind it", ".png") == png(0));
  CHECK_FALSE(mesh_content("\x89PNG\r\n\x1a\n a secret behind the first bytes", ".png"));
  CHECK_FALSE(mesh_content("a secret", ".png"));
  std::string damaged = png(0);
  damaged[40] ^= 1;
  CHECK_FALSE(mesh_content(damaged, ".png"));
  CHECK_FALSE(mesh_content(png(0).substr(0, png(0).size() - 12), ".png"));  // cut off
  CHECK(mesh_content(png(0x3f), ".png"));                                   // 16129 pixels wide
  CHECK_FALSE(mesh_content(png(0x40), ".png"));                             // 16385
  CHECK(mesh_content(png(0, chunk("tEXt", "Comment")), ".png") == png(0, chunk("tEXt", "Comment")));
  CHECK_FALSE(mesh_content(png(0, chunk("IHDR", std::string(13, '\1'))), ".png"));  // a second header
}

}  // namespace kansetsu::io
