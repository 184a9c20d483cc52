#pragma once

#include <string_view>

#include "cli/command.h"

namespace kansetsu::cli {

/// From here on Ctrl-C, SIGTERM and a closed terminal end the program without leaving temporary files behind.
void end_cleanly_by_signals();

/// While it lives, the first Ctrl-C or SIGTERM is noted and does not end the program: what is being recorded can be completed. The
/// second one ends it.
class Interrupt {
 public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  /// The signal that came, 0 if none did.
  static int caught();
};

/// Says until when the command came; the exit code, as shells have it: 128 and the signal.
Exit interrupted(std::string_view command, double seconds, int signal);

}  // namespace kansetsu::cli
