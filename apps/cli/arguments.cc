#include "cli/arguments.h"

#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <cmath>

#include "cli/allowed_paths.h"
#include "cli/output.h"
#include "cli/suggest.h"

namespace kansetsu::cli {
namespace {

/// Checks of numbers: those of CLI11 accept NaN and infinity, and print the largest double.
CLI::Validator number_check(const char* name, const char* wanted, bool (*fine)(double)) {
  const auto check = [=](std::string& text) {
    double x = 0;
    const bool is_number = CLI::detail::lexical_cast(text, x);
    return is_number && std::isfinite(x) && fine(x) ? std::string() : fmt::format("{} is not {}", text, wanted);
  };
  return CLI::Validator(check, name);
}
CLI::Validator finite_check() {
  return number_check("", "a finite number", [](double) { return true; });
}
/// Without it, -1 would be read as the largest unsigned number.
std::string no_sign(const std::string& text) {
  return text.starts_with('-') ? fmt::format("{} is not a whole number, zero or more", text) : std::string();
}

/// The long names of a command's options: --base, --json, …
std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// The error in the arguments; clearer than the library's where that is unclear.
std::string problem_of(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() != static_cast<int>(CLI::ExitCodes::ExtrasError)) return error.what();
  const std::vector<std::string> extra = app.remaining();
  const std::string first = extra.empty() ? "" : extra.front();
  if (!first.starts_with('-')) return fmt::format("one argument too many: '{}'", first);
  return fmt::format("unknown option '{}'{}", first, did_you_mean(first, option_names(app)));
}

template <class T, class... Others>
constexpr bool is_any_of = (std::is_same_v<T, Others> || ...);

/// "--mass KG" without the type of its value.
std::string option_of(const std::string& name) { return name.substr(0, name.find(' ')); }

/// The option with that type in the help; positional arguments show none.
Argument typed(CLI::Option& option, const std::string& name) {
  if (const std::size_t blank = name.find(' '); blank != std::string::npos)
    option.type_name(name.substr(blank + 1));
  else if (!name.starts_with('-'))
    option.type_name("");
  return Argument(option);
}

Runner declare(const Command& command, CLI::App& app) {
  app.set_help_flag("-h,--help", "print this help");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
  Arguments args(app);
  return command.declare(args);
}

}  // namespace

Exit run(const Command& command, std::span<const std::string> arguments) {
  CLI::App app(std::string(command.summary), fmt::format("kansetsu {}", command.name));
  app.footer(fmt::format("Examples:\n{}", command.examples));
  app.get_formatter()->column_width(28);
  const Runner runner = declare(command, app);
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

Argument& Argument::required() {
  option_->required();
  return *this;
}
Argument& Argument::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}
Argument& Argument::show_default() {
  option_->capture_default_str();
  return *this;
}
Argument& Argument::take_all() {
  option_->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  return *this;
}
Argument& Argument::delimiter(char separator) {
  option_->delimiter(separator);
  return *this;
}
Argument& Argument::positive() {
  option_->check(number_check("POSITIVE", "a number above zero", [](double x) { return x > 0; }));
  return *this;
}
Argument& Argument::not_negative() {
  option_->check(number_check("NONNEGATIVE", "a number, zero or more", [](double x) { return x >= 0; }));
  return *this;
}
Argument& Argument::between(int lowest, int highest) {
  option_->check(CLI::Range(lowest, highest));
  return *this;
}
Argument& Argument::between(double lowest, double highest) {
  option_->check([=](const std::string& text) {
    double x = 0;
    const bool fine = CLI::detail::lexical_cast(text, x) && x >= lowest && x <= highest;
    return fine ? std::string() : fmt::format("{} is not a number from {} to {}", text, lowest, highest);
  });
  return *this;
}
Argument& Argument::one_of(const std::vector<std::string>& words) {
  option_->check(CLI::IsMember(words).description(""))->type_name(fmt::format("{}", fmt::join(words, "|")));
  return *this;
}
Argument& Argument::check(std::function<std::string(const std::string&)> problem) {
  option_->check(std::move(problem));
  return *this;
}

template <class Value>
Argument Arguments::add(const std::string& name, Value& value, const std::string& help) {
  CLI::Option& option = *app_->add_option(option_of(name), value, help);
  // One value each time it is given: a file after it is the command's.
  if constexpr (is_any_of<Value, std::vector<std::string>, std::vector<double>>)
    option.allow_extra_args(!name.starts_with('-'));
  if constexpr (is_any_of<Value, double, std::optional<double>, std::vector<double>>) option.check(finite_check());
  if constexpr (is_any_of<Value, std::uint64_t, std::optional<std::uint64_t>>) option.check(no_sign);
  return typed(option, name);
}
template Argument Arguments::add(const std::string&, std::string&, const std::string&);
template Argument Arguments::add(const std::string&, double&, const std::string&);
template Argument Arguments::add(const std::string&, int&, const std::string&);
template Argument Arguments::add(const std::string&, std::uint16_t&, const std::string&);
template Argument Arguments::add(const std::string&, std::uint64_t&, const std::string&);
template Argument Arguments::add(const std::string&, std::optional<double>&, const std::string&);
template Argument Arguments::add(const std::string&, std::optional<std::uint64_t>&, const std::string&);
template Argument Arguments::add(const std::string&, std::vector<std::string>&, const std::string&);
template Argument Arguments::add(const std::string&, std::vector<double>&, const std::string&);

Argument Arguments::add_number(const std::string& name, std::function<void(double)> take, const std::string& help) {
  CLI::Option& option = *app_->add_option_function<double>(option_of(name), std::move(take), help);
  return typed(*option.check(finite_check()), name);
}
Argument Arguments::add_word(const std::string& name, std::function<void(const std::string&)> take,
                             const std::string& help) {
  return typed(*app_->add_option_function<std::string>(option_of(name), std::move(take), help), name);
}
void Arguments::add_flag(const std::string& name, bool& value, const std::string& help) {
  app_->add_flag(name, value, help);
}

void add_base_option(Arguments& args, std::optional<Base>& base) {
  args.add_word(
          "--base fixed|free",
          [&base](const std::string& name) { base = name == "fixed" ? Base::kFixed : Base::kFree; },
          "whether the root link is fixed to the world or free; default: that of the file")
      .check([](const std::string& name) {
        return name == "fixed" || name == "free" ? "" : fmt::format("'{}' is neither fixed nor free", name);
      });
}

void add_path_option(Arguments& args) {
  const auto is_folder = [](const std::string& name) {
    std::error_code ignored;
    return std::filesystem::is_directory(name, ignored) ? "" : fmt::format("'{}' is not a folder", name);
  };
  args.add("--package-path DIR", given_package_paths(),
           "folder with ROS packages, or a package itself, to resolve package://NAME/…; may be repeated")
      .check(is_folder);
  args.add("--allow-path DIR", given_paths(),
           "folder outside the model's package from which it may read files; may be repeated")
      .check(is_folder);
}

std::vector<ArgumentInfo> declared_arguments(const Command& command) {
  CLI::App app;
  const Runner unused = declare(command, app);
  std::vector<ArgumentInfo> all;
  for (const CLI::Option* option : app.get_options()) {
    const std::vector<std::string>& names = option->get_lnames();
    all.push_back({names.empty() ? "" : "--" + names.front(), option->get_description(), option->get_type_name(),
                   option->get_expected_max()});
  }
  return all;
}

}  // namespace kansetsu::cli
