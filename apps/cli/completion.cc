/// kansetsu completion SHELL: a script that completes commands, options, choices, figures and file names.

#include <fmt/ranges.h>

#include "cli/arguments.h"
#include "cli/output.h"
#include "kansetsu/model/figures.h"

namespace kansetsu::cli {
namespace {

/// What the command line accepts, from the declarations of the commands.
struct Word {
  std::string option{};  ///< e.g. "--base"; empty for positional arguments
  std::string help{};
  enum Value { kNone, kChoice, kFile, kModel } value = kNone;
  std::vector<std::string> choices{};
  bool repeated = false;
};
struct Completion {
  std::string name, summary;
  std::vector<Word> words;
};

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

Word word_of(const ArgumentInfo& argument) {
  Word word{.option = argument.name, .help = argument.help, .repeated = argument.most_values > 1};
  if (argument.most_values == 0) return word;
  const std::string& type = argument.type_name;
  const bool model = word.help.starts_with(kModelHelp) || type == "MODEL";
  word.value = model ? Word::kModel : type.find('|') != std::string::npos ? Word::kChoice : Word::kFile;
  if (word.value == Word::kChoice) word.choices = split(type, '|');
  if (word.value == Word::kModel) word.choices = figure_names();
  return word;
}

std::vector<Completion> completions() {
  std::vector<Completion> all;
  for (const Command& command : commands()) {
    Completion c{std::string(command.name), std::string(command.summary), {}};
    for (const ArgumentInfo& argument : declared_arguments(command)) c.words.push_back(word_of(argument));
    all.push_back(std::move(c));
  }
  return all;
}

/// In single quotes, with a backslash before special characters of the shell.
std::string in_quotes(std::string_view text, std::string_view special = "") {
  std::string result;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) result += '\\';
    result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return result;
}

/// A branch of bash's `case`: options, words, and whether file names are completed.
std::string bash_case(const Completion& completion) {
  std::vector<std::string> options, words;
  std::string values;
  bool files = false;
  for (const Word& w : completion.words) {
    const bool takes_file = w.value == Word::kFile || w.value == Word::kModel;
    if (w.option.empty()) {
      words.insert(words.end(), w.choices.begin(), w.choices.end());
      files = files || takes_file;
      continue;
    }
    options.push_back(w.option);
    if (w.value != Word::kNone) {
      values += fmt::format("        {}) value=1 words=\"{}\" files={:d} ;;\n", w.option, fmt::join(w.choices, " "),
                            takes_file);
    }
  }
  std::string text = fmt::format("    {})\n      options=\"{}\" words=\"{}\" files={:d}\n", completion.name,
                                 fmt::join(options, " "), fmt::join(words, " "), files);
  if (!values.empty()) text += fmt::format("      case \"$previous\" in\n{}      esac\n", values);
  return text + "      ;;\n";
}

std::string bash() {
  std::string names, cases;
  for (const Completion& c : completions()) {
    names += c.name + " ";
    cases += bash_case(c);
  }
  return fmt::format(R"(# bash completion for kansetsu: source <(kansetsu completion bash)
_kansetsu() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" previous="${{COMP_WORDS[COMP_CWORD - 1]}}"
  local options="" words="" value="" files=0
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    mapfile -t COMPREPLY < <(compgen -W "{}--help --version" -- "$current")
    return
  fi
  case "${{COMP_WORDS[1]}}" in
{}  esac
  if [[ "$current" == -* && -z "$value" ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
    return
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; ((!files)) || compgen -f -- "$current")
}}
complete -o filenames -F _kansetsu kansetsu
)",
                     names, cases);
}

/// One argument of zsh's _arguments.
std::string zsh_argument(const Word& word, int position) {
  const std::string action = word.value == Word::kNone     ? ""
                             : word.value == Word::kModel  ? ":model:_kansetsu_model"
                             : word.value == Word::kChoice ? fmt::format(":value:({})", fmt::join(word.choices, " "))
                                                           : ":file:_files";
  if (!word.option.empty()) return fmt::format("'{}[{}]{}'", word.option, in_quotes(word.help, "[]:"), action);
  return fmt::format("'{}{}'", word.repeated ? "*" : std::to_string(position), action);
}

std::string zsh() {
  std::string list, cases;
  for (const Completion& c : completions()) {
    list += fmt::format("    '{}:{}'\n", c.name, in_quotes(c.summary, ":"));
    cases += fmt::format("    {})\n      _arguments", c.name);
    int position = 0;
    for (const Word& w : c.words) cases += " \\\n        " + zsh_argument(w, w.option.empty() ? ++position : 0);
    cases += "\n      ;;\n";
  }
  return fmt::format(R"(#compdef kansetsu
# zsh completion for kansetsu: a file _kansetsu in a folder of $fpath
_kansetsu_model() {{
  _alternative 'figures:figure:({})' 'files:file:_files'
}}
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
                     fmt::join(figure_names(), " "), list, cases);
}

/// One line of fish; `when` selects the command.
std::string fish_line(const std::string& when, const Word& word) {
  const std::string choices = fmt::format("-a '{}'", fmt::join(word.choices, " "));
  if (word.option.empty()) {
    return fmt::format("{} {}{}\n", when, word.value == Word::kChoice ? "-f " : "",
                       word.choices.empty() ? "-F" : choices);
  }
  const std::string value = word.value == Word::kNone ? "" : word.value == Word::kFile ? " -r -F" : " -x " + choices;
  return fmt::format("{} -l {} -d '{}'{}\n", when, word.option.substr(2), in_quotes(word.help), value);
}

std::string fish() {
  std::string text = "# fish completion for kansetsu: ~/.config/fish/completions/kansetsu.fish\n", options;
  for (const Completion& c : completions()) {
    text +=
        fmt::format("complete -c kansetsu -n __fish_use_subcommand -f -a {} -d '{}'\n", c.name, in_quotes(c.summary));
    for (const Word& w : c.words) {
      options += fish_line(fmt::format("complete -c kansetsu -n '__fish_seen_subcommand_from {}'", c.name), w);
    }
  }
  return text + options;
}

}  // namespace

Runner declare_completion(Arguments& args) {
  auto shell = std::make_shared<std::string>();
  args.add("SHELL", *shell, "the shell to print it for")
      .required()
      .type_name("bash|zsh|fish")
      .check([](const std::string& name) {
        const bool known = name == "bash" || name == "zsh" || name == "fish";
        return known ? "" : fmt::format("'{}' is not one of bash, zsh, fish", name);
      });
  return [shell] {
    print(*shell == "bash" ? bash() : *shell == "zsh" ? zsh() : fish());
    return kOk;
  };
}

}  // namespace kansetsu::cli
