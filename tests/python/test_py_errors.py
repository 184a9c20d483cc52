"""Wrong arguments: an exception that says what was expected, never a crash."""

import contextlib
import gc
import resource

import kansetsu as ks
import numpy as np
import pytest

FUNCTIONS = [ks.rnea, ks.aba, ks.bias, ks.coriolis_matrix, ks.crba, ks.gravity_torque, ks.fk, ks.link_motions, ks.center_of_mass, ks.energy]
FUNCTIONS += [ks.centroidal, ks.regressor, ks.reactions, ks.rnea_derivatives, ks.aba_derivatives, ks.mass_matrix_inverse, ks.joint_axes]
FUNCTIONS += [ks.normalise]


def test_wrong_shapes_name_the_right_one(human):
    with pytest.raises(ks.Error, match=r"rnea: q has shape \(34,\), expected \(35,\) or \(N, 35\) for model 'human28'"):
        ks.rnea(human, np.zeros(34))
    with pytest.raises(ks.Error, match=r"v has shape \(2, 2, 34\)"):
        ks.rnea(human, human.q0, np.zeros((2, 2, 34)))
    with pytest.raises(ks.Error, match="v has 3 rows, expected 4"):
        ks.rnea(human, np.tile(human.q0, (4, 1)), np.zeros((3, 34)))
    with pytest.raises(ks.Error, match=r"external has shape \(29, 5\)"):
        ks.rnea(human, human.q0, external=np.zeros((29, 5)))


def test_wrong_types_are_type_errors(human):
    for value in ("text", None, object(), {"q": 1}, np.zeros(35, complex), np.array(["a"] * 35), np.array([None] * 35)):
        with pytest.raises(TypeError, match="q"):
            ks.rnea(human, value)
    with pytest.raises(TypeError):
        ks.rnea("human28", human.q0)
    with pytest.raises(TypeError):
        ks.rnea(human, human.q0, threads="two")


def test_numbers_that_are_none_are_named(human):
    v = np.zeros(34)
    v[human.dofs["elbowL_y"]] = np.nan
    with pytest.raises(ks.Error, match=rf"aba: v\[{human.dofs['elbowL_y']}\] \(elbowL_y\) is nan"):
        ks.aba(human, human.q0, v)
    rows = np.zeros((5, 34))
    rows[3, 2] = np.inf
    with pytest.raises(ks.Error, match="3"):  # the state
        ks.aba(human, np.tile(human.q0, (5, 1)), rows)


def test_zeros_are_no_configuration(human):
    """A quaternion of zeros is no rotation: results were nan."""
    zeros = np.zeros(human.nq)
    for function in (ks.rnea, ks.aba, ks.crba, ks.gravity_torque, ks.fk, ks.center_of_mass, ks.energy, ks.mass_matrix_inverse):
        with pytest.raises(ks.Error, match=r"q\[3:7\], the quaternion of the base, is zero; model.q0"):
            function(human, zeros)
    balls = ks.human28_ball()
    q = balls.q0
    joint = next(j for j, r in zip(balls.joints, balls.joint_types, strict=True) if r == "ball")
    q[joint] = 0
    with pytest.raises(ks.Error, match=f"the quaternion of '{joint}', is zero"):
        ks.rnea(balls, q)
    assert ks.rnea(human, 2 * human.q0) == pytest.approx(ks.rnea(human, human.q0))  # any other length is taken as one
    assert ks.normalise(human, zeros) == pytest.approx(human.q0)
    assert ks.configuration_problem(human, zeros)


BY_ROWS = {
    "rnea": lambda m, q, v: ks.rnea(m, q, v),
    "bias": lambda m, q, v: ks.bias(m, q, v),
    "gravity_torque": lambda m, q, v: ks.gravity_torque(m, q),
    "crba": lambda m, q, v: ks.crba(m, q),
    "aba": lambda m, q, v: ks.aba(m, q, v),
    "mass_matrix_inverse": lambda m, q, v: ks.mass_matrix_inverse(m, q),
    "rnea_derivatives": lambda m, q, v: ks.rnea_derivatives(m, q, v),
    "aba_derivatives": lambda m, q, v: ks.aba_derivatives(m, q, v),
    "fk": lambda m, q, v: ks.fk(m, q),
    "jacobian": lambda m, q, v: ks.jacobian(m, q, "gripL"),
    "joint_axes": lambda m, q, v: ks.joint_axes(m, q),
    "integrate": lambda m, q, v: ks.integrate(m, q, v),
    "coriolis_matrix": lambda m, q, v: ks.coriolis_matrix(m, q, v),
    "solve_mass_matrix": lambda m, q, v: ks.solve_mass_matrix(m, q, v),
    "regressor": lambda m, q, v: ks.regressor(m, q, v),
    "reactions": lambda m, q, v: ks.reactions(m, q, v),
    "jacobian_rate": lambda m, q, v: ks.jacobian_rate(m, q, v, "gripL"),
    "link_motions": lambda m, q, v: ks.link_motions(m, q, v),
    "center_of_mass": lambda m, q, v: ks.center_of_mass(m, q),
    "centroidal": lambda m, q, v: ks.centroidal(m, q, v),
    "energy": lambda m, q, v: ks.energy(m, q, v),
    "difference": lambda m, q, v: ks.difference(m, m.q0, q),
    "interpolate": lambda m, q, v: ks.interpolate(m, q, m.q0, 0.5),
    "position_rate": lambda m, q, v: ks.position_rate(m, q, v),
}


