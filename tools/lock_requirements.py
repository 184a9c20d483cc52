#!/usr/bin/env python3
"""Writes requirements-test.lock and requirements-cuda.lock: packages with the checksums of their files.

usage: tools/lock_requirements.py [PYTHON]      (default: .venv/bin/python)

Run it after a change of requirements-test.txt or requirements-cuda.txt. The first list has every package of the Python environment of
the tests: PYTHON is of one made from requirements-test.txt, and what is installed there, dependencies included, is locked. The second has
the packages of requirements-cuda.txt and no others. The checksums of all files of each version come from the package index.
script/bootstrap installs from these lists and takes no file with another checksum.
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


def write_lock(name: str, packages: list[tuple[str, str]]) -> None:
    lines = [f"# Made by tools/lock_requirements.py from {name}.txt; not to be edited."]
    for package, version in sorted(packages, key=lambda p: plain(p[0])):
        lines.append(f"{package}=={version} \\")
        lines += [f"    --hash=sha256:{digest} \\" for digest in checksums(package, version)]
        lines[-1] = lines[-1].removesuffix(" \\")
    (ROOT / f"{name}.lock").write_text("\n".join(lines) + "\n")


def required(name: str) -> list[tuple[str, str]]:
    """Packages and versions that a list names itself."""
    lines = (ROOT / f"{name}.txt").read_text().splitlines()
    return [tuple(line.split("==")) for line in lines if line and not line.startswith("#")]


def main() -> None:
    python = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / ".venv/bin/python")
    listed = subprocess.run([python, "-m", "pip", "list", "--format", "json", "--disable-pip-version-check"], capture_output=True, text=True, check=True)
    installed = [(package["name"], package["version"]) for package in json.loads(listed.stdout)]
    write_lock("requirements-test", [package for package in installed if package[0] not in OWN])
    write_lock("requirements-cuda", required("requirements-cuda"))


if __name__ == "__main__":
    main()
