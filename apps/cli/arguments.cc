#include "cli/arguments.h"

#include <fmt/ranges.h>

#include "cli/output.h"
#include "cli/suggest.h"

namespace kansetsu::cli {
namespace {

/// What is wrong with the arguments, in our words where the library's are poor.
std::string problem_of(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return error.what();
  const std::vector<std::string> extra = app.remaining();
  const std::string first = extra.empty() ? "" : extra.front();
  if (!first.starts_with('-')) return fmt::format("one argument too many: '{}'", first);
  return fmt::format("unknown option '{}'{}", first, did_you_mean(first, option_names(app)));
}

}  // namespace

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

Exit run(const Command& command, std::span<const std::string> arguments) {
  CLI::App app(std::string(command.summary), fmt::format("kansetsu {}", command.name));
  app.footer(fmt::format("Examples:\n{}", command.examples));
  app.set_help_flag("-h,--help", "this text");
  app.get_formatter()->column_width(28);
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  const Runner runner = command.declare(app);
  try {
    app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));  // it takes them from the back
  } catch (const CLI::CallForHelp&) {
    print(app.help());
    return kOk;
  } catch (const CLI::ParseError& error) {
    throw Failure(kBadUsage, fmt::format("{0}: {1}\n  options: {2}\n  see '{0} --help'", app.get_name(),
                                         problem_of(app, error), fmt::join(option_names(app), ", ")));
  }
  return runner();
}

CLI::Option* add_base_option(CLI::App& app, std::optional<Base>& base) {
  static const std::map<std::string, Base> kNames{{"fixed", Base::kFixed}, {"free", Base::kFree}};
  const auto set = [&base](const std::string& name) { base = kNames.at(name); };
  return app
      .add_option_function<std::string>("--base", set,
                                        "whether the root link is fixed to the world; as the file says by default")
      ->type_name("fixed|free")
      ->check([](const std::string& name) {
        return kNames.contains(name) ? "" : fmt::format("'{}' is neither fixed nor free", name);
      });
}

}  // namespace kansetsu::cli
