#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <regex>

#include "data_dir.h"
#include "kansetsu/io/capture.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/motion/retarget.h"

/// Recorded clips of several exporters (KANSETSU_DATA_DIR/mocap).
using namespace kansetsu;
namespace fs = std::filesystem;

namespace {

/// The folder of captured motion.
fs::path mocap() { return test::data_dir() / "mocap"; }

std::vector<fs::path> clips_in(const fs::path& folder) {
  std::vector<fs::path> out;
  for (const auto& entry : fs::recursive_directory_iterator(folder))
    if (io::names_capture(entry.path())) out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

std::string text_of(const fs::path& file) {
  std::ifstream stream(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), {}};
}

/// Farthest that a landmark of one capture is from that of the other; frame k of b is frame k + shift of a.
double apart(const Capture& a, const Capture& b, Landmark landmark, int shift) {
  const auto i = find_bone_point(a, best_table(a), landmark), j = find_bone_point(b, best_table(b), landmark);
  REQUIRE((i && j));
  double worst = 0;
  std::vector<Transform<>> X, Y;
  for (int f = 0; f < b.frames(); ++f) {
    bone_poses(a, f + shift, X);
    bone_poses(b, f, Y);
    worst = std::max(worst, norm(X[std::size_t(i->bone)].p - Y[std::size_t(j->bone)].p));
  }
  return worst;
}

constexpr double kUnitOfCmu = 0.0254 / 0.45;

}  // namespace

TEST_CASE("[data] every clip of the collection is read, in its unit and axes") {
  const fs::path folder = mocap();
  const std::vector<fs::path> clips = clips_in(folder);
  CHECK(clips.size() == 20);  // 15 BVH, 5 AMC
  for (const fs::path& file : clips) {
    const std::string name = file.filename().string();
    CAPTURE(name);
    const Loaded<Capture> read = io::read_capture(file);
    REQUIRE_MESSAGE(read, to_string(read.diagnostics));
    const Capture& c = *read.value;
    const bool body = name != "fairmotion_sinusoidal.bvh";  // four sticks: unit and axes can only be guessed
    CHECK(read.diagnostics.size() == (body ? 0 : 1));
    CHECK(c.frames() > 10);
    if (!body) continue;
    const bool z_up = name.starts_with("makehuman") || name.starts_with("pybvh");
    CHECK((z_up ? c.axes.z.z : c.axes.z.y) == 1);
    const double unit = name.starts_with("makehuman")                           ? 0.1
                        : name.starts_with("pybvh") || name.starts_with("pymo") ? 0.0254
                        : name == "cmu_daz_pirouette.bvh"                       ? 0.01
                        : name == "cmu_131_03_scaled_to_metres.bvh"             ? 1
                                                                                : kUnitOfCmu;
    CHECK(c.unit == doctest::Approx(unit));
    CHECK(begins_at_rest(c) == (file.parent_path().filename() == "bvh_cmu_cgspeed"));
  }
}

TEST_CASE("[data] CMU 02_01 has the same joint centres as BVH and as AMC") {
  const fs::path folder = mocap();
  const Capture bvh = value_or_throw(io::read_capture(folder / "bvh_cmu_cgspeed/cmu_02_01_walk.bvh"));
  const Capture amc = value_or_throw(io::read_capture(folder / "asf_amc/02_01.amc"));
  REQUIRE(bvh.frames() == amc.frames() + 1);
  constexpr double kWritten = 1e-5;  // [m] angles of the BVH file have four decimals
  for (const Landmark l : {Landmark::kPelvis, Landmark::kChest, Landmark::kHipL, Landmark::kKneeL, Landmark::kAnkleL,
                           Landmark::kToeL, Landmark::kHipR, Landmark::kKneeR, Landmark::kAnkleR, Landmark::kToeR}) {
    CAPTURE(to_string(l));
    CHECK(apart(bvh, amc, l, 1) < kWritten);
  }
  // The converter has left out the bones thorax and wrist; without their lengths all joints agree.
  const std::regex dropped("(name (thorax|[lr]wrist)\\s+direction[^\n]*\n\\s*length )[^\\s]+");
  const std::string asf = std::regex_replace(text_of(folder / "asf_amc/02.asf"), dropped, "$010");
  const Capture as_converted = value_or_throw(io::parse_asf_amc(asf, text_of(folder / "asf_amc/02_01.amc")));
  for (int l = 0; l < kLandmarkCount; ++l) {
    CAPTURE(to_string(Landmark(l)));
    CHECK(apart(bvh, as_converted, Landmark(l), 1) < kWritten);
  }
}

