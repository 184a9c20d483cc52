"""python -m kansetsu demo: a figure hangs from a bar, lets go, and lands; all of it on one page."""

from __future__ import annotations

import argparse
import sys
import webbrowser
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ._core import Capsule, Plane, World, human28
from ._errors import Error
from ._poses import fk, pose


def demo(arguments: Sequence[str]) -> int:
    """Writes the page and prints what happened."""
    parser = argparse.ArgumentParser(prog="python -m kansetsu demo", description=__doc__)
    parser.add_argument("--html", type=Path, default=Path("kansetsu-demo.html"), help="the page to write")
    parser.add_argument("--open", action="store_true", help="show it in the browser")
    options = parser.parse_args(arguments)

    model = human28()
    q = model.q0
    for side in ("L", "R"):
        q[f"shoulder{side}_y"] = -np.pi  # arms up
    grip = fk(model, q)["gripL"][:3, 3]
    bar = np.array([0.0, 0.0, 2.6])
    q[:3] = bar - [grip[0], 0.0, grip[2]]

    world = World()
    world.add_fixed(Plane(), name="floor")
    world.add_fixed(Capsule(0.02, 1.0), pose(bar, rpy=(np.pi / 2, 0, 0)), name="bar")
    man = world.add(model, q, name="man", collides=True)
    joints = {joint: {"value": float(q[joint]), "kp": 100.0, "kd": 8.0} for joint in model.joints}
    world.add_controller("posture", man, "pd", joints)
    man.v[:6] = [0, 1.2, 0, -1.0, 0, 0]  # a swing
    try:
        recorder = world.record(options.html, rate=60)
    except Error as error:
        print(f"demo: {error}", file=sys.stderr)
        print("  help: the viewer is built where Node is: 'script/bootstrap build' in the checkout, then 'pip install .'", file=sys.stderr)
        return 1
    with recorder:
        grips = [world.connect(None, man[hand], mask="point") for hand in ("gripL", "gripR")]
        world.advance(1.6)
        print(f"hangs: {sum(c.wrench[5] for c in grips):.0f} N at the hands, {model.mass * 9.81:.0f} N is its weight")
        for grip_of_hand in grips:
            grip_of_hand.release()
        world.advance(1.2)
    force = world.contacts["wrench"][:, 5].sum()
    print(f"lands: {len(world.contacts)} contacts carry {force:.0f} N after {world.time:.1f} s")
    print(f"page:  {options.html.resolve()}")
    if options.open:
        webbrowser.open(options.html.resolve().as_uri())
    return 0
