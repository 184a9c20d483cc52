"""Worlds: figures, live arrays, connections, reports, controllers, snapshots, recordings."""

import gc
import pickle
import threading
import weakref

import kansetsu as ks
import numpy as np
import pytest

WEIGHT = 9.81


def box_world(**options):
    world = ks.World(**options)
    world.add_fixed(ks.Plane(), name="floor")
    world.add_body(ks.Box([0.2, 0.2, 0.2]), 2.0, [0, 0, 0.1], name="box")
    return world


def test_a_box_rests_on_the_floor():
    world = box_world()
    world.step(200)
    (contact,) = world.contacts
    assert contact["wrench"][5] == pytest.approx(2 * WEIGHT, abs=1e-9)  # resting contacts are exact
    assert np.allclose(contact["normal"], [0, 0, 1])
    assert (tuple(contact["a"]), tuple(contact["b"])) == ((-1, -1), (0, 0))
    assert contact.dtype == ks.CONTACT
    assert world.time == pytest.approx(0.2)
    assert world.totals["steps"] == 200
    assert world.kinetic_energy < 1e-12
    assert world.running
    assert world["box"][world["box"].model.links[0]].p[2] == pytest.approx(0.1, abs=2e-4)  # slop of 0.1 mm


def test_health_and_strict_worlds():
    world = box_world()
    world.step(200)
    health = world.health()
    assert health["findings"] == []
    assert health["contacts"] >= 200
    assert health["unsolved"] == 0
    assert abs(health["energy_drift"]) <= 0.01 * health["energy_moved"] + 2 * WEIGHT * 1e-3  # HealthLimits
    deep = ks.World()
    deep.add_fixed(ks.Plane(), name="floor")
    deep.add_body(ks.Box([0.2, 0.2, 0.2]), 2.0, [0, 0, 0.095], name="box")
    deep.set_strict()
    with pytest.raises(ks.Error, match=r"the penetration between 'floor' and 'box/box' is 0\.00"):
        deep.step(10)
    assert not deep.running
    assert deep.totals["steps"] == 1


def test_the_work_of_a_conveyor_is_in_the_energy_balance():
    """A stack is put onto a running belt: the blows of the boxes on each other and on the belt are part of the balance."""
    world = ks.World()
    world.add_fixed(ks.Box([6, 0.5, 0.1]), [0, 0, 0.05], surface_velocity=[0.5, 0, 0], name="belt")
    for i in range(6):  # a millimetre apart
        world.add_body(ks.Box([0.1, 0.1, 0.1]), 1.0, [0, 0, 0.15 + 0.101 * i], name=f"box{i}")
    world.step(500)  # they have met, and the stack leans
    assert world.totals["impacts"] > 0
    health = world.health()
    assert abs(health["energy_drift"]) < 1e-5 * health["energy_moved"]  # rounding and gaps of 1e-6 m under the weight


def test_a_body_rides_on_a_moving_platform():
    world = ks.World()
    world.add_moving(ks.Box([1, 1, 0.1]), [0, 0, 0], velocity=[0.2, 0, 0], amplitude=[0, 0, 0.05], frequency=0.5, stop=1.0, name="lift")
    box = world.add_body(ks.Box([0.2, 0.2, 0.2]), 2.0, [0, 0, 0.15], name="box")
    world.step(500)
    assert box.q[:3] == pytest.approx([0.1, 0, 0.2], abs=1e-3)  # a quarter of the wave; friction starts it within some milliseconds
    world.step(1000)
    assert box.v == pytest.approx(np.zeros(6), abs=1e-6)  # stopped at 1 s
    with pytest.raises(ks.Error, match="velocity"):
        world.add_moving(ks.Box([1, 1, 1]), velocity=[0, float("nan"), 0])
    with pytest.raises(ks.Error):
        world.add_moving(ks.Box([1, 1, 1]), frequency=float("inf"))


def test_arrays_are_live():
    world = ks.World()
    arm = world.add(ks.pendulum(2), name="arm")
    q, v, tau = arm.q, arm.v, arm.tau
    q[:] = [0.5, -0.2]
    world.step()
    assert v[0] != 0
    assert np.array_equal(q, world["arm"].q)
    energy = world.kinetic_energy + world.potential_energy
    assert q[0] != 0.5
    tau[:] = ks.gravity_torque(arm.model, q)
    v[:] = 0
    world.step()
    assert np.allclose(arm.vdot, 0, atol=1e-9)
    assert np.allclose(arm.effort, tau)
    assert energy != 0
    del world, arm
    gc.collect()
    assert np.isfinite(q).all()  # the view keeps its world alive
    assert q["joint1" if "joint1" in q.names else q.names[0]] == q[0]


