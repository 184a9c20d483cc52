#include <array>

#include "cli/command.h"

namespace kansetsu::cli {
namespace {

constexpr std::array kCommands{
    Command{"check", "load models and report every problem",
            "  kansetsu check robot.urdf\n"
            "  kansetsu check --strict --json robots/*.urdf > report.json",
            declare_check},
    Command{"info", "list the contents of a model, scene, clip or recording",
            "  kansetsu info robot.urdf\n"
            "  kansetsu info human28 --json | python3 -m json.tool",
            declare_info},
    Command{"conventions", "print units, axes and orders, and conversions to other engines",
            "  kansetsu conventions | less", declare_conventions},
    Command{"eval", "compute kinematics and dynamics of given states, JSON in and out",
            "  echo '{\"compute\": [\"rnea\", \"crba\"], \"states\": [{\"q\": {\"hinge1\": 0.5}}]}' | kansetsu eval "
            "pendulum\n"
            "  kansetsu eval robot.urdf --base free --in request.json --out reply.json",
            declare_eval},
    Command{"ik", "inverse kinematics, JSON in and out",
            "  kansetsu ik panda.urdf --target panda_link8:0.4,0.1,0.5,3.14,0,0\n"
            "  kansetsu ik human28 --in tasks.json --record motion.mcap",
            declare_ik},
    Command{"fit", "fit the motion of a model, and its segment sizes, to markers",
            "  kansetsu fit walk.trc --figure subject.osim --mot walk_ik.mot\n"
            "  kansetsu fit walk.c3d --figure gait2392.osim --static standing.c3d --mass 72.6 --record walk.mcap",
            declare_fit},
    Command{"simulate", "simulate a scene: contacts, connections, events",
            "  kansetsu simulate scene.toml --duration 5 --record out.mcap\n"
            "  kansetsu simulate humanoid.xml --json\n"
            "  kansetsu simulate human28 --duration 1 --record fall.csv",
            declare_simulate},
    Command{"walk", "simulate a walking figure with balance control",
            "  kansetsu walk --speed 0.8 --distance 20 --record walk.mcap\n"
            "  kansetsu walk --speed 0.8 --turn 90 --html walk.html\n"
            "  kansetsu walk --slope 5 --push 10Ns@3s:left --push 20Ns@random --seed 7 --json",
            declare_walk},
    Command{"track", "simulate a figure that tracks a clip by joint torques",
            "  kansetsu track walk.bvh --record track.mcap\n"
            "  kansetsu track walk.amc --figure human28 --html track.html\n"
            "  kansetsu generate walk --record walk.mcap && kansetsu track walk.mcap --json",
            declare_track},
    Command{"generate", "generate a parametric motion: squat, reach, bar-swing, walk",
            "  kansetsu generate squat --depth 0.3 --record squat.mcap\n"
            "  kansetsu generate reach --hand gripL --target 0.5,0.3,1.1 --record reach.csv\n"
            "  kansetsu generate bar-swing --duration 6 --record swing.mcap",
            declare_generate},
    Command{"analyze", "compute ground forces, joint torques, powers and residuals of a motion",
            "  kansetsu analyze walk.bvh --figure human28 --svg walk.svg\n"
            "  kansetsu analyze 02_01.amc --csv walk.csv --record walk.mcap\n"
            "  kansetsu analyze squat.mcap --json",
            declare_analyze},
    Command{"convert", "convert a model, scene, recording, clip or measurement",
            "  kansetsu convert robot.urdf small.urdf --merge-fixed\n"
            "  kansetsu convert human28 human28.urdf\n"
            "  kansetsu convert humanoid.xml humanoid.toml\n"
            "  kansetsu convert run.mcap run.glb\n"
            "  kansetsu convert walk.bvh walk.mcap --figure human28",
            declare_convert},
    Command{"compile", "write the dynamics of a model as C++ source",
            "  kansetsu compile robot.urdf -o generated\n"
            "  kansetsu compile human28 -o generated --name figure",
            declare_compile},
    Command{"view", "show a recording, scene or model in the browser, as a page, picture or video",
            "  kansetsu view run.mcap\n"
            "  kansetsu view robot.urdf --base fixed\n"
            "  kansetsu view run.mcap --html run.html\n"
            "  kansetsu view run.mcap --png strip.png --strip 6 --camera side",
            declare_view},
    Command{"dynamics", "compute and time forward dynamics of one state by a chosen method",
            "  kansetsu dynamics chain1000 --method assembly --threads 4\n"
            "  kansetsu dynamics robot.urdf --method serial --json",
            declare_dynamics},
    Command{"bench", "run a benchmark",
            "  kansetsu bench ik-seed\n"
            "  kansetsu bench ik-seed --svg ik_seed.svg",
            declare_bench},
    Command{"completion", "print a completion script for a shell",
            "  source <(kansetsu completion bash)\n"
            "  kansetsu completion zsh > ~/.zfunc/_kansetsu\n"
            "  kansetsu completion fish > ~/.config/fish/completions/kansetsu.fish",
            declare_completion},
};

}  // namespace

std::span<const Command> commands() { return kCommands; }

}  // namespace kansetsu::cli
