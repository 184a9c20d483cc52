"""Progress of long calls."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

Progress = bool | Callable[[float, float], object]
"""True: a bar on the standard error; or a function of (done, total)."""

WIDTH = 32
"""Characters of a bar."""
PERIOD = 0.1
"""Seconds between two pictures of a bar: more are not seen, and fill the log of a notebook."""


class Bar:
    """A line that is written anew: a bar, its share, and the seconds left if it goes on as before."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._start = self._drawn = clock()
        self._ended = False

    def __call__(self, done: float, total: float) -> None:
        now = self._clock()
        ends = done >= total
        if self._ended or (not ends and now - self._drawn < PERIOD):
            return
        self._drawn, self._ended = now, ends
        share = min(done / total, 1.0) if total > 0 else 1.0
        spent = now - self._start
        seconds = f"{spent:.1f} s" if ends else f"{spent * (1 - share) / share:.0f} s left" if share > 0 else ""
        bar = "#" * round(WIDTH * share)
        print(f"\r[{bar:.<{WIDTH}}] {100 * share:3.0f} % {seconds:<12}", end="\n" if ends else "", file=sys.stderr, flush=True)


def teller(progress: Progress) -> Callable[[float, float], object] | None:
    """The function that receives the progress of a call; None without one."""
    if callable(progress):
        return progress
    if not isinstance(progress, bool):
        raise TypeError(f"progress is a '{type(progress).__name__}', expected True, False or a function of (done, total)")
    return Bar() if progress else None
