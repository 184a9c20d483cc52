#include "cli/measured_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "cli/json_writer.h"
#include "cli/page.h"
#include "cli/table.h"

namespace kansetsu::cli {
namespace {

/// Reserve moment as a share of a coordinate's largest moment, above which there is a warning.
constexpr double kLargeReserve = 0.05;
/// Moments below this share of weight times one metre are ignored: 7 N·m for an adult.
constexpr double kLeastMoment = 0.01;

/// "knee_angle_r_moment", "pelvis_tx_force"
std::string column_of(const MapCoordinate& c) { return c.name + (c.rotational ? "_moment" : "_force"); }

const MapCoordinate& coordinate(const MeasuredResult& r, int i) { return r.mapped.map().coordinates[std::size_t(i)]; }
double weight_of(const MeasuredResult& r) { return r.mapped.model().mass() * norm(r.mapped.model().gravity()); }

std::vector<long> frames_of(const MeasuredResult& r) {
  std::vector<long> out;
  for (std::size_t k = 0; k < r.dynamics.clip.times.size(); ++k)
    if (r.dynamics.clip.times[k] >= r.from - 1e-9 && r.dynamics.clip.times[k] <= r.to + 1e-9) out.push_back(long(k));
  return out;
}

std::vector<long> led_coordinates(const MeasuredResult& r) {
  std::vector<long> out;
  for (std::size_t i = 0; i < r.mapped.map().coordinates.size(); ++i)
    if (r.mapped.map().coordinates[i].follows < 0) out.push_back(long(i));
  return out;
}

double rms(const std::vector<Force<>>& residual, bool force) {
  double sum = 0;
  for (const Force<>& F : residual) sum += force ? dot(F.f, F.f) : dot(F.t, F.t);
  return std::sqrt(sum / double(std::max<std::size_t>(residual.size(), 1)));
}

/// Largest value of a row over the reported frames.
double most_of(const MeasuredResult& r, const Eigen::MatrixXd& values, long row) {
  double out = 0;
  for (const long k : frames_of(r)) out = std::max(out, std::abs(values(row, k)));
  return out;
}
double mean_of(const MeasuredResult& r, const Eigen::MatrixXd& values, long row) {
  double sum = 0;
  const std::vector<long> frames = frames_of(r);
  for (const long k : frames) sum += values(row, k);
  return sum / double(std::max<std::size_t>(frames.size(), 1));
}
double most_load(const MeasuredResult& r, const JointLoad& load) {
  double out = 0;
  for (const long k : frames_of(r)) out = std::max(out, norm(load.wrench[std::size_t(k)].f));
  return out;
}

PageRows summary_rows(const MeasuredResult& r) {
  const double weight = weight_of(r), f = rms(r.dynamics.residual, true);
  PageRows rows{
      {"figure", fmt::format("{}, {:.4g} kg", r.mapped.model().name(), r.mapped.model().mass())},
      {"frames", fmt::format("{}, {:.4g} to {:.4g} s", r.table.rows(), r.table.times.front(), r.table.times.back())},
      {"largest measured force", fmt::format("{:.1f} N, {:.2f} of the weight", r.peak, r.peak / weight)}};
  if (r.dynamics.residual.empty()) return rows;
  rows.push_back({"residual force",
                  fmt::format("rms {:.3g} N, {:.2g} % of the largest force", f, r.peak > 0 ? 100 * f / r.peak : 0)});
  rows.push_back({"residual moment", fmt::format("rms {:.3g} N·m", rms(r.dynamics.residual, false))});
  return rows;
}

PageRows moment_rows(const MeasuredResult& r) {
  PageRows rows{{"coordinate", "least", "largest [N·m, N]"}};
  const std::vector<long> led = led_coordinates(r);
  for (std::size_t c = 0; c < led.size(); ++c)
    rows.push_back({r.table.columns[c], fmt::format("{:.2f}", r.table.values.row(long(c)).minCoeff()),
                    fmt::format("{:.2f}", r.table.values.row(long(c)).maxCoeff())});
  return rows;
}

PageRows muscle_rows(const MeasuredResult& r) {
  PageRows rows{{"muscle", "mean activation", "largest", "largest force [N]"}};
  const MuscleForces& m = *r.muscles;
  for (std::size_t i = 0; i < m.muscles.size(); ++i)
    rows.push_back({m.muscles[i], fmt::format("{:.3f}", mean_of(r, m.activations, long(i))),
                    fmt::format("{:.3f}", most_of(r, m.activations, long(i))),
                    fmt::format("{:.1f}", most_of(r, m.forces, long(i)))});
  return rows;
}

PageRows load_rows(const MeasuredResult& r) {
  PageRows rows{{"joint of link", "largest force [N]", "body weights"}};
  for (const JointLoad& load : r.muscles->joints) {
    const double most = most_load(r, load);
    rows.push_back({load.link, fmt::format("{:.1f}", most), fmt::format("{:.2f}", most / weight_of(r))});
  }
  return rows;
}

PageRows reserve_rows(const MeasuredResult& r) {
  PageRows rows{{"coordinate", "largest reserve [N·m, N]"}};
  for (std::size_t i = 0; i < r.muscles->coordinates.size(); ++i)
    rows.push_back({coordinate(r, r.muscles->coordinates[i]).name,
                    fmt::format("{:.3g}", most_of(r, r.muscles->reserves, long(i)))});
  return rows;
}

/// Names that differ only in the suffix _r or _l are one chart.
std::vector<std::pair<std::string, std::vector<std::size_t>>> by_side(const std::vector<std::string>& names) {
  std::vector<std::pair<std::string, std::vector<std::size_t>>> out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string base = names[i];
    if (base.ends_with("_r") || base.ends_with("_l")) base.resize(base.size() - 2);
    const auto found = std::find_if(out.begin(), out.end(), [&](const auto& group) { return group.first == base; });
    if (found == out.end())
      out.push_back({base, {i}});
    else
      found->second.push_back(i);
  }
  return out;
}

/// Charts of rows by name, both sides in one.
template <class Value>
std::string side_charts(const MeasuredResult& r, const std::vector<std::string>& names, const char* unit, Value value) {
  std::string out;
  for (const auto& [base, members] : by_side(names)) {
    TimeChart chart{.title = base, .unit = unit, .times = r.table.times};
    for (const std::size_t i : members) {
      Series series{.name = names[i], .colour = int(chart.series.size() % 6)};
      for (const long k : frames_of(r)) series.y.push_back(value(i, k));
      chart.series.push_back(std::move(series));
    }
    out += page_chart(chart);
  }
  return out;
}

std::string muscle_section(const MeasuredResult& r) {
  const MuscleForces& m = *r.muscles;
  std::vector<std::string> links;
  for (const JointLoad& load : m.joints) links.push_back(load.link);
  std::string out =
      "<h2>Muscles</h2>\n<p>Static optimization: the least sum of squared activations that gives the moments; tendons "
      "do "
      "not stretch, passive forces are left out.</p>\n";
  for (const std::string& remark : muscle_remarks(r)) out += fmt::format("<p class=\"warn\">{}</p>\n", escaped(remark));
  out += html_table(muscle_rows(r), true) + "<h2>Activations</h2>\n";
  out += side_charts(r, m.muscles, "", [&](std::size_t i, long k) { return m.activations(long(i), k); });
  out += "<h2>Joint contact forces</h2>\n" + html_table(load_rows(r), true);
  out += side_charts(r, links, "weights",
                     [&](std::size_t i, long k) { return norm(m.joints[i].wrench[std::size_t(k)].f) / weight_of(r); });
  return out + "<h2>Reserve moments</h2>\n" + html_table(reserve_rows(r), true);
}

}  // namespace

