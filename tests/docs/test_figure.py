"""The drawing in docs/images is what tools/draw_figure.py draws."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_drawing_is_up_to_date():
    command = [sys.executable, ROOT / "tools/draw_figure.py"]
    drawn = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    assert (ROOT / "docs/images/human28.svg").read_text(encoding="utf-8") == drawn
