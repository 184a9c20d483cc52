"""Motion: clips, captured motion, analysis, figures that walk and track clips.

>>> capture = ks.motion.read_capture("02_01.amc")
>>> walk = ks.motion.retarget(model, capture)
>>> analysis = ks.motion.analyze(model, walk, cutoff=6)
>>> analysis.tau, analysis.supports[0].wrench, analysis.summary
"""

from __future__ import annotations

import os
from pathlib import Path

from ._core import Model
from ._core.motion import (
    Analysis,
    Capture,
    Clip,
    FootContacts,
    Push,
    Retargeted,
    SupportForces,
    analyze,
    bar_swing,
    blend,
    cut,
    derivatives,
    low_pass,
    mirror,
    reach,
    read_capture,
    read_clip,
    resample,
    retarget,
    sample,
    squat,
    track,
    walk,
)


def load(model: Model, file: str | os.PathLike[str]) -> Clip:
    """The motion of a file for a model: captured (.bvh, .amc), which is retargeted, or recorded (.mcap, .csv, .npz)."""
    if Path(file).suffix.lower() in (".bvh", ".amc"):
        return retarget(model, read_capture(file)).clip
    return read_clip(model, file)


__all__ = [
    "Analysis",
    "Capture",
    "Clip",
    "FootContacts",
    "Push",
    "Retargeted",
    "SupportForces",
    "analyze",
    "bar_swing",
    "blend",
    "cut",
    "derivatives",
    "load",
    "low_pass",
    "mirror",
    "reach",
    "read_capture",
    "read_clip",
    "resample",
    "retarget",
    "sample",
    "squat",
    "track",
    "walk",
]
