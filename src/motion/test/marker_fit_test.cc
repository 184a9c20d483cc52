#include "kansetsu/motion/marker_fit.h"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <random>

#include "kansetsu/base/error.h"
#include "kansetsu/kinematics/kinematics.h"
#include "kansetsu/model/builder.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/edit.h"
#include "kansetsu/model/human.h"
#include "motion/marker_solver.h"

using namespace kansetsu;

namespace {

/// Four markers on each link with mass, somewhere within 10 cm.
MarkerFigure marked(const Model& model, std::mt19937& random) {
  std::uniform_real_distribution<double> place(-0.1, 0.1);
  ModelDescription description = model.description();
  std::vector<std::string> names;
  for (const LinkDescription& link : model.description().links) {
    if (!link.inertial) continue;
    for (int i = 0; i < 4; ++i) {
      names.push_back(link.name + "." + std::to_string(i));
      description.frames.push_back({names.back(), link.name, {.p = {place(random), place(random), place(random)}}});
    }
  }
  MarkerFigure out{value_or_throw(Model::build(std::move(description))), std::nullopt, {}};
  REQUIRE(place_markers(out, names).empty());
  return out;
}

/// A figure that turns and swings all its joints, and what cameras see of it.
struct Scene {
  Clip clip;
  Markers seen;
};
Scene moving(const MarkerFigure& figure, int frames) {
  Scene out;
  const Model& model = figure.model;
  out.clip.q.resize(model.nq(), frames);
  for (const ModelMarker& m : figure.markers) out.seen.names.push_back(m.name);
  for (int k = 0; k < frames; ++k) {
    const double t = 0.01 * k;
    Eigen::VectorXd v(model.nv());
    for (int i = 0; i < model.nv(); ++i) v[i] = 0.3 * std::sin(2 * t + i);
    v[2] += 2.5 + t;  // heading
    const Eigen::VectorXd q = integrate(model, neutral(model), v);
    out.clip.times.push_back(t), out.seen.times.push_back(t);
    out.clip.q.col(k) = q;
    const LinkPoses poses = fk(model, q);
    for (const ModelMarker& m : figure.markers) out.seen.points.push_back(poses[m.link] * m.p_L);
  }
  return out;
}

}  // namespace

TEST_CASE("the curvature of markers is that of their squared distances") {
  std::mt19937 random(1);
  const MarkerFigure figure = marked(human(), random);
  const Scene scene = moving(figure, 30);
  MarkerSolver solver(figure);
  std::vector<Vec3<>> seen(scene.seen.points.begin(), scene.seen.points.begin() + long(figure.markers.size()));
  const Eigen::VectorXd x = scene.clip.q.col(29);
  solver.configure(x);
  solver.expand(seen);
  // Gradients by differences, curvature by Jacobians of points.
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(solver.unknowns(), solver.unknowns()), J(3, solver.unknowns());
  for (std::size_t i = 0; i < figure.markers.size(); ++i) {
    solver.point_jacobian(figure.markers[i].link, solver.poses()[figure.markers[i].link] * figure.markers[i].p_L, J);
    H += J.transpose() * J;
  }
  const Eigen::MatrixXd lower = solver.curvature().triangularView<Eigen::Lower>(),
                        expected = H.triangularView<Eigen::Lower>();
  CHECK((lower - expected).cwiseAbs().maxCoeff() < 1e-9);
  const Eigen::VectorXd g = solver.gradient();
  for (int i = 0; i < solver.unknowns(); ++i) {
    Eigen::VectorXd step = Eigen::VectorXd::Zero(solver.unknowns());
    constexpr double h = 1e-5;
    step[i] = h;
    Eigen::VectorXd a = x, b = x;
    solver.advance(a, step), solver.advance(b, -step);
    solver.configure(a);
    const double high = solver.cost(seen);
    solver.configure(b);
    CHECK((high - solver.cost(seen)) / (2 * h) == doctest::Approx(g[i]).epsilon(1e-4));
  }
}

TEST_CASE("a motion comes back from its markers, whatever threads there are") {
  std::mt19937 random(2);
  const MarkerFigure figure = marked(human(), random);
  const Scene scene = moving(figure, 600);
  const MarkerMotion one = fit_motion(figure, scene.seen, 1), three = fit_motion(figure, scene.seen, 3);
  CHECK(one.rms < 1e-6);
  CHECK(one.clip.q == three.clip.q);
  for (const int k : {0, 300, 599})
    CHECK(difference(figure.model, one.clip.q.col(k), scene.clip.q.col(k)).cwiseAbs().maxCoeff() < 1e-4);
  CHECK(one.markers.size() == figure.markers.size());
}

