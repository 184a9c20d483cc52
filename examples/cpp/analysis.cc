// Forces and torques of a squat, and one instant of a motion generated from tasks: a figure that pushes itself up.
#include <cstdio>

#include "kansetsu/model/figures.h"
#include "kansetsu/motion/analysis.h"
#include "kansetsu/motion/generation.h"
#include "kansetsu/motion/parametric.h"

int main() {
  using namespace kansetsu;
  const Model model = human28();
  const Clip clip = squat(model, {.depth = 0.3, .count = 1});
  const Analysis analysis = analyze(model, clip, find_supports(model, clip));
  const AnalysisSummary& s = analysis.summary;
  std::printf("%s, mean vertical force %.1f %% of the weight\n", to_string(analysis.phases[0].kind),
              100 * s.mean_vertical / s.weight);
  std::printf("the residual is zero: %s\n", s.worst_force < 1e-5 && s.worst_moment < 1e-5 ? "yes" : "no");

  State state(model);
  state.q = clip.q.col(clip.frames() / 2);  // at the bottom, at rest
  GenerationProblem problem;
  for (const char* sole : {"soleL", "soleR"}) problem.holds.push_back({.frame = ik::frame_on(model, sole)});
  for (HeldFrame& hold : problem.holds)
    hold.corners = {{-0.05, 0.06, 0}, {-0.05, -0.06, 0}, {0.14, -0.06, 0}, {0.14, 0.06, 0}};
  problem.tasks = {{0, com_rows(model, state, {0, 0, 2})}, {1, posture_rows(model, Eigen::VectorXd::Zero(model.nv()))}};
  const Generated motion = generate(model, state, problem);
  std::printf("up with 2 m/s²: %s, %.1f N under each foot, which a floor can give: %s\n",
              motion.levels[1].residual < 1e-8 ? "exactly" : "not quite", motion.holds[0].wrench.f.z,
              motion.holds[0].possible() ? "yes" : "no");
}
