"""Dynamics under constraints: against a dense solution in NumPy, against differences, and against `kansetsu eval`."""

import json
import os
import subprocess

import kansetsu as ks
import numpy as np
import pytest

SAME = 1e-10  # of the largest number: what a dense solution keeps


def gripper():
    """Two fingers, the second geared to the first, on a free base."""
    builder = ks.ModelBuilder("gripper", base="free")
    builder.link("palm", mass=1.0, inertia=[0.01, 0.02, 0.03])
    for side, y in (("left", 0.1), ("right", -0.1)):
        builder.link(side, mass=0.2, com=[0.1, 0, 0], inertia=[0.001, 0.002, 0.002])
        builder.joint(f"{side}_joint", "revolute", "palm", side, axis=[0, 0, 1], origin=[0, y, 0])
    builder.gear("right_joint", "left_joint", -1.0)
    return builder.build()


def soles(model):
    held = ks.Constraints(model)
    for side in "LR":
        held.frame(f"sole{side}")
    return held


def loop(model):
    """Soles on the floor, and the hands hold each other in some directions."""
    held = soles(model)
    held.frame("gripL", to="LowerArmR", mask=0b101100, axes=[0.5, 0.5, 0.5, 0.5])
    held.coordinates({"elbowL_y": 1.0, "elbowR_y": -2.0}, acceleration=0.3)
    return held


def state(model, seed):
    rng = np.random.default_rng(seed)
    return np.asarray(model.random_configuration(seed, 1))[0], rng.normal(size=model.nv), rng.normal(size=model.nv)


def kkt(model, q, v, tau, held, wanted):
    """[M -J'; J 0] [vdot; forces] = [tau - c; wanted - dJ/dt v], of all forces the shortest."""
    J, _, drift = ks.constraint_rows(model, held, q, v)
    n, m = model.nv, held.rows
    matrix = np.block([[ks.crba(model, q), -J.T], [J, np.zeros((m, m))]])
    x = np.linalg.lstsq(matrix, np.concatenate([tau - ks.bias(model, q, v), wanted - drift]), rcond=1e-12)[0]
    return x[:n], x[n:]


def close(a, b, tolerance):
    return np.max(np.abs(a - b), initial=0) <= tolerance * max(1, np.max(np.abs(b), initial=0))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("make", [soles, loop])
def test_forward_dynamics_equals_a_dense_solution(human, make, seed):
    q, v, tau = state(human, seed)
    held = make(human)
    wanted = np.zeros(held.rows)
    if make is loop:
        wanted[-1] = 0.3
    motion = ks.constrained_aba(human, held, q, v, tau)
    vdot, forces = kkt(human, q, v, tau, held, wanted)
    assert motion.rank == held.rows
    assert motion.inconsistency == 0
    assert close(motion.vdot, vdot, SAME)
    assert close(motion.forces, forces, SAME)


@pytest.mark.parametrize("seed", range(3))
def test_gears_of_the_model_stay_exact(seed):
    model = gripper()
    q, v, tau = state(model, seed)
    held = ks.Constraints(model)
    held.frame("left", [0.2, 0, 0], mask="point")
    motion = ks.constrained_aba(model, held, q, v, tau)
    vdot, forces = kkt(model, q, v, tau, held, np.zeros(3))
    assert close(motion.vdot, vdot, SAME)
    assert close(motion.forces, forces, SAME)


def test_rows_that_depend_on_each_other_are_reported(human):
    q, v, tau = state(human, 3)
    held = soles(human)
    held.frame("FootL", [0.1, 0.02, 0], mask="point")
    motion = ks.constrained_aba(human, held, q, 0 * v, tau)
    assert (held.rows, motion.rank) == (15, 12)
    vdot, forces = kkt(human, q, 0 * v, tau, held, np.zeros(15))
    assert close(motion.vdot, vdot, SAME)
    assert close(motion.forces, forces, 1e-8)


def test_impulses_stop_the_rows(human):
    q, v, _ = state(human, 4)
    held = soles(human)
    J, before, _ = ks.constraint_rows(human, held, q, v)
    hit = ks.constrained_impulse(human, held, q, v)
    assert close(J @ hit.v, 0 * before, SAME)
    assert close(ks.crba(human, q) @ (hit.v - v), J.T @ hit.impulses, SAME)
    assert hit.energy == pytest.approx(0.5 * (hit.v + v) @ (J.T @ hit.impulses), rel=1e-12)  # rounding
    assert hit.energy < 0


def test_inverse_dynamics_gives_the_motion_back(human):
    q, v, tau = state(human, 5)
    tau[:6] = 0
    held = soles(human)
    motion = ks.constrained_aba(human, held, q, v, tau)
    found = ks.constrained_rnea(human, held, q, v, motion.vdot, passive=["elbowL_y"])
    assert found.missing > 0.1  # the motion has a torque there, and no force of the soles can stand for it
    found = ks.constrained_rnea(human, held, q, v, motion.vdot)
    assert found.missing < 1e-8
    assert found.violation < 1e-8
    assert not found.tau[:6].any()
    assert close(ks.constrained_aba(human, held, q, v, found.tau).vdot, motion.vdot, 1e-8)