@pytest.mark.parametrize("name", BY_ROWS)
def test_a_bad_row_is_named(human, name):
    """Zero quaternions, lengths whose squares no number holds, and nan, in one of many rows: results were nan."""
    call, rows, v = BY_ROWS[name], np.tile(human.q0, (20, 1)), np.zeros((20, 34))
    for length in (0.0, 1e-200, 1e200):
        bad = rows.copy()
        bad[17, 3:7] *= length
        with pytest.raises(ks.Error, match=r"\[3:7\] of (state|row) 17"):
            call(human, bad, v)
        with pytest.raises(ks.Error, match=r"\[3:7\], the quaternion of the base, is (zero|so short or long)"):
            call(human, bad[17], v[17])
    bad = rows.copy()
    bad[17, 12] = np.nan
    with pytest.raises(ks.Error, match=r"\[12\].*(state|row) 17"):
        call(human, bad, v)
    call(human, np.where(np.isin(np.arange(35), range(3, 7)), 3, 1) * rows, v)  # a length of 3 is a rotation


def test_a_bad_velocity_in_a_row_is_named(human):
    rows, v = np.tile(human.q0, (20, 1)), np.zeros((20, 34))
    v[11, human.dofs["elbowL_y"]] = np.inf
    with pytest.raises(ks.Error, match=r"energy: v\[\d+\] \(elbowL_y\) of row 11 is inf"):
        ks.energy(human, rows, v)


def test_lengths_of_quaternions_are_made_one(human):
    for length in (1e-200, 1e200, 3.0):
        q = human.q0.copy()
        q[3:7] = [0, 0.6 * length, 0, 0.8 * length]
        assert ks.normalise(human, q)[3:7] == pytest.approx([0, 0.6, 0, 0.8], rel=1e-15)  # rounding


def test_what_a_file_may_not_say_python_may_not(human):
    world = ks.World.load("human28")
    for name in ("kp", "kd", "deviation", "effort"):
        with pytest.raises(ks.Error, match=rf"controller 'c', joint 'elbowL_y': .*{name} is -1"):
            world.add_controller("c", "human28", "pd", {"elbowL_y": {name: -1.0}})
    with pytest.raises(ks.Error, match="tolerance is nan"):  # was a crash
        world.assemble(float("nan"))
    with pytest.raises(ks.Error, match="time is nan"):
        ks.motion.sample(human, ks.motion.squat(human, 0.1, 1.0, 1), float("nan"))
    with pytest.raises(ks.Error, match="weight is inf"):
        ks.ik.Problem(human).position("gripL", [0, 0, 1], weight=float("inf"))


def test_thread_counts(human):
    for threads in (-1, 10**6):
        with pytest.raises(ks.Error, match="threads"):
            ks.rnea(human, np.tile(human.q0, (4, 1)), threads=threads)


def test_no_rows_are_fine(human):
    assert ks.rnea(human, np.zeros((0, 35))).shape == (0, 34)
    assert ks.crba(human, np.zeros((0, 35))).shape == (0, 34, 34)
    assert ks.fk(human, np.zeros((0, 35))).data.shape == (0, 29, 12)


def test_poses_that_are_none(human):
    with pytest.raises(ks.Error, match="orthonormal"):
        ks.jacobian(human, human.q0, "gripL", offset=np.diag([1, 1, 2, 1.0]))
    with pytest.raises(ks.Error, match="quaternion"):
        ks.jacobian(human, human.q0, "gripL", offset=[0, 0, 0, 0, 0, 0, 2])
    with pytest.raises(ks.Error, match=r"did you mean|known"):
        ks.jacobian(human, human.q0, "gripp")
    arm = ks.extract_subtree(human, "UpperArmL", "fixed")
    solver = ks.ik.ArmSolver(arm, arm.links[-1])
    targets = np.tile(np.eye(4), (3, 1, 1))
    for wrong, message in ((np.nan, r"target\[5\] of row 2 is nan"), (2.0, "target of row 2 is not a rotation")):
        targets[2, 1, 1] = wrong
        with pytest.raises(ks.Error, match=message):
            solver.solve(targets, arm.q0)


