"""Errata of the documents on contact and on assembly: the printed form is computed beside the right one, and fails.

Those on rotations, on articulated bodies and on bodies that touch are in C++ (src/spatial/test, tests/vectors/errata_test.cc,
tests/scenarios/errata_contact_test.cc). Numbers: docs/theory/sources.md.
"""

from __future__ import annotations

import numpy as np

RNG = np.random.default_rng(4)  # the seed of all random numbers here


def falling_block():
    """A body of 1 kg with unit inertias, a contact below it at (0.1, 0, -0.2): rows fx fy fz at the contact, over [ω; v]."""
    r = np.array([0.1, 0.0, -0.2])
    cross = np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])
    return np.eye(6), np.hstack([-cross, np.eye(3)])


def test_b3_the_impulse_of_18_is_that_on_the_floor():
    A, H = falling_block()
    v = np.array([0, 0, 0, 0, 0, -1.0])
    B = H @ np.linalg.inv(A) @ H.T
    printed = np.linalg.solve(B, H @ v)  # (18)
    assert printed[2] < 0  # by the test of §4.4, f_z > 0, every impact would be released
    assert (-printed)[2] > 0
    assert np.allclose(H @ (v + np.linalg.inv(A) @ H.T @ -printed), 0)


MASS, TURN, GRAVITY = 2.0, 0.05, 9.81  # of a block on a floor: kg, kg·m² about the vertical, m/s²


def slide(moment_about_origin, steps: int = 100, h: float = 1e-3) -> tuple[float, float]:
    """A block slides along x, its centre 0.2 m beside the origin of the patch, and so is its pressure p.

    Friction f acts at p; what moment it has about the origin is the formula's to say. Returns the rate of turning [rad/s] and the speed
    [m/s] after 0.1 s."""
    centre = np.array([0.0, 0.2])
    p = centre  # nothing tips it sideways
    velocity, spin = np.array([2.0, 0.0]), 0.0
    for _ in range(steps):
        f = -0.4 * MASS * GRAVITY * velocity / np.linalg.norm(velocity)
        moment = moment_about_origin(p, f) - (centre[0] * f[1] - centre[1] * f[0])  # about the centre of mass
        velocity, spin = velocity + h * f / MASS, spin + h * moment / TURN
    return spin, velocity[0]


def right_moment(p, f) -> float:
    return p[0] * f[1] - p[1] * f[0]


def test_b10_the_moment_of_friction_at_the_centre_of_pressure():
    """Friction under the centre of mass does not turn a block that slides straight; with the printed sign it spins after 0.1 s."""
    spin, speed = slide(right_moment)
    assert abs(spin) < 1e-12 and np.isclose(speed, 2 - 0.4 * GRAVITY * 0.1)
    assert abs(slide(lambda p, f: -right_moment(p, f))[0]) > 1


def test_b12_friction_of_a_pressure_away_from_the_origin_has_a_moment():
    """(36) puts −μ·s into the column of f_z alone, as if friction always acted at the origin: the same block spins."""
    assert abs(slide(lambda p, f: 0.0)[0]) > 1
    assert abs(slide(right_moment)[0]) < 1e-12  # rounding


def test_b11_the_moment_of_rest_is_taken_about_the_centre_of_pressure():
    """A block that stands on its pressure point p and is pushed there is held by friction at p alone. (33) about the origin lets it go,
    and what friction of turning then resists does not hold it."""
    d, mu, load, p, push = 0.05, 0.6, 100.0, np.array([0.3, 0.0]), np.array([0.0, 50.0])
    friction = -push
    assert np.linalg.norm(friction) <= mu * load  # a force at one point, within its cone: it holds
    largest = d * (mu * load - np.linalg.norm(friction))

    def turning(needed: float) -> float:
        """[rad/s²] if friction of turning has to give this moment: what is beyond the largest turns the block."""
        return max(0.0, abs(needed) - largest) / TURN

    about_origin = right_moment(p, friction)
    assert turning(about_origin - right_moment(p, friction)) == 0  # about p
    assert turning(about_origin) > 100


