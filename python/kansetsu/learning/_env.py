"""Tasks as Gymnasium environments: one world, or many that are stepped together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import gymnasium as gym
import numpy as np
from gymnasium.utils import seeding
from gymnasium.vector import AutoresetMode, VectorEnv
from gymnasium.vector.utils import batch_space
from numpy.typing import ArrayLike, NDArray

from .._batch import WorldBatch
from .._core import World
from .._errors import Error
from ._task import Bools, Floats, Task
from ._tasks import TASKS

Observation = NDArray[np.float32]
Info = dict[str, Any]


def find_task(task: str | Task | type[Task]) -> Task:
    """A task by its name, or as it is."""
    if isinstance(task, str):
        if task not in TASKS:
            raise Error(f"there is no task '{task}'; known: {', '.join(TASKS)}")
        task = TASKS[task]
    return task() if isinstance(task, type) else task


def require_no_rendering(render_mode: object) -> None:
    """Raises if pictures of every step are asked for."""
    if render_mode is not None:
        raise Error(f"render_mode is {render_mode!r}, expected None: these draw nothing; world().show() shows a world")


class _Worlds:
    """A task in n worlds: what both kinds of environment do."""

    def __init__(self, task: Task, n: int, threads: int) -> None:
        self.task = task
        self.batch = WorldBatch(task.world(), n, threads=threads)
        task.begin(self.batch)
        self.substeps = max(1, round(1 / (task.rate * self.batch.time_step)))
        self.most = max(1, round(task.seconds * task.rate))
        self.closed = False
        self.steps: NDArray[np.int64] = np.zeros(n, dtype=np.int64)
        size = task.observe(self.batch).shape[1]
        self.observation_space = gym.spaces.Box(-np.inf, np.inf, (size,), np.float32)
        self.action_space = gym.spaces.Box(-1.0, 1.0, (task.actions,), np.float32)

    def require_open(self, function: str) -> None:
        if self.closed:
            raise gym.error.ClosedEnvironmentError(f"{function}: the environment was closed")

    def reset(self, which: NDArray[np.intp], rngs: list[np.random.Generator]) -> None:
        self.task.reset(self.batch, which, rngs)
        self.steps[which] = 0

    def observe(self) -> Observation:
        seen = self.task.observe(self.batch)
        return np.nan_to_num(np.clip(seen, -1e6, 1e6)).astype(np.float32)  # of worlds that have failed too

    def step(self, actions: ArrayLike) -> tuple[Floats, Bools, Bools, Info]:
        """Rewards, terminations, truncations and infos; the state is that after the step."""
        given = np.asarray(actions)
        expected = (len(self.batch), self.task.actions)
        if given.shape != expected or given.dtype.kind not in "fiu":
            raise Error(f"step: actions have shape {given.shape} and dtype {given.dtype}, expected numbers of shape {expected}")
        wanted: Floats = np.clip(given.astype(np.float64), -1, 1)
        if not np.all(np.isfinite(wanted)):
            raise Error(f"actions of world {int(np.argmin(np.isfinite(wanted).all(axis=1)))} are not all finite")
        self.task.act(self.batch, wanted)
        self.batch.step(self.substeps)
        rewards, over, info = self.task.score(self.batch, wanted)
        self.task.last[:] = wanted
        self.steps += 1
        failed = ~self.batch.running
        rewards = np.where(failed, 0.0, np.nan_to_num(rewards))
        return rewards, over | failed, self.steps >= self.most, {**info, "failed": failed}


class WorldEnv(gym.Env[Observation, NDArray[np.float32]]):
    """One world. The same numbers as world 0 of a WorldVectorEnv with that seed."""

    def __init__(self, task: str | Task | type[Task], *, render_mode: None = None) -> None:
        require_no_rendering(render_mode)
        self._worlds = _Worlds(find_task(task), 1, 1)
        self.metadata = {"render_modes": [], "render_fps": round(self._worlds.task.rate)}
        self.observation_space = self._worlds.observation_space
        self.action_space = self._worlds.action_space
        self.render_mode = None

    @property
    def task(self) -> Task:
        """What is to be learned."""
        return self._worlds.task

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        self._worlds.require_open("reset")
        super().reset(seed=seed)
        self._worlds.reset(np.array([0]), [self.np_random])
        return self._worlds.observe()[0], {}

    def step(self, action: NDArray[np.float32]) -> tuple[Observation, float, bool, bool, Info]:
        self._worlds.require_open("step")
        rewards, over, late, info = self._worlds.step(np.asarray(action)[None])
        return self._worlds.observe()[0], float(rewards[0]), bool(over[0]), bool(late[0]), {k: v[0] for k, v in info.items()}

    def close(self) -> None:
        self._worlds.closed = True

    def world(self) -> World:
        """A copy of the current world, to look at: `env.world().show()`."""
        return _look_at(self._worlds, 0)


class WorldVectorEnv(VectorEnv[Observation, NDArray[np.float32], NDArray[Any]]):
    """n worlds that are stepped together, on several threads; neither n nor threads change what a world does.

    autoreset_mode: "NextStep", "SameStep" or "Disabled" (then ``reset(options={"reset_mask": mask})``), as Gymnasium has them.
    """

    def __init__(
        self,
        task: str | Task | type[Task],
        num_envs: int = 1,
        *,
        threads: int = 1,
        autoreset_mode: str | AutoresetMode = AutoresetMode.NEXT_STEP,
        render_mode: None = None,
    ) -> None:
        require_no_rendering(render_mode)
        self._worlds = _Worlds(find_task(task), num_envs, threads)
        self.autoreset_mode = AutoresetMode(autoreset_mode)
        self.num_envs = num_envs
        self.metadata = {
            "render_modes": [],
            "render_fps": round(self._worlds.task.rate),
            "autoreset_mode": self.autoreset_mode,
        }
        self.single_observation_space = self._worlds.observation_space
        self.single_action_space = self._worlds.action_space
        self.observation_space = batch_space(self.single_observation_space, num_envs)
        self.action_space = batch_space(self.single_action_space, num_envs)
        self.render_mode = None
        self._done: Bools = np.zeros(num_envs, dtype=bool)
        self._rngs = [seeding.np_random(None)[0] for _ in range(num_envs)]

    @property
    def task(self) -> Task:
        """What is to be learned."""
        return self._worlds.task

    @property
    def batch(self) -> WorldBatch:
        """The worlds."""
        return self._worlds.batch

    def _start(self, which: NDArray[np.intp]) -> None:
        self._worlds.reset(which, [self._rngs[i] for i in which])
        self._done[which] = False

    def reset(self, *, seed: int | Sequence[int | None] | None = None, options: dict[str, Any] | None = None) -> tuple[Observation, Info]:
        self._worlds.require_open("reset")
        n = self.num_envs
        seeds = [int(seed) + i for i in range(n)] if isinstance(seed, (int, np.integer)) else [None] * n if seed is None else list(seed)
        if len(seeds) != n:
            raise Error(f"reset: {len(seeds)} seeds for {n} worlds")
        which = np.arange(n)
        if options and "reset_mask" in options:
            mask = options["reset_mask"]
            if not isinstance(mask, np.ndarray) or mask.dtype != np.bool_ or mask.shape != (n,) or not mask.any():
                raise Error(f"reset: options['reset_mask'] is not an array of {n} bools with at least one True")
            which = np.flatnonzero(mask)
        for i in which:
            if seeds[i] is not None:
                self._rngs[i] = seeding.np_random(seeds[i])[0]
        self._start(which)
        return self._worlds.observe(), {}

    def step(self, actions: NDArray[np.float32]) -> tuple[Observation, Floats, Bools, Bools, Info]:
        self._worlds.require_open("step")
        starts = np.flatnonzero(self._done)
        if self.autoreset_mode == AutoresetMode.DISABLED and len(starts):
            raise Error(f"step: the episode of world {starts[0]} has ended; reset it first, with options={{'reset_mask': mask}}")
        rewards, over, late, values = self._worlds.step(actions)
        shown: Bools = np.ones(self.num_envs, dtype=bool)  # worlds whose values are told: not those that have just begun
        if self.autoreset_mode == AutoresetMode.NEXT_STEP and len(starts):
            self._start(starts)  # these did not step: their action is not used
            rewards[starts], over[starts], late[starts] = 0.0, False, False
            shown[starts] = False
        info: Info = {}
        seen = self._worlds.observe()
        self._done = over | late
        if self.autoreset_mode == AutoresetMode.SAME_STEP and self._done.any():
            ended = self._done.copy()
            final = np.full(self.num_envs, None, dtype=object)
            for i in np.flatnonzero(ended):
                final[i] = seen[i].copy()
            last = {key: np.where(ended, value, 0) for key, value in values.items()}
            info["final_obs"], info["_final_obs"] = final, ended
            info["final_info"], info["_final_info"] = {**last, **{f"_{key}": ended for key in last}}, ended
            self._start(np.flatnonzero(ended))
            seen = self._worlds.observe()
            shown &= ~ended
        if shown.any():
            for key, value in values.items():
                info[key], info[f"_{key}"] = np.where(shown, value, 0).astype(value.dtype), shown.copy()
        return seen, rewards, over, late, info

    def close_extras(self, **kwargs: Any) -> None:
        self._worlds.closed = True

    def world(self, i: int = 0) -> World:
        """A copy of world i, to look at: `envs.world(3).show()`."""
        return _look_at(self._worlds, i)


def _look_at(worlds: _Worlds, i: int) -> World:
    world = worlds.task.world()
    world.restore(worlds.batch.save()[i])
    return world
