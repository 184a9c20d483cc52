#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

namespace kansetsu::cli {

Progress::Progress(std::string what, std::size_t total)
    : what_(std::move(what)),
      total_(total),
      terminal_(isatty(STDERR_FILENO) == 1),
      next_(Clock::now() + std::chrono::seconds(2)) {}

Progress::~Progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
}

void Progress::done(std::size_t count) {
  if (!terminal_) return;
  const auto now = Clock::now();
  if (now < next_) return;
  next_ = now + std::chrono::milliseconds(100);
  shown_ = true;
  if (total_ == 0)
    fmt::print(stderr, "\r\033[K{}: {}", what_, count);
  else
    fmt::print(stderr, "\r\033[K{}: {} of {} ({} %)", what_, count, total_, 100 * count / total_);
  std::fflush(stderr);
}

}  // namespace kansetsu::cli
