"""Worlds of one kind that differ in numbers: gains, targets, connections, masses, friction, controls."""

import kansetsu as ks
import numpy as np
import pytest
from test_py_batch import prototype, pushed


def test_targets_and_gains_by_world():
    """Arrays of a batch do what set_controller does in a world, to the bit."""
    batch, alone = ks.WorldBatch(prototype(), 3), prototype()
    posture = batch.controller("posture")
    assert posture.kp.shape == (3, len(posture.joints)) == posture.value.shape
    elbow = posture.joints.index("elbowL_y")
    posture.value[1, elbow], posture.kp[1, elbow], posture.kd[1, elbow] = -0.8, 50.0, 4.0
    alone.set_controller("posture", joints={"elbowL_y": {"value": -0.8, "kp": 50.0, "kd": 4.0}})
    batch.step(100)
    alone.step(100)
    assert np.allclose(batch["human28"].q[1], alone["human28"].q, atol=1e-9)
    assert batch["human28"].q[1, "elbowL_y"] < -0.3
    assert abs(batch["human28"].q[0, "elbowL_y"]) < 0.05
    start = prototype().save()
    batch.reset(start)
    assert (posture.kp == 300).all()  # controllers are part of a snapshot
    posture.kp[2, 0] = np.nan
    with pytest.raises(ks.Error, match="kp"):
        batch.step()
    assert (posture.kp == 300).all()
    with pytest.raises(ks.Error, match="known: posture"):
        batch.controller("walk")


@pytest.mark.parametrize("threads", [1, 2])
def test_variations_keep_their_bits(threads):
    """A world with its own gains goes the same way beside others as alone."""

    def varied(n, first, threads):
        batch = pushed(ks.WorldBatch(prototype(), n, threads=threads), first)
        scale = 1 + 0.1 * (first + np.arange(n))
        batch.controller("posture").kp[:] *= scale[:, None]
        batch.step(60)
        return [batch.hash(i) for i in range(n)]

    assert varied(6, 0, threads)[4:] == varied(2, 4, 1)


def test_connections_by_world():
    batch = ks.WorldBatch(prototype(), 3)
    held = batch.connect(1, None, ("human28", "gripL"), mask="point")
    batch["human28"].v[:, 5] = 3.0  # all of them jump
    batch.step(100)
    height = batch["human28"].q[:, 2]
    assert height[0] == height[2]
    assert height[1] < height[0] - 0.05
    batch.release(1, held)
    with pytest.raises(ks.Error, match="no connection"):
        batch.release(1, held)
    for a, b, message in ((("human28", "nose"), None, "nose"), (("dog", "gripL"), None, "dog"), (None, None, "one end")):
        with pytest.raises(ks.Error, match=message):
            batch.connect(0, a, b)
    with pytest.raises(ks.Error, match="no world 3"):
        batch.connect(3, None, ("human28", "gripL"))
    with pytest.raises(TypeError):
        batch.connect(0, "human28", None)


def test_masses_by_world():
    """A world whose masses were changed goes as a world that is built of such a model, to the bit; a reset keeps them."""
    batch = ks.WorldBatch(prototype(), 3, threads=2)
    robot = batch["human28"]
    start = batch.save()[0]
    heavy = robot.inertial_parameters[1] * 1.3
    robot.set_inertial_parameters(heavy, [1])
    assert np.allclose(robot.inertial_parameters[1], heavy)
    assert np.allclose(robot.inertial_parameters[[0, 2]], ks.inertial_parameters(robot.model))
    alone = prototype()
    alone["human28"].set_inertial_parameters(heavy)
    assert alone["human28"].model.mass == pytest.approx(1.3 * robot.model.mass)
    for _ in range(2):  # again after the reset
        batch.step(60)
        alone.step(60)
        assert batch.hash(0) == batch.hash(2) != batch.hash(1) == alone.hash()
        batch.reset(start)
        alone.restore(start)
    expected = np.tile(heavy, (3, 1, 1)) * np.array([1.0, 1.1, 1.2])[:, None, None]
    robot.set_inertial_parameters(expected)
    assert np.allclose(robot.inertial_parameters, expected)


def test_friction_by_world():
    """A sliding box: how far it gets is v^2 / (2 mu g)."""
    world = ks.World()
    world.add_fixed(ks.Plane(), material=ks.Material(1.0))
    world.add_body(ks.Box([0.2, 0.2, 0.2]), 1.0, [0, 0, 0.1], name="box", v=[0, 0, 0, 1.0, 0, 0])
    batch = ks.WorldBatch(world, 4)
    mu = np.array([0.2, 0.3, 0.5, 0.8])
    batch["box"].set_friction(mu[:2] ** 2, [True, True, False, False])  # with the floor's the geometric mean
    batch["box"].set_materials([[m * m, m * m, 0, 0, 0] for m in mu[2:]], [2, 3])
    start = batch.save()[0]
    for _ in range(2):
        batch.step(700)
        assert np.allclose(batch["box"].q[:, 0], 1 / (2 * mu * 9.81), rtol=0.02)
        batch.reset(start)


