"""Makes the protocol module of ../cross_engine importable."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cross_engine"))
