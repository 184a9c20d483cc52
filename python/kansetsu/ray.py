"""Rollouts, sweeps and searches on Ray: a cluster that is there, or this machine (``pip install kansetsu[ray]``).

found = kansetsu.ray.rollouts("scene.toml", 10_000, seconds=2.0)     # as kansetsu.rollouts.run() of all of them
scores = kansetsu.ray.map(score, candidates)                         # a sweep, or anything else, in order
x, best = kansetsu.ray.search(score, mean, spread)                   # sampling: the x of highest score

Results are in order and do not depend on the number of workers. Work of a worker or node that dies is done again by another.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from . import rollouts as _rollouts
from ._core import World
from ._errors import Error
from ._progress import Progress, teller
from ._reals import reals

try:
    import ray as _ray
except ImportError as error:
    raise ImportError("kansetsu.ray needs Ray: pip install 'ray>=2.9', or kansetsu[ray]") from error

Item = TypeVar("Item")
Result = TypeVar("Result")


def map(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    *,
    retries: int = 5,
    in_flight: int | None = None,
    progress: Progress = False,
) -> list[Result]:
    """[function(x) for x in items], by workers: in order; what function raises is raised here.

    retries: how often an item is tried again after its worker or node has died (-1: for ever); in_flight: how many are given out at
    a time, four per processor by default, so that memory holds no more than that; progress: True for a bar, or a function of
    (done, total) items.
    """
    if not _ray.is_initialized():
        _ray.init(log_to_driver=False, include_dashboard=False)
    resources: dict[str, float] = _ray.cluster_resources()  # type: ignore[no-untyped-call, unused-ignore]
    most = in_flight or max(4, 4 * int(resources.get("CPU", 1)))
    if most < 1 or retries < -1:
        raise Error("kansetsu.ray.map: in_flight is 1 or more, retries -1 or more")
    task = _ray.remote(max_retries=retries)(function)
    tell = teller(progress)
    out: list[Any] = [None] * len(items)
    waiting: dict[Any, int] = {}
    given = done = 0
    while done < len(items):
        while given < len(items) and len(waiting) < most:
            waiting[task.remote(items[given])] = given
            given += 1
        ready, _ = _ray.wait(list(waiting), num_returns=1)
        for reference in ready:
            i = waiting.pop(reference)
            try:
                out[i] = _ray.get(reference)
            except _ray.exceptions.ObjectLostError:  # its node died with the result
                waiting[task.remote(items[i])] = i
                continue
            done += 1
            if tell:
                tell(done, len(items))
    return out


def rollouts(
    source: _rollouts.Source, count: int, *, shard: int = 64, retries: int = 5, progress: Progress = False, **options: Any
) -> _rollouts.Results:
    """kansetsu.rollouts.run(source, range(count), **options), by workers, ``shard`` runs at a time. Files are read by the workers."""
    if shard < 1 or count < 0:
        raise Error("kansetsu.ray.rollouts: shard is 1 or more, count 0 or more")
    if isinstance(source, World):
        raise TypeError("kansetsu.ray.rollouts: a World cannot be sent to workers; give its file, or a function that makes it")
    if count == 0:
        return _rollouts.run(source, range(0), **options)

    def work(runs: range) -> _rollouts.Results:
        return _rollouts.run(source, runs, **options)

    shards = [range(first, min(first + shard, count)) for first in range(0, count, shard)]
    return _rollouts.merge(map(work, shards, retries=retries, progress=progress))


def search(
    score: Callable[[NDArray[np.float64]], float],
    mean: ArrayLike,
    spread: ArrayLike,
    *,
    samples: int = 64,
    rounds: int = 10,
    elite: int = 8,
    seed: int = 0,
    retries: int = 5,
) -> tuple[NDArray[np.float64], float]:
    """Looks for the x of highest score by sampling (cross-entropy method); x and its score. score(x) is called by workers.

    Each round draws ``samples`` candidates around the mean, normally distributed, and moves mean and spread to those of the ``elite``
    best. A score that is not finite loses against any that is. The result depends on the seed, not on the workers.
    """
    centre, width = np.broadcast_arrays(reals("kansetsu.ray.search", "mean", mean), reals("kansetsu.ray.search", "spread", spread))
    if centre.ndim != 1 or not (width >= 0).all():
        raise Error("kansetsu.ray.search: mean and spread are finite vectors, spread not below zero")
    if not 1 <= elite <= samples or rounds < 1:
        raise Error("kansetsu.ray.search: rounds is 1 or more, elite 1 to samples")
    best, best_score = centre, -np.inf
    for k in range(rounds):
        drawn = _rollouts.rng_of(seed, k).normal(centre, width, (samples, centre.size))
        scores = np.array(map(score, list(drawn), retries=retries), dtype=np.float64)
        order = np.argsort(-np.where(np.isfinite(scores), scores, -np.inf), kind="stable")[:elite]
        if scores[order[0]] > best_score:
            best, best_score = drawn[order[0]], float(scores[order[0]])
        centre, width = drawn[order].mean(axis=0), drawn[order].std(axis=0)
    return best, best_score


__all__ = ["map", "rollouts", "search"]
