// A standing figure grabs a rising bar, is pulled up, and lets go; contact and connection forces are read at each stage.
#include <cstdio>

#include "kansetsu/model/figures.h"
#include "kansetsu/sim/world.h"

int main() {
  using namespace kansetsu;
  World world;
  world.add_fixed(Plane{}, {}, {}, "floor");
  const Model human = human28();
  State state(human);
  state.q[2] = 0.88;  // the soles touch the floor
  const FigureId man = world.add(human, state);

  const auto report = [&](const char* what) {
    double floor = 0, bar = 0;
    for (const ContactReport& c : world.report().contacts) floor += c.wrench.f.z;
    for (const ConnectionReport& c : world.report().connections) bar += c.wrench.f.z;
    std::printf("%-10s %.2f s  pelvis %.2f m  floor %3.0f N  bar %3.0f N\n", what, world.time(), world.q(man)[2], floor,
                bar);
  };

  world.stand(man);  // the torques that keep it standing
  world.advance(0.1);
  report("stands");

  ConnectionOptions grip;  // the hand as it is now, held by something that rises by 0.4 m in a second
  grip.mask = kPointMask;
  grip.motion = PrescribedMotion{.velocity = {0, 0, 0.4}, .stop = 1};
  const ConnectionId bar = world.connect(kWorldBody, world.body("human28", "UpperBody"), grip);
  world.advance(0.5);
  report("is pulled");

  world.release(bar);
  world.advance(0.1);
  report("let go");
}