TimeTable measured_table(const MeasuredResult& r) {
  TimeTable out{.name = "Inverse Dynamics"};
  const std::vector<long> frames = frames_of(r), led = led_coordinates(r);
  for (const long k : frames) out.times.push_back(r.dynamics.clip.times[std::size_t(k)]);
  for (const long i : led) out.columns.push_back(column_of(coordinate(r, int(i))));
  const long muscles = r.muscles ? long(r.muscles->muscles.size()) : 0;
  const long shared = r.muscles ? long(r.muscles->coordinates.size()) : 0;
  const long loads = r.muscles ? long(r.muscles->joints.size()) : 0;
  out.values.resize(long(led.size()) + 2 * muscles + shared + 3 * loads, long(frames.size()));
  out.values.topRows(long(led.size())) = r.dynamics.moments(led, frames);
  if (!r.muscles) return out;
  const MuscleForces& m = *r.muscles;
  long row = long(led.size());
  for (const char* what : {"_activation", "_force"})
    for (const std::string& name : m.muscles) out.columns.push_back(name + what);
  out.values.middleRows(row, muscles) = m.activations(Eigen::all, frames);
  out.values.middleRows(row + muscles, muscles) = m.forces(Eigen::all, frames);
  row += 2 * muscles;
  for (const int i : m.coordinates) out.columns.push_back(coordinate(r, i).name + "_reserve");
  out.values.middleRows(row, shared) = m.reserves(Eigen::all, frames);
  row += shared;
  for (const JointLoad& load : m.joints) {
    for (const char* axis : {"x", "y", "z"}) out.columns.push_back(fmt::format("{}_load_{}", load.link, axis));
    for (std::size_t c = 0; c < frames.size(); ++c) {
      const Vec3<>& f = load.wrench[std::size_t(frames[c])].f;
      out.values.col(long(c)).segment<3>(row) << f.x, f.y, f.z;
    }
    row += 3;
  }
  return out;
}

