#include "cli/ik_methods.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <random>

#include "cli/json_writer.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/spatial/rotations.h"

namespace kansetsu::cli {
namespace {

/// The middle of the limits, for coordinates with two.
Eigen::VectorXd middle(const Model& model) {
  Eigen::VectorXd q = neutral(model);
  for (int i = 0; i < model.nq(); ++i) {
    const double lower = model.lower_position()[i], upper = model.upper_position()[i];
    if (std::isfinite(lower) && std::isfinite(upper)) q[i] = (lower + upper) / 2;
  }
  return q;
}

double median(std::vector<double> x) {
  if (x.empty()) return 0;
  std::nth_element(x.begin(), x.begin() + std::ptrdiff_t(x.size() / 2), x.end());
  return x[x.size() / 2];
}

/// The orientation with a pitch of 90°, where the first and last axis of ZYX angles are parallel.
Mat3<> locked(const Mat3<>& R) {
  Vec3<> angles = to_euler(EulerOrder::kZYX, R);
  angles.y = std::copysign(std::numbers::pi / 2, angles.y);
  return from_euler(EulerOrder::kZYX, angles);
}

}  // namespace

std::vector<MethodRow> compare_methods(const std::string& name, const Model& model, const ik::FrameOn& frame,
                                       int targets, unsigned seed) {
  const Eigen::VectorXd start = middle(model);
  std::vector<MethodRow> rows;
  for (const ik::Method method : ik::kMethods) {
    std::mt19937_64 rng(seed);
    MethodRow row{.model = name, .method = method, .targets = targets, .at_lock = targets};
    const ik::Options options{.method = method, .arms = false};
    ik::Solver pose(model, ik::Problem().add(ik::PoseTask{frame}), options);
    ik::Solver turn(model, ik::Problem().add(ik::OrientationTask{frame}), options);
    std::vector<double> steps, us, left;
    ik::Report report;
    for (int i = 0; i < targets; ++i) {
      const Transform<> X = fk(model, random_configuration(model, rng))[frame.link] * frame.X_LF;
      std::get<ik::PoseTask>(pose.problem().items.front().task).target = X;
      const auto begin = std::chrono::steady_clock::now();
      pose.solve(start, report);
      us.push_back(std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count());
      steps.push_back(report.iterations);
      row.solved += report.solved();
      std::get<ik::OrientationTask>(turn.problem().items.front().task).target = locked(X.R);
      turn.solve(start, report);
      left.push_back(report.tasks.front().error);
      row.solved_at_lock += report.solved();
    }
    row.steps = median(steps), row.us = median(us), row.median_left = median(left);
    row.most_left = left.empty() ? 0 : *std::max_element(left.begin(), left.end());
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string methods_table(const std::vector<MethodRow>& rows) {
  std::string text =
      "                                          whole poses                    turns at gimbal lock\n"
      "model                method          solved    steps        us     solved   median left    most left\n";
  for (const MethodRow& r : rows) {
    text += fmt::format("{:<20} {:<14} {:>6.1f} % {:>7.0f} {:>9.1f} {:>8.1f} % {:>9.1e} rad {:>8.1e} rad\n", r.model,
                        to_string(r.method), 100.0 * r.solved / std::max(r.targets, 1), r.steps, r.us,
                        100.0 * r.solved_at_lock / std::max(r.at_lock, 1), r.median_left, r.most_left);
  }
  return text;
}

std::string methods_json(const std::vector<MethodRow>& rows, unsigned seed) {
  JsonWriter json;
  json.begin_object().entry("seed", int(seed)).key("rows").begin_array();
  for (const MethodRow& r : rows) {
    json.line().begin_object().entry("model", r.model).entry("method", to_string(r.method));
    json.entry("targets", r.targets).entry("solved", r.solved).entry("steps", r.steps).entry("us", r.us);
    json.entry("solved_at_lock", r.solved_at_lock).entry("median_left", r.median_left).entry("most_left", r.most_left);
    json.end_object();
  }
  return json.end_array().end_object().take() + "\n";
}

std::string methods_plot(const std::vector<MethodRow>& rows) {
  constexpr double kNames = 150, kPanel = 150, kGap = 30, kBar = 14, kHeading = 62;
  constexpr const char* kColours[] = {"#4c72b0", "#8c8c8c", "#c44e52"};
  struct Panel {
    const char* title;
    double (*value)(const MethodRow&);
    const char* format;
  };
  const Panel panels[] = {
      {"poses solved [%]", [](const MethodRow& r) { return 100.0 * r.solved / std::max(r.targets, 1); }, "{:.1f}"},
      {"steps, median", [](const MethodRow& r) { return r.steps; }, "{:.0f}"},
      {"time, median [µs]", [](const MethodRow& r) { return r.us; }, "{:.0f}"},
      {"at gimbal lock solved [%]",
       [](const MethodRow& r) { return 100.0 * r.solved_at_lock / std::max(r.at_lock, 1); }, "{:.1f}"}};
  const double width = kNames + 4 * (kPanel + kGap) + 20, height = kHeading + double(rows.size()) * kBar * 1.35 + 20;
  std::string svg = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" "
      "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" fill=\"white\"/>\n",
      width, height);
  for (const ik::Method method : ik::kMethods) {
    const double x = kNames + 140 * int(method);
    svg += fmt::format(
        "<rect x=\"{}\" y=\"10\" width=\"12\" height=\"12\" fill=\"{}\"/>\n<text x=\"{}\" y=\"20\">{}</text>\n", x,
        kColours[int(method)], x + 18, to_string(method));
  }
  for (std::size_t p = 0; p < std::size(panels); ++p) {
    const double x = kNames + double(p) * (kPanel + kGap);
    svg += fmt::format("<text x=\"{}\" y=\"48\">{}</text>\n", x, panels[p].title);
    double most = 1e-12;
    for (const MethodRow& r : rows) most = std::max(most, panels[p].value(r));
    double y = kHeading;
    for (std::size_t i = 0; i < rows.size(); ++i, y += kBar * 1.35) {
      const double value = panels[p].value(rows[i]), length = 0.75 * kPanel * value / most;
      if (p == 0 && i % std::size(ik::kMethods) == 1) {
        svg += fmt::format("<text x=\"{}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", kNames - 8, y + 11,
                           rows[i].model);
      }
      svg += fmt::format("<rect x=\"{}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{}\" fill=\"{}\"/>\n", x, y, length,
                         kBar, kColours[int(rows[i].method)]);
      svg += fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" font-size=\"10\">{}</text>\n", x + length + 4, y + 11,
                         fmt::format(fmt::runtime(panels[p].format), value));
    }
  }
  return svg + "</svg>\n";
}

}  // namespace kansetsu::cli
