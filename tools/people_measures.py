"""What `kansetsu analyze` and `kansetsu fit` say of recorded people, beside force plates and OpenSim."""

from __future__ import annotations

import csv
import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import ClassVar

import numpy
from people_charts import Curve, chart
from plate_walks import read_table


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
        named = re.search(r"try --frame-rate (\S+)", reply.stderr)
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