def test_derivatives_are_differences(human):
    q, v, tau = state(human, 6)
    held = loop(human)
    d = ks.constrained_aba_derivatives(human, held, q, v, tau)
    step = 1e-6  # truncation 1e-12, rounding 1e-10 of forces of some hundred N
    for k in range(human.nv):
        e = step * np.eye(human.nv)[k]
        for vdot, forces, ends in (
            (d.vdot_dq, d.forces_dq, [(ks.integrate(human, q, s * e), v, tau) for s in (1, -1)]),
            (d.vdot_dv, d.forces_dv, [(q, v + s * e, tau) for s in (1, -1)]),
            (d.vdot_dtau, d.forces_dtau, [(q, v, tau + s * e) for s in (1, -1)]),
        ):
            ahead, behind = (ks.constrained_aba(human, held, *x) for x in ends)
            scale = max(1, np.max(np.abs(vdot)), np.max(np.abs(forces)))
            assert np.allclose(vdot[:, k], (ahead.vdot - behind.vdot) / (2 * step), atol=1e-5 * scale)
            assert np.allclose(forces[:, k], (ahead.forces - behind.forces) / (2 * step), atol=1e-5 * scale)


def test_bad_arguments_are_named(human):
    held = ks.Constraints(human)
    with pytest.raises(ks.Error, match="nothing_like_it"):
        held.frame("nothing_like_it")
    with pytest.raises(ValueError, match="mask"):
        held.frame("FootL", mask=64)
    with pytest.raises(ValueError, match="no coordinate"):
        held.coordinates({"tail": 1.0})
    with pytest.raises(ValueError, match="another model"):
        ks.constrained_aba(ks.human28_ball(), held, human.q0)
    with pytest.raises(ValueError, match="one state"):
        ks.constrained_aba(human, held, np.asarray(human.random_configuration(1, 3)))
    with pytest.raises(ValueError, match="passive"):
        ks.constrained_rnea(human, held, human.q0, passive=["tail"])


def evaluate(request, model="human28"):
    run = subprocess.run([os.environ["KANSETSU_BIN"], "eval", model], input=json.dumps(request), capture_output=True, encoding="utf-8")
    return run.returncode, run.stdout, run.stderr


@pytest.mark.skipif("KANSETSU_BIN" not in os.environ, reason="the command is not built")
def test_the_command_says_the_same(human):
    held = loop(human)
    constraints = [{"link": f"sole{side}"} for side in "LR"]
    constraints.append({"link": "gripL", "to": "LowerArmR", "constrain": ["rz", "x", "z"], "quat_xyzw": [0.5, 0.5, 0.5, 0.5]})
    constraints.append({"v": {"elbowL_y": 1.0, "elbowR_y": -2.0}, "acceleration": 0.3})
    names = ["constrained_aba", "constrained_rnea", "constrained_impulse", "constrained_aba_derivatives", "constraint_rows"]
    code, out, err = evaluate(
        {
            "compute": names,
            "constraints": constraints,
            "passive": ["kneeL_y"],
            "states": [{"q": {"elbowL_y": -1.0}, "v": {"kneeL_y": 0.5}, "tau": {"kneeR_y": 2.0}}],
        }
    )
    assert (code, err) == (0, "")
    said = json.loads(out)["results"][0]
    q = human.q0
    q["elbowL_y"] = -1.0
    q = np.asarray(q)
    v, tau = np.zeros(human.nv), np.zeros(human.nv)
    v[human.dofs["kneeL_y"]] = 0.5
    tau[human.dofs["kneeR_y"]] = 2.0
    motion = ks.constrained_aba(human, held, q, v, tau)
    assert said["constrained_aba"]["vdot"] == list(motion.vdot)
    assert said["constrained_aba"]["lambda"] == list(motion.forces)
    assert said["constrained_aba"]["rank"] == motion.rank
    torque = ks.constrained_rnea(human, held, q, v, passive=["kneeL_y"])
    assert said["constrained_rnea"]["tau"] == list(torque.tau)
    assert said["constrained_impulse"]["v"] == list(ks.constrained_impulse(human, held, q, v).v)
    derivatives = ks.constrained_aba_derivatives(human, held, q, v, tau)
    assert close(np.array(said["constrained_aba_derivatives"]["lambda_dq"]), derivatives.forces_dq, SAME)  # external forces of zero
    assert said["constraint_rows"]["J"] == ks.constraint_rows(human, held, q, v)[0].tolist()


@pytest.mark.skipif("KANSETSU_BIN" not in os.environ, reason="the command is not built")
@pytest.mark.parametrize(
    ("constraint", "words"),
    [
        ({"link": "soleX"}, "soleX"),
        ({"link": "FootL", "to": "tail"}, "tail"),
        ({"link": "FootL", "constrain": ["w"]}, "direction"),
        ({"link": "FootL", "quat_xyzw": [1, 1, 1, 1]}, "length 2"),
        ({"link": "FootL", "colour": 1}, "colour"),
        ({"v": {"tail": 1}}, "coordinate"),
        ({"v": {}}, "names no coordinate"),
        ({}, "link"),
        (3, "constraints[0]"),
    ],
)
def test_the_command_names_what_is_wrong(constraint, words):
    code, out, err = evaluate({"compute": ["constrained_aba"], "constraints": [constraint], "states": []})
    assert code != 0
    assert out == ""
    assert words in err
