#include "cli/analyze_measured.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "cli/allowed_paths.h"
#include "cli/load_model.h"
#include "cli/measured.h"
#include "cli/measured_report.h"
#include "cli/output.h"
#include "cli/terminal.h"
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

double peak_force(const std::vector<MeasuredForce>& forces, int frames) {
  double most = 0;
  for (int k = 0; k < frames; ++k) {
    Vec3<> sum{};
    for (const MeasuredForce& f : forces) sum += f.wrench[std::size_t(k)].f;
    most = std::max(most, norm(sum));
  }
  return most;
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
  OsimFigure figure = osim_or_fail(in.model);
  const CoordinateMotion motion = motion_or_fail(figure.mapped, in.motion, in.cutoff);
  if (options.muscles && figure.muscles.actuators.empty())
    throw Failure(kBadFile, fmt::format("{} has no muscles that are known; --muscles needs some", in.model));
  try {
    std::vector<MeasuredForce> forces = forces_of(figure.mapped, clip_of(figure.mapped, motion), in, figure.axes);
    const double peak = peak_force(forces, motion.frames());
    std::optional<ReducedResiduals> reduced;
    if (options.reduce) {
      reduced = reduce_residuals(figure.mapped, motion, forces);
      tell_reduction(*reduced, peak);
      forces = reduced->forces;
    }
    const MappedModel& mapped = reduced ? reduced->model : figure.mapped;
    const CoordinateMotion& moved = reduced ? reduced->motion : motion;
    MeasuredResult result{.mapped = mapped, .forces = std::move(forces), .peak = peak, .from = in.from, .to = in.to};
    result.dynamics = reduced ? reduced->dynamics : measured_dynamics(mapped, moved, result.forces);
    if (options.muscles) {
      result.muscles = share_among_muscles(mapped, figure.muscles, moved, result.dynamics, result.forces);
      for (const std::string& remark : muscle_remarks(result)) fmt::print(stderr, "{}: {}\n", in.motion, remark);
    }
    result.table = measured_table(result);
    if (result.table.rows() == 0)
      throw Failure(kNumerical, "kansetsu analyze: no frame lies in the time range of the setup file");
    if (!options.sto.empty()) {
      const std::vector<Diagnostic> problems = io::write_sto(result.table, options.sto);
      if (has_errors(problems)) throw bad_file(problems);
    }
    if (!options.csv.empty()) write_whole(options.csv, csv_of(result.table));
    if (!options.report.empty()) write_whole(options.report, measured_page(result, in.motion, in.cutoff));
    for (const std::string& file : {options.csv, options.report}) tell_written(file);
    print(options.json ? measured_json(result) : measured_text(result));
  } catch (const Error& error) {
    throw Failure(kNumerical, fmt::format("kansetsu analyze: {}", error.what()));
  }
  return kOk;
}

}  // namespace kansetsu::cli
