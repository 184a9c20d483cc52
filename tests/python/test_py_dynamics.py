"""Kinematics and dynamics: against the command, which is the C++ library, and against each other."""

import json
import os
import subprocess
import threading
import warnings

import kansetsu as ks
import numpy as np
import pytest

MODELS = [ks.human28(), ks.human28_ball(), ks.pendulum(3), ks.chain(7, "free"), ks.rope(5)]
SAME = 1e-12  # of the largest number: batches and single states are different kernels


def states(model, count, seed=1):
    rng = np.random.default_rng(seed)
    q = np.asarray(model.random_configuration(seed, count))
    return q, rng.normal(size=(count, model.nv)), rng.normal(size=(count, model.nv))


def close(a, b, tolerance=SAME):
    return np.max(np.abs(a - b)) <= tolerance * max(1, np.max(np.abs(b)))


def request_of(model, q, v, a):
    """A state as `kansetsu eval` takes it: by joint, and the base apart."""

    def joints(x, names):
        return {j: (float(x[names[j]]) if isinstance(names[j], int) else list(x[names[j]])) for j in model.joints if j in names}

    state = {"q": joints(q, model.coordinates)} | {key: joints(x, model.dofs) for key, x in (("v", v), ("a", a), ("tau", a))}
    if model.base == "free":
        parts = {"p": q[:3], "quat_xyzw": q[3:7], "omega": v[:3], "v": v[3:6], "alpha": a[:3], "a": a[3:6], "tau": a[:6]}
        state["base"] = {key: list(x) for key, x in parts.items()}
    return state


@pytest.mark.skipif("KANSETSU_BIN" not in os.environ, reason="the command is not built")
@pytest.mark.parametrize("name", ["human28", "human28_ball", "chain6"])
def test_same_as_the_command(name):
    model = ks.load(name)
    Q, V, A = states(model, 3)
    request = {"compute": ["rnea", "aba", "crba", "com"], "states": [request_of(model, *x) for x in zip(Q, V, A, strict=True)]}
    out = subprocess.run([os.environ["KANSETSU_BIN"], "eval", name], input=json.dumps(request), text=True, capture_output=True, check=False)
    assert out.returncode == 0, out.stderr
    answer = json.loads(out.stdout)
    assert answer["dofs"] == list(model.dofs)
    for i, result in enumerate(answer["results"]):
        # JSON carries 17 digits; the command scales quaternions to unit length once more
        assert close(ks.rnea(model, Q[i], V[i], A[i]), np.array(result["rnea"]))
        assert close(ks.aba(model, Q[i], V[i], A[i]), np.array(result["aba"]), 1e-10)
        assert close(ks.crba(model, Q[i]), np.array(result["crba"]))
        assert close(ks.center_of_mass(model, Q[i]), np.array(result["com"]))


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_inverse_and_forward_agree(model):
    Q, V, A = states(model, 5)
    for q, v, a in zip(Q, V, A, strict=True):
        tau = ks.rnea(model, q, v, a)
        M = ks.crba(model, q)
        assert close(ks.aba(model, q, v, tau), a, 1e-9)  # the condition of M
        assert close(M @ a + ks.bias(model, q, v), tau, 1e-10)
        assert close(ks.coriolis_matrix(model, q, v) @ v + ks.gravity_torque(model, q), ks.bias(model, q, v), 1e-10)
        assert close(M @ ks.solve_mass_matrix(model, q, a), a, 1e-9)
        assert close(M @ ks.mass_matrix_inverse(model, q), np.eye(model.nv), 1e-8)
        assert close(0.5 * v @ M @ v, ks.energy(model, q, v)[0], 1e-10)


