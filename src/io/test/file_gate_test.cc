#include "io/file_gate.h"

#include <doctest/doctest.h>

#include <fstream>
#include <random>

namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

/// home/private/x.stl, and home/package/robots/ with a link to home/private.
struct Home {
  fs::path path =
      fs::canonical(fs::temp_directory_path()) / ("kansetsu_gate_" + std::to_string(std::random_device{}()));
  fs::path robots = path / "package/robots", secret = path / "private/x.stl";
  Home() {
    fs::create_directories(robots);
    fs::create_directories(secret.parent_path());
    for (const fs::path& file : {secret, robots / "a.stl", path / "package/b.stl"}) std::ofstream(file) << "x";
    fs::create_directory_symlink(secret.parent_path(), robots / "link");
  }
  ~Home() { fs::remove_all(path); }
  Home(const Home&) = delete;
  Home& operator=(const Home&) = delete;
};

}  // namespace

TEST_CASE("a gate lets through what is in the package, by whatever name") {
  const Home home;
  const FileGate gate(home.robots / "m.urdf");
  CHECK(gate.package() == home.path / "package");
  CHECK(gate.allows(home.robots / "a.stl"));
  CHECK(gate.allows(home.robots / "../b.stl"));
  CHECK(gate.allows(home.robots / "missing/../../b.stl"));
  CHECK_FALSE(gate.allows(home.secret));
  CHECK_FALSE(gate.allows(home.robots / "../../private/x.stl"));
  CHECK_FALSE(gate.allows(home.robots / "link/x.stl"));
  CHECK_FALSE(gate.allows(home.robots / "link/../package2/x.stl"));
  CHECK_FALSE(gate.allows(home.path / "package"));  // no file of it
  CHECK(FileGate(home.robots / "m.urdf", {home.secret.parent_path() / ""}).allows(home.secret));
}

TEST_CASE("a name with a zero in it opens another file than it says") {
  const Home home;
  const std::string name = home.secret.string() + std::string(1, '\0') + "/../../package/robots/a.stl";
  CHECK_FALSE(FileGate(home.robots / "m.urdf").allows(fs::path(name)));
}

TEST_CASE("what a file of the package names is bound to the same package") {
  const Home home;
  const fs::path above = home.path / "package/m.urdf";  // alone, its package would be home
  CHECK(FileGate(above).allows(home.secret));
  const FileGate outer(home.robots / "s.toml");
  CHECK_FALSE(FileGate(above, {}, outer.package()).allows(home.secret));
  CHECK(FileGate(above, {}, outer.package()).allows(home.robots / "a.stl"));
  // One of a folder that the user allowed has a package of its own.
  const FileGate elsewhere(home.secret, {}, outer.package());
  CHECK(elsewhere.package() == home.path);
}

TEST_CASE("the folder of a package.xml is the package") {
  const Home home;
  std::ofstream(home.robots / "package.xml") << "<package/>";
  const FileGate gate(home.robots / "m.urdf");
  CHECK(gate.package() == home.robots);
  CHECK_FALSE(gate.allows(home.path / "package/b.stl"));
}

TEST_CASE("the folder to allow is named whole, however long: it is there to be copied") {
  const Home home;
  const FileGate gate(home.robots / "m.urdf");
  const fs::path folder = home.path / std::string(200, 'x');
  CHECK(gate.hint(folder / "a.stl").ends_with(" '" + folder.string() + "'"));
}

}  // namespace kansetsu::io
