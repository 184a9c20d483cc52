"""Walks of two other people on force plates (C3D files).

gait2392 gets the markers of their files, `kansetsu fit` finds its sizes, places of markers and postures, and `kansetsu analyze` the
forces from these alone. Mass: what a stance gives to its plate while the other foot is off the ground, over what gravity and the
mass centre of the markers need; the only thing that is taken from plates. Plates that read something while nobody stands on them are
set to zero there.
"""

from __future__ import annotations

import csv
import subprocess
from dataclasses import dataclass
from pathlib import Path

import numpy

Point = tuple[float, float, float]

LOADED = 20.0  # [N] from which a plate is stood on
UNLOADED = 40.0  # [N] below which it reads what it reads of nothing: most samples, so that their median is it
DOUBLE_SUPPORT = 0.15  # [s] at the ends of a stance, in which the other foot may be down


def both_sides(body: str, right: dict[str, Point]) -> dict[str, tuple[str, Point]]:
    out = {}
    for name, (x, y, z) in right.items():
        out["R" + name] = (body + "_r", (x, y, z))
        out["L" + name] = (body + "_l", (x, y, -z))
    return out


# Where markers are about, on the bodies of gait2392 (x forward, y upward, z to the right); the fit moves them.
PELVIS = {"RASI": ("pelvis", (0.02, 0.036, 0.13)), "LASI": ("pelvis", (0.02, 0.036, -0.13))}
BMC = {
    **PELVIS,
    "VSAC": ("pelvis", (-0.17, 0.04, 0)),
    "C7": ("torso", (-0.09, 0.45, 0)),
    "IJ": ("torso", (0.07, 0.4, 0)),
    "PX": ("torso", (0.12, 0.2, 0)),
    "RSHO": ("torso", (0, 0.43, 0.16)),
    "LSHO": ("torso", (0, 0.43, -0.16)),
    **both_sides("femur", {"THI": (0.05, -0.22, 0.09), "KNE": (0, -0.404, 0.055), "KNE_2": (0, -0.404, -0.055)}),
    **both_sides("tibia", {"SHA": (0.03, -0.2, 0.05), "ANK": (-0.005, -0.41, 0.053), "ANK_2": (0.006, -0.39, -0.038)}),
    **both_sides("calcn", {"HEE": (-0.02, 0.02, 0), "TOE": (0.17, 0.03, 0), "FOO": (0.16, 0.02, -0.045), "FOO_2": (0.13, 0.02, 0.045)}),
}
WALKING2 = {
    **PELVIS,
    "RPSI": ("pelvis", (-0.15, 0.05, 0.05)),
    "LPSI": ("pelvis", (-0.15, 0.05, -0.05)),
    "C7": ("torso", (-0.09, 0.45, 0)),
    "T10": ("torso", (-0.12, 0.2, 0)),
    "CLAV": ("torso", (0.07, 0.4, 0)),
    "STRN": ("torso", (0.12, 0.25, 0)),
    **both_sides(
        "femur",
        {
            "TH1": (0, -0.15, 0.1),
            "TH2": (0.08, -0.22, 0.03),
            "TH3": (0.05, -0.3, 0.07),
            "LFC": (0, -0.404, 0.055),
            "MFC": (0, -0.404, -0.055),
            "HJC": (0, 0, 0),
        },
    ),
    **both_sides(
        "tibia",
        {
            "TB1": (0.04, -0.08, -0.03),
            "TB2": (0, -0.17, 0.06),
            "TB3": (0.03, -0.27, -0.03),
            "LMAL": (-0.005, -0.41, 0.053),
            "MMAL": (0.006, -0.39, -0.038),
            "AJC": (0, -0.43, 0),
        },
    ),
    **both_sides("calcn", {"CAL": (-0.02, 0.02, 0), "MT1": (0.17, 0.03, -0.04), "MT2": (0.19, 0.03, 0)}),
}


@dataclass
class Person:
    name: str
    file: str  # under the data folder
    markers: dict[str, tuple[str, Point]]
    start: float  # [s] stretch in which all markers are seen
    end: float
    plates: dict[str, int]  # side and number of the plate that its whole stance is on


PEOPLE = [
    Person("bmc_Gait", "mocap/c3d/bmc_Gait.c3d", BMC, 1.33, 3.26, {"left": 1, "right": 2}),
    Person("walking2", "grf/walking2_c3d/walking2.c3d", WALKING2, 1.7, 3.34, {"right": 1}),
]


@dataclass
class Stance:
    """One foot on one plate: times, forces and the plate's, errors."""

    person: str
    side: str
    times: numpy.ndarray
    ours: list[numpy.ndarray]  # vertical, along the walk
    theirs: list[numpy.ndarray]
    vertical: float  # rms [% of the plate's range], from 50 ms before landing to 50 ms after leaving
    anterior: float
    correlation: float
    pressure: float  # median along the walk [mm], both above 100 N
    landing: float  # [ms] after the plate's 20 N
    leaving: float
    peak: float  # [%]


def run(binary: Path, *arguments: str) -> None:
    subprocess.run([str(binary), *arguments], capture_output=True, text=True, check=True)


def read_table(file: Path) -> tuple[list[str], numpy.ndarray]:
    lines = file.read_text().splitlines()
    begin = [line.strip() for line in lines].index("endheader")
    rows = [line.split() for line in lines[begin + 1 :] if line.strip()]
    return rows[0], numpy.array(rows[1:], float)