def test_what_masses_and_friction_cannot_be():
    batch = ks.WorldBatch(prototype(), 3)
    robot = batch["human28"]
    good = robot.inertial_parameters
    bad = good.copy()
    bad[2, 0, 0] = -1.0
    with pytest.raises(ks.Error, match=r"world 2.*mass"):
        robot.set_inertial_parameters(bad)
    bad[2, 0, 0] = np.nan
    with pytest.raises(ks.Error, match="nan"):
        robot.set_inertial_parameters(bad)
    with pytest.raises(ks.Error, match="2 rows for 3 worlds"):
        robot.set_inertial_parameters(good[:2])
    with pytest.raises(ks.Error, match="shape"):
        robot.set_inertial_parameters(good[0, :-1])
    with pytest.raises(ks.Error, match="mu_s -1"):
        robot.set_friction([1.0, -1.0, 1.0])
    with pytest.raises(ks.Error, match="nan"):
        robot.set_friction(np.nan)
    with pytest.raises(ks.Error, match="shape"):
        robot.set_friction(np.ones((3, 2)))
    with pytest.raises(ks.Error, match="no world 7"):
        robot.set_friction([1.0], [7])


def arm_with_motors():
    """Two hinges, a motor each."""
    b = ks.ModelBuilder("arm").link("base")
    for k, parent in enumerate(("base", "upper")):
        link = ("upper", "fore")[k]
        b.link(link, 1.0, com=[0, 0, -0.25], inertia=[0.02, 0.02, 0.01])
        b.joint(f"joint{k}", "revolute", parent, link, [0, 1, 0], [0, 0, -0.5 * k])
        b.actuator(f"motor{k}", f"joint{k}", gear=2.0)
    world = ks.World(gravity=[0, 0, 0])
    world.add(b.build(), name="arm")
    return world


def test_actuators_are_driven():
    """A control of a motor is a torque of its gear; arrays, worlds and rollouts agree."""
    world, other = arm_with_motors(), arm_with_motors()
    arm = world["arm"]
    assert arm.actuators == ["motor0", "motor1"]
    arm.control["motor1"] = 0.5
    other["arm"].tau["joint1"] = 1.0
    world.step(20)
    other.step(20)
    assert np.allclose(arm.q, other["arm"].q, atol=1e-12)
    assert arm.q["joint1"] != 0
    report = arm.actuator_reports
    assert report.dtype == ks.ACTUATOR
    assert report["force"][1] == pytest.approx(0.5)
    assert report["control"][0] == 0
    assert (arm.activation == 0).all()
    with pytest.raises(ks.Error, match="no actuator 'motor2'"):
        arm.control["motor2"] = 1.0
    arm.control[0] = np.nan
    with pytest.raises(ks.Error, match="motor0"):
        world.step()
    assert arm.control[0] == 0  # what cannot be is forgotten

    start = arm_with_motors().save()
    batch = ks.WorldBatch(world, 3)
    batch.reset(start)
    assert (batch["arm"].control == 0).all()
    batch["arm"].control[:, "motor1"] = [0.0, 0.5, 1.0]
    batch.step(20)
    assert np.array_equal(batch["arm"].q[1], arm.q)
    controls = np.zeros((3, 20, 2))
    controls[:, :, 1] = np.array([0.0, 0.5, 1.0])[:, None]
    after = np.array(batch["arm"].q)
    batch.reset(start)
    Q, _ = batch.rollout("arm", controls, drive="control")
    assert np.array_equal(Q[:, -1], after)
    assert np.array_equal(batch["arm"].control[:, 1], [0.0, 0.5, 1.0])
    batch["arm"].control[1, 0] = np.inf
    with pytest.raises(ks.Error, match=r"control\[1, 0\] of 'arm' is inf"):
        batch.step()
    batch.step()
    with pytest.raises(ks.Error, match=r"\(3, T, 2\).*actuators"):
        batch.rollout("arm", np.zeros((3, 4, 3)), drive="control")
    with pytest.raises(ks.Error, match="'tau', 'control'"):
        batch.rollout("arm", controls, drive="force")
    controls[2, 3, 1] = np.nan
    with pytest.raises(ks.Error, match="finite"):
        batch.rollout("arm", controls, drive="control")
