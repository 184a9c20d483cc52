"""Many worlds of one kind."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import _core
from ._core import Material, Model, Snapshot, World
from ._errors import Error
from ._names import NamedArray, Names, named
from ._progress import Progress
from ._reals import reals

Floats = NDArray[np.float64]


class BatchFigure:
    """A figure in all worlds: arrays with a row per world, live as those of a Figure."""

    __slots__ = ("_arrays", "_core", "model", "name")

    def __init__(self, core: _core.WorldBatchCore, name: str) -> None:
        self._core = core
        self.name = name
        self.model: Model = core.model(name)
        self._arrays = {
            "q": named(core.q(name), self.model.coordinates),
            "v": named(core.v(name), self.model.dofs),
            "tau": named(core.tau(name), self.model.dofs),
            "control": named(core.control(name), Names(core.actuators(name), {}, name, "actuator")),
        }

    @property
    def q(self) -> NamedArray:
        """(n, nq); written values take effect at the next step"""
        return self._arrays["q"]

    @q.setter
    def q(self, value: ArrayLike) -> None:
        self._arrays["q"][...] = value

    @property
    def v(self) -> NamedArray:
        """(n, nv)"""
        return self._arrays["v"]

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self._arrays["v"][...] = value

    @property
    def tau(self) -> NamedArray:
        """(n, nv): torques, kept until changed"""
        return self._arrays["tau"]

    @tau.setter
    def tau(self, value: ArrayLike) -> None:
        self._arrays["tau"][...] = value

    @property
    def control(self) -> NamedArray:
        """(n, actuators): controls, kept until changed"""
        return self._arrays["control"]

    @control.setter
    def control(self, value: ArrayLike) -> None:
        self._arrays["control"][...] = value

    @property
    def inertial_parameters(self) -> Floats:
        """(n, links, 10): a copy, ordered as kansetsu.inertial_parameters() has them."""
        return self._core.inertial_parameters(self.name)

    def set_inertial_parameters(self, values: ArrayLike, which: ArrayLike | None = None) -> None:
        """Masses and inertias of the links: (links, 10) for all worlds, or (worlds, links, 10). which: as of WorldBatch.reset().

        >>> robot.set_inertial_parameters(robot.inertial_parameters * rng.uniform(0.8, 1.2, (n, 1, 1)))

        A reset keeps them. Worlds with their own masses are stepped alone, not in SIMD lanes.
        """
        self._core.set_inertial_parameters(self.name, values, which)

    def set_friction(self, values: ArrayLike, which: ArrayLike | None = None) -> None:
        """Friction of all shapes of the figure: one number, or one for each world. The material is otherwise the default one.

        Two surfaces combine by the geometric mean. A reset keeps it.
        """
        friction = reals("BatchFigure.set_friction", "values", values)
        if friction.ndim > 1:
            raise Error(f"BatchFigure.set_friction: values have shape {friction.shape}, expected a number or one for each world")
        default = Material()
        others = [default.restitution, default.spin_radius, default.rolling_radius]
        rows = np.empty((*friction.shape, 5))
        rows[..., 0] = rows[..., 1] = friction
        rows[..., 2:] = others
        self._core.set_materials(self.name, rows, which)

    def set_materials(self, values: ArrayLike, which: ArrayLike | None = None) -> None:
        """Rows of [mu_s, mu_d, restitution, spin_radius, rolling_radius] (kansetsu.Material): one for all worlds, or one for each."""
        self._core.set_materials(self.name, values, which)

    def __repr__(self) -> str:
        return f"<BatchFigure '{self.name}' in {len(self.q)} worlds>"


class BatchController:
    """A controller in all worlds: live arrays (n, joints). Written values take effect at the next step."""

    __slots__ = ("_kd", "_kp", "_value", "joints", "name")

    def __init__(self, core: _core.WorldBatchCore, name: str) -> None:
        self.name = name
        self.joints: list[str] = core.controller_joints(name)
        """The joints it drives, in column order."""
        self._value, self._kp, self._kd = core.controller_value(name), core.controller_kp(name), core.controller_kd(name)

    @property
    def value(self) -> Floats:
        """Torques, or target positions."""
        return self._value

    @value.setter
    def value(self, value: ArrayLike) -> None:
        self._value[...] = value

    @property
    def kp(self) -> Floats:
        """Stiffness."""
        return self._kp

    @kp.setter
    def kp(self, value: ArrayLike) -> None:
        self._kp[...] = value

    @property
    def kd(self) -> Floats:
        """Damping."""
        return self._kd

    @kd.setter
    def kd(self, value: ArrayLike) -> None:
        self._kd[...] = value

    def __repr__(self) -> str:
        return f"<BatchController '{self.name}' of {len(self.joints)} joints in {len(self.value)} worlds>"


class WorldBatch:
    """``n`` copies of a world as it is now, each with its own state and torques, stepped together.

    Worlds that make a common kind of step share SIMD lanes, the others are stepped alone. Which of the two depends on that world
    only, so results do not depend on n or the number of threads, to the bit.

    >>> batch = ks.WorldBatch(world, 64, threads=4)
    >>> batch["robot"].tau[:] = policy(batch["robot"].q)
    >>> batch.step()
    """

    def __init__(self, world: World, n: int, *, threads: int = 1, lanes: bool = True) -> None:
        if not isinstance(world, World):
            raise TypeError(f"WorldBatch: world is a '{type(world).__name__}', expected a kansetsu.World, as from World.load()")
        self._core = _core.WorldBatchCore(world, n, threads, lanes)
        self._figures = {name: BatchFigure(self._core, name) for name in self._core.figures}
        self._controllers = {name: BatchController(self._core, name) for name in self._core.controllers}

    def __getitem__(self, figure: str) -> BatchFigure:
        if not isinstance(figure, str):
            raise TypeError(f"WorldBatch: figures have names, {self.figures}; worlds are rows of their arrays: batch[name].q[{figure!r}]")
        found = self._figures.get(figure)
        if found is None:
            self._core.model(figure)  # raises with the known names
            raise KeyError(figure)
        return found

    def __len__(self) -> int:
        return self._core.n

    @property
    def figures(self) -> list[str]:
        """Names of the figures of each world."""
        return list(self._figures)

    @property
    def time(self) -> Floats:
        """(n,) [s]"""
        return self._core.time

    @property
    def time_step(self) -> float:
        """[s]"""
        return self._core.time_step

    @property
    def running(self) -> NDArray[np.bool_]:
        """(n,): False where a world has stopped; failure(i) says why."""
        return self._core.running.astype(bool)

    def failure(self, world: int) -> str:
        """Why a world has stopped."""
        return self._core.failure(world)

    def step(self, count: int = 1, *, progress: Progress = False) -> None:
        """Makes one time step of all worlds, or ``count``. A world that fails stops; the others continue.

        progress: True for a bar, or a function of (done, total) steps.
        """
        self._core.step(count, progress)

    def save(self) -> list[Snapshot]:
        """Snapshots of all worlds."""
        return self._core.save()

    def reset(self, snapshots: Snapshot | Sequence[Snapshot], which: ArrayLike | None = None) -> None:
        """Restores worlds to one snapshot, or each to its own. which: a mask (n,) or indices of worlds; default: all."""
        self._core.reset(snapshots, which)

    def rollout(
        self, figure: str | BatchFigure, controls: ArrayLike, *, substeps: int = 1, drive: str = "tau", progress: Progress = False
    ) -> tuple[Floats, Floats]:
        """Applies torques (n, T, nv), each for ``substeps`` steps; positions (n, T, nq) and velocities (n, T, nv) after each.

        drive="control": controls (n, T, actuators) of its actuators instead. progress: True for a bar, or a function of (done, total).
        """
        return self._core.rollout(figure.name if isinstance(figure, BatchFigure) else figure, controls, substeps, drive, progress)

    def controller(self, name: str) -> BatchController:
        """A controller of the worlds: targets and gains of each."""
        found = self._controllers.get(name)
        if found is None:
            self._core.controller_joints(name)  # raises with the known names
            raise KeyError(name)
        return found

    def connect(
        self,
        world: int,
        a: tuple[str, str] | None,
        b: tuple[str, str] | None,
        *,
        mask: str = "weld",
        frame_a: ArrayLike | None = None,
        frame_b: ArrayLike | None = None,
    ) -> int:
        """Connects b to a in one world, like World.connect(): bodies are (figure, link or frame), or None. The number of the connection."""
        return self._core.connect(world, a, b, mask, frame_a, frame_b)

    def release(self, world: int, connection: int) -> None:
        """Releases a connection of one world."""
        self._core.release(world, connection)

    def sensor(self, name: str) -> Floats:
        """(n, values): values of a sensor in each world."""
        return self._core.sensor(name)

    def contacts(self, world: int) -> NDArray[np.void]:
        """Contacts of one world (kansetsu.CONTACT)."""
        return self._core.contacts(world)

    def contact_counts(self) -> NDArray[np.int64]:
        """(n,): number of contacts of each world, including those about to touch."""
        return self._core.contact_counts().astype(np.int64)

    def hash(self, world: int) -> int:
        """Hash of the time and states of one world."""
        return self._core.hash(world)

    @property
    def obstacle(self) -> str:
        """Why worlds of this kind cannot share SIMD lanes; empty if they can."""
        return self._core.obstacle

    @property
    def report(self) -> dict[str, int]:
        """Number of worlds stepped in lanes and alone, in the last step and in total."""
        return self._core.report

    def __repr__(self) -> str:
        return f"<WorldBatch of {len(self)}: {', '.join(self._figures)}>"
