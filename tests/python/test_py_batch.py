"""WorldBatch: many worlds, the same bits whatever their number and the threads."""

import multiprocessing
import tempfile
import threading
from pathlib import Path

import kansetsu as ks
import numpy as np
import pytest


def prototype():
    """human28 on a floor, held by its joints."""
    world = ks.World.load("human28")
    man = world["human28"]
    world.add_controller("posture", man, "pd", {j: {"value": 0.0, "kp": 300.0, "kd": 15.0} for j in man.model.joints})
    return world


def pushed(batch, first=0):
    """Every world is given a velocity of its own, by its number."""
    man = batch["human28"]
    for i in range(len(batch)):
        man.v[i, 3] = 0.02 * (first + i)
    return batch


def test_each_world_is_a_world():
    batch = pushed(ks.WorldBatch(prototype(), 6))
    alone = prototype()
    alone["human28"].v[3] = 0.02 * 5
    for _ in range(40):
        batch.step()
        alone.step()
    man = batch["human28"]
    assert man.q.shape == (6, 35)
    assert man.tau.shape == (6, 34)
    assert np.allclose(man.q[5], alone["human28"].q, atol=1e-9)  # a step in a lane agrees to 1e-12 of the largest velocity
    assert np.allclose(batch.time, 0.04)
    assert batch.running.all()
    assert (batch.contact_counts() > 0).all()
    assert len(batch.contacts(3)) > 0
    assert batch["human28"].q["elbowL_y"].shape == (6,)


@pytest.mark.parametrize(("n", "threads"), [(9, 1), (9, 2), (9, 4)])
def test_neither_number_nor_threads_change_a_bit(n, threads):
    few = pushed(ks.WorldBatch(prototype(), 2), first=3)
    many = pushed(ks.WorldBatch(prototype(), n, threads=threads))
    few.step(60)
    many.step(60)
    assert [many.hash(3), many.hash(4)] == [few.hash(0), few.hash(1)]
    assert np.array_equal(many["human28"].q[3:5], few["human28"].q)


def test_a_quaternion_that_is_none_is_named_with_its_world():
    batch = ks.WorldBatch(prototype(), 5)
    before = batch["human28"].q.copy()
    batch["human28"].q[3, 3:7] = 0
    with pytest.raises(ks.Error, match=r"q of 'human28' in world 3: the quaternion at q\[3…6\] has length 0"):
        batch.step()
    assert np.array_equal(batch["human28"].q, before)
    with pytest.raises(ks.Error, match=r"controls have shape \(5, 2, 9\), expected \(5, T, 34\)"):
        batch.rollout("human28", np.zeros((5, 2, 9)))
    with pytest.raises(ks.Error, match=r"the mask has shape \(4,\), expected \(5,\)"):
        batch.reset(batch.save(), np.ones(4, bool))


@pytest.mark.parametrize("array", ["q", "v", "tau", "control"])
def test_what_cannot_be_is_named_and_forgotten(array):
    """As in a World: the next step goes on from where the worlds are."""
    world = ks.World()
    arm = world.add(ks.chain(3), name="arm")
    batch = ks.WorldBatch(world, 3)
    if array == "control":
        world = acting()
        batch, arm = ks.WorldBatch(world, 3), world["arm"]
    rows = getattr(batch[arm.name], array)
    batch[arm.name].tau[:] = torques = np.array([[0.5], [0.25], [0.0]])
    if array != "tau":
        rows[0, 0] = 0.25
    batch.step()
    before = rows.copy()
    rows[1, 0] = np.nan
    with pytest.raises(ks.Error, match=rf"WorldBatch: {array}\[1, 0\].* of 'arm' is nan, expected a finite number"):
        batch.step()
    assert np.array_equal(rows, before)
    assert (batch[arm.name].tau == torques).all()
    batch.step()
    assert batch.running.all()
    assert (batch.time == 2 * batch.time_step).all()


@pytest.mark.parametrize("array", ["q", "v", "tau"])
def test_what_was_written_last_is_in_the_worlds(array):
    """A batch begins where its world is, also where nobody asked the world since the array was written."""
    world = prototype()
    getattr(world["human28"], array)[8] = 0.25
    assert (getattr(ks.WorldBatch(world, 3)["human28"], array)[:, 8] == 0.25).all()


def test_a_world_at_work_is_not_copied():
    world = prototype()
    at_work, tried = threading.Event(), threading.Event()

    def wait(done, total):
        at_work.set()
        assert tried.wait(60)

    thread = threading.Thread(target=world.step, args=(3000,), kwargs={"progress": wait})
    thread.start()
    assert at_work.wait(60)
    with pytest.raises(ks.BusyError, match="WorldBatch: the world is in use by another thread"):
        ks.WorldBatch(world, 1)
    tried.set()
    thread.join()
    assert world.time == pytest.approx(3000 * world.time_step)


def test_controls_of_rollouts_are_real_numbers():
    batch = ks.WorldBatch(prototype(), 2)
    for wrong in (np.zeros((2, 3, 34), complex), np.full((2, 3, 34), "1")):
        with pytest.raises(TypeError, match=r"WorldBatch.rollout: controls has dtype"):
            batch.rollout("human28", wrong)
    with pytest.raises(TypeError, match=r"BatchFigure.set_friction: values has dtype complex128"):
        batch["human28"].set_friction(1 + 0j)


