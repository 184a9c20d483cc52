#pragma once

#include <cstdint>
#include <functional>
#include <numbers>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/command.h"
#include "kansetsu/model/description.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

/// How a subcommand declares its arguments. Only arguments.cc includes the library that parses them: including it adds four
/// seconds to the compile time of a file.
namespace kansetsu::cli {

/// Angles in arguments and in printed text are in degrees.
inline constexpr double kDegree = std::numbers::pi / 180;

/// Parses the arguments and runs the command. Help goes to standard output; misuse is reported with the known options.
Exit run(const Command& command, std::span<const std::string> arguments);

/// One declared argument; the functions set its further properties.
class Argument {
 public:
  explicit Argument(CLI::Option& option) : option_(&option) {}

  Argument& required();
  Argument& type_name(const std::string& name);  ///< name of its value in the help, where it is only known at run time
  Argument& show_default();                      ///< print the default in the help
  Argument& take_all();                          ///< may be given several times
  Argument& delimiter(char separator);           ///< between several values

  Argument& positive();
  Argument& not_negative();
  Argument& between(int lowest, int highest);
  Argument& between(double lowest, double highest);
  Argument& one_of(const std::vector<std::string>& words);  ///< the help shows them as the type: "a|b"
  /// @param problem  returns the problem with a value; empty if there is none
  Argument& check(std::function<std::string(const std::string& value)> problem);

 private:
  CLI::Option* option_;
};

/// A declared argument, as seen by completion and tests.
struct ArgumentInfo {
  std::string name;  ///< --base; empty for positional arguments
  std::string help, type_name;
  int most_values = 0;  ///< 0 for flags
};

/// The arguments of one subcommand. Names are "--name TYPE", "-n,--name TYPE", or a word in capitals for positional ones; TYPE is what the
/// help calls the value. Values are written when the arguments have been parsed, and must live until then.
class Arguments {
 public:
  explicit Arguments(CLI::App& app) : app_(&app) {}

  /// @param value  std::string, double, int, unsigned, std::optional or std::vector of these
  template <class Value>
  Argument add(const std::string& name, Value& value, const std::string& help);
  Argument add_number(const std::string& name, std::function<void(double)> take, const std::string& help);
  Argument add_word(const std::string& name, std::function<void(const std::string&)> take, const std::string& help);
  void add_flag(const std::string& name, bool& value, const std::string& help);

 private:
  CLI::App* app_;
};

/// Help text for MODEL.
inline constexpr char kModelHelp[] =
    "URDF, MJCF, SDF or scene file (FILE#FIGURE: one of its figures), or a built-in figure: human28, chain8, …";

/// --base fixed|free
void add_base_option(Arguments& args, std::optional<Base>& base);

/// --allow-path DIR and --package-path DIR, for every command that reads models; see allowed_paths.h.
void add_path_option(Arguments& args);

/// All arguments of a command, --help first.
std::vector<ArgumentInfo> declared_arguments(const Command& command);

}  // namespace kansetsu::cli
