#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/analysis_report.h"
#include "cli/page.h"
#include "kansetsu/motion/gait.h"

/// The report of an analysis as one page.
namespace kansetsu::cli {
namespace {

std::vector<double> row_of(const Eigen::MatrixXd& values, int row, double factor) {
  std::vector<double> out;
  for (long k = 0; k < values.cols(); ++k) out.push_back(factor * values(row, k));
  return out;
}

/// One axis of the forces of all supports with contact.
TimeChart force_chart(const Analysis& a, int axis, const char* title) {
  TimeChart chart{.title = title, .unit = "N", .times = a.clip.times};
  for (std::size_t i = 0; i < a.supports.size(); ++i) {
    const SupportForces& s = a.supports[i];
    if (std::find(s.down.begin(), s.down.end(), 1) == s.down.end()) continue;
    Series series{.name = s.name, .colour = int(i % 6)};
    for (std::size_t k = 0; k < s.wrench.size(); ++k) {
      const Vec3<>& f = s.wrench[k].f;
      series.y.push_back(s.down[k] ? std::optional(axis == 0 ? f.x : axis == 1 ? f.y : f.z) : std::nullopt);
    }
    chart.series.push_back(std::move(series));
  }
  return chart;
}

/// A joint of both sides over the cycle, mean plus and minus one standard deviation.
TimeChart cycle_chart(const Analysis& a, const std::vector<GaitJoint>& joints, const std::vector<Stride>& strides,
                      const std::string& name, const Eigen::MatrixXd& values, double factor, std::string title,
                      const char* unit) {
  TimeChart chart{.title = std::move(title), .unit = unit};
  chart.x_label = "cycle [%]";
  for (int k = 0; k <= 100; ++k) chart.times.push_back(k);
  for (const GaitJoint& j : joints) {
    if (j.name != name) continue;
    const CycleCurve curve = over_cycle(a.clip.times, row_of(values, j.v, factor), strides, j.support);
    if (curve.strides == 0) continue;
    const std::string side = a.supports[std::size_t(j.support)].name;
    Series mean{.name = fmt::format("{} ({})", side, curve.strides), .colour = j.support % 6};
    Series low{.name = curve.strides > 1 ? "  ± deviation" : "", .colour = j.support % 6, .thin = true, .dashed = true},
        high = low;
    high.name.clear();
    for (std::size_t k = 0; k <= 100; ++k) {
      mean.y.push_back(curve.mean[k]);
      low.y.push_back(curve.mean[k] - curve.deviation[k]), high.y.push_back(curve.mean[k] + curve.deviation[k]);
    }
    chart.series.push_back(std::move(mean));
    if (curve.strides > 1) chart.series.push_back(std::move(low)), chart.series.push_back(std::move(high));
  }
  return chart;
}

std::string assumed(const Model& model, const Analysis& a, const AnalysisNotes& notes) {
  const AnalysisSummary& s = a.summary;
  PageRows rows{
      {"figure", fmt::format("{}, {:.4g} kg, weight {:.1f} N", model.name(), model.mass(), s.weight)},
      {"frames",
       fmt::format("{}, {:.4g} s at {:.4g} Hz", a.frames(), a.clip.duration(), (a.frames() - 1) / a.clip.duration())},
      {"filter", notes.cutoff > 0 ? fmt::format("low pass, {:g} Hz, both ways", notes.cutoff) : "none"},
      {"floor",
       notes.belt > 0 ? fmt::format("treadmill belt at {:.3f} m/s; forces are in its frame", notes.belt) : "fixed"},
      {"friction", fmt::format("coefficient {:g}; largest ratio of tangential to normal force {:.3f}", notes.friction,
                               s.largest_friction)},
      {"contacts",
       "of heels, toes and other supports: the most likely sequence given height, speed and the required force"},
      {"double support",
       "the load moves from one foot to the other linearly in time; the rest is shared by least squares"},
      {"supported", fmt::format("{:.2f} % of the required vertical force", 100 * s.supported)},
      {"frames without support", fmt::format("{:.1f} %", 100 * s.unsupported_frames)},
      {"residual force", fmt::format("rms {:.3g} N ({:.2g} % of the weight), largest {:.3g} N", s.residual_force,
                                     s.weight > 0 ? 100 * s.residual_force / s.weight : 0, s.worst_force)},
      {"residual moment", fmt::format("rms {:.3g} N·m, largest {:.3g} N·m", s.residual_moment, s.worst_moment)}};
  return html_table(rows, false);
}

std::string stride_table(const Analysis& a, const std::vector<Stride>& strides) {
  PageRows rows{{"stride of", "from [s]", "to [s]", "duration [s]", "stance [%]", "length [m]", "speed [m/s]"}};
  for (const Stride& s : strides)
    rows.push_back({a.supports[std::size_t(s.support)].name, fmt::format("{:.3f}", s.start),
                    fmt::format("{:.3f}", s.end), fmt::format("{:.3f}", s.end - s.start),
                    fmt::format("{:.1f}", 100 * s.stance()), fmt::format("{:.3f}", s.length),
                    fmt::format("{:.2f}", s.length / (s.end - s.start))});
  return html_table(rows, true);
}

std::string event_table(const Analysis& a) {
  PageRows rows{{"foot", "event", "time [s]"}};
  for (const GaitEvent& e : gait_events(a))
    rows.push_back(
        {a.supports[std::size_t(e.support)].name, e.lands ? "foot strike" : "toe-off", fmt::format("{:.3f}", e.time)});
  return html_table(rows, true);
}

}  // namespace

std::string analysis_page(const Model& model, const Analysis& a, const std::vector<SupportHistory>& supports,
                          const AnalysisNotes& notes) {
  const std::string title = fmt::format("Analysis of {}", a.clip.name);
  std::string out = "<h2>Data, assumptions and residuals</h2>\n" + assumed(model, a, notes);
  for (const std::string& remark : notes.remarks) out += fmt::format("<p class=\"warn\">{}</p>\n", escaped(remark));
  const std::vector<Stride> strides = strides_of(model, a, supports);
  const std::vector<GaitJoint> joints = gait_joints(model, a);
  if (model.base() == Base::kFree) {
    out += "<h2>Forces on the figure</h2>\n" + page_chart(force_chart(a, 2, "Vertical"));
    out += page_chart(force_chart(a, 0, "Along x, the initial walking direction"));
    out += page_chart(force_chart(a, 1, "Along y, to the left"));
    out += "<h2>Foot strikes and toe-offs</h2>\n" + event_table(a);
    if (!strides.empty()) out += "<h2>Strides</h2>\n" + stride_table(a, strides);
  }
  if (!strides.empty() && !joints.empty()) {
    out +=
        "<h2>Moments and powers over the cycle</h2>\n<p>From a landing of a foot to its next, per kilogram of the "
        "body; in brackets the "
        "number of strides. Signs are those of the model's coordinates: ";
    for (std::size_t i = 0; i < joints.size(); ++i)
      out += (i > 0 ? ", " : "") + escaped(model.dof_names()[std::size_t(joints[i].v)]);
    out += ".</p>\n";
    for (const char* name : {"hip", "knee", "ankle"}) {
      const double per_kg = 1 / model.mass();
      for (const auto& [values, what, unit] :
           {std::tuple{&a.tau, "moment", "N·m/kg"}, std::tuple{&a.power, "power", "W/kg"}}) {
        const TimeChart chart =
            cycle_chart(a, joints, strides, name, *values, per_kg, fmt::format("{}: {}", name, what), unit);
        if (!chart.series.empty()) out += page_chart(chart);
      }
    }
  }
  if (model.base() == Base::kFree) out += "<h2>Residual at the root</h2>\n" + page_chart(residual_chart(a));
  return html_page(title, out);
}

TimeTable analysis_moments(const Model& model, const Analysis& a) {
  TimeTable out{.name = "Inverse Dynamics", .times = a.clip.times};
  const int first = model.base_coordinates().nv;
  const bool free = model.base() == Base::kFree;
  out.values.resize(model.nv() - first + (free ? 6 : 0), a.frames());
  for (int v = first; v < model.nv(); ++v) {
    out.columns.push_back(model.dof_names()[std::size_t(v)] + "_moment");
    out.values.row(v - first) = a.tau.row(v);
  }
  if (!free) return out;
  for (const char* name : {"residual_mx", "residual_my", "residual_mz", "residual_fx", "residual_fy", "residual_fz"})
    out.columns.emplace_back(name);
  for (int k = 0; k < a.frames(); ++k) {
    const Force<>& r = a.residual[std::size_t(k)];
    out.values.col(k).tail<6>() << r.t.x, r.t.y, r.t.z, r.f.x, r.f.y, r.f.z;
  }
  return out;
}

}  // namespace kansetsu::cli
