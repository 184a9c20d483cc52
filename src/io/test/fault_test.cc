#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <new>

#include "io/test/recording_support.h"
#include "kansetsu/io/capture.h"
#include "kansetsu/io/clip.h"
#include "kansetsu/io/mesh.h"
#include "kansetsu/io/scene.h"
#include "kansetsu/io/urdf.h"
#include "no_alloc.h"

/// The n-th allocation fails, for n from the first to the last: an exception, never a crash, and never half a file. Formats with JSON in
/// them are left out: the destructor of nlohmann::json 3.11 allocates, and ends the program where it cannot.
namespace kansetsu::io {
namespace {

namespace fs = std::filesystem;

/// Runs `f` with every n-th allocation failing once, until it gets through.
template <class F, class Check>
void fail_each_allocation(F&& f, Check&& check, std::size_t stride = 1) {
  if (!test::NoAllocScope::counts()) return;  // sanitizers bring their own allocator
  for (std::size_t n = 1; n < 1'000'000; n += stride) {
    bool thrown = false, failed = false;
    {
      const test::FailedAllocation failure(n);
      try {
        f();
      } catch (const std::bad_alloc&) {
        thrown = true;
      }
      failed = failure.happened();
    }
    check(n);
    if (!failed) {
      CHECK_FALSE(thrown);
      return;
    }
  }
  FAIL("it never got through");
}

std::string content(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

const std::string kRobot =
    "<robot name='r'><link name='a'><inertial><mass value='1'/><inertia ixx='1' iyy='1' izz='1' ixy='0' ixz='0' "
    "iyz='0'/>"
    "</inertial><visual><geometry><box size='1 1 1'/></geometry></visual></link><link name='b'/><joint name='j' "
    "type='revolute'>"
    "<parent link='a'/><child link='b'/><limit effort='1' velocity='1' lower='-1' upper='1'/></joint></robot>";

}  // namespace

TEST_CASE("readers survive every allocation that fails") {
  const auto nothing = [](std::size_t) {};
  fail_each_allocation([&] { (void)parse_urdf(kRobot); }, nothing);
  fail_each_allocation([&] { (void)parse_scene("[[figure]]\nname = 'p'\nmodel = 'pendulum'\n"); }, nothing);
  fail_each_allocation([&] { (void)parse_landmarks("[bones]\npelvis = 'Hips'\n"); }, nothing);
  fail_each_allocation([&] { (void)parse_mesh("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", MeshFormat::kObj); }, nothing);
  const Model model = pendulum();
  fail_each_allocation([&] { (void)parse_clip_csv(model, "time,pendulum/q/hinge1\n0,0\n1,1\n"); }, nothing);
}

TEST_CASE("recorders survive every allocation that fails, and leave no half file") {
  const fs::path folder = fs::temp_directory_path() / ("kansetsu_fault_" + std::to_string(std::random_device{}()));
  fs::create_directories(folder);
  Recording recording{.header = {.figures = {{"pendulum", pendulum()}}}};
  for (int i = 0; i < 3; ++i) recording.frames.push_back({.time = 0.1 * i, .states = {State(pendulum())}});
  for (const char* name : {"a.csv", "a.npz"}) {
    CAPTURE(name);
    const fs::path file = folder / name;
    write_recording(recording, file);
    const std::string expected = content(file);
    std::ofstream(file) << "precious";
    int torn = 0, left = 0;
    fail_each_allocation([&] { (void)write_recording(recording, file); },
                         [&](std::size_t) {
                           const std::string text = content(file);
                           torn += text != "precious" && text != expected;
                           left += fs::exists(file.string() + ".kansetsu-part");
                           std::ofstream(file) << "precious";
                         });
    CHECK(torn == 0);
    CHECK(left == 0);
  }
  fs::remove_all(folder);
}

}  // namespace kansetsu::io
