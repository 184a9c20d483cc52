"""Inverse and forward dynamics of a human figure, for one state and for many."""

import kansetsu as ks

model = ks.load("human28")  # or ks.load("robot.urdf"): URDF, MJCF, SDF, scenes
q = model.q0  # upright
q["elbowL_y"] = -1.570796327  # left forearm forward
tau = ks.rnea(model, q)  # at rest; or ks.rnea(model, q, v, vdot)
elbow = model.dofs["elbowL_y"]
print(f"to hold it: {tau[5]:.3f} N at the pelvis, {tau[elbow]:.3f} N·m at the elbow")
tau[:6] = 0  # no external support; the joint torques stay
vdot = ks.aba(model, q, None, tau)
print(f"without support: {vdot[5]:.3f} m/s² at the pelvis, {vdot[elbow]:.3f} rad/s² at the elbow")

Q = model.random_configuration(seed=1, count=10_000)  # one state per row: SIMD lanes and threads
print(f"many states: torques of shape {ks.rnea(model, Q).shape}")
