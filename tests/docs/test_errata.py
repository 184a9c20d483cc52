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


def test_b10_the_moment_of_friction_at_the_centre_of_pressure():
    p, f = RNG.normal(size=2), RNG.normal(size=2)
    right = np.cross([*p, 0], [*f, 0])[2]
    printed = -p[0] * f[1] + p[1] * f[0]
    assert np.isclose(right, -printed) and abs(right) > 1e-3


def test_b11_the_moment_of_rest_is_taken_about_the_centre_of_pressure():
    """A force that the pressure point carries alone has a moment about the origin, none about the point."""
    d, mu, fz = 0.05, 0.6, 100.0
    p, f = np.array([0.3, 0.0]), np.array([0.0, 50.0])
    about_origin = p[0] * f[1] - p[1] * f[0]
    about_pressure = about_origin - (p[0] * f[1] - p[1] * f[0])
    largest = d * (mu * fz - np.linalg.norm(f))
    assert abs(about_origin) > largest and abs(about_pressure) <= largest


def test_b12_friction_of_a_pressure_away_from_the_origin_has_a_moment():
    """(36) puts −μ·s into the column of f_z alone; a pressure at p also turns about z."""
    mu, s, p, fz = 0.4, np.array([1.0, 0.0]), np.array([0.0, 0.2]), 30.0
    friction = -mu * fz * s
    moment = p[0] * friction[1] - p[1] * friction[0]
    assert abs(moment) > 1 and np.isclose(moment, 0.2 * mu * fz)


def test_b16_the_nearest_vertex_may_not_carry_the_load_where_an_edge_does():
    """A box is pushed over one edge: the nearest point of the polygon to the balance is on the edge, and a vertex alone cannot balance it."""
    corners = np.array([[0.2, 0.1], [0.2, -0.1], [-0.2, -0.1], [-0.2, 0.1]])
    balance = np.array([0.25, 0.02])  # where the pressure would have to be
    vertex = corners[np.argmin(np.linalg.norm(corners - balance, axis=1))]
    edge = np.array([0.2, 0.02])
    assert np.linalg.norm(edge - balance) < np.linalg.norm(vertex - balance)
    assert abs((vertex - balance)[1]) > 0.05  # a moment along the edge that nothing balances


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
    assert np.allclose(recursion(a, P, S), right, atol=1e-9)
    assert not np.allclose(recursion(a, P, S, shift=-1), right, atol=1e-3)


def test_yama01_15_gives_the_final_force_at_the_last_joint_only():
    a, P, S, right = chain_blocks()
    provisional = recursion(a, P, S, substitute=False)
    assert np.allclose(provisional[-1], right[-1], atol=1e-9)
    assert not np.allclose(provisional[:-1], right[:-1], atol=1e-3)
