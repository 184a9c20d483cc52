/// kansetsu completion SHELL: a script that completes commands, options, choices, figures and file names.

#include <fmt/ranges.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::cli {
namespace {

/// What may follow on the command line, taken from the commands' own declarations.
struct Word {
  std::string option{};  ///< e.g. "--base"; empty for positional arguments
  std::string help{};
  bool takes_value = false;
  std::vector<std::string> choices{};  ///< of the value; none: a file name
};
struct Completion {
  std::string name, summary;
  std::vector<Word> words;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  for (std::size_t end = 0; end != std::string_view::npos;) {
    end = text.find(separator);
    parts.emplace_back(text.substr(0, end));
    if (end != std::string_view::npos) text.remove_prefix(end + 1);
  }
  return parts;
}

Word word_of(const CLI::Option& option) {
  Word word{.help = option.get_description(), .takes_value = option.get_expected_max() > 0};
  if (!option.get_lnames().empty()) word.option = "--" + option.get_lnames().front();
  const std::string type = option.get_type_name();
  if (type.find('|') != std::string::npos) word.choices = split(type, '|');
  if (option.get_description() == kModelHelp) word.choices = figure_names();
  return word;
}

std::vector<Completion> completions() {
  std::vector<Completion> all;
  for (const Command& command : commands()) {
    CLI::App app;
    app.set_help_flag("-h,--help", "this text");
    const Runner unused = command.declare(app);
    Completion c{std::string(command.name), std::string(command.summary), {}};
    for (const CLI::Option* option : app.get_options()) c.words.push_back(word_of(*option));
    all.push_back(std::move(c));
  }
  return all;
}

std::string names_of(const std::vector<Completion>& all) {
  std::vector<std::string> names;
  for (const Completion& c : all) names.push_back(c.name);
  return fmt::format("{}", fmt::join(names, " "));
}

std::string bash() {
  const std::vector<Completion> all = completions();
  std::string cases;
  for (const Completion& c : all) {
    std::vector<std::string> options, positional;
    std::string values;
    for (const Word& w : c.words) {
      if (w.option.empty()) {
        positional.insert(positional.end(), w.choices.begin(), w.choices.end());
        continue;
      }
      options.push_back(w.option);
      if (w.takes_value)
        values += fmt::format("        {}) words=\"{}\"; value=1 ;;\n", w.option, fmt::join(w.choices, " "));
    }
    cases += fmt::format("    {})\n      options=\"{}\"\n      words=\"{}\"\n", c.name, fmt::join(options, " "),
                         fmt::join(positional, " "));
    if (!values.empty()) cases += fmt::format("      case \"$previous\" in\n{}      esac\n", values);
    cases += "      ;;\n";
  }
  return fmt::format(R"(# bash completion for kansetsu; source <(kansetsu completion bash)
_kansetsu() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD-1]}}"
  local options="" words="" value=""
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "{} --help --version" -- "$current")
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  if [[ "$current" == -* && -z "$value" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")
  fi
}}
complete -o filenames -F _kansetsu kansetsu
)",
                     names_of(all), cases);
}

/// Within single quotes of a shell; zsh gives [ ] and : a meaning besides.
std::string in_quotes(std::string_view text, std::string_view escaped = "") {
  std::string result;
  for (const char c : text) {
    if (escaped.find(c) != std::string_view::npos) result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result;
}

std::string zsh() {
  std::string list, cases;
  for (const Completion& c : completions()) {
    list += fmt::format("    '{}:{}'\n", c.name, in_quotes(c.summary, ":"));
    cases += fmt::format("    {})\n      _arguments", c.name);
    for (const Word& w : c.words) {
      const std::string help = in_quotes(w.help, "[]:");
      const std::string value =
          w.choices.empty()  ? ":file:_files"
          : w.option.empty() ? fmt::format(":model:_alternative \"figures\\:figure\\:({})\" \"files\\:file\\:_files\"",
                                           fmt::join(w.choices, " "))
                             : fmt::format(":value:({})", fmt::join(w.choices, " "));
      if (w.option.empty()) cases += fmt::format(" \\\n        '*{}'", value);
      if (!w.option.empty())
        cases += fmt::format(" \\\n        '{}[{}]{}'", w.option, help, w.takes_value ? value : "");
    }
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef kansetsu
# zsh completion for kansetsu: a file _kansetsu in a folder of $fpath
_kansetsu() {{
  local -a commands=(
{}  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command=$words[2]
  shift words
  ((CURRENT--))
  case $command in
{}  esac
}}
if [[ $funcstack[1] == _kansetsu ]]; then _kansetsu "$@"; else compdef _kansetsu kansetsu; fi
)",
                     list, cases);
}

std::string fish() {
  const std::vector<Completion> all = completions();
  std::string text = "# fish completion for kansetsu: ~/.config/fish/completions/kansetsu.fish\n";
  for (const Completion& c : all)
    text +=
        fmt::format("complete -c kansetsu -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name, in_quotes(c.summary));
  for (const Completion& c : all) {
    const std::string when = fmt::format("complete -c kansetsu -n '__fish_seen_subcommand_from {}'", c.name);
    for (const Word& w : c.words) {
      if (w.option.empty()) {
        if (!w.choices.empty()) text += fmt::format("{} -a '{}'\n", when, fmt::join(w.choices, " "));
        continue;
      }
      text += fmt::format("{} -l {} -d '{}'", when, w.option.substr(2), in_quotes(w.help));
      if (w.takes_value) text += w.choices.empty() ? " -r -F" : fmt::format(" -x -a '{}'", fmt::join(w.choices, " "));
      text += "\n";
    }
  }
  return text;
}

}  // namespace

Runner declare_completion(CLI::App& app) {
  auto shell = std::make_shared<std::string>();
  app.add_option("SHELL", *shell, "bash, zsh or fish")
      ->required()
      ->type_name("bash|zsh|fish")
      ->check([](const std::string& name) {
        return name == "bash" || name == "zsh" || name == "fish" ? ""
                                                                 : fmt::format("'{}' is none of bash, zsh, fish", name);
      });
  return [shell] {
    print(*shell == "bash" ? bash() : *shell == "zsh" ? zsh() : fish());
    return kOk;
  };
}

}  // namespace kansetsu::cli
