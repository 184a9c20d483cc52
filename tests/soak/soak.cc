#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "crowd.h"
#include "falls.h"
#include "hour.h"
#include "loop_robots.h"
#include "stress.h"

using namespace kansetsu;

/// Runs that take too long for every day; script/soak. Exit code 1: something was found.
namespace {

using Clock = std::chrono::steady_clock;
double since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

std::optional<std::filesystem::path> data_folder() {
  const char* folder = std::getenv("KANSETSU_DATA_DIR");
  return folder ? std::optional<std::filesystem::path>(folder) : std::nullopt;
}

void say(const std::string& line) {
  fmt::print("{}\n", line);
  std::fflush(stdout);
}

/// Rows of one robot: at the end of each interval its largest gaps, and the energy that the ledger does not explain beside
/// what went through it.
bool run_loops(const test::LoopRobot& robot, double seconds, const std::filesystem::path& out) {
  constexpr int kRows = 360;
  const Clock::time_point begin = Clock::now();
  World world = test::loop_world(robot, *data_folder(), true);
  const double start = world.kinetic_energy() + world.potential_energy();
  std::ofstream csv(out / fmt::format("{}.csv", robot.name));
  csv << "time,gap,angle,kinetic,potential,work,pushed,unexplained,most_kinetic\n";
  double gap = 0, angle = 0, most = 0, said = 0, pushed = 0, last = 0, worst = 0, fastest = 0;
  for (int row = 1; row <= kRows; ++row) {
    double row_gap = 0, row_angle = 0;
    while (world.time() < seconds * row / kRows && world.status() == WorldStatus::kRunning) {
      world.step();
      row_gap = std::max(row_gap, world.report().loop_gap);
      row_angle = std::max(row_angle, world.report().loop_angle);
      pushed += std::abs(world.totals().work_torque - last), last = world.totals().work_torque;
      most = std::max(most, world.kinetic_energy());
      fastest = std::max(fastest, world.v(FigureId(0)).cwiseAbs().maxCoeff());
    }
    if (world.status() != WorldStatus::kRunning) return say(robot.name + (": " + world.failure())), false;
    const double left = test::unexplained_energy(world, start);
    gap = std::max(gap, row_gap), angle = std::max(angle, row_angle), worst = std::max(worst, std::abs(left));
    csv << fmt::format("{},{},{},{},{},{},{},{},{}\n", world.time(), row_gap, row_angle, world.kinetic_energy(),
                       world.potential_energy(), world.totals().work_torque, pushed, left, most);
    if (since(begin) - said > 10) {
      said = since(begin);
      say(fmt::format("  {}: {:.0f} of {:.0f} s after {:.0f} s, gap {:.1e} m, {:.1e} rad, unexplained {:.2e} J",
                      robot.name, world.time(), seconds, said, gap, angle, left));
    }
  }
  // The integrator keeps 1e-7 of the speeds per step, most of it by chance.
  const bool ok = gap < 1e-6 && angle < 1e-6 && worst < 1e-6 * (most + pushed);
  say(fmt::format(
      "{} {}: {:.0f} s in {} steps, gap {:.1e} m, {:.1e} rad; up to {:.3g} rad/s and {:.3g} J, {:.3g} J through the "
      "motors, {:.2e} J unexplained; {:.0f} s of computing",
      ok ? "ok  " : "FAIL", robot.name, world.time(), world.totals().steps, gap, angle, fastest, most, pushed, worst,
      since(begin)));
  return ok;
}

bool run_threads(int steps) {
  const Clock::time_point begin = Clock::now();
  std::uint64_t hash = 0, contacts = 0;
  const std::string difference = test::crowd_differences(steps, hash, contacts);
  if (!difference.empty()) return say("FAIL threads: " + difference), false;
  say(fmt::format(
      "ok   threads: {} steps of 20 figures with {} contacts: {:016x} on 1, 2 and 4 threads, after restore and in "
      "replay; {:.0f} s of computing",
      steps, contacts, hash, since(begin)));
  return true;
}

bool run_stress(std::uint64_t seed, int worlds, double seconds, bool verbose) {
  const Clock::time_point begin = Clock::now();
  int failures = 0;
  double said = 0, worst = 0, penetration = 0, gap = 0;
  std::uint64_t steps = 0, contacts = 0, grabs = 0, unsolved = 0;
  for (int i = 0; i < worlds; ++i) {
    const test::StressReport r = test::stress(seed + std::uint64_t(i), seconds, data_folder());
    const double share = r.gain / r.scale;
    if (verbose || !r.failure.empty() || share > test::kMostGain) {
      say(fmt::format(
          "{} seed {}: {}: gain {:.3g} J of {:.3g} J, deepest {:.2g} m, gap {:.2g} m, {} grabs, {} of {} contacts "
          "unsolved {}",
          r.failure.empty() && share <= test::kMostGain ? "    " : "FAIL", seed + std::uint64_t(i), r.world, r.gain,
          r.scale, r.penetration, r.gap, r.grabs, r.unsolved, r.contacts, r.failure));
    }
    failures += !r.failure.empty() || share > test::kMostGain;
    worst = std::max(worst, share), penetration = std::max(penetration, r.penetration), gap = std::max(gap, r.gap);
    steps += r.steps, contacts += r.contacts, grabs += r.grabs, unsolved += r.unsolved;
    if (since(begin) - said > 10) {
      said = since(begin);
      say(fmt::format("  stress: {} of {} worlds after {:.0f} s, {} failed", i + 1, worlds, said, failures));
    }
  }
  say(
      fmt::format("{} stress: {} worlds from seed {}, {} steps, {} contacts ({} unsolved), {} grabs: {} failed; "
                  "largest gain {:.2g} of "
                  "the energy in play, deepest {:.2g} m, largest gap {:.2g} m; {:.0f} s of computing",
                  failures ? "FAIL" : "ok  ", worlds, seed, steps, contacts, unsolved, grabs, failures, worst,
                  penetration, gap, since(begin)));
  return failures == 0;
}

bool run_falls(const std::string& only, int count, double seconds, double h) {
  say("| fall | µs a step | systems | contacts | unsolved % | at rest % | residual m/s | deepest mm | at rest mm | "
      "gain J | "
      "unexplained J | of J | kinetic J |");
  say("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
  bool ok = true;
  std::vector<std::string> names = test::falls(data_folder());
  const bool exact = std::ranges::find(names, only) != names.end();
  if (!exact && only.find(' ') != only.npos && test::is_heap(only)) names = {only};  // of any size
  for (const std::string& name : names) {
    if (exact ? name != only : name.find(only) == std::string::npos) continue;
    const test::FallReport r =
        test::fall(name, test::is_heap(name) && only.empty() ? 1 : count, seconds, h, data_folder());
    const double all = double(std::max(r.contacts, 1L));
    say(
        fmt::format("| {} | {:.1f} | {:.1f} | {} | {:.3f} | {:.3f} | {:.1e} | {:.2f} | {:.3f} | {:.2g} | {:.3g} | "
                    "{:.3g} | {:.2g} | {}",
                    r.what, r.microseconds, r.systems, r.contacts, 100 * double(r.unsolved) / all,
                    100 * double(r.resting_unsolved) / all, r.worst_residual, 1e3 * r.penetration,
                    1e3 * r.resting_penetration, r.gain, r.unexplained, r.scale, r.kinetic, r.failure));
    ok = ok && r.failure.empty();
  }
  return ok;
}

/// Goes on from what `file` holds, until so much is simulated or so much time has passed; saves as it goes.
bool run_hour(double seconds, double minutes, const std::filesystem::path& file, int threads) {
  constexpr double kSave = 10;  // [s] of computing between two saves
  const Clock::time_point begin = Clock::now();
  test::Hour hour(20, threads);
  if (std::ifstream saved(file, std::ios::binary); saved) {
    hour.restore(std::string(std::istreambuf_iterator<char>(saved), {}));
    say(fmt::format("  hour: goes on at {:.3f} s", hour.world().time()));
  }
  const auto save = [&] {
    const std::filesystem::path part = file.string() + ".part";
    std::ofstream(part, std::ios::binary) << hour.save();
    std::filesystem::rename(part, file);
  };
  const World& world = hour.world();
  double said = 0;
  std::size_t heap = 0, most = 0;
  const std::uint64_t first = world.totals().steps;
  while (world.time() < seconds && world.status() == WorldStatus::kRunning && since(begin) < 60 * minutes) {
    hour.step();
    if (world.totals().steps == first + 20'000) heap = test::heap_in_use();  // all memory that it will need
    if (since(begin) - said < kSave) continue;
    said = since(begin);
    most = std::max(most, test::heap_in_use());
    save();
    say(fmt::format("  hour: {:.0f} of {:.0f} s after {:.0f} s, {} contacts, {:.1f} MB", world.time(), seconds, said,
                    world.totals().contacts, double(test::heap_in_use()) * 1e-6));
  }
  if (world.status() != WorldStatus::kRunning) return say("FAIL hour: the world stopped " + world.failure()), false;
  save();
  const WorldHealth health = world.health();
  const bool grown = heap > 0 && double(most) > 1.05 * double(heap);  // contacts of a heap come and go
  const bool whole = world.time() >= seconds - 0.5 * world.time_step();
  say(fmt::format(
      "{} hour: {:.0f} of {:.0f} s simulated{}, {} contacts, {:.2g} unsolved, deepest {:.2g} m, {:.3g} J of {:.3g} J "
      "unexplained since {:.0f} s, heap {:.1f} MB then {:.1f} MB, state {:016x}; {:.0f} s of computing",
      grown   ? "FAIL"
      : whole ? "ok  "
              : "part",
      world.time(), seconds, whole ? "" : " (run it again to go on)", health.contacts, health.unsolved_share(),
      health.penetration, health.energy_drift, health.energy_moved, health.since, double(heap) * 1e-6,
      double(most) * 1e-6, world.hash(), since(begin)));
  return !grown;
}

/// A million steps of one figure that falls again and again, on the heap's account.
bool run_growth(int steps) {
  const Clock::time_point begin = Clock::now();
  test::Hour hour(1);
  for (int i = 0; i < 20'000; ++i) hour.step();  // all memory that it will need
  const std::size_t before = test::heap_in_use();
  for (int i = 0; i < steps; ++i) hour.step();
  const std::size_t after = test::heap_in_use();
  const bool ok = hour.world().status() == WorldStatus::kRunning &&
                  after <= before + 65536;  // bytes; one number per step would be 8 MB
  say(fmt::format("{} growth: {} steps, heap {} then {} bytes, {}; {:.0f} s of computing", ok ? "ok  " : "FAIL", steps,
                  before, after, hour.world().failure().empty() ? "running" : hour.world().failure(), since(begin)));
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("long runs of the world");
  app.require_subcommand(1);
  double seconds = 3600, stress_seconds = 3;
  std::string out = ".", only;
  CLI::App* loops = app.add_subcommand("loops", "mechanisms with closed loops under random motor torques");
  loops->add_option("--seconds", seconds, "simulated, of each robot");
  loops->add_option("--out", out, "folder of the CSV files");
  loops->add_option("--only", only, "one robot");
  int steps = 10000, worlds = 1000;
  CLI::App* threads =
      app.add_subcommand("threads", "the same bits on any number of threads, after restore and in replay");
  threads->add_option("--steps", steps);
  std::uint64_t seed = 1;
  bool verbose = false;
  CLI::App* stress = app.add_subcommand("stress", "random worlds, thrown about");
  stress->add_option("--worlds", worlds);
  stress->add_option("--seed", seed, "of the first world");
  stress->add_option("--seconds", stress_seconds, "simulated, of each world");
  stress->add_flag("--verbose", verbose, "a line for every world");
  int count = 10;
  double fall_seconds = 4, fall_step = 0.002;
  CLI::App* falls = app.add_subcommand("falls", "limp figures and heaps that fall: a table");
  falls->add_option("--falls", count, "of each figure");
  falls->add_option("--seconds", fall_seconds, "simulated, of each fall");
  falls->add_option("--time-step", fall_step, "[s]");
  falls->add_option("--only", only, "those whose name holds this");
  double hour_seconds = 3600, minutes = 1e6;
  std::string state = "hour.state";
  int hour_threads = 1, growth_steps = 1'000'000;
  CLI::App* hour =
      app.add_subcommand("hour", "twenty figures fall, are thrown and hold hands; goes on where it was cut off");
  hour->add_option("--seconds", hour_seconds, "simulated");
  hour->add_option("--minutes", minutes, "of computing, after which it stops to be gone on with");
  hour->add_option("--state", state, "file that it goes on from and saves to");
  hour->add_option("--threads", hour_threads);
  CLI::App* growth = app.add_subcommand("growth", "many steps take no more memory");
  growth->add_option("--steps", growth_steps);
  CLI11_PARSE(app, argc, argv);
  if (hour->parsed()) return run_hour(hour_seconds, minutes, state, hour_threads) ? 0 : 1;
  if (growth->parsed()) return run_growth(growth_steps) ? 0 : 1;
  if (falls->parsed()) return run_falls(only, count, fall_seconds, fall_step) ? 0 : 1;
  if (threads->parsed()) return run_threads(steps) ? 0 : 1;
  if (stress->parsed()) return run_stress(seed, worlds, stress_seconds, verbose) ? 0 : 1;
  if (!data_folder()) return say("soak: loops need KANSETSU_DATA_DIR"), 2;
  bool ok = true;
  for (const test::LoopRobot& robot : test::loop_robots()) {
    if (only.empty() || only == robot.name) ok = run_loops(robot, seconds, out) && ok;
  }
  return ok ? 0 : 1;
}
