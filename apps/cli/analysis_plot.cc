#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/analysis_report.h"
#include "cli/chart.h"
#include "kansetsu/kinematics/kinematics.h"

namespace kansetsu::cli {
namespace {

constexpr double kWidth = 860, kChart = 200;

/// Single support is shaded in the colour of the foot, double support in grey.
std::vector<Band> bands_of(const Analysis& a) {
  std::vector<Band> bands;
  for (const Phase& p : a.phases) {
    const int shade = p.supports.empty() ? 0 : p.supports.size() > 1 ? 3 : 1 + p.supports.front() % 2;
    bands.push_back({p.start, p.end, shade});
  }
  return bands;
}

TimeChart force_chart(const Analysis& a) {
  TimeChart chart{.title = "Vertical force", .unit = "N", .times = a.clip.times, .bands = bands_of(a)};
  Series sum{.name = "sum", .colour = -1, .thin = true};
  Series weight{.name = "weight", .colour = -1, .thin = true, .dashed = true};
  for (std::size_t k = 0; k < a.clip.times.size(); ++k) {
    double all = 0;
    for (const SupportForces& s : a.supports) all += s.wrench[k].f.z;
    sum.y.push_back(all);
    weight.y.push_back(a.summary.weight);
  }
  for (std::size_t i = 0; i < a.supports.size(); ++i) {
    const SupportForces& s = a.supports[i];
    if (std::find(s.down.begin(), s.down.end(), 1) == s.down.end()) continue;
    Series series{.name = s.name, .colour = int(i % 6)};
    for (std::size_t k = 0; k < s.wrench.size(); ++k)
      series.y.push_back(s.down[k] ? std::optional(s.wrench[k].f.z) : std::nullopt);
    chart.series.push_back(std::move(series));
  }
  chart.series.push_back(std::move(sum));
  chart.series.push_back(std::move(weight));
  return chart;
}

/// The six joints with the largest torques.
TimeChart torque_chart(const Model& model, const Analysis& a) {
  TimeChart chart{
      .title = "Joint torques, the six largest", .unit = "N·m", .times = a.clip.times, .bands = bands_of(a)};
  std::vector<int> order;
  for (int v = model.base_coordinates().nv; v < model.nv(); ++v) order.push_back(v);
  std::stable_sort(order.begin(), order.end(), [&](int x, int y) {
    return a.tau.row(x).cwiseAbs().maxCoeff() > a.tau.row(y).cwiseAbs().maxCoeff();
  });
  order.resize(std::min<std::size_t>(order.size(), 6));
  std::sort(order.begin(), order.end());
  for (std::size_t i = 0; i < order.size(); ++i) {
    Series series{.name = model.dof_names()[std::size_t(order[i])], .colour = int(i)};
    for (int k = 0; k < a.frames(); ++k) series.y.push_back(a.tau(order[i], k));
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// Soles at the middle of each contact, with the path of their centres of pressure.
PlanChart plan_chart(const Model& model, const Analysis& a, const std::vector<SupportHistory>& supports) {
  PlanChart chart{.title = "Centre of pressure on the ground, with the stance soles"};
  PlanChart::Path com{.name = "centre of mass", .colour = -1, .thin = true};
  for (const Vec3<>& p : a.com) com.points.push_back(p);
  for (std::size_t i = 0; i < supports.size(); ++i) {
    const SupportForces& s = a.supports[i];
    if (s.grips || std::find(s.down.begin(), s.down.end(), 1) == s.down.end()) continue;
    PlanChart::Path path{.name = s.name, .colour = int(i % 2), .thin = true};
    path.points.assign(s.pressure.begin(), s.pressure.end());
    chart.paths.push_back(std::move(path));
    for (std::size_t k = 0; k < s.down.size();) {
      std::size_t end = k;
      while (end < s.down.size() && s.down[end] == s.down[k]) ++end;
      if (s.down[k]) {
        const LinkPoses poses = fk(model, a.clip.q.col(long(k + end) / 2));
        const std::vector<Vec3<>>& c = supports[i].support.corners;
        PlanChart::Outline outline{.colour = int(i % 2)};
        // Rows of two from heel to toe: the first and the last go around it.
        const std::vector<std::size_t> round =
            c.size() >= 4 ? std::vector<std::size_t>{0, 1, c.size() - 1, c.size() - 2} : std::vector<std::size_t>{};
        for (const std::size_t corner : round) outline.corners.push_back(poses[supports[i].support.link] * c[corner]);
        if (!outline.corners.empty()) chart.outlines.push_back(std::move(outline));
      }
      k = end;
    }
  }
  chart.paths.push_back(std::move(com));
  return chart;
}

}  // namespace

TimeChart residual_chart(const Analysis& a) {
  TimeChart chart{.title = "Residual at the root: required, but not provided by the supports",
                  .unit = "N, N·m",
                  .times = a.clip.times,
                  .bands = bands_of(a)};
  chart.least = 1;
  Series force{.name = "force [N]", .colour = 2}, moment{.name = "moment [N·m]", .colour = 3};
  for (const Force<>& r : a.residual) force.y.push_back(norm(r.f)), moment.y.push_back(norm(r.t));
  chart.series = {std::move(force), std::move(moment)};
  return chart;
}

std::string analysis_svg(const Model& model, const Analysis& a, const std::vector<SupportHistory>& supports) {
  std::string charts;
  double y = 52;
  const auto add = [&](const auto& chart, double height) {
    charts += draw(chart, {0, y, kWidth, height});
    y += height + 8;
  };
  std::string subtitle = fmt::format("{}, {:.4g} kg, {:.3g} s", model.name(), model.mass(), a.clip.duration());
  if (model.base() == Base::kFree) {
    subtitle +=
        fmt::format("; mean vertical force {:.1f} % of the weight; grey: double support, tinted: single support",
                    100 * a.summary.mean_vertical / a.summary.weight);
    add(force_chart(a), kChart);
    const PlanChart plan = plan_chart(model, a, supports);
    if (!plan.outlines.empty()) add(plan, kChart);
  }
  add(torque_chart(model, a), kChart);
  if (model.base() == Base::kFree) add(residual_chart(a), 0.8 * kChart);
  return picture(kWidth, y + 8, fmt::format("Analysis of {}", a.clip.name), subtitle, charts);
}

}  // namespace kansetsu::cli
