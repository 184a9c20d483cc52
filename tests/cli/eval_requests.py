"""Requests to `kansetsu eval` as text, so that they can be bad; names of the robot of conftest.py."""

from __future__ import annotations

import json
from pathlib import Path

from kansetsu_protocol import Run, run

JOINTS = ["right_hip", "right_ankle", "left_hip"]  # depth first; left_knee mimics right_hip
LINKS = ["base", "left", "left_tip", "right", "right_foot"]


def request(**changes) -> str:
    """A good request of one empty state, with entries changed."""
    return json.dumps({"compute": ["rnea"], "states": [{}], **changes})


def state(**entries) -> str:
    return request(states=[entries])


def ask(model: Path, text: str, *options: str) -> Run:
    return run("eval", model, *options, stdin=text)
