"""Sixteen figures are pushed, each a little harder; those that fall are put back on their feet."""

import kansetsu as ks
import numpy as np

world = ks.World.load("human28")
man = world["human28"]
world.add_controller("posture", man, "pd", {j: {"value": 0.0, "kp": 300.0, "kd": 15.0} for j in man.model.joints})
world.advance(0.1)
start = world.save()

batch = ks.WorldBatch(world, 16, threads=2)
men = batch["human28"]
men.v[:, 3] = np.linspace(0.0, 1.5, 16)  # forwards, in the axes of the pelvis
batch.step(1000)
fallen = men.q[:, 2] < 0.7
print(f"{(~fallen).sum()} of {len(batch)} stand after {batch.time.max():.1f} s")
batch.reset(start, fallen)
print(f"{(men.q[:, 2] < 0.7).sum()} lie after the reset")
