#!/usr/bin/env python3
"""Which share of the lines of src/ tests have run, by module.

usage: tools/coverage.py BUILD

BUILD is a build with clang's -fprofile-instr-generate -fcoverage-mapping whose tests have written BUILD/profiles/*.profraw (script/check coverage
does all of it). Prints a table, writes the files with what they lack to BUILD/report.txt, and fails below the share that is asked for.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
LEAST = 0.90  # of the lines of src/


def by_module(files: list[dict], root: Path) -> dict[str, list[int]]:
    """Lines that ran and lines there are, of files below src/ that are no tests."""
    found: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    for file in files:
        path = Path(file["filename"])
        if not path.is_relative_to(root / "src") or "test" in path.parts:
            continue
        lines = file["summary"]["lines"]
        module = found[path.relative_to(root / "src").parts[0]]
        module[0] += lines["covered"]
        module[1] += lines["count"]
    return found


def main() -> int:
    if len(sys.argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    build = Path(sys.argv[1]).resolve()
    merged = build / "merged.profdata"
    profiles = sorted(map(str, (build / "profiles").glob("*.profraw")))
    programs = [p for p in sorted([*build.glob("src/*/test_*"), *build.glob("tests/test_*")]) if p.is_file()]
    if not profiles or not programs:
        print(f"coverage.py: no profiles or no tests in {build}", file=sys.stderr)
        return 2
    subprocess.run(["llvm-profdata-19", "merge", "-sparse", *profiles, "-o", merged], check=True)
    objects = [str(programs[0]), *(f"--object={p}" for p in programs[1:])]
    told = subprocess.run(["llvm-cov-19", "export", "-summary-only", f"-instr-profile={merged}", *objects], capture_output=True, text=True, check=True)
    files = json.loads(told.stdout)["data"][0]["files"]
    modules = by_module(files, ROOT)
    total = [sum(column) for column in zip(*modules.values())]
    for name, (ran, all_lines) in [*sorted(modules.items()), ("src", total)]:
        print(f"{name:<12}{100 * ran / max(all_lines, 1):6.1f} %  {ran} of {all_lines} lines")
    worst = sorted((f for f in files if Path(f["filename"]).is_relative_to(ROOT / "src")), key=lambda f: f["summary"]["lines"]["percent"])
    (build / "report.txt").write_text("".join(f"{f['summary']['lines']['percent']:6.1f} %  {f['filename']}\n" for f in worst))
    return total[0] < LEAST * total[1]


if __name__ == "__main__":
    sys.exit(main())
