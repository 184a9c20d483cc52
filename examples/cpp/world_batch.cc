// Sixty-four figures stand under independent torque noise and are stepped together.
#include <cstdio>
#include <random>
#include <utility>

#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world_batch.h"

int main() {
  using namespace kansetsu;
  World world;
  world.add_fixed(Plane{}, {}, {}, "floor");
  const Model human = human28();
  State state(human);
  state.q[2] = 0.88;  // the soles touch the floor
  const FigureId man = world.add(human, state, {.switches = {.limits = false}});
  ControllerDescription posture{.name = "posture", .figure = "human28", .kind = ControlKind::kPd};
  for (int j = 0; j < human.joint_count(); ++j)
    posture.joints.push_back({.dof = {human.joint(JointId(j)).name, 0}, .kp = 2000, .kd = 100});
  world.add_controller(posture);

  WorldBatch batch(world, 64);
  WorldBatch::Matrix tau = WorldBatch::Matrix::Zero(64, human.nv());
  std::mt19937_64 rng(1);
  for (int step = 0; step < 200; ++step) {
    for (int i = 0; i < 64; ++i) {
      for (int k = 6; k < human.nv(); ++k) tau(i, k) = double(rng() >> 11) * 0x1p-53 * 10 - 5;  // [N·m]
    }
    batch.set_torques(man, tau);
    batch.step();
  }

  int standing = 0;
  double floor = 0;
  for (int i = 0; i < batch.size(); ++i) {
    const World& one = std::as_const(batch).world(i);
    standing += one.q(man)[2] > 0.87;
    for (const ContactReport& c : one.report().contacts) floor += c.wrench.f.z / batch.size();
  }
  std::printf("%d of %d stand, the floor carries %.0f N each; %s of the steps were made in lanes\n", standing,
              batch.size(), floor,
              batch.report().total_lanes > 9 * batch.report().total_alone ? "more than nine tenths" : "few");
}