std::vector<std::string> muscle_remarks(const MeasuredResult& r) {
  std::vector<std::string> out;
  const MuscleForces& m = *r.muscles;
  if (m.unsolved > 0) out.push_back(fmt::format("no activations were found for {} frames", m.unsolved));
  for (std::size_t i = 0; i < m.coordinates.size(); ++i) {
    const double left = most_of(r, m.reserves, long(i)), most = most_of(r, r.dynamics.moments, m.coordinates[i]);
    if (left > kLargeReserve * most && most > kLeastMoment * weight_of(r))
      out.push_back(fmt::format(
          "{}: reserve of {:.3g} out of {:.3g} {}; no muscle crosses this joint, or its muscles are too weak",
          coordinate(r, m.coordinates[i]).name, left, most, coordinate(r, m.coordinates[i]).rotational ? "N·m" : "N"));
  }
  return out;
}

std::string measured_text(const MeasuredResult& r) {
  std::string text = table(summary_rows(r)) + "\nMoments\n" + table(moment_rows(r));
  if (!r.muscles) return text;
  text += "\nMuscles\n" + table(muscle_rows(r));
  text += "\nJoint contact forces\n" + table(load_rows(r));
  return text + "\nReserve moments\n" + table(reserve_rows(r));
}

std::string measured_json(const MeasuredResult& r) {
  JsonWriter json;
  json.begin_object().entry("figure", r.mapped.model().name()).entry("mass", r.mapped.model().mass());
  json.entry("frames", r.table.rows()).entry("peak_force", r.peak);
  json.entry("residual_force", rms(r.dynamics.residual, true));
  json.entry("residual_moment", rms(r.dynamics.residual, false)).key("moments").begin_object();
  for (std::size_t c = 0; c < led_coordinates(r).size(); ++c)
    json.line()
        .key(r.table.columns[c])
        .begin_object()
        .entry("least", r.table.values.row(long(c)).minCoeff())
        .entry("largest", r.table.values.row(long(c)).maxCoeff())
        .end_object();
  json.end_object();
  if (r.muscles) {
    const MuscleForces& m = *r.muscles;
    json.entry("unsolved_frames", m.unsolved).key("muscles").begin_object();
    for (std::size_t i = 0; i < m.muscles.size(); ++i)
      json.line()
          .key(m.muscles[i])
          .begin_object()
          .entry("mean_activation", mean_of(r, m.activations, long(i)))
          .entry("largest_activation", most_of(r, m.activations, long(i)))
          .entry("largest_force", most_of(r, m.forces, long(i)))
          .end_object();
    json.end_object().key("joint_loads").begin_object();
    for (const JointLoad& load : m.joints) json.line().entry(load.link.c_str(), most_load(r, load));
    json.end_object().key("reserves").begin_object();
    for (std::size_t i = 0; i < m.coordinates.size(); ++i)
      json.line().entry(coordinate(r, m.coordinates[i]).name.c_str(), most_of(r, m.reserves, long(i)));
    json.end_object();
  }
  json.end_object();
  return json.take() + "\n";
}

std::string measured_page(const MeasuredResult& r, const std::string& source, double cutoff) {
  PageRows summary = summary_rows(r);
  summary.push_back({"filter", cutoff > 0 ? fmt::format("low pass, {:g} Hz, both ways", cutoff) : "none"});
  std::string out = "<h2>Data, assumptions and residuals</h2>\n" + html_table(summary, false);
  if (!r.forces.empty()) {
    TimeChart chart{.title = "Vertical", .unit = "N", .times = r.table.times};
    for (const MeasuredForce& f : r.forces) {
      Series series{.name = f.name, .colour = int(chart.series.size() % 6)};
      for (const long k : frames_of(r)) series.y.push_back(f.wrench[std::size_t(k)].f.z);
      chart.series.push_back(std::move(series));
    }
    out += "<h2>Measured forces</h2>\n" + page_chart(chart);
  }
  std::vector<std::string> names;
  const std::vector<long> led = led_coordinates(r);
  for (const long i : led) names.push_back(coordinate(r, int(i)).name);
  out += "<h2>Moments</h2>\n<p>Those of the root's coordinates are residuals.</p>\n";
  out += side_charts(r, names, "N·m, N", [&](std::size_t i, long k) { return r.dynamics.moments(led[i], k); });
  if (r.muscles) out += muscle_section(r);
  return html_page(fmt::format("Analysis of {}", source), out);
}

}  // namespace kansetsu::cli
