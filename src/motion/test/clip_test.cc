#include "kansetsu/motion/clip.h"

#include <doctest/doctest.h>

#include "kansetsu/model/figures.h"

using namespace kansetsu;

namespace {

Clip two_poses(const Model& model) {
  Clip clip{.name = "two", .times = {1, 3}, .q = Eigen::MatrixXd(model.nq(), 2)};
  clip.q.col(0) = neutral(model);
  clip.q.col(1) = integrate(model, neutral(model), Eigen::VectorXd::Constant(model.nv(), 0.4));
  return clip;
}

}  // namespace

TEST_CASE("sample goes the shortest way between frames and stays at the ends") {
  const Model model = human28();
  const Clip clip = two_poses(model);
  REQUIRE(!clip_problem(model, clip));
  CHECK(sample(model, clip, 0) == clip.q.col(0));
  CHECK(sample(model, clip, 9) == clip.q.col(1));
  const Eigen::VectorXd quarter = integrate(model, neutral(model), Eigen::VectorXd::Constant(model.nv(), 0.1));
  CHECK((sample(model, clip, 1.5) - quarter).norm() < 1e-14);  // one exp and one log
}

TEST_CASE("clip_problem names the frame") {
  const Model model = human28();
  Clip clip = two_poses(model);
  clip.times[1] = 1;
  CHECK(clip_problem(model, clip).value().find("frame 1") != std::string::npos);
  clip = two_poses(model);
  clip.q(9, 1) = std::nan("");
  CHECK(clip_problem(model, clip).value().find("frame 1") != std::string::npos);
  clip.q.conservativeResize(5, 2);
  CHECK(clip_problem(model, clip).has_value());
  CHECK(clip_problem(model, Clip{}).has_value());
}
