#!/usr/bin/env python3
"""usage: tools/check_tolerances.py [--list] [FOLDER]...

Tolerances of tests without a reason: a check compares with 1e-3 or less, and its line has neither a comment nor a name (of a constant: kName or
NAME) that tells where the number comes from. A comment above checks is for all of them, one on a line also for those below with the same number. Prints how many there are in each
folder; --list prints the lines. The exit code is 1 where a folder of CLEAN has one.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CHECK = re.compile(r"\b(CHECK|REQUIRE|CHECK_LE|CHECK_LT|WARN|assert|approx|epsilon|assert_allclose|allclose)\b")
TOLERANCE = re.compile(r"(?:<=?\s*|epsilon\(|(?:abs|rel|atol|rtol)\s*=\s*|\s[+-]\s)(\d+(?:\.\d+)?e-0*(\d+))\b")
NAMED = re.compile(r"\bk[A-Z]\w+|\b[A-Z][A-Z_]{2,}\b(?!\()")
CLEAN = ["src/base", "src/batch", "src/codegen", "src/dynamics", "src/kinematics", "src/model", "src/scene", "src/spatial", "tests/cross_engine", "tests/docs", "tests/invariants"]  # these have none


def folder_of(file: Path) -> str:
    parts = file.relative_to(ROOT).parts
    return "/".join(parts[:2])


def bare_lines(lines: list[str], comment: str) -> list[int]:
    """Numbers of lines that check with a tolerance in figures, and nothing that says why."""
    found, explained = [], ""
    for number, line in enumerate(lines, 1):
        code, _, why = line.partition(comment)
        tolerances = [value for value, power in TOLERANCE.findall(code) if int(power) >= 3] if CHECK.search(code) else []
        if not code.strip():
            explained = "all" if why.strip() else ""
        elif not tolerances:
            explained = explained if CHECK.search(code) else ""
        elif why.strip() or NAMED.search(re.sub(r"\b(CHECK|REQUIRE|WARN)\w*", "", code)):
            explained = tolerances[-1]
        elif explained not in ("all", tolerances[-1]):
            found.append(number)
    return found


def main() -> int:
    arguments = sys.argv[1:]
    listing = "--list" in arguments
    wanted = [a for a in arguments if a != "--list"]
    counts: dict[str, int] = {}
    for file in sorted([*ROOT.glob("src/*/test/*.cc"), *ROOT.glob("src/*/test/*.h"), *ROOT.glob("tests/**/*.cc"), *ROOT.glob("tests/**/*.py")]):
        folder = folder_of(file)
        if wanted and folder not in wanted:
            continue
        lines = file.read_text(encoding="utf-8").splitlines()
        for number in bare_lines(lines, "#" if file.suffix == ".py" else "//"):
            counts[folder] = counts.get(folder, 0) + 1
            if listing:
                print(f"{file.relative_to(ROOT)}:{number}: {lines[number - 1].strip()}")
    for folder, count in sorted(counts.items()):
        print(f"{folder}: {count}")
    print(f"{sum(counts.values())} tolerances without a reason on their line")
    soiled = [f for f in counts if f in CLEAN]
    for folder in soiled:
        print(f"{folder}: write on the line where its tolerance comes from (--list {folder})", file=sys.stderr)
    return 1 if soiled else 0


if __name__ == "__main__":
    raise SystemExit(main())
