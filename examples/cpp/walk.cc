// A figure walks two metres and is pushed on the way.
#include <cstdio>

#include "kansetsu/model/figures.h"
#include "kansetsu/motion/walk_simulation.h"

int main() {
  using namespace kansetsu;
  WalkSetup setup;
  setup.walk.speed = 0.8;                                            // m/s
  setup.walk.distance = 2;                                           // m
  setup.pushes = {{.impulse = 10, .time = 2.0, .direction = 1.57}};  // to the left
  WalkSimulation walk(human28(), setup);
  while (walk.step()) {
    // walk.world() is a World like any other: contacts, forces, sensors
  }
  const WalkReport report = walk.report();
  std::printf("%s after %d steps, %.2f of the weight on the ground, %.1f N from elsewhere\n",
              report.fallen ? "fell" : "stands", report.steps, report.vertical_force, report.root_wrench);
}
