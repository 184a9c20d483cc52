#!/usr/bin/env python3
"""Holds `kansetsu analyze` against force plates and OpenSim, and writes docs/validation.md with its pictures.

usage: tools/validate_people.py --bin build/kansetsu --data ../shared/data

Needs numpy, and recorded files: grf/ and mocap/ under the data folder. Prints the page, names every bound that is missed on standard
error, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import ClassVar

import numpy
from plate_walks import PEOPLE, Stance, measure, read_table

ROOT = Path(__file__).resolve().parent.parent


def run(binary: Path, *arguments: str) -> subprocess.CompletedProcess:
    return subprocess.run([str(binary), *arguments], capture_output=True, text=True, check=False)


def crossings(times: numpy.ndarray, down: numpy.ndarray) -> list[tuple[float, bool]]:
    changes = numpy.where(numpy.diff(down.astype(int)) != 0)[0]
    return [(0.5 * (times[k] + times[k + 1]), bool(down[k + 1])) for k in changes]


def relative(error: numpy.ndarray, reference: numpy.ndarray) -> float:
    return 100 * float(numpy.sqrt(numpy.mean(error**2)) / numpy.ptp(reference))


class Walk:
    """The walk of gait2392: forces from motion alone beside those of its plates."""

    SIDES: ClassVar = {"right": 1, "left": 7}

    def __init__(self, binary: Path, data: Path, folder: Path):
        self.data = data / "grf" / "opensim_walk_gait2392"
        out = folder / "walk.csv"
        self.reply = run(
            binary, "analyze", str(self.data / "subject01_walk1_ik.mot"), "--figure", str(self.data / "subject01.osim"), "--csv", str(out)
        )
        with out.open(encoding="utf-8") as stream:
            self.rows = list(csv.DictReader(stream))
        self.times = self.column("time")
        _, self.plates = read_table(self.data / "subject01_walk1_grf.mot")
        belt = re.search(r"belt at ([\d.]+) m/s", self.reply.stderr)
        self.belt = float(belt.group(1)) if belt else 0.0

    def column(self, name: str) -> numpy.ndarray:
        return numpy.array([float(row[name]) if row[name] else numpy.nan for row in self.rows])

    def plate(self, column: int) -> numpy.ndarray:
        return numpy.interp(self.times, self.plates[:, 0], self.plates[:, column])

    def events(self) -> list[float]:
        """Milliseconds by which landings and leavings differ from 20 N of the plate."""
        out = []
        for side, first in self.SIDES.items():
            ours = crossings(self.times, self.column(f"{side}/down") > 0)
            theirs = crossings(self.plates[:, 0], self.plates[:, first + 1] > 20)
            for time, lands in theirs:
                if not self.times[0] < time < self.times[-1]:
                    continue
                near = [t - time for t, kind in ours if kind == lands]
                out.append(1000 * min(near, key=abs) if near else numpy.inf)
        return out

    def forces(self) -> dict[str, list[float]]:
        """Per foot: vertical, anterior and lateral error [% of the range], correlation of the vertical one."""
        out: dict[str, list[float]] = {}
        for side, first in self.SIDES.items():
            ours = [self.column(f"{side}/f{a} [N]") for a in "xyz"]
            theirs = [self.plate(first), -self.plate(first + 2), self.plate(first + 1)]
            out[side] = [relative(ours[i] - theirs[i], theirs[i]) for i in (2, 0, 1)]
            out[side].append(float(numpy.corrcoef(ours[2], theirs[2])[0, 1]))
        return out

    def peaks(self) -> list[float]:
        """Per stance: largest vertical force over the plate's [%]."""
        out = []
        for side, first in self.SIDES.items():
            ours, theirs = self.column(f"{side}/fz [N]"), self.plate(first + 1)
            on = theirs > 20
            for part in numpy.split(numpy.arange(len(on)), numpy.where(numpy.diff(on.astype(int)) != 0)[0] + 1):
                if on[part[0]] and len(part) > 30:
                    out.append(100 * (ours[part].max() / theirs[part].max() - 1))
        return out

    def pressure(self) -> float:
        """Median distance of the centres of pressure along the walk [mm], both above 100 N."""
        apart = []
        for side, first in self.SIDES.items():
            x = self.column(f"{side}/px [m]") - self.belt * (self.times - self.times[0])
            both = (self.column(f"{side}/fz [N]") > 100) & (self.plate(first + 1) > 100)
            apart.extend(numpy.abs(x - self.plate(first + 3))[both])
        return 1000 * float(numpy.nanmedian(apart))

    def picture(self) -> str:
        """Vertical and anterior forces of both feet; plates are thick and pale."""
        panels = []
        for axis, offset, low, high, title in (("z", 1, -50, 950, "vertical force [N]"), ("x", 0, -200, 200, "anterior force [N]")):
            curves = []
            for (side, first), colour in zip(self.SIDES.items(), ("#c0392b", "#2471a3"), strict=False):
                curves += [
                    (self.times, self.plate(first + offset), colour, True),
                    (self.times, self.column(f"{side}/f{axis} [N]"), colour, False),
                ]
            panels.append((title, low, high, curves))
        return chart(panels)


