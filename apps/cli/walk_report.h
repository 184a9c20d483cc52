#pragma once

#include <functional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "kansetsu/motion/walk_simulation.h"

/// The run and the report of `walk` and `track`.
namespace kansetsu::cli {

struct RunOptions {
  std::vector<std::string> pushes, records;
  std::string html;
  double rate = 0;
  bool json = false;
};
/// --push, --seed, --step, --record, --rate, --html, --json
void add_run_options(Arguments& args, RunOptions& run, WalkSetup& setup);
/// The setup with the pushes given as options. Throws Failure.
WalkSetup setup_of(const std::string& command, WalkSetup setup, const RunOptions& run);

struct RunTitle {
  std::string command, figure;
};

/// Runs to the end with a progress bar, records, and prints the report. A fall is reported on standard error and gives kNumerical; the
/// recordings are complete up to it.
/// @param whole  value of the status's `done` at the end of the run
Exit run_and_report(WalkSimulation& walk, const RunOptions& run, const RunTitle& title, double whole,
                    const std::function<double(const WalkStatus&)>& done);

}  // namespace kansetsu::cli
