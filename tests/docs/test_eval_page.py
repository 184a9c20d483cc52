"""Each request of docs/guide/eval.md runs, and its reply holds what the page shows of it."""

from __future__ import annotations

import json
import math
import os
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/guide/eval.md"
EXAMPLES = re.findall(r"```sh\necho '(.*?)' \| kansetsu eval (\S+)\n```\n```json\n(.*?)\n```", PAGE.read_text(encoding="utf-8"))
COMMAND = os.environ.get("KANSETSU_BIN") or str(ROOT / "build/kansetsu")
SHORTENED = 1e-3  # relative: numbers are shown with four digits


def holds(reply, shown) -> bool:
    if isinstance(shown, dict):
        return all(key in reply and holds(reply[key], value) for key, value in shown.items())
    if isinstance(shown, list):
        return len(reply) == len(shown) and all(map(holds, reply, shown))
    if isinstance(shown, (int, float)) and not isinstance(shown, bool):
        return math.isclose(reply, shown, rel_tol=SHORTENED, abs_tol=1e-9)
    return reply == shown


def answer(request: str, model: str) -> dict:
    done = subprocess.run([COMMAND, "eval", model], input=request, capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr + done.stdout
    return json.loads(done.stdout)["results"][0]


@pytest.mark.parametrize("request_text, model, shown", EXAMPLES, ids=[json.loads(request)["compute"][0] for request, _, _ in EXAMPLES])
def test_the_reply_holds_what_is_shown(request_text, model, shown):
    reply = answer(request_text, model)
    assert holds(reply, json.loads(shown)), json.dumps(reply)[:2000]


def test_every_quantity_is_on_the_page():
    done = subprocess.run([COMMAND, "eval", "pendulum"], input='{"compute": ["?"], "states": []}', capture_output=True, text=True, timeout=60)
    known = re.search(r"known: (.*)", done.stderr)[1].split(", ")
    text = PAGE.read_text(encoding="utf-8")
    missing = [name for name in known if f"`{name}`" not in text and not name.startswith(("tendon_", "actuator_"))]
    assert not missing and len(EXAMPLES) == 5
