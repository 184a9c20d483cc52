#include "kansetsu/motion/gait.h"

#include <doctest/doctest.h>

#include <cmath>

#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"
#include "kansetsu/model/human.h"

using namespace kansetsu;

namespace {

/// A figure that glides along x by 1 m/s; feet are down as told.
struct Glide {
  Model model = human28();
  std::vector<SupportHistory> supports;
  Analysis analysis;

  Glide() {
    Clip clip{.name = "glide", .q = Eigen::MatrixXd(model.nq(), 400)};
    for (int k = 0; k < 400; ++k) {
      clip.times.push_back(0.01 * k);
      clip.q.col(k) = neutral(model);
      clip.q(0, k) = 0.01 * k, clip.q(2, k) = 0.88;
    }
    for (const char* foot : {"left", "right"}) {
      SupportHistory s{.name = foot};
      s.support.link = model.link_id(s.name == "left" ? "FootL" : "FootR");
      s.support.corners = {{-0.05, 0.06, -0.08}, {-0.05, -0.06, -0.08}, {0.14, 0.06, -0.08}, {0.14, -0.06, -0.08}};
      // A stride of a second, 0.6 s of it on the ground; the right foot half a second later.
      for (int k = 0; k < 400; ++k) s.touching.push_back((k + (s.name == "left" ? 0 : 50)) % 100 < 60 ? 0b1111u : 0u);
      supports.push_back(s);
    }
    analysis = analyze(model, clip, supports);
  }
};

}  // namespace

TEST_CASE("strides go from landing to landing") {
  const Glide glide;
  const std::vector<GaitEvent> events = gait_events(glide.analysis);
  CHECK(events.front().time == doctest::Approx(0.095));
  CHECK(!events.front().lands);
  for (std::size_t i = 1; i < events.size(); ++i) CHECK(events[i].time >= events[i - 1].time);
  const std::vector<Stride> strides = strides_of(glide.model, glide.analysis, glide.supports);
  REQUIRE(strides.size() == 5);
  for (const Stride& s : strides) {
    CHECK(s.end - s.start == doctest::Approx(1));
    CHECK(s.stance() == doctest::Approx(0.6));
    CHECK(s.length == doctest::Approx(1).epsilon(0.02));
  }
  std::vector<double> values;
  for (const double t : glide.analysis.clip.times) values.push_back(std::sin(2 * M_PI * t));
  const CycleCurve curve = over_cycle(glide.analysis.clip.times, values, strides, strides.front().support);
  CHECK(curve.mean.size() == 101);
  CHECK(curve.deviation[50] < 1e-6);
  CHECK(curve.mean[25] == doctest::Approx(std::sin(2 * M_PI * (strides.front().start + 0.25))).epsilon(0.01));
  CHECK(over_cycle(glide.analysis.clip.times, values, {}, 0).mean.empty());
}

TEST_CASE("joints of a walk are those that bend forward") {
  const Glide glide;
  const std::vector<GaitJoint> joints = gait_joints(glide.model, glide.analysis);
  REQUIRE(joints.size() == 6);
  CHECK(glide.model.dof_names()[std::size_t(joints[0].v)] == "hipL_y");
  CHECK(glide.model.dof_names()[std::size_t(joints[1].v)] == "kneeL_y");
  CHECK(glide.model.dof_names()[std::size_t(joints[5].v)] == "ankleR_y");
}
