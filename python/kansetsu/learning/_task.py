"""Tasks: what is learned, for many worlds at once."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._batch import BatchFigure, WorldBatch
from .._core import Snapshot, World

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]


class Task:
    """A world with its observations, actions and rewards. Every array has one row per world.

    A task of your own derives from it; ``kansetsu.learning.WorldEnv(task)`` and ``WorldVectorEnv(task, n)`` make environments.
    """

    rate = 50.0
    """Actions per second [Hz]."""
    seconds = 10.0
    """Length of an episode."""
    figure = ""
    """The figure that acts."""

    def world(self) -> World:
        """The world at the start of an episode."""
        raise NotImplementedError

    def begin(self, batch: WorldBatch) -> None:
        """Called once, when the worlds are created."""
        self.start: Snapshot = batch.save()[0]
        self.robot: BatchFigure = batch[self.figure]
        n = len(batch)
        self.last: Floats = np.zeros((n, self.actions))
        """The actions before."""

    @property
    def actions(self) -> int:
        """Size of an action, whose numbers are in [-1, 1]."""
        raise NotImplementedError

    def reset(self, batch: WorldBatch, which: NDArray[np.intp], rngs: list[np.random.Generator]) -> None:
        """Sets the initial states of these worlds, with one random generator for each."""
        batch.reset(self.start, which)
        self.last[which] = 0

    def act(self, batch: WorldBatch, actions: Floats) -> None:
        """Applies the actions, before the steps for which they last."""
        raise NotImplementedError

    def observe(self, batch: WorldBatch) -> Floats:
        """Observations: (n, numbers)."""
        raise NotImplementedError

    def score(self, batch: WorldBatch, actions: Floats) -> tuple[Floats, Bools, Mapping[str, Any]]:
        """Rewards, terminations and further information, after the steps."""
        raise NotImplementedError


class Posture(Task):
    """A figure under PD control; actions move its targets. The gains are implicit in the steps: an action ``a`` adds
    ``kp reach a``, which moves the target by ``reach a``.
    """

    kp = 100.0
    kd = 5.0
    reach = 0.5
    """Change of a joint's target by an action of 1 [rad]."""
    noise = 0.02
    """Noise of positions and velocities at the start of an episode."""

    def drive(self, world: World) -> None:
        """Adds PD control that holds the joints at their positions."""
        robot = world[self.figure]
        joints = {j: {"value": float(robot.q[j]), "kp": self.kp, "kd": self.kd} for j in robot.model.joints}
        world.add_controller("posture", robot, "pd", joints)

    def begin(self, batch: WorldBatch) -> None:
        super().begin(batch)
        self.first_q = self.robot.model.nq - self.actions
        self.first_v = self.robot.model.nv - self.actions
        self.neutral: Floats = np.array(self.robot.q[0, self.first_q :])

    @property
    def actions(self) -> int:
        """One for each joint."""
        return len(self.robot.model.joints)

    def reset(self, batch: WorldBatch, which: NDArray[np.intp], rngs: list[np.random.Generator]) -> None:
        super().reset(batch, which, rngs)
        for i, rng in zip(which, rngs, strict=True):
            self.robot.q[i, self.first_q :] += self.noise * rng.standard_normal(self.actions)
            self.robot.v[i, self.first_v :] += self.noise * rng.standard_normal(self.actions)

    def act(self, batch: WorldBatch, actions: Floats) -> None:
        self.robot.tau[:, self.first_v :] = self.kp * self.reach * actions[:, : self.actions]

    def joints(self) -> Floats:
        """Positions from the neutral ones, and velocities, of the joints."""
        q, v = np.asarray(self.robot.q), np.asarray(self.robot.v)
        return np.hstack([q[:, self.first_q :] - self.neutral, 0.1 * v[:, self.first_v :]])


class Floating(Posture):
    """One with a free base."""

    def up(self) -> Floats:
        """The vertical, in the axes of the base: (n, 3)."""
        x, y, z, w = np.asarray(self.robot.q)[:, 3:7].T
        return np.stack([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=1)

    def velocity(self) -> Floats:
        """Of the base, in world axes: (n, 3)."""
        x, y, z, w = np.asarray(self.robot.q)[:, 3:7].T
        u = np.asarray(self.robot.v)[:, 3:6]
        r = np.stack([x, y, z], axis=1)
        t = 2 * np.cross(r, u)
        out: Floats = u + w[:, None] * t + np.cross(r, t)
        return out

    def observe(self, batch: WorldBatch) -> Floats:
        q, v = np.asarray(self.robot.q), np.asarray(self.robot.v)
        return np.hstack([q[:, 2:3], self.up(), v[:, :6], self.joints(), self.last])

    def effort(self, actions: Floats) -> Floats:
        """Cost of large actions and of quick changes."""
        cost: Floats = 0.05 * np.mean(actions**2, axis=1) + 0.1 * np.mean((actions - self.last) ** 2, axis=1)
        return cost