def test_what_cannot_be_is_refused_and_forgotten():
    world = ks.World()
    arm = world.add(ks.pendulum(), name="arm")
    arm.tau[0] = np.nan
    with pytest.raises(ks.Error, match=r"tau of figure 'arm'.*nan"):
        world.step()
    assert arm.tau[0] == 0
    arm.q[0] = np.inf
    with pytest.raises(ks.Error):
        world.step()
    world.step()
    for wrong in (-1, 0.0, np.nan):
        with pytest.raises(ks.Error, match="time_step"):
            ks.World(time_step=wrong)
    with pytest.raises(ks.Error, match="semi_implicit"):
        ks.World(integrator="euler")
    with pytest.raises(ks.Error, match="mass"):
        world.add_body(ks.Sphere(0.1), -1)
    with pytest.raises(ks.Error, match="arm"):
        world["leg"]
    with pytest.raises(ks.Error, match="seconds"):
        world.advance(-1)
    with pytest.raises(TypeError, match="not a body"):
        world.grab(3.5, arm)
    for radius in (0, -1, np.nan, np.inf):
        with pytest.raises(ks.Error, match="radius"):
            ks.Sphere(radius)


def test_grab_and_release():
    world = ks.World()
    ball = world.add_body(ks.Sphere(0.05), 1.5, [0, 0, 1], name="ball")
    grip = world.grab(None, ball)
    with pytest.raises(ks.Error, match="after the last step"):
        _ = grip.wrench
    world.step(100)
    assert grip.active
    assert np.allclose(grip.wrench, [0, 0, 0, 0, 0, 1.5 * WEIGHT], atol=1e-9)
    (record,) = world.connections
    assert record["id"] == grip.id
    assert np.allclose(record["wrench"], grip.wrench)
    assert ball.q[2] == pytest.approx(1, abs=1e-9)
    grip.release()
    assert not grip.active
    with pytest.raises(ks.Error, match="no longer exists"):
        grip.release()
    with pytest.raises(ks.Error, match="no longer exists"):
        _ = grip.wrench
    world.advance(0.1)
    assert ball.q[2] == pytest.approx(1 - 0.5 * WEIGHT * 0.01, abs=1e-3)  # h·t of the semi-implicit step


def test_connections_rebound_and_give_way():
    world = ks.World(gravity=[0, 0, 0])
    ball = world.add_body(ks.Sphere(0.1), 1.0, [0, 0, 1], name="ball")
    ball.v[5] = 2.0
    bar = world.connect(None, ball, mask="point", restitution={"z": 0.5})
    world.step()
    assert ball.v[5] == pytest.approx(-1)
    assert bar.impulse[5] == pytest.approx(-3)
    assert np.allclose(bar.wrench, 0)
    world = ks.World()
    ball = world.add_body(ks.Sphere(0.1), 1.0, [0, 0, 1], name="ball")
    spring = world.connect(None, ball, stiffness={"z": 1000.0}, damping={"z": 60.0})
    world.advance(1)
    assert ball.q[2] == pytest.approx(1 - WEIGHT / 1000, abs=1e-6)
    assert spring.wrench[5] == pytest.approx(WEIGHT, rel=1e-4)
    for wrong in (
        {"stiffness": 1000.0},
        {"stiffness": {"w": 1.0}},
        {"stiffness": {"z": "soft"}},
        {"stiffness": {"z": -1.0}},
        {"damping": {"z": 1.0}},
        {"restitution": 2.0},
    ):
        with pytest.raises((ks.Error, TypeError, ValueError)):
            world.connect(None, ball, **wrong)


def test_the_law_of_2000():
    world = ks.World(gravity=[2.0, 0, -9.6], contact_law="nakamura_yamane")
    world.add_fixed(ks.Plane(), name="floor")
    box = world.add_body(ks.Box([0.4, 0.3, 0.2]), 3.0, [0, 0, 0.1], name="box")
    box.v[2] = 5.0
    world.advance(0.05)
    assert world.contacts[0]["slip"] == 2  # spin
    assert np.allclose(box.q[:2], 0, atol=1e-6)
    with pytest.raises(ks.Error, match="contact_law"):
        ks.World(contact_law="coulomb")