Curve = tuple[numpy.ndarray, numpy.ndarray, str, bool]  # times, values, colour, whether it is an instrument's


def chart(panels: list[tuple[str, float, float, list[Curve]]]) -> str:
    """Panels below each other, each with its title, lowest and highest value and curves; instruments are thick and pale."""
    width, height, left = 720, 150, 50
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {len(panels) * (height + 15) + 10}" font-size="11" '
        'font-family="sans-serif">',
        "<style>text{fill:#555}path{fill:none}</style>",
    ]
    for row, (title, low, high, curves) in enumerate(panels):
        top = 20 + row * (height + 15)
        start = min(times[0] for times, *_ in curves)
        span = max(times[-1] for times, *_ in curves) - start

        def place(value: float, top=top, low=low, high=high) -> float:
            return top + height * (1 - (value - low) / (high - low))

        out.append(f'<text x="{left}" y="{top - 5}">{title}</text>')
        for value in (low, 0, high):
            y = place(value)
            if value == low and place(low) - place(0) < 15:  # their names would overlap
                continue
            out.append(f'<text x="5" y="{y + 4:.1f}">{value:g}</text><path d="M{left},{y:.1f} H{width - 10}" stroke="#ddd"/>')
        for times, values, colour, measured in curves:
            points = " L".join(
                f"{left + (width - left - 10) * (t - start) / span:.1f},{place(v):.1f}" for t, v in zip(times, values, strict=False)
            )
            style = 'stroke-width="5" opacity="0.3"' if measured else 'stroke-width="1.5"'
            out.append(f'<path d="M{points}" stroke="{colour}" {style}/>')
    return "\n".join(out) + "\n</svg>\n"


def others_picture(stances: list[Stance]) -> str:
    panels = []
    for i, (what, low, high) in enumerate((("vertical force [N]", -50, 1050), ("force along the walk [N]", -250, 250))):
        curves, shift = [], 0.0
        for s, colour in zip(stances, ("#2471a3", "#c0392b", "#7d3c98"), strict=False):
            times = s.times - s.times[0] + shift
            curves += [(times, s.theirs[i], colour, True), (times, s.ours[i], colour, False)]
            shift = times[-1] + 0.1
        panels.append((what + ": " + ", ".join(f"{s.person} {s.side}" for s in stances), low, high, curves))
    return chart(panels)


def clip_forces(binary: Path, file: Path, folder: Path) -> list[Curve]:
    """Vertical forces of both feet, in weights."""
    out = folder / "clip.csv"
    run(binary, "analyze", str(file), "--csv", str(out))
    weight = json.loads(run(binary, "analyze", str(file), "--json").stdout)["weight"]
    with out.open(encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream))
    times = numpy.array([float(row["time"]) for row in rows])
    return [
        (times, numpy.array([float(row[f"{side}/fz [N]"]) for row in rows]) / weight, colour, False)
        for side, colour in (("right", "#c0392b"), ("left", "#2471a3"))
    ]


# Rotational inertias of gait2392 before it is scaled to a subject [kg·m²], and masses [kg].
UNSCALED = {
    "pelvis": (11.777, (0.1028, 0.0871, 0.0579)),
    "femur": (9.3014, (0.1339, 0.0351, 0.1411)),
    "tibia": (3.7075, (0.0504, 0.0051, 0.0511)),
    "talus": (0.1, (0.001, 0.001, 0.001)),
    "calcn": (1.25, (0.0014, 0.0039, 0.0041)),
    "toes": (0.2166, (0.0001, 0.0001, 0.0001)),
    "torso": (34.2366, (1.4745, 0.7555, 1.4314)),
}


