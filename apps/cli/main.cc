/// kansetsu COMMAND …: finds the command, runs it, and turns failures into messages and exit codes.

#include <fcntl.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>
#include <string_view>

#include "cli/arguments.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/suggest.h"
#include "cli/terminal.h"
#include "kansetsu/base/error.h"
#include "kansetsu/base/printable.h"

namespace kansetsu::cli {
namespace {

std::string help() {
  std::string text =
      "Kinematics and dynamics of articulated bodies.\n"
      "Usage: kansetsu COMMAND [OPTIONS] …\n\nCommands:\n";
  for (const Command& c : commands()) text += fmt::format("  {:<14}{}\n", c.name, c.summary);
  return text +
         "\nOptions:\n"
         "  -h,--help     print this help; 'kansetsu COMMAND --help' prints the options of a command\n"
         "  --version     print the version\n"
         "\nData goes to standard output, messages to standard error. Exit codes: 0 ok, 2 usage, 3 bad file, "
         "4 numerical failure, 5 partial model.\n"
         "\nExamples:\n"
         "  kansetsu check robot.urdf\n"
         "  kansetsu info human28\n"
         "  echo '{\"compute\": [\"com\"], \"states\": [{}]}' | kansetsu eval human28\n";
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  for (const Command& c : commands()) names.emplace_back(c.name);
  return names;
}

const Command& find_command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  if (found != commands().end()) return *found;
  const std::string_view kind = name.starts_with('-') ? "option" : "command";
  std::vector<std::string> known = command_names();
  if (kind == "option") known = {"--help", "--version"};
  throw Failure(kBadUsage, fmt::format("kansetsu: {}\n  see 'kansetsu --help'", unknown_name(kind, name, known)));
}

Exit dispatch(std::vector<std::string> arguments) {
  if (arguments.empty()) throw Failure(kBadUsage, help());
  const std::string name = arguments.front();
  arguments.erase(arguments.begin());
  if (name == "--version") {
    print(fmt::format("kansetsu {}\n", KANSETSU_VERSION));
    return kOk;
  }
  const bool asks = name == "help" || name == "--help" || name == "-h";
  if (asks && arguments.empty()) {
    print(help());
    return kOk;
  }
  if (asks) return run(find_command(arguments.front()), std::vector<std::string>{"--help"});
  return run(find_command(name), arguments);
}

/// If the caller has closed a standard stream, no file may be opened with its number.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0) continue;
    // The lowest free number is `stream`. It is opened for the opposite direction, so that it fails like a closed one.
    [[maybe_unused]] const int opened = open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

Exit guarded(std::vector<std::string> arguments) {
  const auto say = [](std::string what) {
    if (!what.ends_with('\n')) what += '\n';
    fmt::print(stderr, "{}", coloured(printable(std::move(what))));
  };
  try {
    return dispatch(std::move(arguments));
  } catch (const Output::BrokenPipe&) {
    return kOk;  // the reader of our output has closed it
  } catch (const Failure& failure) {
    say(failure.what());
    return failure.exit;
  } catch (const std::bad_alloc&) {
    say("kansetsu: out of memory");
    return kNumerical;
  } catch (const Error& error) {
    say(error.what());
    return kBadUsage;
  } catch (const std::exception& error) {
    say(error.what());
    return kBadFile;
  }
}

constexpr std::string_view kNoMemory = "kansetsu: out of memory\n";

/// Prints without allocating.
Exit give_up() {
  [[maybe_unused]] const ssize_t told = ::write(STDERR_FILENO, kNoMemory.data(), kNoMemory.size());
  return kNumerical;
}

/// If memory runs out in a function that may not throw, such as a destructor of the JSON library, nothing can be unwound. Recordings
/// are as after a kill.
[[noreturn]] void end_at_once() {
  try {
    if (const std::exception_ptr reason = std::current_exception()) std::rethrow_exception(reason);
  } catch (const std::bad_alloc&) {
    ::_exit(give_up());
  } catch (...) {
  }
  std::abort();
}

}  // namespace
}  // namespace kansetsu::cli

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);  // writing fails instead, see Output
  kansetsu::cli::end_cleanly_by_signals();
  std::set_terminate(kansetsu::cli::end_at_once);
  kansetsu::cli::occupy_standard_streams();
  try {
    return kansetsu::cli::guarded({argv + 1, argv + std::max(argc, 1)});
  } catch (...) {  // not even the message could be put together
    return kansetsu::cli::give_up();
  }
}
