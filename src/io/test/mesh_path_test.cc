#include "io/mesh/mesh_path.h"

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
  const std::string hand = (w.root / "src/arm_description/meshes/hand.stl").string();
  CHECK(finder.find(hand).status == Status::kFound);
  CHECK(finder.find("file://" + hand).status == Status::kFound);
  CHECK(finder.find("package:///beside.stl").status == Status::kFound);
  CHECK(finder.find("no.stl").status == Status::kNoFile);
  CHECK(finder.find("").status == Status::kNoFile);
  CHECK(finder.find("https://example.org/a.stl").status == Status::kRemote);
}

TEST_CASE("packages are found above the model, in the given folders and in the environment") {
  const Workspace w;
  const MeshFinder above(w.model, {});
  CHECK(above.find("package://arm_description/meshes/hand.stl").status == Status::kFound);
  CHECK(above.find("model://other/meshes/foot.stl").status == Status::kOutside);
  CHECK(MeshFinder(w.model, {}, {w.root / "src/"}).find("model://other/meshes/foot.stl").status == Status::kFound);
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

TEST_CASE("files outside of the model's package are not taken, however they are named") {
  const Workspace w;
  const MeshFinder finder(w.model, {});
  const std::string knee = (w.root / "ros/legs/knee.stl").string();
  fs::create_symlink(knee, w.root / "src/arm_description/meshes/link.stl");
  fs::create_directory_symlink(w.root / "ros", w.root / "src/arm_description/ros");
  for (const std::string& name :
       {knee, "file://" + knee, std::string("../../../ros/legs/knee.stl"), std::string("../meshes/link.stl"),
        std::string("../ros/legs/knee.stl"), std::string("package://arm_description/../../ros/legs/knee.stl"),
        std::string("package://etc/passwd"), std::string("/etc/passwd")}) {
    CAPTURE(name);
    CHECK(finder.find(name).status == Status::kOutside);
  }
  CHECK(MeshFinder(w.model, {}, {w.root / "ros"}).find(knee).status == Status::kFound);
  CHECK(MeshFinder(w.model, {}, {w.root / "ro"}).find(knee).status ==
        Status::kOutside);  // no folder, only its beginning
  CHECK(MeshFinder(w.model, {w.root / "ros"}).find(knee).status == Status::kFound);
}

TEST_CASE("the file that is checked is the file that is opened") {
  const Workspace w;
  // For the system, bent/../../secret.stl is meshes/a/b/../../secret.stl; for who reads the name, it is two folders above.
  Workspace::touch(w.root / "src/secret.stl");
  Workspace::touch(w.root / "src/arm_description/meshes/secret.stl");
  fs::create_directories(w.root / "src/arm_description/meshes/a/b");
  fs::create_directory_symlink(w.root / "src/arm_description/meshes/a/b", w.root / "src/arm_description/urdf/bent");
  for (const MeshFinder& finder : {MeshFinder(w.model, {}), MeshFinder(w.model, {w.root / "src/arm_description"})}) {
    for (const char* name : {"bent/../../secret.stl", "package://arm_description/urdf/bent/../../secret.stl"}) {
      const MeshPath found = finder.find(name);
      CHECK(found.path != (w.root / "src/secret.stl").string());
      if (found.status == Status::kFound) CHECK(FileGate(w.model).allows(found.path));
    }
  }
}

TEST_CASE("the package of a model is where its package.xml is, and never all of the disk") {
  const Workspace w;
  CHECK(FileGate(w.model).package() == fs::canonical(w.root / "src/arm_description"));
  Workspace::touch(w.root / "src/package.xml");
  CHECK(FileGate(w.model).package() == fs::canonical(w.root / "src"));
  CHECK(FileGate("/robot.urdf").package() == "/");
  CHECK_FALSE(FileGate("/tmp/robot.urdf").allows("/etc/passwd"));
  CHECK(FileGate("/tmp/robot.urdf").allows("/tmp/robot.stl"));
}