def test_frames_masks_and_other_worlds(human):
    world = ks.World()
    man = world.add(human, name="man", base=[0, 0, 2])
    hang = world.connect(None, man["gripL"], mask="point")
    where = man["gripL"].p
    world.step(50)
    assert np.allclose(man["gripL"].p, where, atol=1e-6)
    assert np.linalg.norm(hang.wrench[:3]) < 1e-9  # a point carries no torque
    assert world.body("man/gripL").p == pytest.approx(man["gripL"].p)
    with pytest.raises(ks.Error, match="another world"):
        ks.World().grab(None, man)
    with pytest.raises(ks.Error, match="mask"):
        world.connect(None, man, mask=0)
    with pytest.raises(ks.Error, match="'weld'"):
        world.connect(None, man, mask="glue")
    weak = world.connect(None, man["gripR"], break_force=1.0)
    world.step(200)
    assert not weak.active
    assert any(event.kind == "broken" for event in world.events)


def test_a_world_knows_its_figures_by_name():
    world = ks.World()
    assert list(world) == []
    assert "man" not in world
    world.add(ks.human28(), name="man")
    assert list(world) == world.figures == ["man"]
    assert "man" in world
    assert "woman" not in world


def test_controllers_hold_a_figure(standing):
    standing.advance(0.5)
    man = standing["human28"]
    assert man.q[2] > 0.8
    force = standing.contacts["wrench"][:, 5].sum()
    assert force == pytest.approx(man.model.mass * WEIGHT, rel=0.05)
    assert standing.controllers == ["posture"]
    standing.set_controller("posture", joints={"elbowL_y": {"value": -1.0}})
    standing.step(2)
    assert man.effort["elbowL_y"] < -1  # it bends
    standing.set_controller("posture", active=False)
    standing.step(2)
    assert np.abs(man.effort).max() < 1e-12  # nobody holds it
    with pytest.raises(ks.Error, match="kq"):
        standing.set_controller("posture", joints={"elbowL_y": {"kq": 1}})


def test_stand(human):
    world = ks.World.load("human28")
    world.step()
    tau = world["human28"].stand()
    assert np.array_equal(world["human28"].tau, tau)
    assert np.abs(tau[:6]).max() == 0
    world.step(100)
    assert np.abs(world["human28"].v).max() < 1e-6  # upright, next to no torque is needed: it stands


def test_callbacks():
    world = ks.World()
    arm = world.add(ks.pendulum(), [0.3], name="arm")
    seen = []

    def hold(w, time):
        seen.append(time)
        w["arm"].tau[:] = ks.gravity_torque(arm.model, w["arm"].q)

    world.on_step(hold)
    world.step(10)
    assert len(seen) == 10
    assert arm.q[0] == pytest.approx(0.3, abs=1e-9)

    def fails(w, time):
        raise KeyError("mine")

    world.on_step(fails)
    with pytest.raises(KeyError, match="mine"):
        world.step(5)
    nested = ks.World()
    nested.on_step(lambda w, time: w.step())
    with pytest.raises(ks.BusyError, match="callback"):
        nested.step()


def test_worlds_with_callbacks_are_collected():
    def made():
        world = box_world()
        box = world["box"]
        world.on_step(lambda w, time: box.v)  # a circle
        world.step()
        return weakref.ref(world)

    gone = made()
    gc.collect()
    assert gone() is None


def test_snapshots_go_back_to_the_bit(standing):
    standing.advance(0.2)
    moment = standing.save()
    assert moment.time == pytest.approx(0.2)
    standing.advance(0.1)
    first = standing.hash()
    standing.restore(moment)
    assert standing.time == moment.time
    standing.advance(0.1)
    assert standing.hash() == first
    with pytest.raises(ks.Error, match="another world"):
        box_world().restore(moment)


def test_snapshots_are_values(standing):
    first, again = standing.save(), standing.save()
    standing.step()
    later = standing.save()
    assert first == again == pickle.loads(pickle.dumps(first))
    assert first != later
    assert first != "a snapshot"
    assert first is not None
    assert len({first, again, later}) == 2
    assert repr(later) == "<Snapshot at 0.001 s>"
    assert repr(standing) == "<World at 0.001 s: human28>"
    assert repr(ks.World()) == "<World at 0 s: no figures>"


def test_snapshots_travel(standing):
    """Through pickle into another world of the same kind: the same bits from there on."""
    standing["human28"].v[3] = 0.1
    standing.advance(0.1)
    moment = pickle.loads(pickle.dumps(standing.save()))
    standing.advance(0.1)
    other = ks.World.load("human28")
    man = other["human28"]
    other.add_controller("posture", man, "pd", {joint: {"value": 0.0, "kp": 300.0, "kd": 15.0} for joint in man.model.joints})
    other.restore(moment)
    other.advance(0.1)
    assert other.hash() == standing.hash()
    assert np.array_equal(other.contacts["wrench"], standing.contacts["wrench"])


def test_a_second_thread_is_refused():
    world = box_world()
    errors = []
    go = threading.Barrier(4)

    def work():
        go.wait()
        for _ in range(300):
            try:
                world.step(20)
                assert len(world.contacts) >= 0
            except ks.BusyError:
                errors.append(1)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    world.step()
    assert world.kinetic_energy < 1e-9  # whoever came first, the box rests


