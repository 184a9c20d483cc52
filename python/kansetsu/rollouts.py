"""Many runs of one world, each from a start of its own: in this process, in shards of an array job, or on Ray (kansetsu.ray).

kansetsu rollout scene.toml --count 10000 --seconds 2 --shard 3/16 --out part3.npz

What run i does depends on the seed and i alone: neither shards nor threads nor processes change a bit of it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._batch import WorldBatch
from ._core import World
from ._errors import Error
from ._progress import Progress, teller

Source = str | os.PathLike[str] | World | Callable[[], World]
"""A world, the file of one, or what makes one."""

Results = dict[str, NDArray[np.generic]]

TOGETHER = 64
"""Worlds that are in memory at a time."""


def rng_of(seed: int, run: int) -> np.random.Generator:
    """The random numbers of a run."""
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(run,)))


def shard_of(count: int, shard: int, shards: int) -> range:
    """The runs of one of so many shards, which differ by one run at most."""
    if count < 0:
        raise Error(f"{count} runs: expected 0 or more")
    if not 0 <= shard < shards:
        raise Error(f"shard {shard} of {shards}: they are numbered from 0")
    return range(count * shard // shards, count * (shard + 1) // shards)


def run(
    source: Source,
    runs: Sequence[int],
    *,
    seconds: float,
    seed: int = 0,
    noise: float = 0.0,
    prepare: Callable[[WorldBatch, int, np.random.Generator], None] | None = None,
    control: Callable[[WorldBatch], None] | None = None,
    period: float = 0.02,
    threads: int = 1,
    progress: Progress = False,
) -> Results:
    """Simulates these runs. Returns ``run``, ``hash``, ``time``, ``failed`` and the final ``figure/q`` and ``figure/v`` of each figure.

    noise: standard deviation of all velocities at the start; prepare(batch, i, rng): further changes of world i of the batch;
    control(batch): called every ``period`` seconds to write torques or targets. progress: True for a bar, or a function of (done,
    total) runs.
    """
    if not (seconds > 0 and period > 0 and noise >= 0 and np.isfinite([seconds, period, noise]).all()):
        raise Error(f"rollouts: seconds is {seconds}, period {period}, noise {noise}; expected finite numbers above 0, noise also 0")
    tell = teller(progress)
    world = source if isinstance(source, World) else source() if callable(source) else World.load(source)
    steps = max(1, round(seconds / world.time_step))
    every = max(1, round(period / world.time_step)) if control else steps
    if len(runs) == 0:  # of an array job with more shards than runs
        return {key: value[:0] for key, value in _ends(WorldBatch(world, 1), [0]).items()}
    parts = []
    for first in range(0, len(runs), TOGETHER):
        part = runs[first : first + TOGETHER]
        batch = WorldBatch(world, len(part), threads=threads)  # a new one: a reset would keep the masses and friction of earlier runs
        for i, number in enumerate(part):
            rng = rng_of(seed, number)
            for figure in batch.figures:
                v = batch[figure].v
                v[i] += noise * rng.standard_normal(v.shape[1])
            if prepare:
                prepare(batch, i, rng)
        for done in range(0, steps, every):
            if control:
                control(batch)
            batch.step(min(every, steps - done))
            if tell:
                tell(first + len(part) * min(done + every, steps) / steps, len(runs))
        parts.append(_ends(batch, part))
    return merge(parts)


def _ends(batch: WorldBatch, part: Sequence[int]) -> Results:
    """Where these runs have ended."""
    found: Results = {
        "run": np.asarray(part, dtype=np.int64),
        "hash": np.array([batch.hash(i) for i in range(len(part))], dtype=np.uint64),
        "time": batch.time,
        "failed": ~batch.running,
    }
    for figure in batch.figures:
        found[f"{figure}/q"], found[f"{figure}/v"] = np.array(batch[figure].q), np.array(batch[figure].v)
    return found


def merge(parts: Sequence[Mapping[str, NDArray[np.generic]]]) -> Results:
    """Results of several shards as one, in the order of the runs."""
    if not parts:
        return {}
    order = np.argsort(np.concatenate([p["run"] for p in parts]), kind="stable")
    return {key: np.concatenate([p[key] for p in parts])[order] for key in parts[0]}


def main(arguments: Sequence[str]) -> int:
    """kansetsu rollout: the runs of one shard, in a file; or the files of all shards as one."""
    import argparse

    parser = argparse.ArgumentParser(prog="kansetsu rollout", description=(__doc__ or "").split("\n")[0])
    parser.add_argument("world", help="a scene, model or built-in figure; or, with --merge, files of shards", nargs="+")
    parser.add_argument("--count", type=int, default=100, help="how many runs there are in all")
    parser.add_argument("--seconds", type=float, default=1.0, help="how long each one is")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--noise", type=float, default=0.05, help="of all velocities at the start")
    parser.add_argument("--shard", default="0/1", metavar="I/N", help="only the runs of shard I of N, from 0 on")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--progress", action="store_true", help="a bar on the standard error")
    parser.add_argument("--merge", action="store_true", help="put the files of shards together")
    parser.add_argument("--out", type=Path, default=Path("rollout.npz"))
    options = parser.parse_args(arguments)
    try:
        if options.merge:
            found = merge([dict(np.load(file)) for file in options.world])
        else:
            if len(options.world) > 1:
                raise Error(f"one world, not {len(options.world)}")
            shard, _, shards = options.shard.partition("/")
            if not (shard.isdigit() and shards.isdigit()):
                raise Error(f"--shard is '{options.shard}', expected I/N, as 0/4")
            runs = shard_of(options.count, int(shard), int(shards))
            found = run(
                options.world[0],
                runs,
                seconds=options.seconds,
                seed=options.seed,
                noise=options.noise,
                threads=options.threads,
                progress=options.progress,
            )
        arrays: dict[str, Any] = {**found}  # names of arrays only: before NumPy 2.2 any other argument is kept as one, too
        np.savez(options.out, **arrays)
    except (Error, OSError, ValueError) as error:
        print(f"kansetsu rollout: {error}", file=sys.stderr)
        return 1
    count = len(found["run"]) if found else 0
    print(f"{count} runs, {int(np.sum(found['failed'])) if found else 0} failed: {options.out}")
    return 0


__all__ = ["merge", "rng_of", "run", "shard_of"]