def scaled_by_mass_alone(model: str) -> str:
    """subject01.osim with inertias that were scaled by masses alone, as those of the reference table were."""

    def body(found: re.Match) -> str:
        mass, inertia = UNSCALED[found[1].split("_")[0]]
        ratio = float(re.search(r"<mass>\s*(\S+)", found[0])[1]) / mass
        text = found[0]
        for axis, value in zip(("xx", "yy", "zz"), inertia, strict=True):
            text = re.sub(rf"(<inertia_{axis}>)[^<]*", rf"\g<1>{value * ratio:.10g}", text, count=1)
        return text

    return re.sub(r'<Body name="((?!ground)\w+)">.*?</Body>', body, model, flags=re.DOTALL)


def moments(binary: Path, data: Path, folder: Path) -> list[tuple[str, float, float]]:
    """Joint moments under measured forces beside OpenSim's table [% of the range]: of the model as it is, and with the table's inertias."""
    source = data / "grf" / "opensim_walk_gait2392"
    work = folder / "id"
    work.mkdir()
    for file in ("subject01_Setup_InverseDynamics.xml", "subject01_walk1_ik.mot", "subject01_walk1_grf.mot", "subject01_walk1_grf.xml"):
        shutil.copy(source / file, work / file)
    model = (source / "subject01.osim").read_text()
    others, theirs = read_table(source / "std_subject01_InverseDynamics.sto")
    inside = (theirs[:, 0] > 0.499) & (theirs[:, 0] < 1.601)
    columns = []
    for text in (model, scaled_by_mass_alone(model)):
        (work / "subject01.osim").write_text(text)
        run(binary, "analyze", str(work / "subject01_Setup_InverseDynamics.xml"), "--sto", str(work / "id.sto"))
        names, ours = read_table(work / "id.sto")
        columns.append(
            [
                relative(
                    ours[:, names.index(name)] - numpy.interp(ours[:, 0], theirs[:, 0], theirs[:, others.index(name)]),
                    theirs[inside, others.index(name)],
                )
                for name in others[1:]
            ]
        )
    return list(zip(others[1:], *columns, strict=True))


def predicted_moments(binary: Path, data: Path, folder: Path) -> list[tuple[str, float, float]]:
    """Joint moments from motion alone beside those under measured forces: correlation, error [% of the range]."""
    source = data / "grf" / "opensim_walk_gait2392"
    ours, theirs = folder / "predicted.sto", folder / "measured.sto"
    run(binary, "analyze", str(source / "subject01_walk1_ik.mot"), "--figure", str(source / "subject01.osim"), "--sto", str(ours))
    run(binary, "analyze", str(source / "subject01_Setup_InverseDynamics.xml"), "--sto", str(theirs))
    names, a = read_table(ours)
    others, b = read_table(theirs)
    inside = (a[:, 0] > b[0, 0]) & (a[:, 0] < b[-1, 0])
    out = []
    for joint in ("hip_flexion", "knee_angle", "ankle_angle"):
        for side in "rl":
            name = f"{joint}_{side}_moment"
            reference = numpy.interp(a[inside, 0], b[:, 0], b[:, others.index(name)])
            # The knee's table moment holds what its sliding axis adds; the hinge alone is compared.
            column = next((n for n in names if n == name or (n.startswith(f"knee_{side}") and joint == "knee_angle" and "turn" in n)), None)
            if column is None:
                continue
            values = a[inside, names.index(column)]
            out.append((name, float(numpy.corrcoef(values, reference)[0, 1]), relative(values - reference, reference)))
    return out


