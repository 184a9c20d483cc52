#include "cli/interrupt.h"

#include <fmt/format.h>

#include <csignal>

namespace kansetsu::cli {
namespace {

volatile std::sig_atomic_t noted = 0;

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

}  // namespace

Interrupt::Interrupt() {
  for (const int number : kSignals) {
    struct sigaction action{}, old{};
    action.sa_handler = [](int signal) { noted = signal; };
    action.sa_flags = static_cast<int>(SA_RESETHAND);
    ::sigaction(number, nullptr, &old);
    if (old.sa_handler != SIG_IGN) ::sigaction(number, &action, nullptr);  // as nohup has it
  }
}

Interrupt::~Interrupt() {
  for (const int number : kSignals) {
    struct sigaction old{};
    ::sigaction(number, nullptr, &old);
    if (old.sa_handler != SIG_IGN) std::signal(number, SIG_DFL);
  }
}

int Interrupt::caught() { return noted; }

Exit interrupted(std::string_view command, double seconds, int signal) {
  fmt::print(stderr, "kansetsu {}: interrupted at {:.6g} s; recordings are complete up to that time\n", command,
             seconds);
  return static_cast<Exit>(128 + signal);
}

}  // namespace kansetsu::cli
