#!/usr/bin/env python3
"""Holds `kansetsu analyze` against force plates and OpenSim, and writes docs/validation.md with its pictures.

usage: tools/validate_people.py --bin build/kansetsu --data ../shared/data --treadmill treadmill_events.c3d

Needs numpy, and recorded files: grf/ and mocap/ under the data folder. Prints the page, names every bound that is missed on standard
error, and exits with 1 if there is one.
"""

from __future__ import annotations

import argparse
import json
import sys
import tarfile
import tempfile
from pathlib import Path

import numpy
from people_charts import chart, others_picture
from people_measures import Walk, belt_added, clip_forces, clips, markers, moments, predicted_moments, reduction, run, treadmill
from plate_walks import PEOPLE, Stance, measure
from treadmill_walk import BeltWalk, measure_belt_walk

ROOT = Path(__file__).resolve().parent.parent


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
        f"The walk of OpenSim's gait2392 (72.6 kg, 60 Hz, on a treadmill at {walk.belt:.2f} m/s, an estimated speed), compared "
        "with its force plates. Errors "
        "are root mean squares over the whole clip, in percent of the range of the plate's force. The scales of height and of toe-off "
        "speed in the [contact costs](theory/contacts.md), and the height of the point towards which forces are directed, were chosen on "
        "this walk; two other people are [below](#other-people).",
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


def held_out(page: Page, walks: list[BeltWalk]) -> None:
    """Beside the plates as they are (the first), and without their delay."""
    page.add(
        "### A person not used for tuning",
        "",
        "No parameter of the analysis was chosen with this walk in view: a belt at 1.1 m/s, a plate under each foot, no markers on the arms "
        "(`tools/treadmill_walk.py` names the file; `--treadmill FILE`). The sum of both plates fits the force that the motion requires best "
        f"if the plates are taken to be {walks[1].delay:.0f} ms late, whatever the contacts are: a delay of the treadmill's amplifiers, or of tissue "
        "that follows the bones. Without this delay the error of the vertical force is halved.",
    )

    def row(what: str, show: str, values: list[float]) -> list[str]:
        return [what, *(show.format(v) for v in values)]

    page.lines += table_of(
        ["", "plates as they are", "without their delay", "bound"],
        [
            [*row("total vertical force", "{:.1f} %", [w.total for w in walks]), ""],
            [*row(f"vertical, worst of {len(walks[0].vertical)} stances", "{:.1f} %", [max(w.vertical) for w in walks]), "5 %"],
            [*row("anterior, worst", "{:.1f} %", [max(w.anterior) for w in walks]), "10 %"],
            [*row(f"foot strike, mean of {len(walks[0].landings)}", "{:+.0f} ms", [float(numpy.mean(w.landings)) for w in walks]), ""],
            [*row("foot strike, worst", "{:.0f} ms", [float(numpy.abs(w.landings).max()) for w in walks]), "15 ms"],
            [*row(f"toe-off, mean of {len(walks[0].leavings)}", "{:+.0f} ms", [float(numpy.mean(w.leavings)) for w in walks]), ""],
            [*row("toe-off, worst", "{:.0f} ms", [float(numpy.abs(w.leavings).max()) for w in walks]), "15 ms"],
        ],
    )
    for what, values, most in (
        ("vertical [%]", walks[0].vertical, 5),
        ("anterior [%]", walks[0].anterior, 10),
        ("landing [ms]", walks[0].landings, 15),
        ("leaving [ms]", walks[0].leavings, 15),
    ):
        page.bound(f"treadmill, {what}", float(numpy.abs(values).max()), most)


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
    parser.add_argument("--treadmill", type=Path, help="C3D file that tools/treadmill_walk.py names")
    options = parser.parse_args()
    mocap, images = options.data / "mocap", ROOT / "docs" / "images"
    page = Page()
    page.add(
        "# Measured people",
        "",
        "How closely `kansetsu analyze` agrees with instruments and with OpenSim. "
        "`tools/validate_people.py --bin build/kansetsu --data DATA --treadmill C3D` writes this page.",
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
        if options.treadmill:
            held_out(page, measure_belt_walk(options.bin, options.treadmill, walk.data / "subject01.osim", folder))
        joint_moments(page, options.bin, options.data, folder)
        muscles(page, options.bin, options.data)
        belts(page, options.bin, walk, [f for f in files if "walk" in f.stem], folder)
        seen = markers(options.bin, options.data, folder)
        page.add(
            "## Markers",
            "",
            f"The {seen['count']} markers of gait2392's walk: residual {seen['kept']:.1f} mm (rms) with the segment sizes and marker "
            f"positions of the model, {seen['fitted']:.1f} mm with fitted ones. The model's shoulder markers are 6 cm from the measured "
            "ones; without fitting, angles therefore differ from those of OpenSim, which weights its markers (root mean square): "
            + ", ".join(f"{name} {value:.2f}°" for name, value in seen["apart"].items())
            + ".",
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
