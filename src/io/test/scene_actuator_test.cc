#include <doctest/doctest.h>

#include "kansetsu/io/mjcf.h"
#include "kansetsu/io/scene.h"

using namespace kansetsu;

namespace {

constexpr const char* kScene = R"(
[[figure]]
name = "p"
model = "pendulum"

[[figure.tendon]]
name = "rope"
limit = [0.2, inf]
[[figure.tendon.part]]
kind = "point"
p = [0.0, 0.0, 1.0]
[[figure.tendon.part]]
kind = "cylinder"
radius = 0.1
length = 0.3
side = {p = [0.0, 0.3, 0.0]}
side_is = "half"
[[figure.tendon.part]]
kind = "point"
link = "rod1"
p = [0.1, 0.0, -0.2]
[figure.tendon.part.when]
joint = "hinge1"
range = [-0.5, 0.5]
[[figure.tendon.part]]
kind = "point"
link = "rod1"
[[figure.tendon.part.shift]]
joint = "hinge1"
direction = [0.0, 0.0, 1.0]
function = "spline"
x = [-1.0, 0.0, 2.0]
y = [0.1, 0.0, 0.05]

[[figure.actuator]]
name = "muscle"
acts_on = "tendon"
target = "rope"
gain = "hill"
bias = "hill"
activation = "muscle"
activation_numbers = [0.01, 0.04]
[figure.actuator.hill]
curves = "millard"
force = 800.0
fibre_length = 0.1
tendon_length = 0.5
pennation = 0.2
)";

std::string told(const Loaded<SceneDescription>& scene) { return to_string(scene.diagnostics); }

}  // namespace

TEST_CASE(
    "scenes have Hill muscles, points that move and come and go, and cylinders with ends; writing loses nothing") {
  const Loaded<SceneDescription> scene = io::parse_scene(kScene, "muscle.toml");
  CAPTURE(told(scene));
  REQUIRE(scene);
  REQUIRE(scene.value->figures.size() == 1);
  const ActuationDescription& a = scene.value->figures[0].actuation;
  REQUIRE(a.tendons.size() == 1);
  CHECK(a.tendons[0].limit == Interval{0.2, kInfinity});  // bounded on one side only
  REQUIRE(a.tendons[0].path.size() == 4);
  CHECK(a.tendons[0].path[1].length == 0.3);
  CHECK(a.tendons[0].path[1].side_is == TendonSide::kHalf);
  CHECK(a.tendons[0].path[2].when->range == Interval{-0.5, 0.5});
  REQUIRE(a.tendons[0].path[3].shifts.size() == 1);
  CHECK(a.tendons[0].path[3].shifts[0].function(0) == doctest::Approx(0));
  REQUIRE(a.actuators.size() == 1);
  CHECK(a.actuators[0].hill.curves == HillCurves::kMillard);
  CHECK(a.actuators[0].hill.pennation == 0.2);
  const Loaded<std::string> text = io::to_scene(*scene.value);
  REQUIRE(text);
  const Loaded<SceneDescription> again = io::parse_scene(*text.value, "again.toml");
  CAPTURE(told(again));
  REQUIRE(again);
  CHECK(again.value->figures[0].actuation == a);
  const Loaded<std::string> mjcf = io::to_mjcf(*scene.value);
  const std::string lost = to_string(mjcf.diagnostics);
  for (const char* words :
       {"conditional points", "moving points", "ends of wrapping cylinders", "halves of wrap objects"}) {
    CAPTURE(words);
    CHECK(lost.find(words) != std::string::npos);
  }
}

TEST_CASE("a shift whose points do not rise, and a muscle without a force, are told") {
  std::string text = kScene;
  text.replace(text.find("[-1.0, 0.0, 2.0]"), 16, "[-1.0, 3.0, 2.0]");
  CHECK(told(io::parse_scene(text, "x.toml")).find("x does not rise from 3 to 2") != std::string::npos);
  text = kScene;
  text.replace(text.find("force = 800.0"), 13, "force = 0.0");
  CHECK(told(io::parse_scene(text, "x.toml")).find("force of the muscle is 0") != std::string::npos);
}