def write_model(source: Path, markers: dict[str, tuple[str, Point]], out: Path) -> None:
    text = source.read_text()
    begin = text.index('<Marker name="Sternum">')
    end = text.index("</objects>", begin)
    entries = [
        f'<Marker name="{name}"><body>{body}</body><location>{p[0]} {p[1]} {p[2]}</location></Marker>'
        for name, (body, p) in markers.items()
    ]
    out.write_text(text[:begin] + "\n".join(entries) + text[end:])


def cut(source: Path, out: Path, start: float, end: float) -> None:
    """The rows of a TRC file between two times."""
    lines = source.read_text().splitlines()
    rows = [line for line in lines[5:] if line.strip() and start <= float(line.split("\t")[1]) <= end]
    head = lines[2].split("\t")
    head[2] = head[7] = str(len(rows))
    out.write_text("\n".join([*lines[:2], "\t".join(head), *lines[3:5], "", *rows]) + "\n")


def columns_of(table: Path) -> dict[str, numpy.ndarray]:
    with table.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    return {name: numpy.array([float(row[name] or "nan") for row in rows]) for name in rows[0] if name != "phase"}


def mass_of(times: numpy.ndarray, force: numpy.ndarray, frames: numpy.ndarray, height: numpy.ndarray) -> float:
    """Impulse of a plate over gravity's and the change of the mass centre's velocity, in the middle of a stance [kg]."""
    on = numpy.where(force > LOADED)[0]
    begin, end = times[on[0]] + DOUBLE_SUPPORT, times[on[-1]] - DOUBLE_SUPPORT
    inside = (times >= begin) & (times <= end)
    velocity = numpy.interp([begin, end], frames, numpy.gradient(height, frames))
    impulse = float(numpy.sum(force[inside])) * (times[1] - times[0])
    return impulse / (9.80665 * (end - begin) + velocity[1] - velocity[0])


def measure(binary: Path, data: Path, folder: Path, person: Person) -> list[Stance]:
    base = folder / person.name
    trc, part, plates, model, clip, table = (base.with_suffix(s) for s in (".trc", ".part.trc", ".mot", ".osim", ".mcap", ".csv"))
    run(binary, "convert", str(data / person.file), str(trc))
    run(binary, "convert", str(data / person.file), str(plates))
    write_model(data / "grf" / "opensim_walk_gait2392" / "subject01.osim", person.markers, model)
    cut(trc, part, person.start, person.end)
    _, grf = read_table(plates)
    first = {side: 1 + 9 * (plate - 1) for side, plate in person.plates.items()}
    for c in first.values():
        for axis in range(3):
            grf[:, c + axis] -= numpy.median(grf[numpy.abs(grf[:, c + 2]) < UNLOADED, c + axis])
    run(binary, "fit", str(part), "--figure", str(model), "--up", "z", "--record", str(clip))
    run(binary, "analyze", str(clip), "--csv", str(table))
    column = columns_of(table)
    times = column["time"] - column["time"][0] + person.start
    mass = numpy.mean([mass_of(grf[:, 0], grf[:, c + 2], times, column["com/z [m]"]) for c in first.values()])
    run(binary, "analyze", str(clip), "--mass", f"{mass:.1f}", "--csv", str(table))
    column = columns_of(table)
    heading = numpy.array([column[f"com/{a} [m]"][-1] - column[f"com/{a} [m]"][0] for a in "xy"])
    heading /= numpy.linalg.norm(heading)
    return [stance(person, side, c, grf, times, column, heading) for side, c in first.items()]


def stance(
    person: Person, side: str, c: int, grf: numpy.ndarray, times: numpy.ndarray, column: dict[str, numpy.ndarray], heading: numpy.ndarray
) -> Stance:
    on = numpy.where(grf[:, c + 2] > LOADED)[0]
    land, leave = grf[on[0], 0], grf[on[-1], 0]
    around = (times > land - 0.05) & (times < leave + 0.05)

    def plate(i: int) -> numpy.ndarray:
        return numpy.interp(times, grf[:, 0], grf[:, c + i])

    ours = [column[f"{side}/fz [N]"], sum(h * column[f"{side}/f{a} [N]"] for h, a in zip(heading, "xy", strict=False))]
    theirs = [plate(2), heading[0] * plate(0) + heading[1] * plate(1)]
    errors = [100 * float(numpy.sqrt(numpy.mean((a - b)[around] ** 2)) / numpy.ptp(b[around])) for a, b in zip(ours, theirs, strict=False)]
    both = (ours[0] > 100) & (theirs[0] > 100)
    apart = sum(h * (column[f"{side}/p{a} [m]"] - plate(3 + i)) for i, (h, a) in enumerate(zip(heading, "xy", strict=False)))
    down = column[f"{side}/down"] > 0
    changes = numpy.where(numpy.diff(down.astype(int)) != 0)[0]
    middles = 0.5 * (times[changes] + times[changes + 1])

    def nearest(kind: bool, time: float) -> float:
        return 1000 * min(
            (m - time for m, k in zip(middles, changes, strict=False) if bool(down[k + 1]) == kind), key=abs, default=numpy.inf
        )

    return Stance(
        person.name,
        side,
        times[around],
        [a[around] for a in ours],
        [b[around] for b in theirs],
        errors[0],
        errors[1],
        float(numpy.corrcoef(ours[0][around], theirs[0][around])[0, 1]),
        1000 * float(numpy.median(numpy.abs(apart[both]))),
        nearest(True, land),
        nearest(False, leave),
        100 * float(ours[0][around].max() / theirs[0][around].max() - 1),
    )
