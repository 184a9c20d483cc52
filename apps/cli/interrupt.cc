#include "cli/interrupt.h"

#include <fmt/format.h>

#include <csignal>

#include "kansetsu/io/output_file.h"

namespace kansetsu::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

void end_by(int signal) {
  io::drop_open_parts();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void note(int signal) {
  if (noted != 0) end_by(signal);
  noted = signal;
}

void handle_signals(void (*handler)(int)) {
  for (const int number : kSignals) {
    struct sigaction action{}, old{};
    action.sa_handler = handler;
    ::sigaction(number, nullptr, &old);
    if (old.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);  // nohup ignores it
  }
}

}  // namespace

void end_cleanly_by_signals() { handle_signals(end_by); }

Interrupt::Interrupt() { handle_signals(note); }
Interrupt::~Interrupt() { handle_signals(end_by); }

int Interrupt::caught() { return noted; }

Exit interrupted(std::string_view command, double seconds, int signal) {
  fmt::print(stderr, "kansetsu {}: interrupted at {:.6g} s; recordings are complete up to that time\n", command,
             seconds);
  return static_cast<Exit>(128 + signal);
}

}  // namespace kansetsu::cli
