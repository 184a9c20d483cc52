#!/usr/bin/env python3
"""Makes tables of what bench_driver measured.

usage: bench/report.py RAW [--json FILE] [--docs FOLDER] [--commit ID] [--compile-seconds NAME=SECONDS]...

Prints the table, writes the rows with everything known about the run to --json, and benchmarks.md and benchmarks.svg to
--docs. Exits with 1 if Pinocchio is not among the libraries or if a result differs from another library's by more than
TOLERANCE.
"""

import argparse
import json
import sys
from pathlib import Path

# Relative to the largest number of a result. Long chains amplify rounding: M of chain128 has a condition near 1e8.
TOLERANCE = 1e-6
# Factors whose inverse is no bigger news than noise.
EVEN = 1.05
COLUMNS = [("kansetsu", "gcc"), ("kansetsu", "clang"), ("pinocchio", "clang"), ("pinocchio", "gcc"), ("mujoco", "wheel")]
COMMAND = "script/bench --docs"


def key(row):
    return row["lib"], row["compiler"]


def lines_of(rows):
    """One line per model, algorithm and mode of ours: (row of ours by gcc, {column: best row of that library})."""
    groups = {}
    for row in rows:
        groups.setdefault((row["model"], row["algo"]), []).append(row)
    for members in groups.values():
        for mode in dict.fromkeys(r["mode"] for r in members if r["lib"] == "kansetsu"):
            shown = {}
            for row in members:
                if row["lib"] == "kansetsu" and row["mode"] != mode:
                    continue
                if key(row) not in shown or row["ns_median"] < shown[key(row)]["ns_median"]:
                    shown[key(row)] = row
            ours = shown.get(("kansetsu", "gcc")) or shown[("kansetsu", "clang")]
            yield ours, shown


def label(row):
    return f"{row['algo']} ({row['mode']})" if row["mode"] else row["algo"]


def time_text(ns):
    return f"{ns:.0f}" if ns < 9999.5 else f"{ns / 1000:.1f} k"


def table(rows, columns):
    """Cells as text, header first."""
    head = ["model", "nv", "algorithm"] + [f"{lib} {compiler}" for lib, compiler in columns] + ["p99", "ratio", "error"]
    out = [head]
    for ours, shown in lines_of(rows):
        cells = [ours["model"], str(ours["nv"]), label(ours)]
        cells += [time_text(shown[c]["ns_median"]) if c in shown else "-" for c in columns]
        ratio = ours["ratio_to_best_peer"]
        cells += [time_text(ours["ns_p99"]), "" if ratio is None else f"{ratio:.2f}",
                  "" if ours["error"] is None else f"{ours['error']:.0e}"]
        out.append(cells)
    return out


def plain(cells):
    widths = [max(len(row[i]) for row in cells) for i in range(len(cells[0]))]
    left = {0, 2}
    return "\n".join("  ".join(c.ljust(w) if i in left else c.rjust(w) for i, (c, w) in enumerate(zip(row, widths)))
                     for row in cells)


def markdown(cells, bold_ratio=True):
    out = ["| " + " | ".join(cells[0]) + " |", "|" + "|".join("---" if i in (0, 2) else "--:" for i in range(len(cells[0]))) + "|"]
    ratio = cells[0].index("ratio")
    for row in cells[1:]:
        row = list(row)
        if bold_ratio and row[ratio] and float(row[ratio]) > 1:
            row[ratio] = f"**{row[ratio]}**"
        out.append("| " + " | ".join(row) + " |")
    return "\n".join(out)


def losses(rows):
    return [f"{ours['model']} {label(ours)}: {ours['ratio_to_best_peer']:.2f} × the time of the fastest peer"
            for ours, _ in lines_of(rows) if (ours["ratio_to_best_peer"] or 0) > EVEN]


