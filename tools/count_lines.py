#!/usr/bin/env python3
"""Counts lines of code: no blank lines, no comments, no tests.

usage: tools/count_lines.py [PATH...]        default: src, by module, and their sum
"""

import re
import sys
from pathlib import Path

SUFFIXES = {".h", ".cc", ".cu", ".cuh"}
BLOCK = re.compile(r"/\*.*?\*/", re.S)


def lines_of(path):
    """Lines of one file that hold code."""
    text = BLOCK.sub(lambda match: "\n" * match[0].count("\n"), path.read_text(encoding="utf-8"))
    return sum(1 for line in text.splitlines() if line.strip() and not line.strip().startswith("//"))


def count(folder):
    """Lines of a file, or of all sources below a folder but those in test/."""
    files = [folder] if folder.is_file() else [p for p in folder.rglob("*") if p.suffix in SUFFIXES]
    return sum(lines_of(path) for path in files if "test" not in path.parts)


def main(arguments):
    root = Path(__file__).resolve().parent.parent
    paths = [Path(a) for a in arguments] or sorted(p for p in (root / "src").iterdir() if p.is_dir())
    counts = [(path, count(path)) for path in paths]
    for path, lines in counts:
        print(f"{lines:7} {path.relative_to(root) if path.is_relative_to(root) else path}")
    print(f"{sum(lines for _, lines in counts):7} in all")


if __name__ == "__main__":
    main(sys.argv[1:])