@pytest.mark.parametrize("model", MODELS, ids=lambda m: m.name)
def test_rows_are_single_states(model):
    Q, V, A = states(model, 19)  # not a multiple of any register
    rows = {
        "rnea": (lambda q, v, a: ks.rnea(model, q, v, a)),
        "aba": (lambda q, v, a: ks.aba(model, q, v, a)),
        "crba": (lambda q, v, a: ks.crba(model, q)),
        "bias": (lambda q, v, a: ks.bias(model, q, v)),
        "fk": (lambda q, v, a: ks.fk(model, q).data),
        "jacobian": (lambda q, v, a: ks.jacobian(model, q, model.links[-1])),
        "joint_axes": (lambda q, v, a: ks.joint_axes(model, q)),
        "com": (lambda q, v, a: ks.center_of_mass(model, q)),
        "energy": (lambda q, v, a: ks.energy(model, q, v)),
        "motions": (lambda q, v, a: ks.link_motions(model, q, v, a).data),
        "rnea_derivatives": (lambda q, v, a: np.array(ks.rnea_derivatives(model, q, v, a))),
        "integrate": (lambda q, v, a: ks.integrate(model, q, v, 0.1)),
        "position_rate": (lambda q, v, a: ks.position_rate(model, q, v)),
        "regressor": (lambda q, v, a: ks.regressor(model, q, v, a)),
        "reactions": (lambda q, v, a: ks.reactions(model, q, v, a)),
    }
    for name, function in rows.items():
        many = function(Q, V, A)
        for i in range(len(Q)):
            one = function(Q[i], V[i], A[i])
            row = many[:, i] if name == "rnea_derivatives" else many[i]
            assert row.shape == one.shape, name
            assert close(row, one), name


def test_threads_and_neighbours_change_no_bit(human):
    Q, V, A = states(human, 257)
    one = ks.aba(human, Q, V, A, threads=1)
    assert np.array_equal(ks.aba(human, Q, V, A, threads=3), one)
    assert np.array_equal(ks.aba(human, Q[100:110], V[100:110], A[100:110]), one[100:110])


def test_floats_stay_floats(human):
    Q, V, A = (x.astype(np.float32) for x in states(human, 33))
    tau = ks.rnea(human, Q, V, A)
    assert tau.dtype == np.float32
    assert close(tau, ks.rnea(human, Q.astype(float), V, A), 1e-4)  # single precision through 28 joints


def test_strided_rows_need_no_copy_and_vectors_count_for_all(human):
    Q, V, A = states(human, 40)
    wide = np.zeros((80, human.nq + 5))
    wide[::2, : human.nq] = Q
    assert np.array_equal(ks.rnea(human, wide[::2, : human.nq], V, A), ks.rnea(human, Q, V, A))
    assert np.array_equal(ks.rnea(human, Q[::-1], V[::-1], A[::-1]), ks.rnea(human, Q, V, A)[::-1])
    assert np.array_equal(ks.rnea(human, np.asfortranarray(Q), V, A), ks.rnea(human, Q, V, A))
    assert np.array_equal(ks.rnea(human, Q, V[0], A), ks.rnea(human, Q, np.tile(V[0], (40, 1)), A))
    assert np.array_equal(ks.gravity_torque(human, list(human.q0)), ks.rnea(human, human.q0))


def test_external_wrenches(human):
    q = human.q0
    external = np.zeros((len(human.links), 6))
    external[0, 5] = human.mass * 9.81  # someone lifts the pelvis
    tau = ks.rnea(human, q, external=external)
    assert abs(tau[5]) < 1e-9  # 677 N in doubles
    rows = ks.rnea(human, np.tile(q, (4, 1)), external=np.tile(external, (4, 1, 1)))
    assert close(rows[2], tau)
    assert close(ks.aba(human, q, None, tau, external=external), np.zeros(human.nv), 1e-9)


