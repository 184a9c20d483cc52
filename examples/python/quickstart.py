"""What holds a figure, and what happens when nothing does."""

import kansetsu as ks
import numpy as np

model = ks.load("human28")  # or ks.load("robot.urdf"): URDF, MJCF, SDF, scenes
q = model.q0  # upright
q["elbowL_y"] = -1.570796327  # left forearm forward
tau = ks.rnea(model, q)  # at rest; or ks.rnea(model, q, v, vdot)
elbow = model.dofs["elbowL_y"]
print(f"hold: {tau[5]:.3f} N under the pelvis, {tau[elbow]:.3f} N·m at the elbow")
tau[:6] = 0  # let go: the joints keep their torques
vdot = ks.aba(model, q, None, tau)
print(f"fall: {vdot[5]:.3f} m/s² at the pelvis, {vdot[elbow]:.3f} rad/s² at the elbow")

Q = model.random_configuration(seed=1, count=10_000)  # rows of states go through SIMD lanes and threads
print(f"many: {np.linalg.norm(ks.rnea(model, Q)[:, 5] / model.mass / 9.81, ord=np.inf):.3f} weights at most")
