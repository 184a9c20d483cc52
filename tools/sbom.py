#!/usr/bin/env python3
"""Writes the parts of a build as CycloneDX 1.5 (JSON) to standard output.

usage: tools/sbom.py > kansetsu.cdx.json

What the command and the library are made of: libraries of the system with the versions that are installed here (dpkg), the packages that
the viewer's page is built from and the tools that build it (viewer/package-lock.json, with their checksums), nanobind of the Python package
(requirements-test.txt). Nothing is downloaded.
"""

import base64
import json
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# What is compiled in or linked; THIRD_PARTY_NOTICES.md has the licences.
LIBRARIES = ["libeigen3-dev", "libfmt-dev", "libtinyxml2-dev", "nlohmann-json3-dev", "libtomlplusplus-dev", "libcli11-dev",
             "liblz4-dev", "libzstd-dev", "zlib1g-dev", "libboost-dev"]


def version():
    found = re.search(r"project\(\s*\w+\s+VERSION\s+([\d.]+)", (ROOT / "CMakeLists.txt").read_text(encoding="utf-8"))
    return found[1] if found else "0"


def system_libraries():
    for package in LIBRARIES:
        done = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
        if done.returncode != 0 or not done.stdout:
            print(f"sbom: {package} is not installed", file=sys.stderr)
            continue
        yield {"type": "library", "name": package, "version": done.stdout, "scope": "required",
               "purl": f"pkg:deb/debian/{package}@{done.stdout}"}


def viewer_packages():
    lock = json.loads((ROOT / "viewer/package-lock.json").read_text(encoding="utf-8"))
    for place, package in sorted(lock["packages"].items()):
        if not place:
            continue
        name = place.rpartition("node_modules/")[2]
        part = {"type": "library", "name": name, "version": package["version"],
                "scope": "excluded" if package.get("dev") else "required", "purl": f"pkg:npm/{name.replace('@', '%40')}@{package['version']}"}
        kind, _, digest = package.get("integrity", "").partition("-")
        if digest:
            part["hashes"] = [{"alg": kind.upper().replace("SHA", "SHA-"), "content": base64.b64decode(digest).hex()}]
        yield part


def python_packages():
    for line in (ROOT / "requirements-test.txt").read_text(encoding="utf-8").splitlines():
        if found := re.match(r"(nanobind)==(\S+)", line):
            yield {"type": "library", "name": found[1], "version": found[2], "scope": "required", "purl": f"pkg:pypi/{found[1]}@{found[2]}"}


def bill():
    return {"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1,
            "metadata": {"component": {"type": "application", "name": "kansetsu", "version": version()}},
            "components": [*system_libraries(), *viewer_packages(), *python_packages()]}


if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
        sys.exit(0 if sys.argv[1] in ("-h", "--help") else 2)
    json.dump(bill(), sys.stdout, indent=2)
    print()
