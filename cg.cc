// same torques as the bench: 4 falls of 2000 steps; argument: first run count
#include <cstdio>
#include <cstdlib>
#include <random>
#include "kansetsu/io/scene.h"
#include "kansetsu/sim/world.h"
using namespace kansetsu;
int main(int c, char** v) {
  SceneDescription scene = value_or_throw(io::read_scene("/work/shared/data/robots/mjcf/mujoco_humanoid.xml"));
  scene.controllers.clear();
  World world = value_or_throw(World::build(scene));
  auto start = world.save();
  const int steps = 2000, runs = c > 1 ? atoi(v[1]) : 4;
  int nv = world.model(FigureId(0)).nv();
  Eigen::VectorXd tau = Eigen::VectorXd::Zero(nv);
  std::mt19937_64 rng(1);
  std::normal_distribution<double> n(0, 5);
  for (int r = 0; r < runs; ++r) {
    world.restore(start);
    for (int i = 0; i < steps; ++i) {
      for (int k = 6; k < nv; ++k) tau[k] = n(rng);
      world.set_torque(FigureId(0), tau);
      world.step();
    }
  }
}