def treadmill(binary: Path, file: Path, folder: Path) -> tuple[float, float]:
    """A walk over ground, and the same with its mean velocity taken away: belt found [m/s], difference of forces [% of the weight]."""
    lines = file.read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.strip().startswith("Frame Time"))
    step = float(lines[begin].split(":")[1])
    rows = [line.split() for line in lines[begin + 1 :] if line.strip()]
    place = numpy.array([row[:3] for row in rows], float)
    first = 1 if numpy.linalg.norm(place[1] - place[0]) > 1 else 0  # a rest pose was put before the motion
    time = step * numpy.arange(len(rows))
    for axis in (0, 2):
        slope = numpy.polyfit(time[first:], place[first:, axis], 1)[0]
        place[first:, axis] -= slope * (time[first:] - time[first])
    moved = folder / "belt.bvh"
    moved.write_text(
        "\n".join(lines[: begin + 1] + [" ".join([f"{x:.6f}" for x in p] + row[3:]) for p, row in zip(place, rows, strict=False)]) + "\n"
    )
    forces, belt = [], 0.0
    for source in (file, moved):
        out = folder / "forces.csv"
        reply = run(binary, "analyze", str(source), "--csv", str(out))
        found = re.search(r"belt at ([\d.]+) m/s", reply.stderr)
        belt = float(found.group(1)) if found else 0.0
        with out.open(encoding="utf-8") as stream:
            table = list(csv.DictReader(stream))
        forces.append(numpy.array([[float(row[f"{side}/fz [N]"]) for side in ("left", "right")] for row in table]))
    weight = json.loads(run(binary, "analyze", str(file), "--json").stdout)["weight"]
    return belt, 100 * float(numpy.sqrt(numpy.mean((forces[0] - forces[1]) ** 2))) / weight


def markers(binary: Path, data: Path, folder: Path) -> dict:
    """Markers of gait2392's walk: with the sizes of its model, and with sizes fitted; coordinates beside OpenSim's [degrees]."""
    source = data / "grf" / "opensim_walk_gait2392"
    trc, model, mot = str(source / "subject01_walk1.trc"), str(source / "subject01.osim"), folder / "ik.mot"
    kept = json.loads(run(binary, "fit", trc, "--figure", model, "--keep-size", "--json", "--mot", str(mot)).stdout)
    fitted = json.loads(run(binary, "fit", trc, "--figure", model, "--json").stdout)
    names, ours = read_table(mot)
    others, theirs = read_table(source / "subject01_walk1_ik.mot")
    apart = {}
    for name in ("hip_flexion_r", "knee_angle_r", "ankle_angle_r", "hip_flexion_l", "knee_angle_l", "ankle_angle_l"):
        reference = numpy.interp(ours[:, 0], theirs[:, 0], theirs[:, others.index(name)])
        apart[name] = float(numpy.sqrt(numpy.mean((ours[:, names.index(name)] - reference) ** 2)))
    return {"kept": 1000 * kept["rms"], "fitted": 1000 * fitted["rms"], "count": len(kept["markers"]), "apart": apart}


def reduction(binary: Path, data: Path) -> str:
    """What --reduce-residuals tells."""
    reply = run(
        binary, "analyze", str(data / "grf" / "opensim_walk_gait2392" / "subject01_Setup_InverseDynamics.xml"), "--reduce-residuals"
    )
    return next((line for line in reply.stderr.splitlines() if line.startswith("residuals: force")), reply.stderr)


def clips(binary: Path, files: list[Path]) -> list[dict]:
    out = []
    for file in files:
        reply = run(binary, "analyze", str(file), "--json")
        if reply.returncode != 0:
            continue
        told = json.loads(reply.stdout)
        named = re.search(r"--frame-rate (\S+) may be", reply.stderr)
        if named:
            slower = json.loads(run(binary, "analyze", str(file), "--json", "--frame-rate", named[1]).stdout)
        out.append(
            {
                "name": file.stem,
                "slower": (named[1], 100 * slower["residual_force"] / slower["weight"]) if named else None,
                "duration": told["duration"],
                "supported": 100 * told["supported"],
                "lacking": 100 * told["unsupported_frames"],
                "gaps": len(told["gaps"]),
                "fall": told["fall"],
                "warnings": len(
                    [
                        line
                        for line in reply.stderr.splitlines()
                        if line.startswith(str(file)) and "[MAP" not in line and "treadmill belt" not in line
                    ]
                ),
                "flight": sum(p["end"] - p["start"] for p in told["phases"] if p["kind"] == "flight"),
                "residual": 100 * told["residual_force"] / told["weight"],
            }
        )
    return out


