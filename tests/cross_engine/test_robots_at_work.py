"""Robots of others do what their authors meant: they hold their keyframes, hover, grip and lift; muscles reach. MuJoCo beside."""

from __future__ import annotations

import json
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy as np
import pytest
from kansetsu_protocol import OK, data_files, run
from mujoco_oracle import FREE, HINGE, SLIDE, without_meshes

mujoco = pytest.importorskip("mujoco")

SECONDS = 5
HELD = 0.05  # [rad, m] a coordinate that has moved by no more is held: servos give under the weight


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes a log of its complaints into the working folder."""
    monkeypatch.chdir(tmp_path)


def data_folder() -> Path:
    folder = os.environ.get("KANSETSU_DATA_DIR")
    if not folder:
        pytest.skip("KANSETSU_DATA_DIR is not set: no models to test with")
    return Path(folder)


def measured(text: str, model: mujoco.MjModel) -> tuple[str, list[str]]:
    """The model with a sensor of every hinge and slide, and of the place of every free body."""
    root = ElementTree.fromstring(text)
    sensors = ElementTree.SubElement(root, "sensor")
    names = []
    for j in range(model.njnt):
        name = model.joint(j).name
        if model.jnt_type[j] in (SLIDE, HINGE):
            ElementTree.SubElement(sensors, "jointpos", name=f"_{name}", joint=name)
        elif model.jnt_type[j] == FREE:
            name = model.body(model.jnt_bodyid[j]).name
            ElementTree.SubElement(sensors, "framepos", name=f"_{name}", objtype="xbody", objname=name)
        else:
            continue
        names.append(f"_{name}")
    return ElementTree.tostring(root, encoding="unicode"), names


def play(file: Path, names: list[str], seconds: float, arguments: list[str] = (), ctrl=None) -> tuple[dict, dict]:
    """How far each sensor is from its start after so long, here and in MuJoCo."""
    result = run("simulate", file, "--duration", seconds, "--json", "--allow-partial", *arguments)
    assert result.exit_code == OK, result.stderr
    sensors = json.loads(result.stdout)["sensors"]
    ours = {n: np.asarray(sensors["end"][n]) - np.asarray(sensors["start"][n]) for n in names}
    model = mujoco.MjModel.from_xml_path(str(file))
    data = mujoco.MjData(model)
    if model.nkey > 0:
        mujoco.mj_resetDataKeyframe(model, data, 0)
    if ctrl is not None:
        data.ctrl[:] = ctrl
    mujoco.mj_forward(model, data)
    start = data.sensordata.copy()
    while data.time < seconds:
        mujoco.mj_step(model, data)
    theirs = {}
    for n in names:
        i = model.sensor(n).id
        at = slice(model.sensor_adr[i], model.sensor_adr[i] + model.sensor_dim[i])
        theirs[n] = data.sensordata[at] - start[at]
    return ours, theirs


def with_keyframe() -> list:
    names = ("menagerie_franka_emika_panda__panda", "menagerie_kuka_iiwa_14__iiwa14", "menagerie_unitree_g1__g1",
             "menagerie_unitree_g1__g1_with_hands", "low_cost_robot_arm")
    found = [*data_files("robots/mjcf/*.xml"), *data_files("robots/mjcf_meshes/*/*.xml")]
    return [p for p in found if p.values[0] is None or p.values[0].stem in names]


@pytest.mark.parametrize("model", with_keyframe())
def test_a_keyframe_is_held(model, tmp_path):
    """By position actuators, with the controls of the keyframe; robots with a free base stand on a floor."""
    file = without_meshes(model, tmp_path / model.name)
    text = file.read_text()
    compiled = mujoco.MjModel.from_xml_path(str(file))
    if (compiled.jnt_type == FREE).any():
        text = text.replace("<worldbody>", '<worldbody><geom name="_floor" type="plane" size="5 5 1"/>', 1)
    text, names = measured(text, compiled)
    file.write_text(text)
    ours, theirs = play(file, names, SECONDS, ["--keyframe", compiled.key(0).name])
    if max(np.abs(x).max() for x in theirs.values()) > HELD:
        pytest.skip("MuJoCo's does not hold it")
    worst = max(ours, key=lambda n: np.abs(ours[n]).max())
    print(f"largest change here {np.abs(ours[worst]).max():.2e} ({worst}), "
          f"in MuJoCo {max(np.abs(x).max() for x in theirs.values()):.2e}")
    assert np.abs(ours[worst]).max() <= HELD, worst


def test_the_quadrotor_hovers(tmp_path):
    """With the site motors at the thrust of its keyframe: forces and moments of all four balance."""
    source = data_folder() / "robots/mjcf_meshes/skydio_x2/x2.xml"
    file = without_meshes(source, tmp_path / "x2.xml")
    compiled = mujoco.MjModel.from_xml_path(str(file))
    text, names = measured(file.read_text(), compiled)
    file.write_text(text)
    ours, theirs = play(file, names, SECONDS, ["--keyframe", compiled.key(0).name])
    moved, = ours.values()
    print("moved", moved, "in MuJoCo", theirs)
    assert np.abs(moved).max() < 1e-3  # the keyframe has its thrust to seven digits
    # Without thrust it falls.
    idle = [f"--control={compiled.actuator(i).name}=0" for i in range(compiled.nu)]
    fallen, _ = play(file, names, 0.5, ["--keyframe", compiled.key(0).name, *idle])
    assert next(iter(fallen.values()))[2] < -0.5


LIFT = """<mujoco><option cone="elliptic" impratio="10" timestep="0.002"/>
  <asset><model name="gripper" file="2f85.xml"/></asset>
  <worldbody><geom type="plane" size="1 1 1"/>
    <body name="carriage" pos="0 0 0.175" euler="180 0 0"><joint name="lift" type="slide" axis="0 0 -1" range="-0.1 0.5" damping="50"/>
      <inertial pos="0 0 0" mass="1" diaginertia="0.01 0.01 0.01"/>
      <attach model="gripper" body="base_mount" prefix="g_"/></body>
    <body name="box" pos="0 0 0.02"><freejoint/><geom type="box" size="0.02 0.02 0.02" mass="0.1" friction="1"/></body></worldbody>
  <actuator><position name="height" joint="lift" kp="3000" kv="100"/></actuator>
  <sensor><framepos name="p" objtype="xbody" objname="box"/></sensor>
  <keyframe/></mujoco>"""


def test_the_gripper_closes_by_its_tendon_and_lifts_a_box(tmp_path):
    """Attached to a carriage: it closes in the first second, then the carriage rises by 0.2 m."""
    folder = data_folder() / "robots/mjcf_meshes/robotiq_2f85"
    (tmp_path / "2f85.xml").write_text((folder / "2f85.xml").read_text().replace('meshdir="assets"', f'meshdir="{folder}/assets"'))
    file = tmp_path / "lift.xml"
    file.write_text(LIFT.replace("<keyframe/>", ""))
    controls = tmp_path / "controls.csv"
    controls.write_text("time,g_fingers_actuator,height\n0,0,0\n0.2,255,0\n1,255,0\n2,255,0.2\n4,255,0.2\n")
    arguments = ["--allow-path", folder, "--controls", controls]
    result = run("simulate", file, "--duration", 4, "--json", *arguments)
    assert result.exit_code == OK, result.stderr
    height = json.loads(result.stdout)["sensors"]["end"]["p"][2]
    print(f"the box is at {height:.4f} m")
    assert height == pytest.approx(0.02 + 0.2, abs=0.02)


ARM = """<mujoco><option timestep="0.002"/><worldbody>
    <site name="shoulder_front" pos="0.03 0 0"/><site name="shoulder_back" pos="-0.03 0 0"/>
    <geom name="joint_bone" type="cylinder" size="0.025 0.02" pos="0 0 -0.3" euler="90 0 0" contype="0" conaffinity="0"/>
    <site name="behind" pos="-0.06 0 -0.34"/>
    <body name="forearm" pos="0 0 -0.3"><joint name="elbow" axis="0 -1 0" range="0 140" damping="0.2"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.02" mass="1" contype="0" conaffinity="0"/>
      <site name="radius" pos="0.02 0 -0.05"/><site name="ulna" pos="-0.025 0 -0.03"/></body></worldbody>
  <tendon><spatial name="biceps_path"><site site="shoulder_front"/><site site="radius"/></spatial>
    <spatial name="triceps_path"><site site="shoulder_back"/><geom geom="joint_bone" sidesite="behind"/><site site="ulna"/></spatial></tendon>
  <actuator><muscle name="biceps" tendon="biceps_path" force="400" lengthrange="0.2 0.36"/>
    <muscle name="triceps" tendon="triceps_path" force="300" lengthrange="0.25 0.37"/></actuator>
  <sensor><jointpos name="_elbow" joint="elbow"/></sensor></mujoco>"""


@pytest.mark.parametrize(("biceps", "triceps"), [(0.25, 0), (0.3, 0.1), (0.6, 0.0), (0.05, 0.4)])
def test_a_muscle_driven_arm_reaches(biceps, triceps, tmp_path):
    """The elbow comes to the angle at which weight and muscles balance, MuJoCo's too."""
    file = tmp_path / "arm.xml"
    file.write_text(ARM)
    controls = [f"--control=biceps={biceps}", f"--control=triceps={triceps}"]
    ours, theirs = play(file, ["_elbow"], SECONDS, controls, [biceps, triceps])
    print(f"{np.degrees(ours['_elbow'][0]):.3f}°, in MuJoCo {np.degrees(theirs['_elbow'][0]):.3f}°")
    assert ours["_elbow"][0] == pytest.approx(theirs["_elbow"][0], abs=np.radians(0.5))
    if biceps > 0.2:
        assert ours["_elbow"][0] > np.radians(30)