def acting():
    """An arm with a motor."""
    file = """<mujoco><worldbody>
    <body name="arm"><joint name="hinge" axis="0 1 0"/><geom size="0.1" mass="1" pos="0 0 -1"/></body></worldbody>
    <actuator><motor name="motor" joint="hinge"/></actuator></mujoco>"""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "arm.xml"
        path.write_text(file)
        return ks.World.load(path)


def test_figures_have_names():
    batch = ks.WorldBatch(prototype(), 2)
    with pytest.raises(TypeError, match=r"figures have names, \['human28'\]"):
        batch[0]


@pytest.mark.parametrize("lanes", [True, False])
def test_many_steps_at_once_are_single_steps(lanes):
    one, many = (pushed(ks.WorldBatch(prototype(), 9, threads=t, lanes=lanes)) for t in (1, 2))
    for _ in range(80):
        one.step()
    many.step(50)
    many.step(30)
    assert [one.hash(i) for i in range(9)] == [many.hash(i) for i in range(9)]
    assert one.report == many.report


def test_masked_reset():
    world = prototype()
    world.advance(0.05)
    start = world.save()
    batch = pushed(ks.WorldBatch(world, 5))
    batch.step(20)
    before = np.array(batch["human28"].q)
    batch.reset(start, [True, False, False, True, False])
    assert np.allclose(batch.time, [0.05, 0.07, 0.07, 0.05, 0.07])
    assert np.array_equal(batch["human28"].q[[1, 2, 4]], before[[1, 2, 4]])
    assert np.array_equal(batch["human28"].q[0], world["human28"].q)
    snapshots = batch.save()
    batch.step(5)
    batch.reset([snapshots[2]], [2])
    assert np.array_equal(batch["human28"].q[2], before[2])
    batch.reset(start)
    assert np.allclose(batch.time, 0.05)
    for wrong, message in (([True], "mask"), ([7], "no world 7"), ([0.5], "indices")):
        with pytest.raises((ks.Error, TypeError), match=message):
            batch.reset(start, wrong)
    with pytest.raises(ks.Error, match="2 snapshots for 1"):
        batch.reset(snapshots[:2], [0])


def test_torques_act_until_changed():
    world = ks.World(gravity=[0, 0, 0])
    world.add(ks.pendulum(), name="arm")
    batch = ks.WorldBatch(world, 4)
    batch["arm"].tau[:, 0] = [0, 1, 2, 3]
    batch.step(10)
    assert np.allclose(np.diff(batch["arm"].v[:, 0]), batch["arm"].v[1, 0])
    assert batch["arm"].v[1, 0] > 0
    batch["arm"].tau[2, 0] = np.nan
    with pytest.raises(ks.Error, match=r"tau\[2, "):
        batch.step()


def test_rollout_is_stepping():
    rng = np.random.default_rng(1)
    controls = rng.normal(size=(3, 12, 34))
    controls[..., :6] = 0
    batch, other = ks.WorldBatch(prototype(), 3), ks.WorldBatch(prototype(), 3, threads=2)
    Q, V = batch.rollout("human28", controls, substeps=2)
    assert (Q.shape, V.shape) == ((3, 12, 35), (3, 12, 34))
    for t in range(12):
        other["human28"].tau[:] = controls[:, t]
        other.step(2)
        assert np.array_equal(other["human28"].q, Q[:, t])
    with pytest.raises(ks.Error, match=r"\(3, T, 34\)"):
        batch.rollout("human28", controls[:2])
    with pytest.raises(ks.Error, match="substeps"):
        batch.rollout("human28", controls, substeps=0)


def test_one_world_fails_and_the_others_go_on():
    world = ks.World(gravity=[0, 0, 0])
    world.add(ks.pendulum(2), name="arm")
    batch = ks.WorldBatch(world, 3)
    batch["arm"].v[1] = 1e200
    batch.step(5)
    assert list(batch.running) == [True, False, True]
    assert "arm" in batch.failure(1)
    assert np.allclose(batch.time[[0, 2]], 0.005)
    batch.reset(world.save(), ~batch.running)
    batch.step(2)
    assert batch.running.all()


def test_what_cannot_be_a_batch():
    world = prototype()
    for n in (0, -1, 10**9):
        with pytest.raises(ks.Error, match="n is"):
            ks.WorldBatch(world, n)
    with pytest.raises(ks.Error, match="threads"):
        ks.WorldBatch(world, 2, threads=0)
    with pytest.raises(ks.Error, match="human28"):
        ks.WorldBatch(world, 2)["dog"]
    world.on_step(lambda w, t: None)
    with pytest.raises(ks.Error, match="callbacks"):
        ks.WorldBatch(world, 2)


def test_forked_processes_are_refused():
    world = prototype()
    batch = ks.WorldBatch(world, 4, threads=2)
    batch.step()
    model = world["human28"].model
    rows = np.tile(model.q0, (64, 1))
    expected = ks.rnea(model, rows, threads=2)
    _CHILD.update(world=world, batch=batch, model=model, rows=rows)
    with multiprocessing.get_context("fork").Pool(1) as pool:
        kinds, tau = pool.apply(_in_fork)
    assert kinds == ["BusyError", "BusyError"]
    assert np.array_equal(tau, expected)  # functions of models get new threads


_CHILD: dict = {}


def _in_fork():
    kinds = []
    for thing in (_CHILD["world"], _CHILD["batch"]):
        try:
            thing.step()
        except ks.Error as error:
            kinds.append(type(error).__name__)
    return kinds, ks.rnea(_CHILD["model"], _CHILD["rows"], threads=2)
