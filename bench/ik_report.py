#!/usr/bin/env python3
"""Puts together what bench_ik and bench/ik_peers.py measured: rows, and tables for the theory page.

usage: bench/ik_report.py FOLDER --json FILE [--docs FILE] [--results FILE] [--command TEXT] [--commit ID]

FOLDER holds NAME.json of bench_ik and NAME.peers.json of ik_peers.py for each arm, and human28.json. All rows go to --json, and
the tables to standard output; --docs writes them between the lines <!-- ik:begin --> and <!-- ik:end --> of that file and the
rows to --results, too.
"""

import argparse
import datetime
import json
import platform
from pathlib import Path

ARMS = {"panda": "Panda", "ur5": "UR5", "iiwa14": "iiwa 14", "atlas": "Atlas, left arm"}
SOLVED, BOTH, MEAN, MEDIAN = range(4)
# what a line of the table says: (text, solver, mode, what of it)
LINES = [("Kansetsu: solved", "kansetsu", "limits", SOLVED), ("Kansetsu: median, mean", "kansetsu", "limits", BOTH),
         ("Kansetsu, many targets in one call: solved", "kansetsu", "many", SOLVED),
         ("Kansetsu, many targets in one call: mean", "kansetsu", "many", MEAN),
         ("KDL, LMA with restarts until limits hold: solved", "KDL LMA", "limits", SOLVED),
         ("KDL, LMA with restarts until limits hold: median, mean", "KDL LMA", "limits", BOTH),
         ("KDL, NR with joint limits: solved", "KDL NR_JL", "limits", SOLVED),
         ("KDL, NR with joint limits: median, mean", "KDL NR_JL", "limits", BOTH),
         ("pink: solved", "pink", "limits", SOLVED), ("pink: median, mean", "pink", "limits", BOTH),
         ("mink: solved", "mink", "limits", SOLVED), ("mink: median, mean", "mink", "limits", BOTH),
         ("without limits, Kansetsu: median, mean", "kansetsu", "no limits", BOTH),
         ("without limits, KDL LMA: median, mean", "KDL LMA", "no limits", BOTH)]


def read_rows(folder):
    rows = []
    for file in sorted(folder.glob("*.json")):
        read = json.loads(file.read_text(encoding="utf-8"))
        if file.name.endswith(".peers.json"):
            arm = json.loads((folder / file.name.replace(".peers", "")).read_text(encoding="utf-8"))[0]
            for row in read:
                row |= {name: arm[name] for name in ("model", "link", "seed")}
        rows += read
    return rows


def us(x):
    return f"{x:.2f}" if x < 10 else f"{x:.0f}"


def cell(row, what):
    if row is None:
        return ""
    if what == SOLVED:
        return f"{row['solved_percent']:.2f} %"
    if what == MEAN:
        return us(row["us_mean"])
    return us(row["us_median"]) + (f", {us(row['us_mean'])}" if what == BOTH else "")


class Table:
    def __init__(self, rows):
        self.rows = {(row["model"], row["solver"], row["mode"]): row for row in rows}
        self.arms = [name for name in ARMS if (name, "kansetsu", "limits") in self.rows]

    def of(self, arm, solver, mode="limits"):
        return self.rows.get((arm, solver, mode))

    def line(self, text, cells):
        return "| " + " | ".join([text, *cells]) + " |"

    def times(self):
        lines = [self.line("with limits, µs per target", [ARMS[a] for a in self.arms]), "|---|" + "--:|" * len(self.arms)]
        for text, solver, mode, what in LINES:
            cells = [cell(self.of(arm, solver, mode), what) for arm in self.arms]
            if any(cells):
                lines.append(self.line(text, cells))
        return lines

    def ratios(self):
        """Medians against the best of KDL and against pink; many targets against one at a time, means."""
        def against(arm, *peers):
            known = [self.of(arm, peer) for peer in peers]
            best = min((row["us_median"] for row in known if row), default=None)
            return "" if best is None else f"{best / self.of(arm, 'kansetsu')['us_median']:.0f}×"

        many = [f"{self.of(a, 'kansetsu')['us_mean'] / self.of(a, 'kansetsu', 'many')['us_mean']:.1f}×" for a in self.arms]
        lines = [self.line("faster than", [ARMS[a] for a in self.arms]), "|---|" + "--:|" * len(self.arms),
                 self.line("KDL's best, median", [against(a, "KDL LMA", "KDL NR_JL") for a in self.arms])]
        for peer in ("pink", "mink"):
            if any(self.of(a, peer) for a in self.arms):
                lines.append(self.line(f"{peer}'s loop, median", [against(a, peer) for a in self.arms]))
        return [*lines, self.line("one at a time: many in one call, per core, mean", many)]

    def figure(self):
        row = self.of("human28", "kansetsu")
        if row is None:
            return []
        return [f"human28 with both hands, both feet and the centre of mass (27 rows, 34 coordinates, limits; {row['targets']} near targets, seed "
                f"{row['seed']}):", f"{row['solved_percent']:.1f} % solved, a solution {row['us_median']:.1f} µs "
                f"({1e3 / row['us_median']:.1f} kHz), an iteration {row['us_iteration']:.1f} µs, a differential step "
                f"{row['us_differential_step']:.1f} µs (medians)."]


def cpu_name():
    for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.machine()


def heading(rows, run):
    """Who was measured on how many targets, with which seed."""
    seeds = sorted({row["seed"] for row in rows if row["model"] in ARMS})
    counts = {}
    for row in rows:
        if row["model"] in ARMS:
            counts.setdefault(row["solver"].split()[0] + (f" {row['version']}" if "version" in row else ""), set()).add(row["targets"])
    who = ", ".join(f"{name} {' to '.join(map(str, sorted(count)))}" for name, count in counts.items())
    return [f"`{run['command']}`, {run['date']}, {run['cpu']}, one core; seed {', '.join(map(str, seeds))}; targets of each: {who}.", ""]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--json", type=Path, required=True)
    parser.add_argument("--docs", type=Path)
    parser.add_argument("--results", type=Path)
    parser.add_argument("--command", default="script/bench ik")
    parser.add_argument("--commit", default="unknown")
    options = parser.parse_args()
    rows = read_rows(options.folder)
    run = {"command": options.command, "commit": options.commit, "date": datetime.date.today().isoformat(), "cpu": cpu_name()}
    table = Table(rows)
    lines = [*heading(rows, run), *table.times(), "", *table.ratios(), "", *table.figure()]
    print("\n".join(lines))
    text = json.dumps(run | {"rows": rows}, indent=1) + "\n"
    options.json.write_text(text, encoding="utf-8")
    if options.results:
        options.results.parent.mkdir(parents=True, exist_ok=True)
        options.results.write_text(text, encoding="utf-8")
    if options.docs:
        page = options.docs.read_text(encoding="utf-8")
        begin, end = page.index("<!-- ik:begin -->\n") + len("<!-- ik:begin -->\n"), page.index("<!-- ik:end -->")
        options.docs.write_text(page[:begin] + "\n".join(lines) + "\n" + page[end:], encoding="utf-8")


if __name__ == "__main__":
    main()