def describe_machine(data):
    out = [f"CPU: {data['cpu']}, pinned to core {data['core']}, governor {data['governor']}, load {data['load_at_start']}",
           f"commit: {data['commit']}"]
    for lib in data["libraries"]:
        out.append(f"{lib['lib']} {lib['version']}: {lib['compiler']}, {lib['flags']}, instruction set {lib['instruction_set']}")
    for name, seconds in data["compile_seconds"].items():
        out.append(f"compile time of a file that calls RNEA, CRBA and ABA through the public headers, {name} -O2: {seconds} s")
    return out


DOCS = """# Speed, beside other libraries

Made by `{command}`; do not edit. Nanoseconds per call, one thread, lower is better. *ratio* is Kansetsu's time (gcc, the product
build) divided by the fastest peer's, any compiler and any mode of it; **bold** where Kansetsu is slower. *p99* is Kansetsu's.
*error* is the largest difference between Kansetsu's result and Pinocchio's over {checked} states, relative to the
largest number in the result.

![Time relative to the fastest peer, human28](benchmarks.svg)

## How it is measured

All libraries run in one process, each in its own plug-in, on the same models and the same {states} random states (joints anywhere,
everything moving), which are cycled through. For each model and algorithm they take turns, {repetitions} times; each number is the
median over the turns of the median over all calls of a turn (calls under 1 µs are timed in small groups). Results are compared
before anything is timed. Kansetsu is called through its public functions; Pinocchio is compiled from its headers with
`-O3 -march=native` by both compilers and the best of its conventions (local, world) counts; MuJoCo is the library of its wheel,
through the functions its pipeline consists of (`mj_kinematics`, `mj_comPos`, `mj_comVel`, `mj_rne`, `mj_makeM`, `mj_factorM`,
`mj_solveM`), and has no analytic derivatives. Links joined by fixed joints are merged for all. human28 has rotor inertias of
0.01 kg·m² in all libraries. What each computes:

| algorithm | Kansetsu | Pinocchio | MuJoCo |
|---|---|---|---|
| fk | `fk` | `forwardKinematics` | `mj_kinematics` |
| jacobians | `joint_axes` | `computeJointJacobians` | `mj_comPos` after `mj_kinematics` |
| rnea | `rnea` | `rnea` | `mj_rne` with accelerations, after kinematics |
| crba (dense) | `crba`, both triangles | `crba`, upper triangle | `mj_makeM`, sparse |
| crba (sparse) | `crba`, lower triangle, compressed rows | as above | as above |
| aba | `aba` | `aba` | `mj_makeM`, `mj_factorM`, `mj_rne`, `mj_solveM` |
| minverse | `mass_matrix_inverse`, both triangles | `computeMinverse`, upper triangle | `mj_solveM` on the identity |
| rnea_derivatives | `rnea_derivatives`: ∂q, ∂v and M | `computeRNEADerivatives`: the same | - |
| aba_derivatives | `aba_derivatives`: v̇, ∂q, ∂v and M⁻¹ | `computeABADerivatives`: the same | - |

## This run

{machine}

{tables}

## Where Kansetsu is slower

{losses}
"""


def docs_text(data, columns):
    models = list(dict.fromkeys(r["model"] for r in data["rows"]))
    tables = "\n\n".join(markdown(table([r for r in data["rows"] if r["model"] == m], columns)) for m in models)
    slower = losses(data["rows"])
    missing = [f"- models left out, their files were not there: {', '.join(data['missing_models'])}"] if data["missing_models"] else []
    return DOCS.format(command=COMMAND, checked=data["checked"], states=data["states"], repetitions=data["repetitions"],
                       machine="\n".join([f"- {line}" for line in describe_machine(data)] + missing), tables=tables,
                       losses="\n".join(f"- {line}" for line in slower) or f"Nowhere by more than {EVEN:.2f} × in this run.")


COLORS = {"kansetsu": "#1f6f8b", "pinocchio": "#c8963e", "mujoco": "#8a8a8a"}


