"""Odd but legal MJCF, as people have it: nested classes and frames, fitted and inline meshes, skins, wraps inside, pictures as height fields,
mocap bodies. Masses, dynamics, tendons and actuators against MuJoCo."""

from __future__ import annotations

import struct
import tomllib
import zlib
from pathlib import Path

import numpy as np
import pytest
from kansetsu_protocol import OK, check, run
from test_actuators_against_mujoco import compare
from test_models_against_mujoco import test_masses_and_dynamics as compare_dynamics

mujoco = pytest.importorskip("mujoco")

ODD = {
    "classes": """<mujoco><compiler angle="radian"/><default><joint damping="0.1" axis="1 0 0"/><geom density="700"/>
      <default class="arm"><joint armature="0.01" range="-1 1"/><geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.04"/><position kp="20" kv="1"/>
        <default class="fore"><joint axis="0 1 0" range="-2 0"/><geom fromto="0 0 0 0.1 0 -0.25" size="0.03"/></default></default></default>
      <worldbody><body name="u" pos="0 0 1" childclass="arm"><joint name="j1"/><geom/>
        <body name="f" pos="0 0 -0.3" childclass="fore"><joint name="j2"/><joint name="j3" class="arm" axis="0 0 1"/><geom/>
          <geom class="main" size="0.05" pos="0.1 0 -0.25"/><body pos="0.1 0 -0.25"><joint name="j4" class="main" type="ball"/>
            <geom type="box" size="0.02 0.03 0.04" fromto="0 0 0 0 0.1 0.1"/></body></body></body></worldbody>
      <actuator><position class="arm" name="a" joint="j1"/><position class="arm" joint="j2" kp="5"/><motor joint="j3"/></actuator></mujoco>""",
    "frames": """<mujoco><compiler eulerseq="XYZ"/><worldbody><frame pos="1 0 0" euler="10 20 30"><frame pos="0 1 0" quat="1 1 0 0"><geom size="0.1"/>
      <body name="a" pos="0 0 1" axisangle="1 2 3 40"><frame pos="0.1 0 0" xyaxes="0 1 0 -1 0 0"><joint name="x" axis="1 0 0" pos="0 0 0.2"/>
        <frame zaxis="1 0 1"><geom type="cylinder" size="0.1 0.2"/><site name="s" pos="0.1 0.1 0.1"/><body name="b" pos="0 0.3 0">
          <joint name="y" type="slide" axis="0 1 1"/><geom type="ellipsoid" size="0.1 0.2 0.3"/></body></frame></frame></body></frame></frame></worldbody>
      <actuator><motor site="s" gear="1 0 0 0 1 0"/></actuator></mujoco>""",
    "copies": """<mujoco><worldbody><body name="hub"><freejoint/><geom size="0.2"/><replicate count="5" euler="0 0 72" sep="_"><body name="spoke" pos="0.5 0 0">
      <joint name="j" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/><replicate count="2" offset="0 0 0.1" euler="0 30 0">
      <geom size="0.03" pos="0.1 0 0"/></replicate></body></replicate></body></worldbody><actuator><motor name="m" joint="j"/></actuator></mujoco>""",
    "groups": """<mujoco><compiler inertiafromgeom="true" inertiagrouprange="1 3"/><worldbody><body><joint/><inertial pos="1 1 1" mass="50"
      diaginertia="1 1 1"/><geom size="0.1" group="0"/><geom size="0.2" group="2" pos="0.3 0 0"/><geom type="box" size="0.1 0.1 0.4" group="3" mass="2"/>
      <geom size="0.3" group="4"/></body></worldbody></mujoco>""",
    "angles": """<mujoco><compiler angle="degree" autolimits="false" eulerseq="zxz"/><worldbody><body euler="20 40 60"><joint name="a" range="-30 40"
      limited="true" ref="10" springref="20" stiffness="3"/><joint name="b" type="slide" ref="0.2"/><geom size="0.1" pos="0.2 0 0"/>
      <body pos="0 0 0.3" euler="0 90 0"><joint name="c"/><geom type="box" size="0.1 0.2 0.3" euler="15 25 35"/></body></body></worldbody>
      <actuator><position joint="a" kp="3"/><position joint="c" kp="3" ctrlrange="-1 1" ctrllimited="true"/></actuator></mujoco>""",
    "meshes": """<mujoco><asset><mesh name="t" vertex="0 0 0 0.25 0 0 0 0.5 0 0 0 0.5 0.25 0.5 0.5"/><mesh name="e" scale="0.5 -1 2" inertia="exact"
        vertex="0 0 0 1 0 0 0 1 0 0 0 1" face="0 2 1 0 1 3 0 3 2 1 2 3"/><mesh name="s" inertia="shell" vertex="0 0 0 1 0 0 0 1 0 0 0 1"
        face="0 2 1 0 1 3 0 3 2 1 2 3"/></asset><worldbody><body><joint/><geom type="mesh" mesh="t" pos="0.1 0 0" euler="10 20 30"/>
        <body pos="1 0 0"><joint axis="0 1 0"/><geom type="mesh" mesh="e" mass="3"/></body><body><joint type="ball"/><geom type="mesh" mesh="s"
        density="10"/></body></body></worldbody></mujoco>""",
    "skins": """<mujoco><worldbody><body><joint type="ball"/><geom type="sphere" size="0.1" shellinertia="true"/><body pos="1 0 0"><joint/>
        <geom type="box" size="0.1 0.2 0.3" shellinertia="true"/></body><body pos="1 1 0"><joint/><geom type="cylinder" size="0.1 0.2" shellinertia="true"
        pos="0.1 0 0"/></body><body pos="1 1 2"><joint axis="1 0 1"/><geom type="capsule" size="0.1 0.2" shellinertia="true" density="20"/></body>
        <body pos="1 1 2"><joint axis="1 1 1"/><geom type="ellipsoid" size="0.1 0.2 0.3" shellinertia="true"/></body></body></worldbody></mujoco>""",
    "mocap": """<mujoco><worldbody><body name="target" mocap="true" pos="1 0 1"><geom size="0.05" contype="0" conaffinity="0"/><site name="t"/></body>
        <body name="r"><freejoint/><geom size="0.1"/><site name="s" pos="0 0 0.1"/><body pos="0 0 0.2"><joint name="j" type="ball"/><geom size="0.1"
        pos="0 0 0.2"/></body></body></worldbody><equality><weld site1="t" site2="s" active="false"/></equality></mujoco>""",
    "ground": """<mujoco><worldbody><body name="ground" pos="0 0 -1" euler="0 10 0"><geom type="plane" size="0 0 1"/><body pos="0 0 3"><geom type="box"
        size="0.1 0.1 0.1"/></body></body><body pos="0 0 1"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>""",
    "acts": """<mujoco><worldbody><body name="w" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0" range="-1 1"/><geom type="box" size="0.2 0.1 0.1"/>
        <body><joint name="p" axis="0 1 0" pos="0 0 0.1" frictionloss="0.2"/><geom type="capsule" fromto="0 0 0 0 0 0.6" size="0.04"/><site name="t"
        pos="0 0 0.6"/></body></body></worldbody><actuator><position name="a" joint="x" kp="100" dampratio="1" inheritrange="0.9"/><damper name="d"
        joint="p" kv="3" ctrlrange="0 2"/><cylinder name="c" joint="x" area="0.1" timeconst="0.3"/><general name="g" joint="p" gaintype="affine"
        gainprm="1 2 3" biastype="affine" biasprm="-1 0.2 0.1" gear="2" forcerange="-3 4" actlimited="true" actrange="-0.5 0.5" dyntype="integrator"/>
        <position name="t" joint="p" kp="2" timeconst="0.1"/><adhesion name="ad" body="w" ctrlrange="0 1" gain="2"/></actuator></mujoco>""",
    "lines": """<mujoco><worldbody><site name="w" type="box" size="0.02" fromto="0 0 1 0.2 0.1 1.3"/><body><joint name="j" type="ball"/><geom size="0.1"/>
        <frame pos="0 0.1 0" euler="10 20 30"><site name="s" type="capsule" size="0.01" fromto="0.1 0 0.2 -0.3 0.1 0.4"/></frame></body></worldbody>
        <tendon><spatial name="t"><site site="w"/><site site="s"/></spatial></tendon>
        <actuator><motor name="m" site="s" refsite="w" gear="1 2 3 4 5 6"/></actuator></mujoco>""",
}
# Laws of actuators that a class has, and elements that go on from them.
CLASSES = [
    "", '<general gainprm="2 3 -5" biasprm="7 -11 -13" dynprm="0.7"/>', '<general gaintype="affine" gainprm="2 3 -5" biastype="affine" biasprm="1 2 3" dyntype="filter"/>',
    '<general gainprm="20" biastype="affine" biasprm="0 -20 0.4"/>', '<position kp="20" kv="3"/>', '<velocity kv="7"/>', '<damper kv="5" ctrlrange="0 1"/>',
    '<cylinder area="2" timeconst="0.5" bias="1 2 3"/>', '<intvelocity kp="8"/>', '<position kp="20" timeconst="0.1"/>', '<motor gear="2"/>', '<position kp="20" dampratio="0.5"/>',
    '<position kp="20" kv="2"/><default class="c"><velocity kv="5"/></default>', '<position kp="20" kv="2"/><default class="c"><general gainprm="5"/></default>',
    '<position kp="20" kv="2"/><default class="c"><motor/></default>', '<velocity kv="3"/><default class="c"><general biasprm="0 0 -3"/></default>',
    '<muscle force="50" timeconst="0.1 0.2"/><default class="c"><muscle range="0.5 1"/></default>', '<position kp="20" inheritrange="1"/>',
    '<cylinder area="2"/><default class="c"><general dynprm="0.9"/></default>', '<damper kv="2" ctrlrange="0 1"/><default class="c"><general gaintype="affine" gainprm="3 4 -5"/></default>',
    '<muscle force="33" timeconst="0.1 0.2"/><default class="c"><general gaintype="fixed" gainprm="2"/></default>',
]
OF_CLASSES = [
    "<motor{}/>", "<position{}/>", '<position{} kp="11"/>', '<position{} kv="2"/>', '<position{} dampratio="2"/>', "<velocity{}/>", '<velocity{} kv="11"/>', "<intvelocity{}/>",
    '<intvelocity{} kp="3"/>', '<damper{} ctrlrange="0 1"/>', '<damper{} kv="2" ctrlrange="0 1"/>', "<cylinder{}/>", '<cylinder{} area="4"/>', '<cylinder{} diameter="4"/>',
    '<muscle{} lengthrange="-1 1" force="5"/>', '<muscle{} lengthrange="-1 1"/>', '<general{} lengthrange="-1 1"/>', '<general{} lengthrange="-1 1" gainprm="33"/>',
    '<general{} dyntype="integrator" biasprm="1 2" lengthrange="-1 1"/>',
]


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes a log of its complaints into the working folder."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize("name", ODD)
def test_odd_models(name, tmp_path):
    file = tmp_path / f"{name}.xml"
    file.write_text(ODD[name])
    report = check(file)
    assert report.exit_code == OK, [d.message for d in report.diagnostics]
    compare_dynamics(file)
    compare(file, 5).check()


