"""The Python package beside the bindings of MuJoCo and Pinocchio, in one process, in turn: script/bench python.

Each number is the least of many short runs, taken in turn, so that what else the machine does counts for all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import kansetsu as ks
import numpy as np

Call = Callable[[], object]


def least(calls: dict[str, Call], count: int, rounds: int) -> dict[str, float]:
    """Seconds per call of each, the least of `rounds` runs of `count` calls, in turn."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(count):
                call()
            best[name] = min(best[name], (time.perf_counter() - start) / count)
    return best


def pinocchio_calls(file: str, q: np.ndarray, v: np.ndarray, model: Any) -> dict[str, Call]:
    """Of one state, where Pinocchio is installed."""
    try:
        import pinocchio as pin
    except ImportError:
        return {}
    theirs = pin.buildModelFromUrdf(file, pin.JointModelFreeFlyer())
    data, bridge = theirs.createData(), ks.bridges.pinocchio(model, theirs)
    x, u = bridge.q_to(q), bridge.v_to(q, v)
    assert np.allclose(pin.aba(theirs, data, x, u, u), bridge.vdot_to(q, v, ks.aba(model, q, v, bridge.tau_from(q, u))), atol=1e-6)
    return {
        "rnea, Pinocchio": lambda: pin.rnea(theirs, data, x, u, u),
        "aba, Pinocchio": lambda: pin.aba(theirs, data, x, u, u),
        "crba, Pinocchio": lambda: pin.crba(theirs, data, x),
    }


def one_state(folder: Path, rounds: int) -> dict[str, float]:
    """Functions of one state: a quadruped with a free base."""
    file = folder / "robots" / "urdf" / "anymal_c.urdf"
    model = ks.load(file, base="free") if file.exists() else ks.human28()
    rng = np.random.default_rng(1)
    q, v = model.random_configuration(1), rng.normal(size=model.nv)
    calls: dict[str, Call] = {
        "rnea, Kansetsu": lambda: ks.rnea(model, q, v, v),
        "aba, Kansetsu": lambda: ks.aba(model, q, v, v),
        "crba, Kansetsu": lambda: ks.crba(model, q),
    }
    if file.exists():
        calls |= pinocchio_calls(str(file), q, v, model)
    one = least(calls, 2000, rounds)
    pendulum = ks.pendulum(1)
    zero = np.zeros(1)
    nothing = least({"call": lambda: ks.aba(pendulum, zero, zero, zero)}, 20000, rounds)["call"]
    rows = np.tile(q, (4096, 1))
    many = least({"many": lambda: ks.aba(model, rows, v, v, threads=1)}, 2, rounds)["many"] / 4096
    return one | {"aba of a pendulum, all of it": nothing, "aba, Kansetsu, rows of 4096": many}


def steps(folder: Path, rounds: int) -> dict[str, float]:
    """Steps of a world, and of many at once, beside MuJoCo."""
    world = ks.World(gravity=[0, 0, 0])
    world.add(ks.pendulum(1), name="arm")
    out = least({"world.step() of a pendulum": world.step}, 5000, rounds)
    try:
        import mujoco
        from mujoco import rollout
    except ImportError:
        return out
    n, count = 32, 50
    for name in ("mujoco_humanoid", "gym_ant", "menagerie_unitree_go2__go2"):
        file = folder / "robots" / "mjcf" / f"{name}.xml"
        if not file.exists():
            continue
        try:
            theirs = mujoco.MjModel.from_xml_path(str(file))
            ours = ks.World.load(file)
        except (ValueError, ks.Error) as error:
            print(f"{name}: left out, {str(error).splitlines()[0]}", file=sys.stderr)
            continue
        theirs.opt.timestep = ours.time_step
        batch = ks.WorldBatch(ours, n)
        start = ours.save()
        data = mujoco.MjData(theirs)
        full = np.zeros(mujoco.mj_stateSize(theirs, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(theirs, data, full, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        initial, control = np.tile(full, (n, 1)), np.zeros((n, count, theirs.nu))

        def kansetsu(batch: Any = batch, start: Any = start) -> None:
            batch.reset(start)
            batch.step(count)

        def peer(theirs: Any = theirs, data: Any = data, initial: Any = initial, control: Any = control) -> None:
            rollout.rollout(theirs, data, initial, control)

        found = least({"Kansetsu": kansetsu, "MuJoCo": peer}, 1, rounds)
        out |= {f"step of {name} in a batch of {n}, {who}": t / n / count for who, t in found.items()}
    return out


def imports() -> dict[str, float]:
    """Seconds of processor time that an import takes besides NumPy."""
    code = "import numpy, time; t = time.process_time(); import {}; print(time.process_time() - t)"
    out = {}
    for name in ("kansetsu", "mujoco", "pinocchio"):
        found = [subprocess.run([sys.executable, "-c", code.format(name)], capture_output=True, text=True) for _ in range(3)]
        if all(f.returncode == 0 for f in found):
            out[f"import {name}"] = min(float(f.stdout) for f in found)
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    options = parser.parse_args()
    rounds = 3 if options.quick else 15
    folder = Path(os.environ.get("KANSETSU_DATA_DIR", "none"))
    rows = one_state(folder, rounds) | steps(folder, rounds) | imports()
    width = max(map(len, rows))
    for name, seconds in rows.items():
        value = f"{seconds * 1e6:10.2f} µs" if seconds < 1e-2 else f"{seconds:10.3f} s"
        print(f"{name:<{width}} {value}")
    for function in ("rnea", "aba", "crba"):
        if f"{function}, Pinocchio" in rows:
            print(f"{function}: {rows[f'{function}, Pinocchio'] / rows[f'{function}, Kansetsu']:.2f} times as fast as Pinocchio's binding")
    for name in rows:
        if name.endswith(", Kansetsu") and name.startswith("step of"):
            print(f"{name[:-10]}: {rows[name[:-8] + 'MuJoCo'] / rows[name]:.2f} times as fast as MuJoCo's rollout")
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
