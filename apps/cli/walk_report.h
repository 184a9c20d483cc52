#pragma once

#include <functional>
#include <string>

#include "cli/command.h"
#include "cli/recording.h"
#include "kansetsu/sim/walk.h"

/// What walk and track have in common: the run, and what is told about it.
namespace kansetsu::cli {

struct RunTitle {
  std::string command, figure;
  bool json = false;
};

/// Runs to the end with a progress bar and prints the report. A fall is told on standard error and gives kNumerical; the
/// recordings are complete up to it.
/// @param whole  when `done` of the status reaches it, everything is
Exit run_and_report(WalkSimulation& walk, WorldRecorder& recorder, const RunTitle& title, double whole,
                    const std::function<double(const WalkStatus&)>& done);

}  // namespace kansetsu::cli