@pytest.mark.parametrize("number", range(len(CLASSES)))
def test_laws_of_classes(number, tmp_path):
    """<position> in a class says nothing about <velocity>; <general> does, where the numbers mean the same."""
    text = CLASSES[number]
    model = f"""<mujoco><default>{text}</default><worldbody><body><joint name="x" range="-1 1" type="slide"/><geom size="0.1"/></body></worldbody>
        <actuator>{{}}</actuator></mujoco>"""
    legal = []
    for i, element in enumerate(OF_CLASSES):
        actuator = element.format(f' name="a{i}" joint="x"' + (' class="c"' if 'class="c"' in text else ""))
        try:
            mujoco.MjModel.from_xml_string(model.format(actuator))
        except ValueError:  # a damping below zero, say
            continue
        legal.append(actuator)
    assert len(legal) > len(OF_CLASSES) // 2
    file = tmp_path / f"class{number}.xml"
    file.write_text(model.format("".join(legal)))
    compare(file, 5).check()


def test_tendons_are_slack_where_springs_of_joints_are(tmp_path):
    """springlength that is not given is the length at springref, which is not the reference configuration."""
    file = tmp_path / "springs.xml"
    file.write_text("""<mujoco><worldbody><site name="w" pos="0.2 0 1"/><body><joint name="a" axis="0 1 0" ref="20" springref="50" pos="0 0 0.1"/><geom size="0.1"/>
        <body pos="0 0 0.3"><joint name="b" type="slide" axis="1 0 1" springref="0.2"/><joint name="c" axis="1 0 0" ref="10"/><geom size="0.1"/><site name="s" pos="0 0.1 0.1"/>
        </body></body><body name="ball" pos="1 0 0.5" euler="20 0 50"><freejoint/><geom size="0.1"/><site name="f" pos="0 0.1 0"/></body></worldbody>
        <tendon><spatial name="p" stiffness="1"><site site="w"/><site site="s"/></spatial><spatial name="q" stiffness="1"><site site="s"/><site site="f"/></spatial>
        <fixed name="r" stiffness="1"><joint joint="a" coef="2"/><joint joint="c" coef="1"/></fixed></tendon></mujoco>""")
    ours = {t["name"]: t["rest"] for figure in scene_of(file, tmp_path)["figure"] for t in figure["tendon"]}
    m = mujoco.MjModel.from_xml_path(str(file))
    for i in range(m.ntendon):
        assert ours[m.tendon(i).name] == pytest.approx(m.tendon_lengthspring[i], abs=1e-12)  # a few products of poses
        assert abs(m.tendon_lengthspring[i, 0] - m.tendon_length0[i]) > 1e-3  # of the reference configuration


