#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

#include "kansetsu/base/error.h"

/// The subcommands of `kansetsu`: each is a row of the table and a file.
namespace kansetsu::cli {

/// Exit codes, documented in docs/guide/errors.md.
enum Exit : int {
  kOk = 0,
  kBadUsage = 2,   ///< unknown name or option
  kBadFile = 3,    ///< a file that cannot be read, parsed or written
  kNumerical = 4,  ///< a computation without a result
  kPartial = 5,    ///< a model that was read only in part
};

/// Ends a command with a message on standard error.
struct Failure : std::runtime_error {
  Failure(Exit code, const std::string& message) : std::runtime_error(message), exit(code) {}
  Exit exit;
};

/// Returns f(); an Error thrown by it ends the command with this code and "WHAT: …".
template <class F>
auto or_fail(Exit exit, const std::string& what, F&& f) {
  try {
    return f();
  } catch (const Error& error) {
    throw Failure(exit, what + ": " + error.what());
  }
}

class Arguments;

/// Runs with the parsed arguments.
using Runner = std::function<Exit()>;

struct Command {
  std::string_view name;
  std::string_view summary;   ///< one line, for the list of commands
  std::string_view examples;  ///< end of the help text
  /// Declares the arguments; the returned function runs the command once they are parsed.
  Runner (*declare)(Arguments& args);
};

std::span<const Command> commands();

Runner declare_check(Arguments& args);
Runner declare_info(Arguments& args);
Runner declare_conventions(Arguments& args);
Runner declare_eval(Arguments& args);
Runner declare_ik(Arguments& args);
Runner declare_fit(Arguments& args);
Runner declare_convert(Arguments& args);
Runner declare_compile(Arguments& args);
Runner declare_simulate(Arguments& args);
Runner declare_walk(Arguments& args);
Runner declare_track(Arguments& args);
Runner declare_generate(Arguments& args);
Runner declare_analyze(Arguments& args);
Runner declare_view(Arguments& args);
Runner declare_dynamics(Arguments& args);
Runner declare_bench(Arguments& args);
Runner declare_completion(Arguments& args);

}  // namespace kansetsu::cli
