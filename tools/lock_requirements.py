#!/usr/bin/env python3
"""Writes requirements-test.lock: every package of the Python environment of the tests, with the checksums of its files.

usage: tools/lock_requirements.py [PYTHON]      (default: .venv/bin/python)

Run it after a change of requirements-test.txt, in an environment made from that: what is installed there, with what it needs in turn, is
the list; the checksums of all files of each version come from the package index. script/bootstrap installs from the list and
takes no file with another checksum.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INDEX = "https://pypi.org/simple"
LINK = re.compile(r'href="[^"]*?/([^"/#]+)#sha256=([0-9a-f]{64})"')
OWN = {"pip", "setuptools", "wheel"}  # of the environment itself


def plain(name: str) -> str:
    """A name as indices compare it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def version_in(file: str, name: str) -> str | None:
    """The version that the name of a wheel or a source archive holds."""
    stem = re.sub(r"(\.tar\.gz|\.zip|\.whl)$", "", file)
    if stem == file:
        return None
    parts = stem.split("-")
    if file.endswith(".whl"):
        return parts[1] if plain(parts[0]) == plain(name) else None
    return parts[-1] if plain("-".join(parts[:-1])) == plain(name) else None


def checksums(name: str, version: str) -> list[str]:
    with urllib.request.urlopen(f"{INDEX}/{plain(name)}/") as answer:
        page = answer.read().decode()
    found = {digest for file, digest in LINK.findall(page) if version_in(file, name) == version}
    if not found:
        raise SystemExit(f"lock_requirements.py: {INDEX} has no file of {name} {version}")
    return sorted(found)


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".venv/bin/python")
    told = subprocess.run([python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"], capture_output=True, text=True, check=True)
    lines = ["# Made by tools/lock_requirements.py from requirements-test.txt; not to be edited."]
    for package in sorted(json.loads(told.stdout), key=lambda p: plain(p["name"])):
        name, version = plain(package["name"]), package["version"]
        if name in OWN:
            continue
        lines.append(f"{name}=={version} \\")
        lines += [f"    --hash=sha256:{digest} \\" for digest in checksums(name, version)]
        lines[-1] = lines[-1].removesuffix(" \\")
    (ROOT / "requirements-test.lock").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