def test_jacobian_is_the_velocity(human):
    Q, V, _ = states(human, 4)
    for q, v in zip(Q, V, strict=True):
        motions = ks.link_motions(human, q, v)
        J = ks.jacobian(human, q, "gripL")
        h = 1e-6
        ahead, behind = (ks.fk(human, ks.integrate(human, q, s * h * v))["gripL"][:3, 3] for s in (1, -1))
        assert np.allclose((J @ v)[3:], (ahead - behind) / (2 * h), atol=1e-7)  # error of differences: h²
        link = human.link_id("forearmL") if "forearmL" in human.links else len(human.links) - 1
        assert np.allclose(ks.jacobian(human, q, human.links[link]) @ v, motions.V[link], atol=1e-11)  # rounding over a chain of links
        later, before = (ks.jacobian(human, ks.integrate(human, q, s * h * v), "gripL") for s in (1, -1))
        rate = (later - before) / (2 * h)
        assert np.allclose(ks.jacobian_rate(human, q, v, "gripL"), rate, atol=1e-6)  # differences: step², and rounding over the step
    with pytest.raises(ks.Error, match="'local_world_aligned', 'local', 'world'"):
        ks.jacobian(human, human.q0, "gripL", axes="body")


def test_derivatives(human):
    (q,), (v,), (a,) = states(human, 1)
    dq, dv, M = ks.rnea_derivatives(human, q, v, a)
    h = 1e-6
    for k in (0, 4, 10, 30):
        e = np.zeros(human.nv)
        e[k] = h
        by_q = (ks.rnea(human, ks.integrate(human, q, e), v, a) - ks.rnea(human, ks.integrate(human, q, -e), v, a)) / (2 * h)
        assert np.allclose(dq[:, k], by_q, atol=1e-5)  # differences of kN over 1e-6
        assert np.allclose(dv[:, k], (ks.rnea(human, q, v + e, a) - ks.rnea(human, q, v - e, a)) / (2 * h), atol=1e-5)
    assert close(M, ks.crba(human, q))
    fq, fv, inverse, vdot = ks.aba_derivatives(human, q, v, a)
    assert close(inverse @ M, np.eye(human.nv), 1e-8)
    assert close(vdot, ks.aba(human, q, v, a), 1e-9)
    assert fq.shape == fv.shape == (human.nv, human.nv)


def test_centroidal_and_response(human):
    (q,), (v,), _ = states(human, 1)
    c = ks.centroidal(human, q, v)
    assert close(c.A @ v, c.h)
    assert close(c.h[3:], human.mass * c.com_velocity, 1e-10)
    assert close(c.com, ks.center_of_mass(human, q))
    response = ks.Response(human)
    with pytest.raises(ks.Error, match="update"):
        response.link_response("pelvis" if "pelvis" in human.links else human.links[0], human.links[3])
    response.update(q)
    a, b = human.links[5], human.links[9]
    J_a, J_b = ks.jacobian(human, q, a), ks.jacobian(human, q, b)
    assert close(response.link_response(a, b), J_a @ ks.mass_matrix_inverse(human, q) @ J_b.T, 1e-9)


def test_configuration_space(human):
    a, b = np.asarray(human.random_configuration(1)), np.asarray(human.random_configuration(2))
    v = ks.difference(human, a, b)
    assert close(ks.integrate(human, a, v), b, 1e-9) or close(ks.integrate(human, a, v)[7:], b[7:], 1e-9)  # quaternions have two signs
    assert close(ks.interpolate(human, a, b, 0.0), a, 1e-12)
    assert ks.configuration_problem(human, a) is None
    assert "quaternion" in ks.configuration_problem(human, a * 2)
    assert np.allclose(np.linalg.norm(ks.normalise(human, a * 2)[3:7]), 1)


def test_regressor(human):
    (q,), (v,), (a,) = states(human, 1)
    model = ks.chain(5)
    q, v, a = model.random_configuration(1), v[:5], a[:5]
    assert close(ks.regressor(model, q, v, a) @ ks.inertial_parameters(model).ravel(), ks.rnea(model, q, v, a), 1e-10)


def test_massless_joints_are_reported():
    builder = ks.ModelBuilder("light").link("ground").link("nothing")
    with pytest.warns(ks.FileWarning, match="MODEL070"):
        model = builder.joint("free", "revolute", "ground", "nothing").build()
    with pytest.raises(ks.SingularError, match="free") as caught:
        ks.aba(model, [0.0])
    assert caught.value.hint
    assert ks.aba(model, [0.0], singular="zero")[0] == 0
    with pytest.raises(ks.SingularError, match="state 0"):
        ks.aba(model, np.zeros((3, 1)))