def test_responses_need_a_rotation(human):
    with pytest.raises(ks.Error, match=r"Response.update: q\[3:7\], the quaternion of the base, is zero"):
        ks.Response(human).update(np.zeros(human.nq))


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__name__)
def test_any_nonsense_is_an_exception(function, human):
    """Every function with every kind of wrong array in every place."""
    rng = np.random.default_rng(5)
    nonsense = [
        None, 1, -1.5, "x", b"y", [], [[]], [1, 2, 3], object(), np.zeros(0), np.zeros((0, 0)), np.zeros((3, 3, 3)), np.zeros(35, "c16"),
        np.full(35, np.nan), np.full((2, 35), np.inf), np.zeros(35, "U3"), np.zeros((2, 34)), np.zeros(35)[::-1], np.zeros((35, 2)).T,
        np.zeros(35, ">f8"), np.zeros(35, "i1"), np.zeros(35, bool), iter([1.0] * 35), {1: 2}, human,
    ]  # fmt: skip
    for _ in range(150):
        arguments = [nonsense[i] for i in rng.integers(len(nonsense), size=rng.integers(1, 4))]
        with contextlib.suppress(TypeError, ks.Error):
            function(human, *arguments)


def test_what_is_added_to_a_world_is_a_model():
    for wrong, name in (("human28", "str"), (ks.Box([1, 1, 1]), "kansetsu._core.Box")):
        with pytest.raises(TypeError, match=rf"model is a '{name}', expected a kansetsu.Model: load\(\)"):
            ks.World().add(wrong)


def test_what_is_shown_or_bridged_is_named(human):
    with pytest.raises(TypeError, match="show: thing is a 'str', expected a Model, World or Recording"):
        ks.show("human28")
    for bridge, name in ((ks.bridges.pinocchio, "pin_model"), (ks.bridges.mujoco, "mj_model"), (ks.bridges.drake, "plant")):
        with pytest.raises(TypeError, match=rf"bridges\.\w+: {name} is a 'Model', expected a "):
            bridge(human, human)
        with pytest.raises(TypeError, match=r"model is a 'str', expected a kansetsu\.Model"):
            bridge("human28", None)
    for call in (ks.bridges.to_joint_state, lambda m, q: ks.bridges.from_joint_state(m, [], [])):
        with pytest.raises(TypeError, match=r"model is a 'str', expected a kansetsu\.Model"):
            call("human28", human.q0)


def test_batches_are_of_worlds(human):
    with pytest.raises(TypeError, match=r"world is a 'Model', expected a kansetsu\.World"):
        ks.WorldBatch(human, 3)


def things(human):
    """One of each public class that has numbers to tell, as far as a few lines make them."""
    world = ks.World.load("human28")
    world.step()
    constraints = ks.Constraints(human)
    constraints.frame("FootL")
    problem = ks.ik.Problem(human).pose("gripL", np.eye(4), name="hand")
    report = ks.ik.Solver(problem, starts=1).solve(human.q0)
    clip = ks.motion.squat(human, 0.1, 1.0, 1)
    return [
        *(ks.Sphere(0.1), ks.Box([1, 2, 3]), ks.Capsule(0.1, 0.5), ks.Cylinder(0.1, 0.5), ks.Plane(), ks.ConvexHull(np.eye(3))),
        *(world, world["human28"], world["human28"]["gripL"], world.save(), world.connect(None, "human28/gripL"), ks.Material()),
        *(ks.HeightField(np.zeros((3, 3)), [1, 1]), ks.TriangleMesh(np.eye(3), [(0, 1, 2)]), ks.ModelBuilder("b"), ks.Response(human)),
        *(constraints, ks.constrained_aba(human, constraints, human.q0), ks.centroidal(human, human.q0), ks.fk(human, human.q0)),
        *(problem, report, report.tasks[0], clip, ks.motion.Push(3.0), ks.motion.analyze(human, clip), ks.compile_model(human)),
    ]


def test_everything_says_what_it_is(human):
    """In a line, without an address."""
    for thing in things(human):
        text = repr(thing)
        assert type(thing).__name__ in text.replace("ik.", ""), text
        assert "object at 0x" not in text
        assert len(text) < 1000
    assert repr(ks.Sphere(0.1)) == "<Sphere: radius=0.1>"
    assert repr(ks.Box([1, 2, 3])) == "<Box: size=[1., 2., 3.]>"
    assert "TaskReport: name='hand', error=" in repr(things(human)[-5])


def test_calls_leave_nothing_behind(human):
    """A million of them, in memory."""
    q, v = np.asarray(human.q0), np.zeros(34)
    rows = np.tile(q, (3, 1))

    def calls(count):
        for _ in range(count):
            ks.aba(human, q, v, v)
            ks.rnea(human, rows)
            with contextlib.suppress(ks.Error):
                ks.rnea(human, v)

    def memory():
        gc.collect()
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    calls(20_000)
    before = memory()
    calls(340_000)
    assert memory() - before < 2_000  # kB; a million lost references would be 100 MB
