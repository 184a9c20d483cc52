"""Models in MJCF keep their dynamics when they are converted to a scene in TOML and to URDF."""

from __future__ import annotations

import json
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from kansetsu_protocol import OK, Base, Request, State, data_files, evaluate_as_is, run

TOLERANCE = 1e-12  # numbers are written to the last bit; frames that move to their joints are computed anew
REFUSED = {"gym_hopper", "gym_walker2d", "mujoco_humanoid100"}  # global coordinates; a file that is not there

each_robot = pytest.mark.parametrize(
    "model", [p for p in data_files("robots/mjcf/*.xml") if p.values[0] is None or p.values[0].stem not in REFUSED])


def figures_of(model: Path) -> list[dict]:
    return json.loads(run("info", model, "--json").stdout)["figures"]


def random_state(figure: dict, rng: np.random.Generator) -> State:
    state = State()
    if figure["base"] == "free":
        state.base = Base(omega=rng.uniform(-1, 1, 3).tolist(), v=rng.uniform(-1, 1, 3).tolist())
    for joint in figure["joints"]:
        if joint["nv"] == 1:
            state.q[joint["name"]], state.v[joint["name"]] = rng.uniform(-1, 1, 2).tolist()
    return state


def dynamics(model: str, request: Request) -> list[np.ndarray]:
    reply = evaluate_as_is(model, request)
    return [np.asarray(reply.results[0][name]) for name in ("crba", "rnea")]


def assert_same(model: Path, converted: str, figure: dict) -> None:
    seed = crc32(model.stem.encode())
    print(f"seed {seed}")
    request = Request(["crba", "rnea"], [random_state(figure, np.random.default_rng(seed))])
    for a, b in zip(dynamics(f"{model}#{figure['name']}", request), dynamics(converted, request)):
        assert np.abs(a - b).max() <= TOLERANCE * max(1.0, np.abs(a).max())


@each_robot
def test_scene(model, tmp_path):
    scene = tmp_path / "scene.toml"
    assert run("convert", model, scene).exit_code == OK
    assert run("check", scene).exit_code == OK
    for figure in figures_of(model):
        assert_same(model, f"{scene}#{figure['name']}", figure)


@each_robot
def test_urdf(model, tmp_path):
    for figure in figures_of(model):
        urdf = tmp_path / "figure.urdf"
        done = run("convert", f"{model}#{figure['name']}", urdf)
        assert done.exit_code == OK, done.stderr
        assert_same(model, str(urdf), figure)
