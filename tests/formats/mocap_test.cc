#include <doctest/doctest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "kansetsu/io/capture.h"

using namespace kansetsu;
namespace fs = std::filesystem;

namespace {

/// The folder of captured motion; none where it is not at hand.
std::optional<fs::path> mocap() {
  const char* folder = std::getenv("KANSETSU_DATA_DIR");
  if (!folder || !fs::exists(fs::path(folder) / "mocap")) {
    MESSAGE("skipped: KANSETSU_DATA_DIR is not set");
    return std::nullopt;
  }
  return fs::path(folder) / "mocap";
}

std::vector<fs::path> clips_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (io::names_capture(entry.path())) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

}  // namespace

TEST_CASE("every clip of the collection is read") {
  const auto folder = mocap();
  if (!folder) return;
  const std::vector<fs::path> clips = clips_in(*folder);
  CHECK(clips.size() == 20);  // 15 BVH and 5 AMC
  for (const fs::path& file : clips) {
    CAPTURE(file.string());
    const Loaded<Capture> read = io::read_capture(file);
    REQUIRE_MESSAGE(read, to_string(read.diagnostics));
    const Capture& c = *read.value;
    // The one clip without a body is the one whose unit has to be guessed.
    CHECK(read.diagnostics.size() == (file.filename() == "fairmotion_sinusoidal.bvh" ? 1 : 0));
    CHECK(c.frames() > 10);
    MESSAGE(file.filename().string(), " ", c.frames(), " frames, ", c.bones.size(), " bones, unit ", c.unit, ", up ",
            c.axes.z.x, c.axes.z.y, c.axes.z.z, " left ", c.axes.y.x, c.axes.y.y, c.axes.y.z, " table ",
            best_table(c).name, " rest ", begins_at_rest(c));
  }
}

TEST_CASE("CMU 02_01 as BVH and as AMC has the same joint centres") {
  const auto folder = mocap();
  if (!folder) return;
  const Capture bvh = value_or_throw(io::read_capture(*folder / "bvh_cmu_cgspeed/cmu_02_01_walk.bvh"));
  const Capture amc = value_or_throw(io::read_capture(*folder / "asf_amc/02_01.amc"));
  REQUIRE(bvh.frames() == amc.frames() + 1);
  CHECK(bvh.unit == doctest::Approx(amc.unit));
  for (int l = 0; l < kLandmarkCount; ++l) {
    const auto a = find_bone_point(bvh, best_table(bvh), Landmark(l)),
               b = find_bone_point(amc, best_table(amc), Landmark(l));
    double worst = 0;
    if (a && b)
      for (int f = 0; f < amc.frames(); ++f)
        worst =
            std::max(worst, norm(bone_poses(bvh, f + 1)[size_t(a->bone)].p - bone_poses(amc, f)[size_t(b->bone)].p));
    MESSAGE(to_string(Landmark(l)), " ", worst);
  }
}
