#!/usr/bin/env python3
"""How many MJCF files are read completely, and what the others use that is not supported: the counts in docs/formats/mjcf.md.

  count_mjcf.py KANSETSU FOLDER...     all files below the folders that have a <mujoco> element
"""

from __future__ import annotations

import collections
import json
import pathlib
import re
import subprocess
import sys

COMPLETE, PARTIAL = 0, 5  # exit codes of `kansetsu check`


def mjcf_files(folders: list[str]) -> list[pathlib.Path]:
    found = {p for folder in folders for p in pathlib.Path(folder).rglob("*.xml")}
    return sorted(p for p in found if "<mujoco" in p.read_text(errors="replace"))


def main() -> int:
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    kansetsu, folders = sys.argv[1], sys.argv[2:]
    outcomes = collections.Counter()
    uses: dict[str, set[str]] = collections.defaultdict(set)
    refused: list[str] = []
    for file in mjcf_files(folders):
        run = subprocess.run([kansetsu, "check", "--json", str(file)], capture_output=True, text=True)
        outcomes["complete" if run.returncode == COMPLETE else "partial" if run.returncode == PARTIAL else "refused"] += 1
        diagnostics = json.loads(run.stdout)["diagnostics"] if run.stdout else []
        if run.returncode not in (COMPLETE, PARTIAL):
            refused.append(f"{file}: " + "; ".join(d["message"] for d in diagnostics if d["severity"] == "error")[:160])
            continue
        for d in diagnostics:
            if d["partial"]:
                message = re.sub(r" \(\d+ times, first here\)", "", re.sub(r"'[^']*'", "'…'", d["message"]))
                uses[f"{d['code']} {message}"].add(str(file))
    print(f"{sum(outcomes.values())} files: " + ", ".join(f"{n} {what}" for what, n in outcomes.most_common()))
    for what, files in sorted(uses.items(), key=lambda item: -len(item[1])):
        print(f"{len(files):4d}  {what}\n        " + "\n        ".join(sorted(files)[:3]))
    for line in refused:
        print(f"refused: {line}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
