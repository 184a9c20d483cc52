#include "cli/analyze_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/allowed_paths.h"
#include "cli/json_writer.h"
#include "cli/load_model.h"
#include "cli/measured.h"
#include "cli/output.h"
#include "cli/table.h"
#include "kansetsu/base/error.h"
#include "kansetsu/motion/residual_reduction.h"

namespace kansetsu::cli {
namespace {

constexpr double kUsualCutoff = 6;  ///< [Hz] of walking

/// Everything that inverse dynamics needs.
struct Inputs {
  std::string model, motion, loads;
  std::filesystem::path package{};  ///< of the setup file that named these
  double cutoff = kUsualCutoff, from = -kInfinity, to = kInfinity;
};

Inputs inputs_of(const MeasuredArguments& options) {
  Inputs out{.model = options.figure, .motion = options.motion, .loads = options.loads};
  if (std::filesystem::path(options.motion).extension() == ".xml") {
    Loaded<io::InverseDynamicsSetup> setup = io::read_inverse_dynamics_setup(options.motion, references());
    if (!setup) throw bad_file(setup.diagnostics);
    if (out.model.empty()) out.model = setup.value->model.string();
    if (out.loads.empty()) out.loads = setup.value->loads.string(), out.package = setup.value->package;
    out.motion = setup.value->coordinates.string();
    out.cutoff = setup.value->cutoff, out.from = setup.value->from, out.to = setup.value->to;
  }
  if (options.filter) out.cutoff = *options.filter;
  return out;
}

std::vector<MeasuredForce> forces_of(const MappedModel& mapped, const Clip& clip, const Inputs& in,
                                     const Mat3<>& axes) {
  if (in.loads.empty()) return {};
  io::ReferenceOptions options = references();
  options.package = in.package;
  Loaded<io::ExternalLoads> loads = io::read_external_loads(in.loads, options);
  if (!loads) throw bad_file(loads.diagnostics);
  const TimeTable table = table_or_fail(loads.value->data.string());
  if (clip.times.front() < table.times.front() - 1e-6 || clip.times.back() > table.times.back() + 1e-6)
    fmt::print(stderr,
               "{}: forces from {:g} to {:g} s, the motion from {:g} to {:g} s; outside they stay as at the end\n",
               in.loads, table.times.front(), table.times.back(), clip.times.front(), clip.times.back());
  return sample_loads(mapped.model(), clip, table, loads.value->loads, axes);
}

/// "knee_angle_r_moment", "pelvis_tx_force"
std::string column_of(const MapCoordinate& c) { return c.name + (c.rotational ? "_moment" : "_force"); }

TimeTable moment_table(const MappedModel& mapped, const MeasuredDynamics& d, double from, double to) {
  TimeTable out{.name = "Inverse Dynamics"};
  std::vector<long> rows, frames;
  for (std::size_t i = 0; i < mapped.map().coordinates.size(); ++i) {
    if (mapped.map().coordinates[i].follows >= 0) continue;
    out.columns.push_back(column_of(mapped.map().coordinates[i]));
    rows.push_back(long(i));
  }
  for (std::size_t k = 0; k < d.clip.times.size(); ++k) {
    if (d.clip.times[k] < from - 1e-9 || d.clip.times[k] > to + 1e-9) continue;
    out.times.push_back(d.clip.times[k]);
    frames.push_back(long(k));
  }
  out.values = d.moments(rows, frames);
  return out;
}

double rms(const std::vector<Force<>>& residual, bool force) {
  double sum = 0;
  for (const Force<>& F : residual) sum += force ? dot(F.f, F.f) : dot(F.t, F.t);
  return std::sqrt(sum / double(std::max<std::size_t>(residual.size(), 1)));
}

double peak_force(const std::vector<MeasuredForce>& forces, int frames) {
  double most = 0;
  for (int k = 0; k < frames; ++k) {
    Vec3<> sum{};
    for (const MeasuredForce& f : forces) sum += f.wrench[std::size_t(k)].f;
    most = std::max(most, norm(sum));
  }
  return most;
}

std::string report_json(const MappedModel& mapped, const TimeTable& t, const MeasuredDynamics& d, double peak) {
  JsonWriter json;
  json.begin_object().entry("figure", mapped.model().name()).entry("mass", mapped.model().mass());
  json.entry("frames", t.rows()).entry("peak_force", peak).entry("residual_force", rms(d.residual, true));
  json.entry("residual_moment", rms(d.residual, false)).key("moments").begin_object();
  for (std::size_t c = 0; c < t.columns.size(); ++c)
    json.line()
        .key(t.columns[c])
        .begin_object()
        .entry("least", t.values.row(long(c)).minCoeff())
        .entry("largest", t.values.row(long(c)).maxCoeff())
        .end_object();
  json.end_object().end_object();
  return json.take() + "\n";
}

std::string report_text(const MappedModel& mapped, const TimeTable& t, const MeasuredDynamics& d, double peak) {
  const double weight = mapped.model().mass() * norm(mapped.model().gravity());
  std::vector<std::vector<std::string>> rows{
      {"figure", fmt::format("{}, {:.4g} kg", mapped.model().name(), mapped.model().mass())},
      {"frames", fmt::format("{}, {:.4g} to {:.4g} s", t.rows(), t.times.front(), t.times.back())},
      {"largest measured force", fmt::format("{:.1f} N, {:.2f} of the weight", peak, peak / weight)}};
  if (!d.residual.empty()) {
    const double f = rms(d.residual, true);
    rows.push_back({"residual force",
                    fmt::format("rms {:.3g} N, {:.2g} % of the largest force", f, peak > 0 ? 100 * f / peak : 0)});
    rows.push_back({"residual moment", fmt::format("rms {:.3g} N·m", rms(d.residual, false))});
  }
  std::string text = table(rows);
  rows = {{"coordinate", "least", "largest [N·m, N]"}};
  for (std::size_t c = 0; c < t.columns.size(); ++c)
    rows.push_back({t.columns[c], fmt::format("{:.2f}", t.values.row(long(c)).minCoeff()),
                    fmt::format("{:.2f}", t.values.row(long(c)).maxCoeff())});
  return text + "\nMoments\n" + table(rows);
}

void tell_reduction(const ReducedResiduals& r, double peak) {
  fmt::print(stderr,
             "residuals: force {:.3g} to {:.3g} N ({:.2g} to {:.2g} % of the largest force), moment {:.3g} to {:.3g} "
             "N·m; the body moved by {:.1f} mm "
             "(rms), the trunk's mass centre by {:.1f} {:.1f} {:.1f} mm\n",
             r.before, r.after, 100 * r.before / peak, 100 * r.after / peak, r.moment_before, r.moment_after,
             1000 * r.moved, 1000 * r.mass_centre.x, 1000 * r.mass_centre.y, 1000 * r.mass_centre.z);
  if (!r.met) fmt::print(stderr, "residuals: 2 % of the largest force would need more than 20 mm\n");
}

}  // namespace

Exit analyze_measured(const MeasuredArguments& options) {
  const Inputs in = inputs_of(options);
  const MappedModel mapped = mapped_or_fail(in.model);
  Loaded<io::OsimModel> osim = io::read_osim(in.model);
  const CoordinateMotion motion = motion_or_fail(mapped, in.motion, in.cutoff);
  try {
    const std::vector<MeasuredForce> forces = forces_of(mapped, clip_of(mapped, motion), in, osim.value->axes);
    std::optional<ReducedResiduals> reduced;
    if (options.reduce) {
      reduced = reduce_residuals(mapped, motion, forces);
      tell_reduction(*reduced, peak_force(forces, motion.frames()));
    }
    const MeasuredDynamics dynamics = reduced ? reduced->dynamics : measured_dynamics(mapped, motion, forces);
    const TimeTable table = moment_table(mapped, dynamics, in.from, in.to);
    if (table.rows() == 0)
      throw Failure(kNumerical, "kansetsu analyze: no frame lies in the time range of the setup file");
    if (!options.sto.empty()) {
      const std::vector<Diagnostic> problems = io::write_sto(table, options.sto);
      if (has_errors(problems)) throw bad_file(problems);
    }
    const double peak = peak_force(forces, motion.frames());
    print(options.json ? report_json(mapped, table, dynamics, peak) : report_text(mapped, table, dynamics, peak));
  } catch (const Error& error) {
    throw Failure(kNumerical, fmt::format("kansetsu analyze: {}", error.what()));
  }
  return kOk;
}

}  // namespace kansetsu::cli
