"""docs/guide/determinism.md: every promise of the table names tests, and these exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def rows() -> list[list[str]]:
    text = (ROOT / "docs/guide/determinism.md").read_text()
    lines = [line for line in text.splitlines() if line.startswith("|")][2:]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def named_tests(cell: str) -> list[Path]:
    """Files and folders that a cell names; one without a folder is beside the one before."""
    found: list[Path] = []
    for name in re.findall(r"`([^` ]+(?:\.cc|\.py|/test))`", cell):
        found.append(ROOT / name if "/" in name else found[-1].parent / name)
    return found


def has_cases(path: Path) -> bool:
    files = list(path.glob("*_test.cc")) if path.is_dir() else [path]
    return any(re.search(r"TEST_CASE|def test_", file.read_text()) for file in files if file.is_file())


def test_every_promise_is_tested():
    table = rows()
    assert len(table) >= 10
    for what, answer, tests in table:
        promised = answer.startswith("yes")
        assert not promised or named_tests(tests), f"{what}: no test is named"
        for path in named_tests(tests):
            assert has_cases(path), f"{what}: there is no test {path.relative_to(ROOT)}"