def test_springs_wrenches_gravity():
    world = ks.World(gravity=[0, 0, 0])
    a = world.add_body(ks.Sphere(0.1), 1.0, name="a")
    world.add_spring(None, [0, 0, 0], a, [0, 0, 0], stiffness=100.0, rest_length=0.0)
    a[a.model.links[0]].apply_wrench([0, 0, 0, 10, 0, 0])
    world.step()
    assert a.v[3] == pytest.approx(10 * 1e-3)
    world.advance(np.pi / 20)  # a quarter of 2π·√(m/k), to a step
    assert a.q[0] == pytest.approx(0.01 / 10, rel=0.01)
    world.gravity = [0, 0, -1.62]
    assert np.array_equal(world.gravity, [0, 0, -1.62])
    assert np.array_equal(world.momentum.shape, (3,))


def test_scenes_have_sensors_and_events(tmp_path):
    scene = tmp_path / "drop.toml"
    scene.write_text(
        """
[[environment]]
name = "floor"
type = "plane"
[[body]]
name = "ball"
type = "sphere"
radius = 0.1
mass = 1
pose = { p = [0, 0, 0.3] }
[[sensor]]
name = "imu"
kind = "imu"
at = { figure = "ball" }
"""
    )
    try:
        world = ks.World.load(scene)
    except ks.LoadError as error:
        pytest.fail(str(error))
    world.step(10)
    assert world.sensors == ["imu"]
    assert np.allclose(world.sensor("imu"), 0, atol=1e-9)  # it falls freely
    world.advance(0.6)
    assert world.sensor("imu")[5] == pytest.approx(9.81, abs=1e-6)
    with pytest.raises(ks.Error, match="eye"):
        world.sensor("eye")


def test_record_and_read(tmp_path):
    world = box_world()
    path = tmp_path / "run.mcap"
    with world.record(path) as recorder:
        world.step(25)
    with pytest.raises(ks.Error, match="closed"):
        recorder.close()
    world.step(5)  # is not recorded any more
    run = ks.read(path)
    assert run.complete
    assert len(run) == 26
    assert run.figures == ["box"]
    assert np.allclose(run.times, np.arange(26) * 1e-3)
    assert run.q().shape == (26, 7)
    assert run.q("box")[-1, "base"][2] == pytest.approx(0.1, abs=2e-4)
    assert "kinetic energy" in run.numbers
    assert run.contacts["force"][-1][2] == pytest.approx(2 * WEIGHT, abs=1e-6)
    assert run.model().nv == 6
    with pytest.raises(ks.LoadError, match="REC"):
        ks.read(tmp_path / "other.mcap")
    with pytest.raises(ks.Error, match="known: box"):
        run.q("bag")
    pandas = pytest.importorskip("pandas")
    frame = run.to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["box/q/base.z"].iloc[-1] == run.q()[-1, 2]
    assert frame.index.name == "time"


def test_pages(tmp_path, monkeypatch):
    world = box_world()
    try:
        page = world.page()
    except ks.Error as error:
        pytest.skip(str(error))
    assert page.startswith(b"<!")
    assert b'id="recording"' in page
    monkeypatch.setattr("webbrowser.open", lambda url: True)
    for thing in (world, world["box"].model):
        view = thing.show()
        assert b'id="recording"' in view.page
        assert "srcdoc" in view._repr_html_()
    assert view.save(tmp_path / "view.html").stat().st_size == len(view.page)
    with world.record(tmp_path / "run.html", rate=60):
        world.advance(0.2)
    assert (tmp_path / "run.html").stat().st_size > 100_000


def test_assigned_arrays_are_written(standing):
    """figure.tau = x writes into what is live; so do arrays of batches."""
    man = standing["human28"]
    seen = man.tau
    man.tau = np.arange(34.0)
    man.v = 0.0
    assert np.array_equal(seen, np.arange(34.0))
    man.q = man.model.q0
    man.q["base"][2] = 3.0
    assert man.q[2] == 3.0
    with pytest.raises(ValueError, match="broadcast"):
        man.tau = np.zeros(3)
    batch = ks.WorldBatch(standing, 2)
    men, posture = batch["human28"], batch.controller("posture")
    live, gains = men.tau, posture.kp
    men.tau = 2.0
    posture.kp = 7.0
    assert (live == 2.0).all()
    assert (gains == 7.0).all()
    with pytest.raises(AttributeError):
        men.torque = 1.0
    assert repr(standing.connect(None, man["gripL"], mask="point")).startswith("<Connection")
