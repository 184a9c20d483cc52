#include <array>

#include "cli/command.h"

namespace kansetsu::cli {

Runner declare_view(CLI::App& app);

namespace {

constexpr std::array kCommands{
    Command{"check", "load models and report every problem",
            "  kansetsu check robot.urdf\n"
            "  kansetsu check --strict --json robots/*.urdf > report.json",
            declare_check},
    Command{"info", "what a model consists of",
            "  kansetsu info robot.urdf\n"
            "  kansetsu info human28 --json | python3 -m json.tool",
            declare_info},
    Command{"conventions", "units, axes, orders, and how to convert them to other engines'",
            "  kansetsu conventions | less", declare_conventions},
    Command{"eval", "compute kinematics and dynamics of given states, JSON in and out",
            "  echo '{\"compute\": [\"rnea\", \"crba\"], \"states\": [{\"q\": {\"hinge1\": 0.5}}]}' | kansetsu eval "
            "pendulum\n"
            "  kansetsu eval robot.urdf --base free --in request.json --out reply.json",
            declare_eval},
    Command{"convert", "write a model or a recording in another format",
            "  kansetsu convert robot.urdf small.urdf --merge-fixed\n"
            "  kansetsu convert human28 human28.urdf\n"
            "  kansetsu convert run.mcap run.glb",
            declare_convert},
    Command{"view", "show a recording or a model: in the browser, as a page, as pictures",
            "  kansetsu view run.mcap\n"
            "  kansetsu view robot.urdf --base fixed\n"
            "  kansetsu view run.mcap --html run.html\n"
            "  kansetsu view run.mcap --png strip.png --strip 6 --camera side",
            declare_view},
    Command{"completion", "print a completion script for a shell",
            "  source <(kansetsu completion bash)\n"
            "  kansetsu completion zsh > ~/.zfunc/_kansetsu\n"
            "  kansetsu completion fish > ~/.config/fish/completions/kansetsu.fish",
            declare_completion},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace kansetsu::cli
