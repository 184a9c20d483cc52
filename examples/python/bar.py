"""A figure hangs from a bar by its hands and lets go."""

import kansetsu as ks

world = ks.World()
world.add_fixed(ks.Plane(), name="floor")
man = world.add(ks.human28(), name="man", base=[0, 0, 2.5])
man.q["shoulderL_y"] = man.q["shoulderR_y"] = -3.1
world.add_controller("posture", man, "pd", {j: {"value": man.q[j], "kp": 100, "kd": 8} for j in man.model.joints})

grips = [world.connect(None, man[hand], mask="point") for hand in ("gripL", "gripR")]
world.advance(2.0)
print(f"hangs: {sum(grip.wrench[5] for grip in grips):.0f} N at the hands")
for grip in grips:
    grip.release()
with world.record("fall.mcap"):
    world.advance(0.3)
print(f"falls: {ks.read('fall.mcap').v()[-1, 'base'][5]:.2f} m/s")