def belt_added(binary: Path, walk: Walk, folder: Path) -> float:
    """gait2392's walk with its belt's motion added back: difference of vertical forces [% of their range]."""
    source = (walk.data / "subject01_walk1_ik.mot").read_text().splitlines()
    begin = [line.strip() for line in source].index("endheader")
    names = source[begin + 1].split()
    rows = [[float(x) for x in line.split()] for line in source[begin + 2 :] if line.strip()]
    for row in rows:
        row[names.index("pelvis_tx")] += walk.belt * (row[0] - rows[0][0])
    overground, out = folder / "overground.mot", folder / "overground.csv"
    overground.write_text("\n".join(source[: begin + 2]) + "\n" + "".join("\t".join(map(repr, row)) + "\n" for row in rows))
    run(binary, "analyze", str(overground), "--figure", str(walk.data / "subject01.osim"), "--csv", str(out))
    with out.open(encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    return max(
        relative(
            numpy.array([float(row[f"{side}/fz [N]"]) for row in table]) - walk.column(f"{side}/fz [N]"), walk.column(f"{side}/fz [N]")
        )
        for side in walk.SIDES
    )


def table_of(head: list[str], rows: list[list[str]]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "|---|" + "--:|" * (len(head) - 1), *("| " + " | ".join(row) + " |" for row in rows), ""]


class Page:
    """docs/validation.md as it grows, and the bounds that are missed."""

    def __init__(self):
        self.lines, self.missed = [], []

    def add(self, *lines: str) -> None:
        self.lines += [*lines, ""]

    def bound(self, what: str, value: float, most: float) -> None:
        if not value <= most:
            self.missed.append(f"{what}: {value:.3g}, bound {most:g}")


def seen_walk(page: Page, walk: Walk) -> None:
    events, forces, peaks, pressure = walk.events(), walk.forces(), walk.peaks(), walk.pressure()
    page.add(
        "## Forces from motion alone",
        "",
        f"The walk of OpenSim's gait2392 (72.6 kg, 60 Hz, on a treadmill at {walk.belt:.2f} m/s, an estimated speed), compared with its "
        f"force plates. Errors "
        "are root mean squares over the whole clip, in percent of the range of the plate's force. The scales of height and of toe-off speed "
        "in the [contact costs](theory/contacts.md), and the height of the point towards which forces are directed, were chosen on this walk; "
        "two other people are [below](#other-people).",
        "",
        "![vertical and anterior force of both feet, compared with the plates](images/validation_walk.svg)",
    )
    rows = []
    for i, (what, most) in enumerate((("vertical", 5), ("anterior", 10), ("lateral", None))):
        rows.append([what, f"{forces['right'][i]:.1f} %", f"{forces['left'][i]:.1f} %", f"{most} %" if most else ""])
        for side in forces:
            page.bound(f"gait2392 {what} {side} [%]", forces[side][i], most or 100)
    rows.append(["correlation of the vertical force", f"{forces['right'][3]:.3f}", f"{forces['left'][3]:.3f}", "0.98"])
    page.lines += table_of(["", "right", "left", "bound"], rows)
    page.add(
        f"Foot strike and toe-off: difference from the time at which the plate reads 20 N: {numpy.abs(events).mean():.0f} ms on average, "
        f"{numpy.abs(events).max():.0f} ms at most, of {len(events)} (bound 15 ms). Largest vertical force of a stance: "
        + ", ".join(f"{p:+.1f} %" for p in peaks)
        + f" (bound 8 %). Centre of pressure along the walk: {pressure:.0f} mm (median; bound 25 mm)."
    )
    page.bound("gait2392 events [ms]", float(numpy.abs(events).max()), 15)
    page.bound("gait2392 peaks [%]", float(numpy.abs(peaks).max()), 8)
    page.bound("gait2392 centre of pressure [mm]", pressure, 25)


def other_people(page: Page, stances: list[Stance]) -> None:
    page.add(
        "### Other people",
        "",
        "Two people walking over ground, from their markers (`tools/plate_walks.py`): gait2392 is "
        "[fitted](guide/people.md#markers) to each of them, with the mass measured by the plates. Sole velocity at touchdown, "
        "the distribution of pressure over a sole, the uncertainty of horizontal forces, load sharing between the feet and the "
        "rule for the cut-off frequency were chosen with these three walks in view; errors for other people may be larger. "
        "Plates are zeroed while unloaded and not filtered. Both barefoot foot strikes of the first person have impact peaks of "
        "30 ms, which filtered motion cannot reproduce. The second person's left foot is half off its plate.",
        "",
        "![forces of three stances, compared with the plates](images/validation_others.svg)",
    )
    page.lines += table_of(
        ["stance", "vertical", "anterior", "correlation", "pressure", "foot strike", "toe-off", "largest force"],
        [
            [
                f"{s.person}, {s.side}",
                f"{s.vertical:.1f} %",
                f"{s.anterior:.1f} %",
                f"{s.correlation:.3f}",
                f"{s.pressure:.0f} mm",
                f"{s.landing:+.0f} ms",
                f"{s.leaving:+.0f} ms",
                f"{s.peak:+.1f} %",
            ]
            for s in stances
        ]
        + [["bound", "5 %", "10 %", "0.98", "25 mm", "15 ms", "15 ms", "8 %"]],
    )
    for s in stances:
        for what, value, most in (
            ("vertical [%]", s.vertical, 5),
            ("anterior [%]", s.anterior, 10),
            ("pressure [mm]", s.pressure, 25),
            ("landing [ms]", abs(s.landing), 15),
            ("leaving [ms]", abs(s.leaving), 15),
            ("peak [%]", abs(s.peak), 8),
        ):
            page.bound(f"{s.person} {s.side} {what}", value, most)


def joint_moments(page: Page, binary: Path, data: Path, folder: Path) -> None:
    page.add(
        "## Joint moments under measured forces",
        "",
        "gait2392 from its own setup file, compared with the reference table that ships with OpenSim, in percent of each range. "
        "That table was computed with a different model than the one that ships with it: the rotational inertias of its "
        "segments were scaled by mass only, those of the shipped model by length as well, and its toes have other inertias, "
        "which are inferred here from the table. OpenSim 4.6 with the shipped model differs from the table as much as Kansetsu "
        "does (1.5 to 6.2 % at pelvis, trunk and toes), and from Kansetsu by at most 0.08 %; with the inertias of the table "
        "OpenSim reproduces trunk and toes to 0.001 %, Kansetsu to 0.03 %. The remaining difference grows with the load on a "
        "foot and corresponds to at most 1.3 mm of its centre of pressure (bound 1 %).",
    )
    compared = moments(binary, data, folder)
    page.lines += table_of(
        ["coordinate", "model as shipped", "inertias of the table"], [[name, f"{a:.2f} %", f"{b:.2f} %"] for name, a, b in compared]
    )
    for name, _, share in compared:
        page.bound(f"{name}, inertias of the table [%]", share, 1)
    page.add(
        "With `--reduce-residuals`: " + reduction(binary, data) + " (bounds 2 %, 20 mm).",
        "",
        "## Joint moments from motion alone",
        "",
        "The same walk without its plates, compared with the moments under measured forces (bound 0.9).",
    )
    predicted = predicted_moments(binary, data, folder)
    page.lines += table_of(["coordinate", "correlation", "off by [% of the range]"], [[n, f"{r:.3f}", f"{e:.1f}"] for n, r, e in predicted])
    for name, r, _ in predicted:
        page.bound(f"{name}: 1 - correlation", 1 - r, 0.1)


def muscles(page: Page, binary: Path, data: Path) -> None:
    folder = data / "grf" / "opensim_walk_gait2392"
    told = json.loads(run(binary, "analyze", str(folder / "subject01_Setup_InverseDynamics.xml"), "--muscles", "--json").stdout)
    weight = told["mass"] * 9.80665
    page.add(
        "## Muscles",
        "",
        "The same walk under measured forces, with its moments distributed over the muscles of the model ([static "
        "optimization](theory/static_optimization.md), which compares it with OpenSim). The table has the largest contact force "
        "of each joint, in body weights. Instrumented knee implants measure 2 to 3 in walking; this model with its few muscles "
        "gives more, in OpenSim as well.",
    )
    page.lines += table_of(["joint towards", "largest force"], [[link, f"{f / weight:.2f}"] for link, f in told["joint_loads"].items()])


def belts(page: Page, binary: Path, walk: Walk, files: list[Path], folder: Path) -> None:
    page.add(
        "## Belts",
        "",
        "Overground walks whose mean velocity is subtracted: the estimated belt speed, and the difference of the feet's "
        "vertical forces (root mean square, in percent of the weight; bound 2 %).",
    )
    rows = []
    for file in files:
        belt, apart = treadmill(binary, file, folder)
        rows.append([file.stem, f"{belt:.2f} m/s" if belt else "none", f"{apart:.2f} %"])
        page.bound(f"belt of {file.stem} [%]", apart, 2)
    added = belt_added(binary, walk, folder)
    page.bound("belt of gait2392 [%]", added, 2)
    page.lines += table_of(["clip", "belt", "forces differ"], rows)
    page.add(f"gait2392 was recorded on a belt; with its motion added back, vertical forces differ by {added:.2f} % of their range.")


def clip_list(page: Page, table: list[dict]) -> None:
    page.add(
        "## Clips",
        "",
        "Each clip is retargeted to human28. Supported: vertical force of the supports divided by the required one. Lacking: "
        "frames that require a fifth of the weight but have no contact. Residual: unexplained force, root mean square, in body "
        "weights. Warnings: intervals in which the supported weight is off by 5 % over one second, flight phases that are not "
        "free fall, and residuals above a tenth of the weight. A warning also names clips that fall faster than gravity, "
        "because their frame rate is wrong.",
        "",
        "![vertical forces of a run and of a jump, in weights](images/validation_clips.svg)",
    )
    page.lines += table_of(
        ["clip", "[s]", "supported", "lacking", "flight [s]", "residual", "warnings", "falls at"],
        [
            [
                c["name"],
                f"{c['duration']:.1f}",
                f"{c['supported']:.1f} %",
                f"{c['lacking']:.1f} %",
                f"{c['flight']:.2f}",
                f"{c['residual']:.1f} %",
                str(c["warnings"]),
                f"{c['fall']:.1f} g",
            ]
            for c in table
        ],
    )
    for c in table:
        page.bound(f"{c['name']}: lacking without a warning [%]", 0 if c["warnings"] else c["lacking"], 2)
    slower = [f"{c['name']} with {c['slower'][0]} frames a second, {c['slower'][1]:.1f} %" for c in table if c["slower"]]
    page.add("Residuals of clips that play too fast, at the frame rate that the warning suggests: " + "; ".join(slower) + ".")
    page.bound("clips that lack support in 2 % of their frames", sum(c["lacking"] > 2 for c in table), 3)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    options = parser.parse_args()
    mocap, images = options.data / "mocap", ROOT / "docs" / "images"
    page = Page()
    page.add(
        "# Measured people",
        "",
        "How closely `kansetsu analyze` agrees with instruments and with OpenSim. "
        "`tools/validate_people.py --bin build/kansetsu --data DATA` writes this page.",
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with tarfile.open(mocap / "bvh_cmu_more.tar.xz") as more:
            more.extractall(folder / "more", filter="data")
        files = sorted(mocap.glob("bvh_cmu_cgspeed/*.bvh")) + sorted(mocap.glob("asf_amc/*.amc")) + sorted((folder / "more").rglob("*.bvh"))
        named = {file.stem: file for file in files}
        walk = Walk(options.bin, options.data, folder)
        seen_walk(page, walk)
        stances = [s for person in PEOPLE for s in measure(options.bin, options.data, folder, person)]
        other_people(page, stances)
        joint_moments(page, options.bin, options.data, folder)
        muscles(page, options.bin, options.data)
        belts(page, options.bin, walk, [f for f in files if "walk" in f.stem], folder)
        seen = markers(options.bin, options.data, folder)
        page.add(
            "## Markers",
            "",
            f"The {seen['count']} markers of gait2392's walk: residual {seen['kept']:.1f} mm (rms) with the segment sizes and marker positions of the "
            f"model, {seen['fitted']:.1f} mm with fitted ones. The model's shoulder markers are 6 cm from the measured ones; without fitting, angles "
            "therefore differ from those of OpenSim, which weights its markers (root mean square): " + ", ".join(f"{name} {value:.2f}°" for name, value in seen["apart"].items()) + ".",
        )
        clip_list(page, clips(options.bin, files))
        (images / "validation_walk.svg").write_text(walk.picture())
        (images / "validation_others.svg").write_text(others_picture(stances))
        (images / "validation_clips.svg").write_text(
            chart(
                [
                    (f"{name}: vertical force [weights]", -0.2, 4, clip_forces(options.bin, named[name], folder))
                    for name in ("run__16_40", "cmu_16_01_jump")
                ]
            )
        )
    text = "\n".join(page.lines).rstrip() + "\n"
    (ROOT / "docs" / "validation.md").write_text(text)
    sys.stdout.write(text)
    for missed in page.missed:
        sys.stderr.write(f"missed: {missed}\n")
    return 1 if page.missed else 0


if __name__ == "__main__":
    sys.exit(main())
