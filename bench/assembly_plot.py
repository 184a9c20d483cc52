#!/usr/bin/env python3
"""Draws the rows of assembly_bench: time per link over the number of links, one curve per method and number of threads.

usage: bench/assembly_plot.py [--threads 1,4,16] [--least LINKS] OUT.svg TITLE ROWS.jsonl...

A method that stands in several files is taken from the first that has it for the structure.
"""

import json
import math
import sys

from plots import Picture, text_width

SERIES = {"aba": "mujoco", "aba + responses": "mujoco", "serial": "pinocchio", "assembly": "kansetsu", "segments": "fp64",
          "cuda": "fp32", "cuda without copies": "fp32", "cuda kernel": "other"}
DASHES = ["", "6 3", "2 3", "8 3 2 3"]


def panel(picture, rows, structure, top, height=300, left=70):
    rows = [r for r in rows if r["structure"] == structure and r["method"] in SERIES]
    sizes = sorted({r["links"] for r in rows})
    values = [r["us"] / r["links"] for r in rows]
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    width = picture.width - left - 190
    x = lambda n: left + width * (math.log2(n) - math.log2(sizes[0])) / max(1, math.log2(sizes[-1]) - math.log2(sizes[0]))
    y = lambda v: top + height * (high - math.log10(v)) / (high - low)
    picture.text(left, top - 12, f"{structure}: µs per link")
    for decade in range(low, high + 1):
        picture.line(left, y(10.0**decade), left + width, y(10.0**decade))
        picture.text(left - 6, y(10.0**decade) + 4, f"{10.0**decade:g}", "small", "end", "faint")
    free = -1e9
    for n in sizes:  # figures that do not touch
        half = 0.5 * text_width(str(n), 10.5)
        if x(n) - half > free:
            picture.text(x(n), top + height + 16, str(n), "small", "middle", "faint")
            free = x(n) + half + 4
    threads = sorted({r["threads"] for r in rows})
    ends = []
    for method in SERIES:
        for t in threads:
            points = sorted((r["links"], r["us"] / r["links"]) for r in rows if r["method"] == method and r["threads"] == t)
            if not points:
                continue
            dash = "" if t <= 1 else DASHES[min(threads.index(t), len(DASHES) - 1)]
            picture.curve([(x(n), y(v)) for n, v in points], SERIES[method], dash)
            name = method if t == 0 or method.startswith(("aba", "serial")) else f"{method}, {t} thread{'s' if t > 1 else ''}"
            ends.append((x(points[-1][0]), y(points[-1][1]), name, SERIES[method]))
    for column in sorted({end for end, *_ in ends}):  # beside the end of its curve, apart from each other, above the axis
        names = sorted(rest for end, *rest in ends if end == column)
        places = []
        for at, *_ in names:
            places.append(max(at, places[-1] + 14) if places else at)
        up = max(0, places[-1] - (top + height - 6))
        for place, (_, name, color) in zip(places, names):
            picture.text(column + 10, place - up + 4, name, "small", "start", color)
    return top + height + 50


def main():
    arguments, wanted, least = sys.argv[1:], None, 0
    while arguments[0].startswith("--"):
        option, value, *arguments = arguments
        if option == "--threads":
            wanted = {0, *map(int, value.split(","))}
        elif option == "--least":
            least = int(value)
        else:
            sys.exit(__doc__)
    target, title, *sources = arguments
    rows, known = [], set()
    for source in sources:
        with open(source) as file:
            new = [json.loads(line) for line in file if line.strip().startswith("{\"structure")]
        rows += [r for r in new if (r["structure"], r["method"]) not in known]
        known |= {(r["structure"], r["method"]) for r in new}
    rows = [r for r in rows if r["links"] >= least and (wanted is None or r["threads"] in wanted)]
    picture = Picture(title)
    top = 70
    for structure in ("chain", "tree", "ring"):
        if any(r["structure"] == structure for r in rows):
            top = panel(picture, rows, structure, top)
    picture.height = max(picture.height, top)
    with open(target, "w") as file:
        file.write(picture.svg())


if __name__ == "__main__":
    main()
