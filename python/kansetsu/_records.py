"""Data types of the records that worlds report. Bodies are (figure, link); (-1, -1) is the world itself."""

import numpy as np

CONTACT = np.dtype(
    [
        ("a", "i4", 2),
        ("b", "i4", 2),
        ("id", "i4"),
        ("shape_a", "i4"),
        ("shape_b", "i4"),
        ("mode", "i1"),
        ("slip", "i1"),
        ("tier", "i1"),
        ("p", "f8", 3),
        ("normal", "f8", 3),
        ("wrench", "f8", 6),
        ("pressure", "f8", 3),
        ("gap", "f8"),
        ("residual", "f8"),
        ("impulse", "f8", 6),
        ("impact_energy", "f8"),
    ],
    align=True,
)
"""mode: 1 point, 2 line, 3 surface; slip: 0 sticks, 1 slides. The wrench [torque, force] acts on b at p, in world axes."""

CONNECTION = np.dtype(
    [
        ("a", "i4", 2),
        ("b", "i4", 2),
        ("id", "i4"),
        ("p", "f8", 3),
        ("wrench", "f8", 6),
        ("impulse", "f8", 6),
        ("position_gap", "f8"),
        ("angle_gap", "f8"),
    ],
    align=True,
)

ACTUATOR = np.dtype(
    [
        ("control", "f8"),
        ("activation", "f8"),
        ("length", "f8"),
        ("velocity", "f8"),
        ("force", "f8"),
        ("power", "f8"),
        ("clamped", "i8"),
    ]
)
"""control within its range; length and velocity of what it acts on, at the beginning of the step; force as it acted; power given [W]."""

RECORDED_CONTACT = np.dtype(
    [
        ("time", "f8"),
        ("a", "i4", 2),
        ("b", "i4", 2),
        ("point", "f8", 3),
        ("normal", "f8", 3),
        ("force", "f8", 3),
    ]
)
"""Of recordings: the force acts on a, the normal points from b to a."""