def scene_of(file: Path, folder: Path) -> dict:
    target = folder / "scene.toml"
    result = run("convert", file, target)
    assert result.exit_code == OK, result.stderr
    return tomllib.loads(target.read_text())


def test_keyframes_move_mocap_bodies(tmp_path):
    file = tmp_path / "mocap.xml"
    key = '<keyframe><key name="k" mpos="0 0 2" mquat="0 1 0 0"/><key name="l" mpos="1 2 3"/></keyframe></mujoco>'
    file.write_text(ODD["mocap"].replace("</mujoco>", key))
    k, other = ({f["name"]: f for f in key["figure"]}["target"]["pose"] for key in scene_of(file, tmp_path)["keyframe"])
    assert k["p"] == [0, 0, 2] and abs(abs(k["rpy"][0]) - np.pi) < 1e-12  # to a radian's rounding
    assert other["p"] == [1, 2, 3]


@pytest.mark.parametrize(("text", "message"), [
    ('<body><body mocap="true"/></body>', "not a child of the world"),
    ('<body mocap="true"><joint/><geom size="1"/></body>', "with a joint")])
def test_mocap_bodies_stand_in_the_world(text, message, tmp_path):
    file = tmp_path / "bad.xml"
    file.write_text(f"<mujoco><worldbody>{text}</worldbody></mujoco>")
    assert any(d.code == "MJCF053" and message in d.message for d in check(file).errors), check(file).errors


