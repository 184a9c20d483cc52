"""Geoms of the groups that MuJoCo hides, as those for collisions, are not shown here either."""

from __future__ import annotations

import os
import subprocess
import tomllib
from pathlib import Path


MODEL = """
<mujoco><worldbody>
  <geom name="floor" type="plane" size="1 1 1"/>
  <geom name="guard" type="box" size="1 1 1" pos="5 0 0" group="3"/>
  <body name="leg" pos="0 0 1"><freejoint/>
    <geom name="look" type="capsule" size="0.05 0.2" group="%d" contype="0" conaffinity="0"/>
    <geom name="shin" type="capsule" size="0.06 0.2" group="2"/>
    <geom name="foot" type="sphere" size="0.06" pos="0 0 -0.2" group="3" rgba="0 0 1 1"/>
  </body>
</worldbody></mujoco>
"""


def colours(tmp_path: Path, model: str) -> dict[str, list[float] | None]:
    (tmp_path / "model.xml").write_text(model)
    subprocess.run([os.environ["KANSETSU_BIN"], "convert", "model.xml", "scene.toml"], cwd=tmp_path, check=True)
    scene = tomllib.loads((tmp_path / "scene.toml").read_text())
    link = scene["figure"][0]["link"][0]
    shapes = scene["environment"] + link.get("shape", []) + link.get("visual", [])
    return {shape["name"]: shape.get("color") for shape in shapes}


def test_hidden_groups_are_transparent(tmp_path):
    found = colours(tmp_path, MODEL % 2)
    assert found["foot"] == [0, 0, 1, 0]
    assert found["guard"] == [0.5, 0.5, 0.5, 0]
    for name in ("look", "shin", "floor"):
        assert found[name] is None or found[name][3] == 1


def test_a_robot_of_hidden_groups_alone_is_shown(tmp_path):
    """MuJoCo would show a floor only; a user who has no more than collision shapes wants to see these."""
    model = (MODEL % 4).replace('group="2"', 'group="5"')
    found = colours(tmp_path, model)
    assert found["foot"] == [0, 0, 1, 1]
