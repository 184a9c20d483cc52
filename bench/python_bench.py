"""The Python package beside the bindings of MuJoCo and Pinocchio, in one process, in turn: script/bench python.

Each number is the least of many short runs, taken in turn, so that what else the machine does counts for all alike.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import kansetsu as ks
import numpy as np

Call = Callable[[], object]
PEERS = (("MuJoCo", "mujoco"), ("Pinocchio", "pinocchio"))


def least(calls: dict[str, Call], count: int, rounds: int, clock: Callable[[], float] = time.perf_counter) -> dict[str, float]:
    """Seconds per call of each, the least of `rounds` runs of `count` calls, in turn."""
    best = dict.fromkeys(calls, float("inf"))
    for _ in range(rounds):
        for name, call in calls.items():
            start = clock()
            for _ in range(count):
                call()
            best[name] = min(best[name], (clock() - start) / count)
    return best


def without_meshes(file: Path) -> Path:
    """A copy of an MJCF file that shows no meshes: bodies touch by their primitives."""
    tree = ElementTree.parse(file)
    for parent in list(tree.iter()):
        for child in list(parent):
            if child.tag == "mesh" or (child.tag == "geom" and "mesh" in child.attrib):
                parent.remove(child)
    copy = Path(tempfile.mkdtemp()) / file.name
    tree.write(copy)
    return copy


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
    one = least(calls, 100, 20 * rounds)
    # Almost all of a call for a pendulum is the way from Python and back: at least what a call costs over C++.
    pendulum = ks.pendulum(1)
    zero = np.zeros(1)
    nothing = least({"call": lambda: ks.aba(pendulum, zero, zero, zero)}, 200, 40 * rounds)["call"]
    rows = np.tile(q, (4096, 1))
    many = least({"many": lambda: ks.aba(model, rows, v, v, threads=1)}, 1, 5 * rounds)["many"] / 4096
    return one | {"aba of a pendulum, all of it": nothing, "aba, Kansetsu, rows of 4096": many}


def steps(folder: Path, rounds: int) -> dict[str, float]:
    """Steps of a world, and of many at once, beside MuJoCo."""
    world = ks.World(gravity=[0, 0, 0])
    world.add(ks.pendulum(1), name="arm")
    found = least({"one": world.step}, 200, 20 * rounds) | least({"many": lambda: world.step(1000)}, 1, 5 * rounds)
    out = {"step of a pendulum, world.step()": found["one"], "step of a pendulum, in world.step(1000)": found["many"] / 1000}
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
            file = without_meshes(file)
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

        robot = ours.figures[0]
        ours_control = np.zeros((n, count, batch[robot].control.shape[1]))

        def kansetsu(batch: Any = batch, start: Any = start, robot: Any = robot, control: Any = ours_control) -> None:
            batch.reset(start)
            batch.rollout(robot, control, drive="control")

        def peer(theirs: Any = theirs, data: Any = data, initial: Any = initial, control: Any = control) -> None:
            rollout.rollout(theirs, data, initial, control)

        # Runs of milliseconds, in one thread: by processor time, or another program's turn would count.
        found = least({"Kansetsu": kansetsu, "MuJoCo": peer}, 1, 3 * rounds, time.process_time)
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


def time_text(seconds: float) -> str:
    """Three digits, in a unit that fits."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


def table(rows: dict[str, float]) -> list[str]:
    """As Markdown: ours, the peer's, and how many times as fast we are."""
    out = ["| | Kansetsu | peer | times as fast | goal |", "|---|--:|--:|--:|---|"]

    def add(what: str, ours: float, goal: str, peer: str = "", theirs: float | None = None) -> None:
        beside = "" if theirs is None else f"{time_text(theirs)} ({peer})"
        out.append(f"| {what} | {time_text(ours)} | {beside} | {'' if theirs is None else f'{theirs / ours:.1f}'} | {goal} |")

    for function in ("rnea", "aba", "crba"):
        theirs = rows.get(f"{function}, Pinocchio")
        add(
            f"`{function}` of one state, ANYmal C",
            rows[f"{function}, Kansetsu"],
            "3 times" if function == "aba" else "",
            "Pinocchio",
            theirs,
        )
    add("`aba` of one state of a pendulum: what a call costs", rows["aba of a pendulum, all of it"], "0.4 µs")
    add("`aba` of a state among rows of 4096, one thread", rows["aba, Kansetsu, rows of 4096"], "")
    one, many = rows["step of a pendulum, world.step()"], rows["step of a pendulum, in world.step(1000)"]
    add("`world.step()` of a pendulum beyond a step in `world.step(1000)`", max(one - many, 0.0), "0.3 µs")
    for name in [n for n in rows if n.endswith(", Kansetsu") and n.startswith("step of")]:
        add(name[: -len(", Kansetsu")], rows[name], "3 times", "MuJoCo's rollout", rows[name[: -len("Kansetsu")] + "MuJoCo"])
    add("`import` in addition to NumPy, processor time", rows["import kansetsu"], "0.15 s", "MuJoCo", rows.get("import mujoco"))
    return out


def write_docs(lines: list[str]) -> None:
    """Between the marks of the guide."""
    page = Path(__file__).parents[1] / "docs" / "guide" / "python.md"
    before, rest = page.read_text(encoding="utf-8").split("<!-- bench:begin -->")
    after = rest.split("<!-- bench:end -->")[1]
    page.write_text(f"{before}<!-- bench:begin -->\n{chr(10).join(lines)}\n<!-- bench:end -->{after}", encoding="utf-8")


def versions() -> str:
    """Of what was measured, and how busy the machine was."""
    # Of the library that runs: mujoco of PyPI is the bindings, which may stand on a newer mujoco-core.
    found = [f"{name} {import_module(module).__version__}" for name, module in PEERS if has(module)]
    load = os.getloadavg()[0]
    return f"One core, {time.strftime('%Y-%m-%d')}, load {load:.1f}; {', '.join(found)}; least of many short runs, in turn in one process."


def has(module: str) -> bool:
    """Whether it is installed."""
    return find_spec(module) is not None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="fewer repetitions")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    parser.add_argument("--docs", action="store_true", help="write the table into docs/guide/python.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore", ks.FileWarning)  # of what the files say beyond dynamics
    rounds = 3 if options.quick else 15
    folder = Path(os.environ.get("KANSETSU_DATA_DIR", "none"))
    rows = one_state(folder, rounds) | steps(folder, rounds) | imports()
    lines = [*table(rows), "", versions()]
    print("\n".join(lines))
    if options.docs:
        write_docs(lines)
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()
