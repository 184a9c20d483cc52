"""The documentation builds as a site, without a broken link or anchor."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def test_site_builds_without_warnings(tmp_path: Path):
    for package in ("mkdocs", "material", "mkdocstrings"):
        pytest.importorskip(package)
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, encoding="utf-8", timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    first = (tmp_path / "site/index.html").read_text(encoding="utf-8")
    assert "Kansetsu" in first and (tmp_path / "site/search/search_index.js").is_file()  # the search works from files, too
    assert "fonts.googleapis" not in first
    assert "joint_type.h" in (tmp_path / "site/reference/cpp/model.html").read_text(encoding="utf-8")