TEST_CASE("markers that are missing or jump do not matter") {
  std::mt19937 random(3);
  const MarkerFigure figure = marked(human(), random);
  Scene scene = moving(figure, 200);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  const std::size_t count = figure.markers.size();
  for (std::size_t k = 20; k < 60; ++k) scene.seen.points[k * count + 5] = {kNaN, kNaN, kNaN};
  for (std::size_t k = 80; k < 90; ++k) scene.seen.points[k * count + 7].x += 1;
  const CleanMarkers clean = clean_markers(scene.seen, Mat3<>::identity());
  REQUIRE(clean.jumps.size() == 1);
  CHECK(clean.jumps[0].marker == 7);
  CHECK(clean.jumps[0].first == 80);
  CHECK(clean.jumps[0].last == 89);
  const MarkerMotion motion = fit_motion(figure, clean.markers, 1);
  CHECK(motion.rms < 1e-6);
  CHECK(motion.markers[5].frames == 160);
  CHECK(motion.markers[7].frames == 190);
}

TEST_CASE("sizes of segments come back from markers") {
  std::mt19937 random(4);
  const MarkerFigure figure = marked(human(), random);
  std::vector<double> lengths;
  for (int i = 0; i < figure.model.link_count(); ++i) {
    const std::string& name = figure.model.link(LinkId(i)).name;
    const bool thigh = name.starts_with("thigh") || name.starts_with("knee");
    lengths.push_back(thigh ? 1.15 : name.starts_with("upper_arm") || name.starts_with("elbow") ? 1.0 : 1.08);
  }
  MarkerFigure larger{scale_links(figure.model, lengths, 1), std::nullopt, {}};
  std::vector<std::string> names;
  for (const ModelMarker& m : figure.markers) names.push_back(m.name);
  place_markers(larger, names);
  const Scene scene = moving(larger, 200);
  const ScaledFigure fitted = fit_figure(figure, scene.seen, 80);
  CHECK(fitted.figure.model.mass() == doctest::Approx(80));
  CHECK(fitted.rms < 0.001);
  for (const SegmentScale& s : fitted.scales) {
    CAPTURE(s.link);
    const double expected = s.link.starts_with("thigh") ? 1.15 : s.link.starts_with("upper_arm") ? 1.0 : 1.08;
    // Sizes are held near that of the body, and markers near their places: a little less than what is true.
    CHECK(s.scale == doctest::Approx(expected).epsilon(0.03));
  }
}

TEST_CASE("left and right that were exchanged are found") {
  std::mt19937 random(6);
  const MarkerFigure figure = marked(human(), random);
  const Scene scene = moving(figure, 40);
  CHECK(!find_exchanged_sides(figure, scene.seen));
  const auto exchanged = [&](const char* part) {
    Markers seen = scene.seen;
    int count = 0;
    for (std::string& name : seen.names) {
      if (name.find(part) == std::string::npos) continue;
      for (const auto& [mark, other] : {std::pair{"_l.", "_r."}, {"_r.", "_l."}})
        if (const std::size_t at = name.find(mark); at != std::string::npos) {
          name.replace(at, 3, other);
          ++count;
          break;
        }
    }
    const std::optional<ExchangedSides> found = find_exchanged_sides(figure, seen);
    REQUIRE(found);
    CHECK(int(found->markers.size()) == count);
    for (const std::string& name : found->markers) CHECK(name.find(part) != std::string::npos);
    CHECK(found->rms_exchanged < 1e-3);  // the very places of the markers
    CHECK(found->rms > 0.02);
  };
  exchanged("_");
  exchanged("hand");
  // Distances that hardly fall are no reason: noise of 3 cm on all markers.
  Markers noisy = scene.seen;
  std::normal_distribution<double> noise(0, 0.03);
  for (Vec3<>& p : noisy.points) p += Vec3<>{noise(random), noise(random), noise(random)};
  CHECK(!find_exchanged_sides(figure, noisy));
}

TEST_CASE("too few markers are refused") {
  std::mt19937 random(5);
  MarkerFigure figure = marked(human(), random);
  Scene scene = moving(figure, 10);
  MarkerFigure two = figure;
  two.markers.resize(2);
  CHECK_THROWS_AS(fit_motion(two, scene.seen), Error);
  CHECK_THROWS_AS(fit_figure(two, scene.seen), Error);
  scene.seen.names[0] = "elsewhere";
  CHECK_THROWS_AS(fit_motion(figure, scene.seen), Error);
  CHECK(place_markers(figure, {"elsewhere", "head.0"}) == std::vector<std::string>{"elsewhere"});
  CHECK(figure.markers.size() == 1);
}
