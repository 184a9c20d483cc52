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
#include "cli/subject.h"
#include "cli/terminal.h"
#include "kansetsu/base/error.h"
#include "kansetsu/motion/residual_reduction.h"

namespace kansetsu::cli {
namespace {

constexpr double kUsualCutoff = 6;  ///< [Hz] of walking

/// The input files of inverse dynamics.
struct InputFiles {
  std::string model, motion, loads;
  std::filesystem::path package{};  ///< of the setup file that named these
  double cutoff = kUsualCutoff, from = -kInfinity, to = kInfinity;
};

/// Their contents.
struct Inputs {
  OsimFigure figure;
  TimeTable coordinates{}, forces{};
  std::vector<ExternalLoad> loads{};
  double cutoff = kUsualCutoff, from = -kInfinity, to = kInfinity;
};

InputFiles files_of(const MeasuredArguments& options) {
  InputFiles out{.model = options.figure, .motion = options.motion, .loads = options.loads};
  if (std::filesystem::path(options.motion).extension() == ".xml") {
    const io::InverseDynamicsSetup setup = value_or_fail(io::read_inverse_dynamics_setup(options.motion, references()));
    if (out.model.empty()) out.model = setup.model.string();
    if (out.loads.empty()) out.loads = setup.loads.string(), out.package = setup.package;
    out.motion = setup.coordinates.string();
    out.cutoff = setup.cutoff, out.from = setup.from, out.to = setup.to;
  }
  if (options.filter) out.cutoff = *options.filter;
  return out;
}

/// From a subject: processed motions are smooth, and are filtered only on request.
Inputs inputs_of_subject(const MeasuredArguments& options) {
  if (!options.figure.empty() || !options.loads.empty())
    throw Failure(kBadUsage,
                  "a subject (.b3d) has its own model and forces: it cannot be combined with --figure and --loads");
  const io::Subject subject = subject_or_fail(options.motion);
  const io::SubjectTrial& trial = trial_or_fail(subject, options.trial);
  if (trial.frames_without_force > 0)
    fmt::print(stderr, "{}: trial '{}': unmeasured forces act in {} of {} frames\n", options.motion, trial.name,
               trial.frames_without_force, trial.coordinates.rows());
  return {.figure = parse_osim_or_fail(subject.osim, options.motion),
          .coordinates = trial.coordinates,
          .forces = trial.forces,
          .loads = subject.loads,
          .cutoff = options.filter.value_or(0)};
}

Inputs inputs_of(const MeasuredArguments& options) {
  if (io::names_subject(options.motion)) return inputs_of_subject(options);
  if (!options.trial.empty()) throw Failure(kBadUsage, "--trial needs a subject (.b3d)");
  const InputFiles files = files_of(options);
  Inputs out{.figure = osim_or_fail(files.model),
             .coordinates = table_or_fail(files.motion),
             .cutoff = files.cutoff,
             .from = files.from,
             .to = files.to};
  if (files.loads.empty()) return out;
  io::ReferenceOptions allowed = references();
  allowed.package = files.package;
  io::ExternalLoads loads = value_or_fail(io::read_external_loads(files.loads, allowed));
  out.forces = table_or_fail(loads.data.string());
  out.loads = std::move(loads.loads);
  return out;
}

std::vector<MeasuredForce> forces_of(const Inputs& in, const Clip& clip) {
  if (in.loads.empty()) return {};
  const TimeTable& table = in.forces;
  if (clip.times.front() < table.times.front() - 1e-6 || clip.times.back() > table.times.back() + 1e-6)
    fmt::print(
        stderr,
        "{}: forces from {:g} to {:g} s, the motion from {:g} to {:g} s; outside this range they are held constant\n",
        table.file, table.times.front(), table.times.back(), clip.times.front(), clip.times.back());
  return sample_loads(in.figure.mapped.model(), clip, table, in.loads, in.figure.axes);
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
  const OsimFigure& figure = in.figure;
  const std::string& file = in.coordinates.file;
  const CoordinateMotion motion = motion_or_fail(figure.mapped, in.coordinates, in.cutoff);
  if (options.muscles && figure.muscles.actuators.empty())
    throw Failure(kBadFile, fmt::format("the model '{}' has no muscle of a known type; --muscles needs at least one",
                                        figure.mapped.model().name()));
  try {
    std::vector<MeasuredForce> forces = forces_of(in, clip_of(figure.mapped, motion));
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
      for (const std::string& remark : muscle_remarks(result)) fmt::print(stderr, "{}: {}\n", file, remark);
    }
    result.table = measured_table(result);
    if (result.table.rows() == 0)
      throw Failure(kNumerical, "kansetsu analyze: no frame lies in the time range of the setup file");
    if (!options.sto.empty()) check_written(io::write_sto(result.table, options.sto));
    if (!options.csv.empty()) write_whole(options.csv, csv_of(result.table));
    if (!options.report.empty()) write_whole(options.report, measured_page(result, file, in.cutoff));
    for (const std::string& written : {options.csv, options.report}) tell_written(written);
    print(options.json ? measured_json(result) : measured_text(result));
  } catch (const Error& error) {
    throw Failure(kNumerical, fmt::format("kansetsu analyze: {}", error.what()));
  }
  return kOk;
}

}  // namespace kansetsu::cli
