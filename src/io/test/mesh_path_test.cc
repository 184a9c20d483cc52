#include "io/mesh_path.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <fstream>

using namespace kansetsu::io;
using Status = MeshPath::Status;
namespace fs = std::filesystem;

namespace {

/// A workspace with two packages, and a model inside the first.
struct Workspace {
  fs::path root = fs::temp_directory_path() / "kansetsu_mesh_test";
  fs::path model = root / "src/arm_description/urdf/arm.urdf";

  Workspace() {
    fs::remove_all(root);
    touch(model);
    touch(root / "src/arm_description/meshes/hand.stl");
    touch(root / "src/arm_description/urdf/beside.stl");
    touch(root / "src/other/meshes/foot.stl");
    touch(root / "ros/legs/knee.stl");
    touch(root / "install/share/heads/nose.stl");
  }
  ~Workspace() { fs::remove_all(root); }

  static void touch(const fs::path& file) {
    fs::create_directories(file.parent_path());
    std::ofstream(file) << "x";
  }
};

}  // namespace

TEST_CASE("mesh files are found by relative, absolute and file:// names") {
  const Workspace w;
  const MeshFinder finder(w.model, {});
  CHECK(finder.find("beside.stl").path == (w.root / "src/arm_description/urdf/beside.stl").string());
  CHECK(finder.find("../meshes/hand.stl").path == (w.root / "src/arm_description/meshes/hand.stl").string());
  CHECK(finder.find((w.root / "ros/legs/knee.stl").string()).status == Status::kFound);
  CHECK(finder.find("file://" + (w.root / "ros/legs/knee.stl").string()).status == Status::kFound);
  CHECK(finder.find("package:///beside.stl").status == Status::kFound);
  CHECK(finder.find("no.stl").status == Status::kNoFile);
  CHECK(finder.find("").status == Status::kNoFile);
  CHECK(finder.find("https://example.org/a.stl").status == Status::kRemote);
}

TEST_CASE("packages are found above the model, in the given folders and in the environment") {
  const Workspace w;
  const MeshFinder above(w.model, {});
  CHECK(above.find("package://arm_description/meshes/hand.stl").status == Status::kFound);
  CHECK(above.find("model://other/meshes/foot.stl").status == Status::kFound);
  CHECK(above.find("package://arm_description/no.stl").status == Status::kNoFile);
  CHECK(above.find("package://legs/knee.stl").status == Status::kNoPackage);
  CHECK(above.find("package://legs/knee.stl").package == "legs");

  CHECK(MeshFinder(w.model, {w.root / "ros"}).find("package://legs/knee.stl").status == Status::kFound);
  CHECK(MeshFinder(w.model, {w.root / "ros/legs/"}).find("package://legs/knee.stl").status == Status::kFound);

  setenv("ROS_PACKAGE_PATH", ("/nowhere::" + (w.root / "ros").string()).c_str(), 1);
  setenv("AMENT_PREFIX_PATH", (w.root / "install").c_str(), 1);
  const MeshFinder environment(w.model, {});
  CHECK(environment.find("package://legs/knee.stl").status == Status::kFound);
  CHECK(environment.find("package://heads/nose.stl").status == Status::kFound);
  unsetenv("ROS_PACKAGE_PATH");
  unsetenv("AMENT_PREFIX_PATH");
}
