"""Models of the environments."""

from __future__ import annotations

import numpy as np

from .._core import Box, Capsule, Model, ModelBuilder, Sphere
from .._poses import pose

LEGS = {"FL": (1, 1), "FR": (1, -1), "HL": (-1, 1), "HR": (-1, -1)}
"""Names of the legs, and where they are: in front or behind, left or right."""

UPPER = LOWER = 0.2
"""Lengths of the parts of a leg [m]."""


def _rod(mass: float, length: float, radius: float) -> list[float]:
    """Moments of inertia of a rod along z."""
    across = mass * (3 * radius**2 + length**2) / 12
    return [across, across, mass * radius**2 / 2]


def quadruped() -> Model:
    """A four-legged robot of 12 kg: each leg has a hip that turns out, a hip that swings and a knee; the feet are balls."""
    size, trunk = np.array([0.42, 0.2, 0.12]), 7.2
    box = trunk / 12 * (np.sum(size**2) - size**2)
    b = ModelBuilder("quadruped", base="free").link("trunk", trunk, inertia=box)
    b.collision("trunk", Box(size))
    for leg, (front, left) in LEGS.items():
        b.link(f"{leg}_hip", 0.3, inertia=[3e-4, 3e-4, 3e-4])
        b.joint(f"{leg}_out", "revolute", "trunk", f"{leg}_hip", [1, 0, 0], [0.19 * front, 0.07 * left, 0.0], lower=-0.8, upper=0.8)
        b.link(f"{leg}_thigh", 0.6, com=[0, 0, -UPPER / 2], inertia=_rod(0.6, UPPER, 0.02))
        b.joint(f"{leg}_swing", "revolute", f"{leg}_hip", f"{leg}_thigh", [0, 1, 0], [0, 0.05 * left, 0], lower=-1.2, upper=2.2)
        b.visual(f"{leg}_thigh", Capsule(0.02, UPPER), pose([0, 0, -UPPER / 2]))
        b.link(f"{leg}_shank", 0.3, com=[0, 0, -LOWER / 2], inertia=_rod(0.3, LOWER, 0.015))
        b.joint(f"{leg}_knee", "revolute", f"{leg}_thigh", f"{leg}_shank", [0, 1, 0], [0, 0, -UPPER], lower=-2.5, upper=-0.3)
        b.visual(f"{leg}_shank", Capsule(0.015, LOWER), pose([0, 0, -LOWER / 2]))
        b.collision(f"{leg}_shank", Sphere(0.025), [0, 0, -LOWER])
        b.frame(f"{leg}_foot", f"{leg}_shank", [0, 0, -LOWER])
    return b.build()


def standing_quadruped(model: Model) -> np.ndarray:
    """Where it stands: knees bent, its feet under its hips."""
    q = model.q0
    bend = 0.75
    for leg in LEGS:
        q[f"{leg}_swing"], q[f"{leg}_knee"] = bend, -2 * bend
    q[2] = (UPPER + LOWER) * np.cos(bend) + 0.025
    return q


def arm() -> Model:
    """An arm of four hinges on a table: it turns, and bends three times."""
    b = ModelBuilder("arm").link("table").link("post", 2.0, com=[0, 0, 0.1], inertia=_rod(2.0, 0.2, 0.05))
    b.joint("turn", "revolute", "table", "post", [0, 0, 1], [0, 0, 0], lower=-2.9, upper=2.9, effort=80)
    parent, at = "post", 0.2
    for joint, link, length, mass in (("shoulder", "upper", 0.3, 1.5), ("elbow", "fore", 0.3, 1.0), ("wrist", "hand", 0.12, 0.4)):
        b.link(link, mass, com=[0, 0, length / 2], inertia=_rod(mass, length, 0.03))
        b.joint(joint, "revolute", parent, link, [0, 1, 0], [0, 0, at], lower=-2.2, upper=2.2, effort=80)
        b.visual(link, Capsule(0.03, length), pose([0, 0, length / 2]))
        parent, at = link, length
    return b.frame("tip", "hand", [0, 0, at]).build()
