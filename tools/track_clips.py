#!/usr/bin/env python3
"""Tracks every clip of a folder with `kansetsu track`, and prints how far each one is followed and how well.

usage: tools/track_clips.py --bin build/kansetsu --data ../shared/data/mocap [--half even|odd] [--only TEXT] [--json OUT]

Clips are sorted by name and numbered. Constants of the tracker are to be chosen on those with even numbers only; those with odd
numbers show what the constants are worth.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tarfile
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HALVES = ("even", "odd")


def clips_of(data: Path, folder: Path) -> list[Path]:
    """Every motion file, archives unpacked into the folder, sorted by name."""
    for archive in sorted(data.glob("*.tar.xz")):
        with tarfile.open(archive) as tar:
            tar.extractall(folder, filter="data")
    found = [p for root in (data, folder) for p in root.rglob("*") if p.suffix in (".bvh", ".amc")]
    return sorted(found, key=lambda p: p.name)


def track(command: Path, clip: Path, seconds: float, options: list[str]) -> dict:
    """The report of the command, or what went wrong."""
    try:
        done = subprocess.run([command, "track", clip, "--json", *options], capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {"status": "timeout", "cause": f"no answer within {seconds:.0f} s"}
    if not done.stdout.strip():
        return {"status": "error", "cause": done.stderr.strip()}
    return json.loads(done.stdout)


def row(name: str, half: str, r: dict) -> list[str]:
    def number(key: str, form: str) -> str:
        return format(r[key], form) if key in r else "–"

    return [
        name,
        half,
        r["status"],
        f"{number('seconds', '.2f')} of {number('clip_seconds', '.2f')}",
        number("joint_error", ".3f"),
        number("path_error", ".3f"),
        number("foot_slide", ".3f"),
        number("peak_weights", ".1f"),
        number("jerk_ratio", ".2f"),
        number("wall_seconds", ".1f"),
        r.get("cause", ""),
    ]


HEAD = ["clip", "half", "status", "followed [s]", "joints [rad]", "path [m]", "slide [m]", "peak [BW]", "jerk", "wall [s]", "cause"]


def close(r: dict) -> bool:
    """Whether a clip that was followed to its end still looks like itself: joints within 0.3 rad, the path within 0.5 m."""
    return r["joint_error"] < 0.3 and r["path_error"] < 0.5


def summary(half: str, reports: list[dict]) -> str:
    whole = [r for r in reports if r["status"] == "ok"]
    part = [min(r["seconds"] / r["clip_seconds"], 1) if "clip_seconds" in r else 0 for r in reports]

    def mean(key: str) -> float:
        return sum(r[key] for r in whole) / max(len(whole), 1)

    return (
        f"{half}: {len(whole)} of {len(reports)} to the end, {sum(map(close, whole))} of them close, "
        f"{sum(not r['corrections'] for r in whole)} without corrections; {100 * sum(part) / max(len(part), 1):.1f} % of the time; "
        f"means: joints {mean('joint_error'):.3f} rad, path {mean('path_error'):.3f} m, slide {mean('foot_slide'):.3f} m, "
        f"peak {mean('peak_weights'):.1f} BW, jerk {mean('jerk_ratio'):.2f}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bin", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--half", choices=HALVES)
    parser.add_argument("--only", default="")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--timeout", type=float, default=600)
    parser.add_argument("--json", type=Path)
    parser.add_argument("options", nargs="*", help="handed to the command, after --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        chosen = [(p, HALVES[i % 2]) for i, p in enumerate(clips_of(options.data, Path(folder)))]
        chosen = [(p, half) for p, half in chosen if options.half in (None, half) and options.only in p.name]
        with ThreadPoolExecutor(options.jobs) as pool:
            reports = list(pool.map(lambda c: track(options.bin, c[0], options.timeout, options.options), chosen))
    rows = [row(p.name, half, r) for (p, half), r in zip(chosen, reports, strict=True)]
    for line in [HEAD, *rows]:
        print("| " + " | ".join(line) + " |")
    for half in HALVES:
        own = [r for (_, h), r in zip(chosen, reports, strict=True) if h == half]
        if own:
            print(summary(half, own))
    if options.json:
        options.json.write_text(json.dumps({p.name: r for (p, _), r in zip(chosen, reports, strict=True)}, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