def png(rows: np.ndarray, depth: int = 8, colour: int = 0, palette: bytes = b"", kind: int = 0) -> bytes:
    """rows: bytes of each row; all of one filter."""
    width = rows.shape[1] * 8 // (depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour])

    def piece(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    step = max(1, depth * {0: 1, 2: 3, 3: 1, 4: 2, 6: 4}[colour] // 8)
    data, above = b"", np.zeros(rows.shape[1], int)
    for row in rows.astype(int):
        left = np.concatenate([np.zeros(step, int), row[:-step]])
        corner = np.concatenate([np.zeros(step, int), above[:-step]])
        p = left + above - corner
        near = np.where((abs(p - left) <= abs(p - above)) & (abs(p - left) <= abs(p - corner)), left,
                        np.where(abs(p - above) <= abs(p - corner), above, corner))
        guess = [0 * row, left, above, (left + above) // 2, near][kind]
        data += bytes([kind]) + ((row - guess) % 256).astype(np.uint8).tobytes()
        above = row
    parts = piece(b"IHDR", struct.pack(">IIBBBBB", width, len(rows), depth, colour, 0, 0, 0))
    if palette:
        parts += piece(b"PLTE", palette)
    return b"\x89PNG\r\n\x1a\n" + parts + piece(b"IDAT", zlib.compress(data, 9 if kind else 0)) + piece(b"IEND", b"")


HILLS = """<mujoco><compiler meshdir="maps"/><asset><hfield name="h" file="hills.{}" size="1 2 0.5 0.1"/></asset>
  <worldbody><geom type="hfield" hfield="h"/><body pos="0 0 3"><freejoint/><geom size="0.1"/></body></worldbody></mujoco>"""


@pytest.mark.parametrize(("depth", "colour", "kind"), [(8, 0, 0), (8, 0, 1), (8, 0, 2), (8, 0, 3), (8, 0, 4), (16, 0, 4), (8, 2, 1), (8, 6, 4),
                                                       (4, 0, 0), (8, 3, 0)])
def test_height_fields_from_pictures(depth, colour, kind, tmp_path):
    rng = np.random.default_rng(7)
    channels = {0: 1, 2: 3, 3: 1, 6: 4}[colour]
    rows = rng.integers(0, 256, (5, 6 * channels * depth // 8), dtype=np.uint8)
    palette = bytes(rng.integers(0, 256, 768, dtype=np.uint8)) if colour == 3 else b""
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps" / "hills.png").write_bytes(png(rows, depth, colour, palette, kind))
    compare_heights(tmp_path, "png")


def test_height_fields_from_mujocos_files(tmp_path):
    (tmp_path / "maps").mkdir()
    values = np.random.default_rng(3).uniform(0, 1, (4, 5)).astype(np.float32)
    (tmp_path / "maps" / "hills.bin").write_bytes(struct.pack("<ii", 4, 5) + values.tobytes())
    compare_heights(tmp_path, "bin")


def compare_heights(folder: Path, ending: str) -> None:
    file = folder / "hills.xml"
    file.write_text(HILLS.format(ending))
    assert check(file).exit_code == OK, check(file).diagnostics
    m = mujoco.MjModel.from_xml_path(str(file))
    theirs = m.hfield_data.reshape(m.hfield_nrow[0], m.hfield_ncol[0]) * 0.5
    shape = scene_of(file, folder)["environment"][0]
    assert np.abs(np.reshape(shape["heights"], theirs.shape) - theirs).max() <= 1e-7  # theirs are of single precision


@pytest.mark.parametrize("damage", ["cut", "bits", "huge", "other", "absent"])
def test_damaged_pictures_are_told(damage, tmp_path):
    good = png(np.arange(30, dtype=np.uint8).reshape(5, 6), kind=4)
    bad = {"cut": good[:-30], "bits": good.replace(b"IDAT\x78", b"IDAT\x79"), "other": b"BM" + good[2:],
           "huge": good.replace(struct.pack(">II", 6, 5), struct.pack(">II", 2**31 - 1, 2**31 - 1)), "absent": None}[damage]
    (tmp_path / "maps").mkdir()
    if bad is not None:
        (tmp_path / "maps" / "hills.png").write_bytes(bad)
    file = tmp_path / "hills.xml"
    file.write_text(HILLS.format("png"))
    report = check(file)
    assert report.exit_code == 5 and any("height field" in d.message and d.partial for d in report.diagnostics), report
