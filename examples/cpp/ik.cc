// Both hands of a figure go forward while its feet stay, and an arm reaches a pose: tasks, priorities, reports.
#include <cstdio>

#include "kansetsu/ik/arm.h"
#include "kansetsu/ik/solver.h"
#include "kansetsu/model/configuration.h"
#include "kansetsu/model/figures.h"

int main() {
  using namespace kansetsu;
  const Model model = human28();
  const Eigen::VectorXd upright = neutral(model);

  ik::Problem problem;
  problem.add(ik::StayTask{ik::frame_on(model, "soleL"), true}, {.name = "left foot"});
  problem.add(ik::StayTask{ik::frame_on(model, "soleR"), true}, {.name = "right foot"});
  problem.add(ik::PositionTask{ik::frame_on(model, "gripL"), {0.4, 0.2, 0.3}}, {.level = 1, .name = "left hand"});
  problem.add(ik::PositionTask{ik::frame_on(model, "gripR"), {0.4, -0.2, 0.3}}, {.level = 1, .name = "right hand"});
  problem.add(ik::PostureTask{upright}, {.level = 2, .name = "posture"});

  ik::Solver solver(model, problem);
  const ik::Report report = solver.solve(upright);
  std::printf("%s\n", ik::to_string(report.status));
  for (const ik::TaskReport& task : report.tasks) {
    std::printf("  %-10s %s\n", task.name.c_str(), task.met ? "met" : "as near as the levels above allow");
  }
  return report.solved() ? 0 : 1;
}
