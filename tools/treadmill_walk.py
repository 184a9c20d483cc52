"""A walk on a treadmill with a plate under each belt (C3D): a person not used for tuning `kansetsu analyze`.

The file is tests/treadmill_events.c3d of the PyPI package gaitalytics 0.2.2 (MIT licence). Its plates follow the motion with a delay,
which follows from the total vertical force, whatever the contacts are: it is where that fits the required force best.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

import numpy
from plate_walks import LOADED, UNLOADED, Point, both_sides, columns_of, cut, read_table, run, write_model

MASS = 55.5  # [kg] PROCESSING:Bodymass of the file is 55.3, the mean of both plates 55.9
START, END = 0.0, 12.0  # [s]
SWING = 0.3  # [s] a shorter time without load is a foot on the other belt
MARKERS: dict[str, tuple[str, Point]] = {
    "LASIS": ("pelvis", (0.02, 0.036, -0.13)),
    "RASIS": ("pelvis", (0.02, 0.036, 0.13)),
    "LPSIS": ("pelvis", (-0.15, 0.05, -0.05)),
    "RPSIS": ("pelvis", (-0.15, 0.05, 0.05)),
    "C7": ("torso", (-0.09, 0.45, 0)),
    "T10": ("torso", (-0.12, 0.2, 0)),
    "XIPH": ("torso", (0.12, 0.2, 0)),
    "JN": ("torso", (0.07, 0.4, 0)),
    **both_sides("femur", {"LTHI": (0.03, -0.2, 0.09), "LEK": (0, -0.404, 0.055), "MEK": (0, -0.404, -0.055)}),
    **both_sides("tibia", {"LSHA": (0.03, -0.2, 0.05), "LM": (-0.005, -0.41, 0.053), "MM": (0.006, -0.39, -0.038)}),
    **both_sides("calcn", {"HEE": (-0.02, 0.02, 0), "MT2": (0.17, 0.03, -0.01), "MT5": (0.13, 0.02, 0.045)}),
}
PLATES = {"left": 1, "right": 10}  # first columns


@dataclass
class BeltWalk:
    delay: float  # [ms] of the plates
    total: float  # rms of the total vertical force [% of the range of one foot's]
    vertical: list[float]  # of each whole stance on one belt, rms [% of the range]
    anterior: list[float]
    landings: list[float]  # [ms] after 20 N
    leavings: list[float]


def swings(times: numpy.ndarray, force: numpy.ndarray) -> list[tuple[float, float]]:
    loaded = force > LOADED
    ends = numpy.r_[0, numpy.where(numpy.diff(loaded.astype(int)) != 0)[0] + 1, len(loaded)]
    return [(times[a], times[b - 1]) for a, b in itertools.pairwise(ends) if not loaded[a] and times[b - 1] - times[a] > SWING]


def measure_belt_walk(binary: Path, c3d: Path, model: Path, folder: Path) -> list[BeltWalk]:
    """Beside the plates as they are, and beside them without their delay."""
    base = folder / "belt_walk"
    trc, part, plates, figure, clip, table = (base.with_suffix(s) for s in (".trc", ".part.trc", ".mot", ".osim", ".mcap", ".csv"))
    run(binary, "convert", str(c3d), str(trc))
    run(binary, "convert", str(c3d), str(plates))
    write_model(model, MARKERS, figure)
    cut(trc, part, START, END)
    run(binary, "fit", str(part), "--figure", str(figure), "--up", "z", "--record", str(clip))
    run(binary, "analyze", str(clip), "--mass", str(MASS), "--csv", str(table))
    column = columns_of(table)
    _, grf = read_table(plates)
    for first in PLATES.values():
        for axis in range(3):
            grf[:, first + axis] -= numpy.median(grf[numpy.abs(grf[:, first + 2]) < UNLOADED, first + axis])
    delay = delay_of(column, grf)
    return [compare(column, grf, 0.0), compare(column, grf, delay)]


def total(column: dict[str, numpy.ndarray], grf: numpy.ndarray, delay: float) -> numpy.ndarray:
    """What both plates differ from what the motion needs, in the middle of the clip [N]."""
    times = column["time"]
    inside = (times > times[0] + 0.4) & (times < times[-1] - 0.4)
    both = numpy.interp(times + delay, grf[:, 0], sum(grf[:, first + 2] for first in PLATES.values()))
    return (sum(column[f"{side}/fz [N]"] for side in PLATES) - both)[inside]


def delay_of(column: dict[str, numpy.ndarray], grf: numpy.ndarray) -> float:
    return float(min(numpy.arange(-0.04, 0.0401, 0.001), key=lambda s: numpy.std(total(column, grf, s))))


def compare(column: dict[str, numpy.ndarray], grf: numpy.ndarray, delay: float) -> BeltWalk:
    times, on_plate = column["time"], grf[:, 0] - delay
    heading = numpy.array([column[f"com/{a} [m]"][-1] - column[f"com/{a} [m]"][0] for a in "xy"])
    heading /= numpy.linalg.norm(heading)
    out = BeltWalk(1000 * delay, 0.0, [], [], [], [])
    air = {side: swings(on_plate, grf[:, first + 2]) for side, first in PLATES.items()}
    spans = []
    for (side, first), other in zip(PLATES.items(), ("right", "left"), strict=True):
        down = column[f"{side}/down"] > 0
        changes = numpy.where(numpy.diff(down.astype(int)) != 0)[0]
        middles = 0.5 * (times[changes] + times[changes + 1])
        for begin, end in air[side]:
            for time, lands, found in ((begin, False, out.leavings), (end, True, out.landings)):
                if times[0] + 0.1 < time < times[-1] - 0.1:
                    found.append(1000 * min((m - time for m, k in zip(middles, changes, strict=True) if down[k + 1] == lands), key=abs))
        for (_, land), (leave, _) in itertools.pairwise(air[side]):
            # The other foot swings in between: neither has a part on the other's belt.
            if leave - land > 1 or not any(land < a and b < leave for a, b in air[other]):
                continue
            around = (times > land - 0.05) & (times < leave + 0.05)
            for found, ours, theirs in (
                (out.vertical, column[f"{side}/fz [N]"], grf[:, first + 2]),
                (
                    out.anterior,
                    sum(h * column[f"{side}/f{a} [N]"] for h, a in zip(heading, "xy", strict=True)),
                    grf[:, first : first + 2] @ heading,
                ),
            ):
                plate = numpy.interp(times, on_plate, theirs)[around]
                found.append(100 * float(numpy.sqrt(numpy.mean((ours[around] - plate) ** 2)) / numpy.ptp(plate)))
            spans.append(numpy.ptp(grf[:, first + 2]))
    out.total = 100 * float(numpy.std(total(column, grf, delay))) / float(numpy.mean(spans))
    return out
