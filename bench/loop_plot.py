#!/usr/bin/env python3
"""Draws what script/soak wrote of mechanisms with closed loops: their gaps and the energy that nothing explains, over time.

usage: bench/loop_plot.py FOLDER OUT.svg TITLE       FOLDER holds one NAME.csv per mechanism
"""

import csv
import math
import sys
from pathlib import Path

from plots import Picture

COLORS = ["kansetsu", "fp64", "pinocchio", "other"]
FLOOR = 1e-17  # what is smaller, zero included, is drawn here


def read(folder):
    out = {}
    for file in sorted(Path(folder).glob("*.csv")):
        with file.open() as rows:
            out[file.stem] = [{key: float(value) for key, value in row.items()} for row in csv.DictReader(rows)]
    return out


def panel(picture, robots, title, value, limit, top, height=170, left=70):
    """A logarithmic panel of value(rows, i) of every robot, with the limit dashed if there is one."""
    width = picture.width - left - 130
    curves = {name: [(row["time"], max(value(rows, i), FLOOR)) for i, row in enumerate(rows)] for name, rows in robots.items()}
    values = [v for points in curves.values() for _, v in points] + ([limit] if limit else [])
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    end = max(points[-1][0] for points in curves.values())
    x = lambda t: left + width * t / end
    y = lambda v: top + height * (high - math.log10(v)) / (high - low)
    picture.text(left, top - 10, title)
    for decade in range(low, high + 1, 2):
        picture.line(left, y(10.0**decade), left + width, y(10.0**decade))
        picture.text(left - 6, y(10.0**decade) + 4, f"1e{decade}", "small", "end", "faint")
    for minute in range(0, int(end / 60) + 1, 10):
        picture.text(x(60 * minute), top + height + 16, f"{minute} min", "small", "middle", "faint")
    if limit:
        picture.line(left, y(limit), left + width, y(limit), "strong", 1, "6 3")
        picture.text(left + width + 10, y(limit) + 4, f"limit {limit:g}", "small", "start", "faint")
    last = -1e9
    for color, (name, points) in sorted(zip(COLORS, curves.items()), key=lambda item: y(item[1][1][-1][1])):
        picture.curve([(x(t), y(v)) for t, v in points], color, marker=False)
        last = max(y(points[-1][1]), last + 14)
        picture.text(left + width + 10, last + 4, name, "small", "start", color)
    return top + height + 50


def main():
    folder, target, title = sys.argv[1:4]
    robots = read(folder)
    picture = Picture(title)
    top = panel(picture, robots, "position gap of the loops, largest in each interval [m]", lambda rows, i: rows[i]["gap"], 1e-6, 70)
    top = panel(picture, robots, "angle gap [rad]", lambda rows, i: rows[i]["angle"], 1e-6, top)
    top = panel(picture, robots, "energy that nothing explains [J]", lambda rows, i: abs(rows[i]["unexplained"]), None, top)
    picture.height = max(picture.height, top - 20)
    Path(target).write_text(picture.svg())


if __name__ == "__main__":
    main()
