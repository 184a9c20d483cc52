"""Sensors of contacts measure the contact forces of the world; sensors of shapes measure what MuJoCo's do."""

from __future__ import annotations

import json

import numpy as np
import pytest
from kansetsu_protocol import OK, check, run

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-8


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes a log of its complaints into the working folder."""
    monkeypatch.chdir(tmp_path)


# A tray on four balls, a load beside its middle: each ball has one point of contact. It falls slanting, rocks and slides.
TRAY = """<mujoco><option timestep="0.002"/><worldbody><geom name="floor" type="plane" size="0 0 1" friction="0.3"/>
  <body name="tray" pos="0 0 0.2" euler="5 3 20"><freejoint/><geom type="box" size="0.2 0.1 0.02" mass="2" contype="0" conaffinity="0"/>
    <geom size="0.03" pos="0.1 0.05 0.03" mass="1" contype="0" conaffinity="0"/>{feet}
    <site name="left" type="box" size="0.11 0.3 0.2" pos="-0.1 0 0"/><site name="right" type="box" size="0.11 0.3 0.2" pos="0.12 0 0"/>
    <site name="none" type="sphere" size="0.05"/><site name="all" type="ellipsoid" size="0.6 0.6 0.6"/></body></worldbody>
  <sensor><touch name="left" site="left"/><touch name="right" site="right"/><touch name="none" site="none"/><touch name="all" site="all"/>
    <framepos name="p" objtype="site" objname="left"/><framexaxis name="x" objtype="site" objname="left"/></sensor>
  <keyframe><key name="thrown" qpos="0 0 0.2 1 0.02 0.03 0" qvel="0.4 0.1 0 0 0 0"/></keyframe></mujoco>"""
FOOT = '<geom size="0.03" pos="{} {} -0.04" mass="0.01" friction="0.3"/>'


def test_touch_is_the_pressure_of_the_contacts_in_its_volume(tmp_path):
    file, record = tmp_path / "tray.xml", tmp_path / "tray.npz"
    file.write_text(TRAY.format(feet="".join(FOOT.format(x, y) for x in (-0.18, 0.18) for y in (-0.08, 0.08))))
    result = run("simulate", file, "--duration", 1, "--keyframe", "thrown", "--record", record, "--json")
    assert result.exit_code == OK, result.stderr
    z = np.load(record, allow_pickle=False)
    frames, points = z["contacts/frame"], z["contacts/point"]
    pressure = np.einsum("ij,ij->i", z["contacts/force"], z["contacts/normal"])
    sides = {name: z[f"numbers/{name}[0]"] for name in ("left", "right", "none", "all")}
    centre = np.stack([z[f"numbers/p[{k}]"] for k in range(3)], axis=1)
    axis = np.stack([z[f"numbers/x[{k}]"] for k in range(3)], axis=1)
    seen = 0
    for k in range(len(z["time"])):
        here = frames == k
        along = (points[here] - centre[k]) @ axis[k]
        left = np.abs(pressure[here])[along < 0.1].sum()
        right = np.abs(pressure[here])[along >= 0.1].sum()
        for name, expected in (("left", left), ("right", right), ("all", left + right), ("none", 0.0)):
            assert sides[name][k] == pytest.approx(expected, rel=TOLERANCE, abs=TOLERANCE), (k, name)
        seen += here.any()
    print(f"contacts in {seen} of {len(z['time'])} frames")
    assert seen > 300
    assert sides["all"][-1] == pytest.approx(3.04 * 9.81, rel=1e-3)  # it lies: the weight
    assert sides["right"][-1] > 1.2 * sides["left"][-1]


# Nothing touches: rays and distances from shape to shape.
SHAPES = """<mujoco><option gravity="0 0 0"/><asset><mesh name="tetra" vertex="0 0 0 0.3 0 0 0 0.4 0 0 0 0.5"/></asset><worldbody>
  <geom name="floor" type="plane" size="0 0 1" pos="0 0 -1"/><geom name="wall" type="box" size="0.1 2 2" pos="3 0 0" euler="0 0 10"/>
  <geom name="post" type="cylinder" size="0.2 1" pos="0 -2 0" euler="10 20 0"/>
  <body name="a" pos="0.2 0.1 0.4" euler="10 20 30"><freejoint/><geom name="ball" size="0.1"/><site name="up" pos="0 0 0.2"/>
    <site name="down" pos="0 0 -0.2" euler="170 10 0"/><site name="side" pos="0.2 0 0" euler="0 80 0"/></body>
  <body name="b" pos="-1 0.5 0.3" euler="40 0 10"><freejoint/><geom name="bone" type="capsule" size="0.1 0.3"/></body>
  <body name="c" pos="1 1.5 0.2" euler="0 30 10"><freejoint/><geom name="block" type="box" size="0.1 0.2 0.3"/></body>
  <body name="d" pos="0.2 0.1 1.5" euler="0 0 20"><freejoint/><geom name="roof" type="box" size="0.5 0.5 0.05"/></body>
  <body name="e" pos="-1 -1 0.5" euler="0 0 20"><freejoint/><geom name="tetra" type="mesh" mesh="tetra"/></body></worldbody>
  <sensor><rangefinder name="r1" site="up"/><rangefinder name="r2" site="down"/><rangefinder name="r3" site="side"/>{pairs}</sensor></mujoco>"""
PAIRS = [("ball", "bone"), ("ball", "block"), ("bone", "block"), ("block", "roof"), ("tetra", "ball"), ("bone", "tetra"), ("wall", "block")]


def test_rays_and_distances(tmp_path):
    sensors = "".join(f'<{kind} name="{kind}_{a}_{b}" geom1="{a}" geom2="{b}" cutoff="9"/>' for a, b in PAIRS
                      for kind in ("distance", "normal", "fromto"))
    file = tmp_path / "shapes.xml"
    file.write_text(SHAPES.format(pairs=sensors))
    assert check(file).exit_code == OK
    result = run("simulate", file, "--duration", 0.002, "--json")
    assert result.exit_code == OK, result.stderr
    ours = json.loads(result.stdout)["sensors"]["start"]
    m = mujoco.MjModel.from_xml_path(str(file))
    d = mujoco.MjData(m)
    mujoco.mj_forward(m, d)
    assert d.ncon == 0
    for i in range(m.nsensor):
        at = slice(m.sensor_adr[i], m.sensor_adr[i] + m.sensor_dim[i])
        name = m.sensor(i).name
        # Its distance of general shapes is iterative, to 1e-6.
        assert np.abs(np.asarray(ours[name]) - d.sensordata[at]).max() <= 1e-5, (name, ours[name], d.sensordata[at])
