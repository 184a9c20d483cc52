"""What is installed to build and test is named by version and checksum."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import lock_requirements  # noqa: E402


@pytest.mark.parametrize(("name", "least"), [("requirements-test", 11), ("requirements-cuda", 5)])
def test_the_list_of_python_packages_holds_what_is_required(name, least):
    required = lock_requirements.required(name)
    entries = re.split(r"\n(?=\S)", (ROOT / f"{name}.lock").read_text().strip())[1:]
    locked = dict(entry.split(" ", 1)[0].split("==") for entry in entries)
    assert len(required) >= least
    for package, version in required:
        assert locked.get(lock_requirements.plain(package)) == version, f"{package}: run tools/lock_requirements.py"
    assert all(re.search(r"--hash=sha256:[0-9a-f]{64}", entry) for entry in entries)


def test_names_of_files_tell_versions():
    assert lock_requirements.version_in("ruamel.yaml-1.2-cp311-cp311-linux_x86_64.whl", "ruamel-yaml") == "1.2"
    assert lock_requirements.version_in("mcap-protobuf-support-0.6.0.tar.gz", "mcap_protobuf_support") == "0.6.0"
    assert lock_requirements.version_in("mcap-0.6.0.tar.gz", "mcap-protobuf-support") is None
    assert lock_requirements.version_in("numpy-1.0.win32-py2.4.exe", "numpy") is None


def found_by_node(packages: dict, place: str, name: str) -> bool:
    """As Node looks for a package: in node_modules here, then further up."""
    while True:
        if f"{place}/node_modules/{name}".lstrip("/") in packages:
            return True
        if not place:
            return False
        place = place.rpartition("node_modules/")[0].rstrip("/")


def test_the_list_of_the_viewer_is_whole():
    """npm 11 refuses a list that lacks the packages of other platforms; older ones take it."""
    packages = json.loads((ROOT / "viewer/package-lock.json").read_text())["packages"]
    assert len(packages) > 50
    for place, package in packages.items():
        assert not place or package.get("integrity", "").startswith("sha512-"), place
        for kind in ("dependencies", "devDependencies", "optionalDependencies"):
            if kind == "devDependencies" and place:
                continue
            for name in package.get(kind, {}):
                assert found_by_node(packages, place, name), f"{place}: {name} is missing; run npm install --package-lock-only in viewer/"