TEST_CASE("[data] the same motion in metres, and written by us, is the same motion") {
  const fs::path folder = mocap();
  const fs::path other = folder / "bvh_other_exporters";
  const Capture max = value_or_throw(io::read_capture(other / "cmu_131_03_3dsmax.bvh"));
  Capture metres = value_or_throw(io::read_capture(other / "cmu_131_03_scaled_to_metres.bvh"));
  metres.poses.resize(max.poses.size());  // its end is padded
  for (int l = 0; l < kLandmarkCount; ++l)
    CHECK(apart(max, metres, Landmark(l), 0) < 1e-4);  // offsets have six decimals
  for (const fs::path& file : clips_in(folder)) {
    CAPTURE(file.string());
    const Capture c = value_or_throw(io::read_capture(file));
    const Capture again = value_or_throw(io::parse_bvh(io::to_bvh(c), "again.bvh", {.unit = c.unit}));
    REQUIRE(again.frames() == c.frames());
    const int f = c.frames() / 2;
    const auto X = bone_poses(c, f), Y = bone_poses(again, f);
    for (std::size_t i = 0; i < X.size(); ++i)
      CHECK(norm(X[i].p - Y[std::size_t(*again.find_bone(c.bones[i].name))].p) < 1e-9);  // rounding
  }
}

TEST_CASE("[data] human28 follows every clip of a person") {
  const fs::path folder = mocap();
  const Model model = human28();
  for (const fs::path& file : clips_in(folder)) {
    const std::string name = file.filename().string();
    CAPTURE(name);
    const Capture c = value_or_throw(io::read_capture(file));
    if (c.frames() > 1100) continue;  // long ones take long under sanitizers, and are like the others
    const Loaded<Retargeted> read = retarget(model, c);
    if (name == "fairmotion_sinusoidal.bvh") {
      CHECK(!read);
      continue;
    }
    REQUIRE_MESSAGE(read, to_string(read.diagnostics));
    const Retargeted& r = *read.value;
    CHECK(!clip_problem(model, r.clip));
    CHECK(r.scale == doctest::Approx(1).epsilon(0.15));
    CHECK(r.skate < 0.008);  // deep crouches meet the limits of the ankles
    for (const JointResidual& j : r.residuals) {
      CAPTURE(to_string(j.landmark));
      CHECK(j.rms < 0.08);
    }
    for (int k = 0; k < r.clip.frames(); ++k) {
      CHECK((r.clip.q.col(k) - model.lower_position()).minCoeff() > -1e-9);
      CHECK((model.upper_position() - r.clip.q.col(k)).minCoeff() > -1e-9);
    }
  }
}

TEST_CASE("[data] CMU 02_01 walks: steps alternate, feet stand still, residuals are small") {
  const fs::path folder = mocap();
  const Model model = human28();
  const Retargeted r = value_or_throw(retarget(model, value_or_throw(io::read_capture(folder / "asf_amc/02_01.amc"))));
  CHECK(r.skate < 1e-3);
  CHECK(r.floor_tilt == doctest::Approx(0.015).epsilon(0.1));  // the capture's floor rises by 4 cm over 3 m
  for (const JointResidual& j : r.residuals) CHECK(j.rms < 0.015);
  int single = 0, both = 0, none = 0;
  for (int k = 0; k < r.clip.frames(); ++k) {
    const int down = r.feet[0].down(k) + r.feet[1].down(k);
    single += down == 1, both += down == 2, none += down == 0;
  }
  // Double support is a fifth to a third of a walk at this speed.
  CHECK(none < 10);
  CHECK(both > 50);
  CHECK(single > 150);
}
