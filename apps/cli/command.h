#pragma once

#include <functional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>

namespace CLI {
class App;
}

/// The subcommands of `kansetsu`: each is a row of the table and a file of its own.
namespace kansetsu::cli {

/// Exit codes; a documented interface.
enum Exit : int {
  kOk = 0,
  kBadUsage = 2,   ///< unknown name or option
  kBadFile = 3,    ///< a file that cannot be read, written or understood
  kNumerical = 4,  ///< a computation that has no answer
};

/// Ends a command with a message on standard error.
struct Failure : std::runtime_error {
  Failure(Exit code, const std::string& message) : std::runtime_error(message), exit(code) {}
  Exit exit;
};

/// Does what the parsed arguments say.
using Runner = std::function<Exit()>;

struct Command {
  std::string_view name;
  std::string_view summary;   ///< one line, for the list of commands
  std::string_view examples;  ///< end of the help text
  /// Declares the arguments; the returned function runs the command once they are parsed.
  Runner (*declare)(CLI::App& app);
};

std::span<const Command> commands();

Runner declare_check(CLI::App& app);
Runner declare_info(CLI::App& app);
Runner declare_conventions(CLI::App& app);
Runner declare_eval(CLI::App& app);
Runner declare_ik(CLI::App& app);
Runner declare_convert(CLI::App& app);
Runner declare_simulate(CLI::App& app);
Runner declare_walk(CLI::App& app);
Runner declare_track(CLI::App& app);
Runner declare_generate(CLI::App& app);
Runner declare_analyze(CLI::App& app);
Runner declare_view(CLI::App& app);
Runner declare_bench(CLI::App& app);
Runner declare_completion(CLI::App& app);

}  // namespace kansetsu::cli
