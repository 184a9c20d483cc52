#include "kansetsu/motion/clip.h"

#include <doctest/doctest.h>

#include <cmath>
#include <numbers>
#include <random>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/figures.h"

using namespace kansetsu;

namespace {

Clip two_poses(const Model& model) {
  Clip clip{.name = "two", .times = {1, 3}, .q = Eigen::MatrixXd(model.nq(), 2)};
  clip.q.col(0) = neutral(model);
  clip.q.col(1) = integrate(model, neutral(model), Eigen::VectorXd::Constant(model.nv(), 0.4));
  return clip;
}

/// q(t) for evenly or unevenly spaced times.
template <class F>
Clip clip_of(const Model& model, const std::vector<double>& times, F&& q) {
  Clip clip{.name = "made", .times = times, .q = Eigen::MatrixXd(model.nq(), static_cast<long>(times.size()))};
  for (std::size_t k = 0; k < times.size(); ++k) clip.q.col(static_cast<long>(k)) = q(times[k]);
  return clip;
}
std::vector<double> even(int frames, double rate) {
  std::vector<double> times;
  for (int k = 0; k < frames; ++k) times.push_back(k / rate);
  return times;
}
Eigen::VectorXd random_velocity(const Model& model, unsigned seed) {
  std::mt19937_64 rng(seed);
  std::normal_distribution<double> normal;
  Eigen::VectorXd v(model.nv());
  for (double& x : v) x = 0.3 * normal(rng);
  return v;
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
  CHECK_THROWS_WITH_AS(derivatives(model, Clip{}), "derivatives(): the clip has no frames", Error);
}

TEST_CASE("resample and cut keep the motion") {
  const Model model = human28_ball();
  const Eigen::VectorXd v = random_velocity(model, 3);
  // Along one velocity interpolation is exact.
  const auto q = [&](double t) { return integrate(model, neutral(model), t * v); };
  const Clip clip = clip_of(model, {0.5, 0.7, 1.1, 2.0}, q);
  const Clip finer = resample(model, clip, 100);
  CHECK(finer.frames() == 151);
  CHECK(finer.times.back() == doctest::Approx(2));
  for (int k = 0; k < finer.frames(); ++k)
    CHECK(difference(model, finer.q.col(k), q(finer.times[static_cast<std::size_t>(k)])).norm() < 1e-12);  // rounding
  const Clip part = cut(model, clip, 0.6, 1.5);
  CHECK(part.times.front() == 0);
  CHECK(part.times.back() == doctest::Approx(0.9));
  CHECK(part.frames() == 4);  // both ends, and the frames at 0.7 and 1.1
  CHECK(difference(model, part.q.col(3), q(1.5)).norm() < 1e-12);
  CHECK_THROWS_AS(cut(model, clip, 0, 1), Error);
  CHECK_THROWS_AS(resample(model, clip, 0), Error);
  CHECK_THROWS_AS(resample(model, clip, 1e12), Error);
}

TEST_CASE("derivatives: exact along a constant velocity, of second order along any") {
  const Model model = human28_ball();
  const Eigen::VectorXd v = random_velocity(model, 5), w = random_velocity(model, 6);
  const Clip steady =
      clip_of(model, {0, 0.1, 0.15, 0.3, 0.31}, [&](double t) { return integrate(model, neutral(model), t * v); });
  const ClipDerivatives d = derivatives(model, steady);
  for (int k = 0; k < steady.frames(); ++k) {
    CHECK((d.v.col(k) - v).norm() < 1e-12);  // rounding, divided by the step
    CHECK(d.vdot.col(k).norm() < 1e-9);      // … twice
  }
  // q = exp(sin t·v)·exp(cos 2t·w): v by differences that are far finer, halving the step quarters the error.
  const auto q = [&](double t) {
    return integrate(model, integrate(model, neutral(model), std::sin(t) * v), std::cos(2 * t) * w);
  };
  const auto velocity = [&](double t) {
    return Eigen::VectorXd((difference(model, q(t), q(t + 1e-5)) - difference(model, q(t), q(t - 1e-5))) / 2e-5);
  };
  const auto errors = [&](double h) {
    const Clip clip = clip_of(model, even(41, 1 / h), [&](double t) { return q(t + 0.7); });
    const ClipDerivatives e = derivatives(model, clip);
    const int k = 20;
    const double t = 0.7 + k * h;
    const Eigen::VectorXd vdot = (velocity(t + 1e-4) - velocity(t - 1e-4)) / 2e-4;
    return std::pair{(e.v.col(k) - velocity(t)).norm() + (e.v.col(0) - velocity(0.7)).norm(),
                     (e.vdot.col(k) - vdot).norm()};
  };
  // The middle of both clips is at different times: compare orders within a factor.
  const auto coarse = errors(0.02), fine = errors(0.005);
  CHECK(fine.first < coarse.first / 8);
  CHECK(fine.second < coarse.second / 8);
  CHECK(coarse.second < 1e-2);
  CHECK_THROWS_AS(derivatives(model, two_poses(model)), Error);
}

TEST_CASE("low_pass: −3 dB at the cut-off, no delay, nothing lost below") {
  const Model model = human28();
  constexpr double kRate = 120, kCutoff = 6;
  const int joint = model.coordinates(model.joint_id("kneeL_y")).q;
  const auto gain = [&](double frequency) {
    const double w = 2 * std::numbers::pi * frequency;
    const Clip clip = clip_of(model, even(1201, kRate), [&](double t) {
      Eigen::VectorXd q = neutral(model);
      q[joint] = std::sin(w * t);
      return q;
    });
    const Clip out = low_pass(model, clip, kCutoff);
    // In phase and out of phase, away from the ends.
    double s = 0, c = 0, n = 0;
    for (int k = 300; k < 900; ++k) {
      const double t = clip.times[static_cast<std::size_t>(k)], y = out.q(joint, k);
      s += y * std::sin(w * t), c += y * std::cos(w * t), n += std::sin(w * t) * std::sin(w * t);
    }
    CHECK(std::abs(c / n) < 1e-6);  // zero phase; the ends have died away
    return s / n;
  };
  CHECK(gain(6) ==
        doctest::Approx(std::sqrt(0.5)).epsilon(1e-4));  // the window is not exactly whole periods of the filter's tail
  CHECK(gain(1) > 0.999);
  CHECK(gain(30) < 0.002);
  const Clip still = clip_of(model, even(50, kRate),
                             [&](double) { return integrate(model, neutral(model), random_velocity(model, 1)); });
  CHECK((low_pass(model, still, kCutoff).q - still.q).norm() < 1e-12);  // rounding
  // A straight line goes through unchanged, ends included: that is what the reflection is for.
  const Clip line = clip_of(model, even(200, kRate), [&](double t) {
    Eigen::VectorXd q = neutral(model);
    q[0] = 1.4 * t;
    return q;
  });
  CHECK((low_pass(model, line, kCutoff).q - line.q).cwiseAbs().maxCoeff() < 1e-3);
}

TEST_CASE("low_pass: quaternions that change sign between frames are one motion") {
  const Model model = human28();
  Clip clip = clip_of(model, even(100, 100), [&](double t) {
    Eigen::VectorXd v = Eigen::VectorXd::Zero(model.nv());
    v[2] = 0.5 * t;
    return integrate(model, neutral(model), v);
  });
  const Clip smooth = low_pass(model, clip, 5);
  for (int k = 0; k < 100; k += 3) clip.q.block<4, 1>(3, k) *= -1;
  const Clip again = low_pass(model, clip, 5);
  for (int k = 0; k < 100; ++k) CHECK(difference(model, smooth.q.col(k), again.q.col(k)).norm() < 1e-12);
  CHECK(!clip_problem(model, again));
  CHECK_THROWS_AS(low_pass(model, clip, 50), Error);
  clip.times[7] += 0.004;
  CHECK_THROWS_AS(low_pass(model, clip, 5), Error);
}

TEST_CASE("mirror: every link is where a mirror shows its counterpart") {
  for (const Model& model : {human28(), human28_ball()}) {
    CAPTURE(model.name());
    std::mt19937_64 rng(9);
    Clip clip{.name = "any", .times = {0, 1, 2}, .q = Eigen::MatrixXd(model.nq(), 3)};
    for (int k = 0; k < 3; ++k) clip.q.col(k) = random_configuration(model, rng);
    const Clip image = mirror(model, clip);
    for (int k = 0; k < 3; ++k) {
      const LinkPoses a = fk(model, clip.q.col(k)), b = fk(model, image.q.col(k));
      for (const auto& [left, right] :
           {std::pair{"FootL", "FootR"}, {"LowerArmR", "LowerArmL"}, {"Head", "Head"}, {"Body", "Body"}}) {
        const Transform<>&x = a[model.link_id(left)], &y = b[model.link_id(right)];
        CHECK(norm(Vec3<>{x.p.x, -x.p.y, x.p.z} - y.p) < 1e-12);  // rounding along the chain
        CHECK(std::abs(x.R.x.x - y.R.x.x) + std::abs(x.R.x.y + y.R.x.y) + std::abs(x.R.z.y + y.R.z.y) < 1e-12);
      }
    }
    CHECK((mirror(model, image).q - clip.q).cwiseAbs().maxCoeff() < 1e-14);
  }
  ModelBuilder lopsided("lopsided");
  lopsided.base(Base::kFree).link({.name = "trunk", .inertial = Inertial{1, {}, Sym3<>::diagonal(1, 1, 1)}});
  for (const char* side : {"left", "right"}) {
    const std::string name(side);
    lopsided.link({.name = name + "_arm", .inertial = Inertial{1, {}, Sym3<>::diagonal(1, 1, 1)}});
    lopsided.joint({.name = name + "_shoulder",
                    .type = JointType::kRevolute,
                    .parent = "trunk",
                    .child = name + "_arm",
                    .axis = name == "left" ? Vec3<>{1, 0, 0} : Vec3<>{0, 0, 1}});
  }
  const Model model = lopsided.build();
  CHECK_THROWS_AS(mirror(model, clip_of(model, {0, 1}, [&](double) { return neutral(model); })), Error);
}

TEST_CASE("blend: begins as the first, ends as the second, without a jump") {
  const Model model = human28();
  const auto walk = [&](double speed, double turn) {
    return [&model, speed, turn](double t) {
      Eigen::VectorXd about = Eigen::VectorXd::Zero(model.nv()), ahead = about;
      about[2] = turn;
      ahead[3] = speed * t;
      Eigen::VectorXd q = integrate(model, integrate(model, neutral(model), about), ahead);
      q[9] = 0.3 * std::sin(6 * t);
      return q;
    };
  };
  const Clip first = clip_of(model, even(101, 50), walk(1, 0)), second = clip_of(model, even(151, 75), walk(0.5, 1));
  const Clip both = blend(model, first, second, {.time = 0.5});
  CHECK(both.duration() == doctest::Approx(3.5));
  CHECK(!clip_problem(model, both));
  CHECK(both.q.col(10) == first.q.col(10));
  CHECK(both.q(9, both.frames() - 1) == doctest::Approx(second.q(9, 150)));
  for (int k = 1; k < both.frames(); ++k) CHECK(difference(model, both.q.col(k - 1), both.q.col(k)).norm() < 0.1);
  // The second goes on where the first is, in its heading.
  CHECK(both.q(0, both.frames() - 1) == doctest::Approx(1.5 + 1.0).epsilon(0.01));
  CHECK(std::abs(both.q(1, both.frames() - 1)) < 1e-9);
  CHECK_THROWS_AS(blend(model, first, second, {.time = 5}), Error);
}
