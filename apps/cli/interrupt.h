#pragma once

#include <string_view>

#include "cli/command.h"

namespace kansetsu::cli {

/// From now on, Ctrl-C, SIGTERM and a closed terminal end the program without leaving temporary files behind.
void end_cleanly_by_signals();

/// While it lives, the first Ctrl-C or SIGTERM is only noted, so that recordings can be completed. The second one ends the
/// program.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The signal that was caught, 0 if none.
  static int caught();
};

/// Reports the time that the command reached. Returns the exit code by the convention of shells: 128 plus the signal.
Exit interrupted(std::string_view command, double seconds, int signal);

}  // namespace kansetsu::cli