def svg(rows, columns, model="human28"):
    """Bars: time relative to the fastest peer, one group per algorithm."""
    groups = list(lines_of([r for r in rows if r["model"] == model and r["ratio_to_best_peer"] is not None]))
    if not groups:
        return None
    bar, gap, left, width, most = 13, 12, 170, 860, 3.0
    scale = (width - left - 60) / most
    parts, y = [], 58
    for ours, shown in groups:
        top = y
        for column in columns:
            if column not in shown:
                continue
            ratio = shown[column]["ratio_to_best_peer"]
            faded = "" if column in (("kansetsu", "gcc"), ("pinocchio", "clang"), ("mujoco", "wheel")) else ' opacity="0.55"'
            length = min(ratio, most) * scale
            parts.append(f'<rect x="{left}" y="{y}" width="{length:.1f}" height="{bar - 2}" fill="{COLORS[column[0]]}"{faded}/>')
            text = f"{time_text(shown[column]['ns_median'])} ns" + (" →" if ratio > most else "")
            parts.append(f'<text x="{left + length + 4:.1f}" y="{y + bar - 4}" font-size="10">{text}</text>')
            y += bar
        parts.append(f'<text x="{left - 8}" y="{(top + y) / 2 + 4}" text-anchor="end">{label(ours)}</text>')
        y += gap
    for tick in (0.5, 1, 1.5, 2, 2.5, 3):
        x = left + tick * scale
        style = "#444" if tick == 1 else "#ddd"
        parts.insert(0, f'<line x1="{x}" y1="50" x2="{x}" y2="{y}" stroke="{style}"/>'
                        f'<text x="{x}" y="{y + 14}" text-anchor="middle" font-size="10">{tick:g}</text>')
    legend, x = [], left
    for lib, compiler in columns:
        if not any((lib, compiler) in shown for _, shown in groups):
            continue
        faded = "" if (lib, compiler) in (("kansetsu", "gcc"), ("pinocchio", "clang"), ("mujoco", "wheel")) else ' opacity="0.55"'
        legend.append(f'<rect x="{x}" y="32" width="10" height="10" fill="{COLORS[lib]}"{faded}/>'
                      f'<text x="{x + 14}" y="41" font-size="11">{lib} {compiler}</text>')
        x += 132
    title = f'<text x="{left}" y="20" font-size="14">{model}: time relative to the fastest peer (shorter is better)</text>'
    return (f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{y + 24}" font-family="sans-serif" font-size="12">'
            f'<rect width="100%" height="100%" fill="white"/>{title}{"".join(legend)}{"".join(parts)}</svg>\n')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("raw", type=Path)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--compile-seconds", action="append", default=[])
    args = parser.parse_args()

    data = json.loads(args.raw.read_text())
    data["commit"] = args.commit
    data["compile_seconds"] = {name: float(s) for name, s in (item.split("=") for item in args.compile_seconds)}
    if args.json:
        args.json.write_text(json.dumps(data, indent=1) + "\n")
    present = {key(row) for row in data["rows"]}
    columns = [c for c in COLUMNS if c in present]
    print("\n".join(describe_machine(data)))
    print("\nns per call; ratio = kansetsu gcc / fastest peer\n")
    print(plain(table(data["rows"], columns)))
    if args.docs:
        args.docs.mkdir(exist_ok=True)
        (args.docs / "benchmarks.md").write_text(docs_text(data, columns))
        picture = svg(data["rows"], columns)
        if picture:
            (args.docs / "benchmarks.svg").write_text(picture)

    status = 0
    if not any(row["lib"] == "pinocchio" for row in data["rows"]):
        print("bench: Pinocchio is missing, there is nothing to compare with", file=sys.stderr)
        status = 1
    for row in data["rows"]:
        if row["error"] is not None and not row["error"] <= TOLERANCE:
            print(f"bench: {row['model']} {label(row)}: {row['lib']} {row['compiler']} differs by {row['error']:.1e}", file=sys.stderr)
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
