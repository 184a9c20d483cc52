#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <span>
#include <string>

#include "cli/command.h"
#include "kansetsu/model/description.h"

/// What arguments of several subcommands have in common.
namespace kansetsu::cli {

/// Parses the arguments and runs the command. Help goes to standard output; misuse is told with what is known.
Exit run(const Command& command, std::span<const std::string> arguments);

/// Help for MODEL.
inline constexpr char kModelHelp[] =
    "URDF, MJCF or scene file (FILE#FIGURE: one of its figures), or a built-in figure: human28, pendulum, chain8, …";

/// --base fixed|free
CLI::Option* add_base_option(CLI::App& app, std::optional<Base>& base);

/// The long names of a command's options: --base, --json, …
std::vector<std::string> option_names(const CLI::App& app);

}  // namespace kansetsu::cli