def test_b16_the_nearest_vertex_may_not_carry_the_load_where_an_edge_does():
    """A box is pushed over an edge. Held by the vertex nearest to where the pressure would have to be, it falls through the floor with
    the other end of the edge; held by both, no corner does."""
    corners = np.array([[0.2, 0.1, -0.1], [0.2, -0.1, -0.1], [-0.2, -0.1, -0.1], [-0.2, 0.1, -0.1]])
    inertia, wanted = np.array([0.02, 0.04, 0.05]), np.array([0.25, 0.02])  # where the pressure would have to be
    load = MASS * GRAVITY
    turn = np.array([-wanted[1] * load, wanted[0] * load, 0])  # the push: balanced by the load at that place alone

    def rise(of, force_at) -> float:
        """Vertical acceleration of a corner under a unit force at another; none: under gravity and the push."""
        moment, linear = (turn, -GRAVITY) if force_at is None else (np.cross(force_at, [0, 0, 1]), 1 / MASS)
        return linear + np.cross(moment / inertia, of)[2]

    def held_by(points) -> tuple[np.ndarray, list[float]]:
        response = np.array([[rise(a, b) for b in points] for a in points])
        force = np.linalg.solve(response, [-rise(a, None) for a in points])
        return force, [rise(c, None) + sum(f * rise(c, b) for f, b in zip(force, points)) for c in corners]

    nearest = corners[np.argmin(np.linalg.norm(corners[:, :2] - wanted, axis=1))]
    force, rises = held_by([nearest])
    assert force[0] > 0 and min(rises) < -0.1
    force, rises = held_by(list(corners[:2]))
    assert min(force) > 0 and min(rises) > -1e-9


def chain_blocks(n: int = 4, rows: int = 5):
    """Φ of a chain: block tridiagonal, positive definite, from random inertias and rows of both ends of each joint."""
    inverse = [np.linalg.inv(m @ m.T + np.eye(6)) for m in RNG.normal(size=(n + 1, 6, 6))]
    near, far = RNG.normal(size=(n, rows, 6)), RNG.normal(size=(n, rows, 6))  # rows on the link before and after
    a = RNG.normal(size=(n, rows))
    P = [near[i] @ inverse[i] @ near[i].T + far[i] @ inverse[i + 1] @ far[i].T for i in range(n)]
    S = [near[i] @ inverse[i] @ far[i - 1].T for i in range(1, n)]
    dense = np.zeros((n * rows, n * rows))
    for i in range(n):
        dense[i * rows : (i + 1) * rows, i * rows : (i + 1) * rows] = P[i]
        if i:
            dense[i * rows : (i + 1) * rows, (i - 1) * rows : i * rows] = S[i - 1]
            dense[(i - 1) * rows : i * rows, i * rows : (i + 1) * rows] = S[i - 1].T
    return a, P, S, np.linalg.solve(dense, a.ravel()).reshape(n, rows)


def recursion(a, P, S, *, shift: int = 0, substitute: bool = True):
    """(15)–(18). shift = −1: a with the index that (11) prints."""
    n = len(P)
    M = [np.linalg.inv(P[0])]
    forces = [M[0] @ a[0]]
    for i in range(1, n):
        M.append(np.linalg.inv(P[i] - S[i - 1] @ M[-1] @ S[i - 1].T))
        forces.append(M[i] @ (a[i + shift] - S[i - 1] @ forces[-1]))
    for i in range(n - 2, -1, -1):
        if substitute:
            forces[i] = forces[i] - M[i] @ S[i].T @ forces[i + 1]
    return np.array(forces)


def test_yama01_11_prints_the_index_of_the_joint_before():
    a, P, S, right = chain_blocks()
    assert np.allclose(recursion(a, P, S), right, atol=1e-9)  # rounding of inverses of random blocks
    assert not np.allclose(recursion(a, P, S, shift=-1), right, atol=1e-3)  # other by far more than rounding


def test_yama01_15_gives_the_final_force_at_the_last_joint_only():
    a, P, S, right = chain_blocks()
    provisional = recursion(a, P, S, substitute=False)
    assert np.allclose(provisional[-1], right[-1], atol=1e-9)  # rounding of inverses of random blocks
    assert not np.allclose(provisional[:-1], right[:-1], atol=1e-3)  # other by far more than rounding
