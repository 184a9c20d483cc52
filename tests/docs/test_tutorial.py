"""The commands of the viewer's tutorial run, in the order of the page, and make the files that the page names."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("KANSETSU_BIN") or ROOT / "build/kansetsu")
PAGE = ROOT / "docs/guide/viewer-tutorial.md"
CHROMIUM = os.environ.get("KANSETSU_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    return [shlex.split(line) for block in blocks for line in block.splitlines()]


@pytest.fixture(scope="module")
def folder(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("tutorial")
    (folder / "examples").symlink_to(ROOT / "examples")
    return folder


def serve(arguments: list[str], folder: Path):
    """Starts a viewer, reads its address, ends it."""
    process = subprocess.Popen([BIN, *arguments, "--no-browser"], cwd=folder, stderr=subprocess.PIPE, text=True)
    assert process.stderr.readline().startswith("http://127.0.0.1:")
    process.terminate()
    process.communicate(timeout=20)
    assert process.returncode == 0


def test_there_are_commands_and_pictures():
    assert len(commands()) >= 12 and all(c[0] == "kansetsu" for c in commands())
    pictures = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", PAGE.read_text(encoding="utf-8"))
    assert len(pictures) >= 4
    for picture in pictures:
        assert (PAGE.parent / picture).stat().st_size < 200_000, picture


@pytest.mark.parametrize("command", commands(), ids=" ".join)
def test_command_runs(command: list[str], folder: Path):
    name, *arguments = command[1:]
    if name == "view" and "without the viewer" in subprocess.run([BIN, "view", "human28", "--html", "/dev/null"], capture_output=True, text=True).stderr:
        pytest.skip("built without the viewer")
    if name == "view" and "--png" not in arguments and "--html" not in arguments:
        return serve([name, *arguments], folder)
    if "--png" in arguments and not CHROMIUM:
        pytest.skip("no Chromium")
    subprocess.run([BIN, name, *arguments], cwd=folder, check=True, timeout=300)
    made = next((arguments[i + 1] for i, a in enumerate(arguments) if a in ("--record", "--png", "--html")), arguments[-1])
    assert (folder / made).stat().st_size > 1000
