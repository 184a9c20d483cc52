#!/usr/bin/env python3
"""Draws learning curves that examples/python/ppo.py wrote with --curve: mean reward of a step over steps.

usage: bench/learning_plot.py OUT.svg TITLE CURVE.csv...       the name of a file is that of its curve
"""

import csv
import sys
from pathlib import Path

from plots import Picture

COLORS = ["kansetsu", "fp64", "pinocchio", "other"]


def read(file):
    with Path(file).open() as rows:
        return [(float(row["steps"]), float(row["reward"])) for row in csv.DictReader(rows)]


def main():
    target, title, *files = sys.argv[1:]
    curves = {Path(file).stem: read(file) for file in files}
    picture, left, top, height = Picture(title), 60, 60, 240
    width = picture.width - left - 130
    end = max(points[-1][0] for points in curves.values())
    low = min(0.0, *(v for points in curves.values() for _, v in points))
    high = max(v for points in curves.values() for _, v in points)
    x = lambda steps: left + width * steps / end
    y = lambda value: top + height * (high - value) / (high - low)
    for k in range(11):
        value = k / 10
        if low <= value <= high:
            picture.line(left, y(value), left + width, y(value))
            picture.text(left - 6, y(value) + 4, f"{value:g}", "small", "end", "faint")
    for k in range(0, int(end / 1e5) + 1):
        picture.text(x(1e5 * k), top + height + 16, f"{100 * k} 000" if k else "0", "small", "middle", "faint")
    last = -1e9
    for color, (name, points) in sorted(zip(COLORS, curves.items()), key=lambda item: y(item[1][1][-1][1])):
        picture.curve([(x(t), y(v)) for t, v in points], color, marker=False)
        last = max(y(points[-1][1]), last + 14)
        picture.text(left + width + 10, last + 4, name.replace("_", " "), "small", "start", color)
    picture.height = max(picture.height, top + height + 30)
    Path(target).write_text(picture.svg())


if __name__ == "__main__":
    main()
