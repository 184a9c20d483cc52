"""The built-in tasks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._batch import WorldBatch
from .._core import Capsule, Plane, World, human28
from .._poses import fk, pose
from ._models import arm, quadruped, standing_quadruped
from ._task import Bools, Floating, Floats, Posture, Task


class Stand(Floating):
    """human28 keeps its balance under random pushes."""

    figure = "human"
    kp, kd, reach = 300.0, 15.0, 0.4
    push = 0.4
    """How fast a push makes the trunk, about twice a second [m/s]."""

    def world(self) -> World:
        world = World(time_step=2e-3)
        world.add_fixed(Plane(), name="floor")
        model = human28()
        q = model.q0
        q[2] -= min(float(fk(model, q)[sole][2, 3]) for sole in ("soleL", "soleR"))  # on the floor
        world.add(model, q, name=self.figure)
        self.drive(world)
        world.advance(0.1)
        return world

    def begin(self, batch: WorldBatch) -> None:
        super().begin(batch)
        self.height: float = float(self.robot.q[0, 2])
        n, pushes = len(batch), max(1, round(2 * self.seconds))
        self.when: Floats = np.zeros((n, pushes))
        """When it is pushed [s], and how fast that makes it."""
        self.how: Floats = np.zeros((n, pushes, 2))

    def reset(self, batch: WorldBatch, which: NDArray[np.intp], rngs: list[np.random.Generator]) -> None:
        super().reset(batch, which, rngs)
        for i, rng in zip(which, rngs, strict=True):
            self.when[i] = self.start.time + rng.uniform(0, self.seconds, self.when.shape[1])
            self.how[i] = self.push * rng.uniform(-1, 1, self.how.shape[1:])

    def act(self, batch: WorldBatch, actions: Floats) -> None:
        super().act(batch, actions)
        ago = batch.time[:, None] - self.when
        for i, k in zip(*np.nonzero((ago >= 0) & (ago < 1 / self.rate)), strict=True):
            self.robot.v[i, 3:5] += self.how[i, k]

    def low(self) -> Bools:
        """Whether it has fallen."""
        low: Bools = np.asarray(self.robot.q)[:, 2] < 0.7 * self.height
        return low

    def score(self, batch: WorldBatch, actions: Floats) -> tuple[Floats, Bools, Mapping[str, Any]]:
        still = np.exp(-np.sum(self.velocity()[:, :2] ** 2, axis=1) / 0.1)
        reward = 0.5 + 0.5 * still * np.clip(self.up()[:, 2], 0, 1) - self.effort(actions)
        return reward, self.low(), {}


class Walk(Stand):
    """human28 walks forwards at a given speed."""

    push = 0.0
    speed = 1.0
    """[m/s]"""
    period = 1.0
    """Of two steps; the figure sees how far they are [s]."""

    def observe(self, batch: WorldBatch) -> Floats:
        phase = 2 * np.pi * batch.time / self.period
        return np.hstack([super().observe(batch), np.sin(phase)[:, None], np.cos(phase)[:, None]])

    def score(self, batch: WorldBatch, actions: Floats) -> tuple[Floats, Bools, Mapping[str, Any]]:
        forward, side = self.velocity()[:, :2].T
        fit = np.exp(-((forward - self.speed) ** 2 + side**2) / (0.25 * self.speed) ** 2 / 4)
        reward = 0.2 + fit * np.clip(self.up()[:, 2], 0, 1) - self.effort(actions)
        return reward, self.low(), {"forward": forward}


class Run(Walk):
    """human28 runs."""

    speed, period, reach = 3.0, 0.7, 0.8


class GetUp(Stand):
    """human28 lies on the floor and stands up."""

    push = 0.0
    reach = 1.2
    ways = 6
    """Number of initial postures."""

    def begin(self, batch: WorldBatch) -> None:
        super().begin(batch)
        world = self.world()
        man, upright = world[self.figure], world.save()
        self.lying = []
        for k in range(self.ways):
            world.restore(upright)
            angle = 2 * np.pi * k / self.ways
            man.q[2] = 0.5
            man.q[3:7] = [np.sin(np.pi / 4) * np.cos(angle), np.sin(np.pi / 4) * np.sin(angle), 0, np.cos(np.pi / 4)]
            man.v[:] = 0
            world.advance(1.0)
            self.lying.append(world.save())

    def reset(self, batch: WorldBatch, which: NDArray[np.intp], rngs: list[np.random.Generator]) -> None:
        super().reset(batch, which, rngs)
        batch.reset([self.lying[int(rng.integers(self.ways))] for rng in rngs], which)

    def score(self, batch: WorldBatch, actions: Floats) -> tuple[Floats, Bools, Mapping[str, Any]]:
        height = np.asarray(self.robot.q)[:, 2] / self.height
        reward = np.clip(height, 0, 1) + 0.5 * self.up()[:, 2] - self.effort(actions)
        return reward, np.zeros(len(batch), dtype=bool), {"height": height}


class Quadruped(Floating):
    """A four-legged robot trots forwards at a given speed."""

    figure = "quadruped"
    kp, kd, reach = 60.0, 2.0, 0.4
    speed = 0.6
    """[m/s]"""
    period = 0.5
    """Of a stride [s]."""

    def world(self) -> World:
        world = World(time_step=2e-3)
        world.add_fixed(Plane(), name="floor")
        model = quadruped()
        world.add(model, standing_quadruped(model), name=self.figure)
        self.drive(world)
        world.advance(0.2)
        return world

    def observe(self, batch: WorldBatch) -> Floats:
        phase = 2 * np.pi * batch.time / self.period
        return np.hstack([super().observe(batch), np.sin(phase)[:, None], np.cos(phase)[:, None]])

    def score(self, batch: WorldBatch, actions: Floats) -> tuple[Floats, Bools, Mapping[str, Any]]:
        forward, side = self.velocity()[:, :2].T
        turn = np.asarray(self.robot.v)[:, 2]
        fit = np.exp(-((forward - self.speed) ** 2 + side**2 + 0.2 * turn**2) / 0.15)
        up = self.up()[:, 2]
        height = np.asarray(self.robot.q)[:, 2]
        over: Bools = (up < 0.6) | (height < 0.16)
        return fit * np.clip(up, 0, 1) - self.effort(actions), over, {"forward": forward}


class Reach(Posture):
    """An arm moves its tip to random points."""

    figure = "arm"
    kp, kd, reach, seconds = 60.0, 6.0, 1.5, 4.0

    def world(self) -> World:
        world = World(time_step=2e-3)
        model = arm()
        q = model.q0
        q["shoulder"], q["elbow"] = 0.5, 0.8
        world.add(model, q, name=self.figure, collides=False)
        self.drive(world)
        return world

    def begin(self, batch: WorldBatch) -> None:
        super().begin(batch)
        self.target: Floats = np.zeros((len(batch), 3))

    def reset(self, batch: WorldBatch, which: NDArray[np.intp], rngs: list[np.random.Generator]) -> None:
        super().reset(batch, which, rngs)
        for i, rng in zip(which, rngs, strict=True):
            q = self.neutral + rng.uniform(-1, 1, self.actions)
            self.target[i] = fk(self.robot.model, q)["tip"][:3, 3]

    def tip(self) -> Floats:
        """Where the tip is: (n, 3)."""
        return fk(self.robot.model, self.robot.q, threads=1)["tip"][:, :3, 3]

    def observe(self, batch: WorldBatch) -> Floats:
        tip = self.tip()
        return np.hstack([self.joints(), tip, self.target - tip, self.last])

    def score(self, batch: WorldBatch, actions: Floats) -> tuple[Floats, Bools, Mapping[str, Any]]:
        distance = np.linalg.norm(self.target - self.tip(), axis=1)
        reward = np.exp(-distance / 0.1) - distance - 0.01 * np.mean(actions**2, axis=1)
        return reward, np.zeros(len(batch), dtype=bool), {"distance": distance}


class BarSwing(Floating):
    """human28 hangs from a row of bars and swings from one to the next. Its last two actions are its hands: above zero they
    grip a bar within reach, below zero they release it. Connections are made and cut while the world runs."""

    figure = "human"
    kp, kd, reach, noise = 150.0, 12.0, 1.0, 0.02
    bars, gap, height = 8, 0.45, 2.6
    """How many bars, how far apart, and how high [m]."""
    near = 0.08
    """Distance within which a hand can grip a bar [m]."""
    hands = ("gripL", "gripR")

    def world(self) -> World:
        world = World(time_step=2e-3)
        for k in range(self.bars):
            at = pose([k * self.gap, 0.0, self.height], rpy=(np.pi / 2, 0, 0))
            world.add_fixed(Capsule(0.02, 1.0), at, name=f"bar{k}")
        model = human28()
        q = model.q0
        for side in "LR":
            q[f"shoulder{side}_y"] = -3.1
        grip = fk(model, q)[self.hands[0]][:3, 3]
        q[0] -= grip[0]
        q[2] += self.height - grip[2]
        man = world.add(model, q, name=self.figure, collides=False)
        self.drive(world)
        self.held_at_first = [world.connect(None, man[hand], mask="point").id for hand in self.hands]
        world.advance(0.1)
        return world

    @property
    def actions(self) -> int:
        """One for each joint, and one for each hand."""
        return len(self.robot.model.joints) + 2

    def begin(self, batch: WorldBatch) -> None:
        Task.begin(self, batch)
        joints = len(self.robot.model.joints)
        self.first_q, self.first_v = self.robot.model.nq - joints, self.robot.model.nv - joints
        self.neutral = np.array(self.robot.q[0, self.first_q :])
        self.grips = np.tile(np.array(self.held_at_first), (len(batch), 1))
        """Connections of the hands; -1: none."""

    def reset(self, batch: WorldBatch, which: NDArray[np.intp], rngs: list[np.random.Generator]) -> None:
        Task.reset(self, batch, which, rngs)
        self.grips[which] = self.held_at_first
        for i, rng in zip(which, rngs, strict=True):
            self.robot.v[i, self.first_v :] += self.noise * rng.standard_normal(self.robot.model.nv - self.first_v)

    def hand_positions(self) -> Floats:
        """(n, 2, 3)"""
        poses = fk(self.robot.model, self.robot.q, threads=1)
        return np.stack([poses[hand][:, :3, 3] for hand in self.hands], axis=1)

    def act(self, batch: WorldBatch, actions: Floats) -> None:
        self.robot.tau[:, self.first_v :] = self.kp * self.reach * actions[:, :-2]
        wants = actions[:, -2:]
        if not np.any((wants < 0) & (self.grips >= 0)) and not np.any((wants > 0) & (self.grips < 0)):
            return
        p = self.hand_positions()
        bar = np.clip(np.round(p[..., 0] / self.gap), 0, self.bars - 1) * self.gap
        can = (np.hypot(p[..., 0] - bar, p[..., 2] - self.height) < self.near) & (np.abs(p[..., 1]) < 0.5)
        for i, hand in zip(*np.nonzero((wants < 0) & (self.grips >= 0)), strict=True):
            batch.release(int(i), int(self.grips[i, hand]))
            self.grips[i, hand] = -1
        for i, hand in zip(*np.nonzero((wants > 0) & (self.grips < 0) & can & batch.running[:, None]), strict=True):
            self.grips[i, hand] = batch.connect(int(i), None, (self.figure, self.hands[hand]), mask="point")

    def observe(self, batch: WorldBatch) -> Floats:
        p = self.hand_positions()
        ahead = np.clip(np.floor(p[..., 0] / self.gap + 0.5) + 1, 0, self.bars - 1) * self.gap
        to_bar = np.stack([ahead - p[..., 0], self.height - p[..., 2]], axis=-1).reshape(len(batch), 4)
        v = np.asarray(self.robot.v)
        return np.hstack([self.up(), v[:, :6], self.joints(), self.last, to_bar, (self.grips >= 0).astype(float)])

    def score(self, batch: WorldBatch, actions: Floats) -> tuple[Floats, Bools, Mapping[str, Any]]:
        forward = self.velocity()[:, 0]
        held = np.sum(self.grips >= 0, axis=1)
        over: Bools = np.asarray(self.robot.q)[:, 2] < self.height - 2.2
        return 0.1 + forward - self.effort(actions), over, {"forward": forward, "held": held}


TASKS: dict[str, type[Task]] = {
    "Stand": Stand,
    "Walk": Walk,
    "Run": Run,
    "GetUp": GetUp,
    "Quadruped": Quadruped,
    "Reach": Reach,
    "BarSwing": BarSwing,
}