def test_eight_threads_at_once(human):
    Q, V, A = states(human, 64)
    expected = [ks.aba(human, Q[i], V[i], A[i]) for i in range(64)]
    many = ks.rnea(human, Q, V, A)
    wrong = []

    def work():
        for _ in range(20):
            for i in range(64):
                if not np.array_equal(ks.aba(human, Q[i], V[i], A[i]), expected[i]):
                    wrong.append(i)
            if not np.array_equal(ks.rnea(human, Q, V, A, threads=2), many):
                wrong.append(-1)

    threads = [threading.Thread(target=work) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong


@pytest.mark.parametrize("rows", [None, 0, 1, 37])
def test_results_go_where_they_are_wanted(human, rows):
    """out= is filled and returned; the numbers are those of a new array, to the bit."""
    q = human.q0 if rows is None else human.random_configuration(3, rows)
    v = np.random.default_rng(2).normal(size=(human.nv,) if rows is None else (rows, human.nv))
    calls = [lambda **o: ks.rnea(human, q, v, v, **o), lambda **o: ks.bias(human, q, v, **o), lambda **o: ks.gravity_torque(human, q, **o)]
    calls += [lambda **o: ks.aba(human, q, v, v, **o), lambda **o: ks.crba(human, q, **o)]
    for call in calls:
        new = call()
        out = np.full_like(new, np.nan)
        assert call(out=out) is out
        assert np.array_equal(out, new)


def test_results_of_floats_go_where_they_are_wanted(human):
    q = human.random_configuration(3, 5).astype(np.float32)
    out = np.empty((5, human.nv), np.float32)
    assert np.array_equal(ks.rnea(human, q, out=out), ks.rnea(human, q))
    with pytest.raises(ks.Error, match=r"rnea: out has shape \(5, 34\) and dtype float64, expected \(5, 34\) and float32"):
        ks.rnea(human, q, out=out.astype(np.float64))


def test_wrong_places_for_results_are_named(human):
    q = np.tile(human.q0, (3, 1))
    v = np.zeros((3, 34))
    frozen = np.zeros((3, 34))
    frozen.flags.writeable = False
    for wrong, words in (
        (np.zeros((3, 35)), r"out has shape \(3, 35\) and dtype float64, expected \(3, 34\)"),
        (np.zeros(34), r"expected \(3, 34\) and float64"),
        (np.zeros((3, 34), ">f8"), "out is not writeable, aligned and in C order"),
        (np.zeros((34, 3)).T, "in C order"),
        (frozen, "writeable"),
        (v, "out shares memory with v"),
    ):
        with pytest.raises(ks.Error, match=words):
            ks.aba(human, q, v, out=wrong)
    both = np.zeros((4, 34))
    with pytest.raises(ks.Error, match="out shares memory with vdot"):
        ks.rnea(human, q, None, both[:3], out=both[1:])
    ks.rnea(human, q, None, both[0], out=both[1:])  # beside it
    with pytest.raises(TypeError, match="out is a 'list'"):
        ks.aba(human, q, out=[0.0] * 34)


@pytest.mark.parametrize("count", [5, 700])
def test_states_at_rest_are_not_singular(count):
    """An acceleration that is zero by chance: a pendulum that hangs. The one that is singular is found among them."""
    model = ks.pendulum(2)
    assert not ks.aba(model, np.zeros((count, 2))).any()
    loose = ks.ModelBuilder("loose").link("a").link("b", 1.0, com=[0, 0, 0], inertia=np.diag([1.0, 1.0, 1.0]))
    loose = loose.joint("turn", "revolute", "a", "b", axis=[0, 1, 0]).link("c").joint("free", "revolute", "b", "c", axis=[0, 1, 0])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        built = loose.build()
    with pytest.raises(ks.SingularError, match="state 0: nothing resists the motion of free"):
        ks.aba(built, np.zeros((count, 2)), None, np.ones((count, 2)))
    assert np.array_equal(ks.aba(built, np.zeros((count, 2)), None, np.ones((count, 2)), singular="zero")[-1], [1.0, 0.0])
