"""Parts of MJCF one by one against MuJoCo: what margins, media, compensated weight, springs of balls, attached models and height
fields do to the motion."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from kansetsu_protocol import OK, PARTIAL, Request, check, evaluate_as_is, run
from mujoco_oracle import MujocoOracle

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-8  # rounding of two programs
STATES = 20
SINKING = 1e-3  # [m, rad] MuJoCo's contacts and limits are springs, and give by this much under the weights of these tests

SWIMMER = """<mujoco><option density="{density}" viscosity="{viscosity}" wind="{wind}" {gravity}>
    <flag constraint="disable"/></option>
  <worldbody><body name="head" pos="0.3 0.2 0.1" euler="40 0 20">{free}<geom type="box" size="0.2 0.1 0.05" pos="0.03 0 0.01" euler="10 20 30"/>
    <body name="neck" pos="0.2 0 0" gravcomp="{lift}"><joint name="n" type="ball" stiffness="{stiffness}" damping="0.3"/>
      <geom type="capsule" fromto="0 0 0 0.3 0.05 0" size="0.03"/>
      <body name="tail" pos="0.3 0.05 0" gravcomp="{lift}"><joint name="t" axis="0 1 1" springref="20" stiffness="{stiffness}"/>
        <geom type="ellipsoid" size="0.1 0.05 0.02" pos="0.1 0 0"/><body name="fin" pos="0.2 0 0" euler="30 0 0">
          <geom type="box" size="0.05 0.1 0.003"/></body></body></body></body></worldbody>
  <sensor>{sensors}</sensor></mujoco>"""
PASSIVE = {
    "air": dict(density=1.2, viscosity=0, wind="0 0 0"),
    "honey": dict(density=0, viscosity=5, wind="0 0 0"),
    "windy water": dict(density=1000, viscosity=0.001, wind="1 -2 0.5"),
    "compensated": dict(lift=0.7),
    "weightless part, turned gravity": dict(lift=1, gravity='gravity="1 2 -3"'),
    "springs of a ball": dict(stiffness=3),
    "damped free joint": dict(free='<joint name="root" type="free" damping="2" armature="0.3"/>'),
    "all": dict(density=1.2, viscosity=2, wind="1 0 0", lift=0.4, stiffness=2),
}


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes a log of its complaints into the working folder."""
    monkeypatch.chdir(tmp_path)


def whole(model: Path) -> None:
    report = check(model)
    assert report.exit_code == OK, [d.message for d in report.diagnostics]


def test_a_box_hangs_on_a_rope(tmp_path):
    """A tendon's limit holds a free body at a place in the world: it falls as far as the rope is long, and stays there."""
    file = tmp_path / "rope.xml"
    file.write_text("""<mujoco><worldbody><site name="anchor" pos="0 0 0.2"/><body name="box" pos="0 0 0.15"><freejoint/>
      <geom type="box" size="0.015 0.015 0.015"/><site name="hook" pos="0 0 0.015"/></body></worldbody><tendon>
      <spatial limited="true" range="0 0.05"><site site="hook"/><site site="anchor"/></spatial></tendon>
      <sensor><framepos objtype="xbody" objname="box"/></sensor></mujoco>""")
    result = run("simulate", file, "--duration", "1", "--json")
    assert result.exit_code == OK, result.stderr
    report = json.loads(result.stdout)
    # 27 g that stop after a fall of 15 mm lose 4 mJ; a thousandth of that is rounding of the steps.
    assert abs(report["energy"]["unexplained"]) < 4e-6


def compare_accelerations(text: str, file: Path, adjust=lambda model: None) -> None:
    """What sensors measure at random states of a free base with a ball joint, here and in MuJoCo; `adjust` changes MuJoCo's model."""
    probe = mujoco.MjModel.from_xml_string(text)
    seed = 11
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    keys, states = [], []
    for i in range(STATES):
        q = rng.uniform(-1, 1, probe.nq)
        for part in (slice(3, 7), slice(7, 11)):
            q[part] /= np.linalg.norm(q[part])
        v = rng.uniform(-2, 2, probe.nv)
        numbers = [" ".join(repr(float(x)) for x in values) for values in (q, v)]
        keys.append(f'<key name="k{i}" qpos="{numbers[0]}" qvel="{numbers[1]}"/>')
        states.append((q, v))
    file.write_text(text.replace("</mujoco>", "<keyframe>" + "".join(keys) + "</keyframe></mujoco>"))
    whole(file)
    model = mujoco.MjModel.from_xml_path(str(file))
    adjust(model)
    data = mujoco.MjData(model)
    worst = 0.0
    for i, (q, v) in enumerate(states):
        data.qpos[:], data.qvel[:] = q, v
        mujoco.mj_forward(model, data)
        result = run("simulate", file, "--keyframe", f"k{i}", "--duration", "1e-6", "--json")
        assert result.exit_code == OK, result.stderr
        ours = json.loads(result.stdout)["sensors"]["start"]
        for k in range(model.nsensor):
            theirs = data.sensordata[model.sensor_adr[k] : model.sensor_adr[k] + 3]
            mine = np.asarray(ours[model.sensor(k).name])
            worst = max(worst, np.abs(mine - theirs).max() / max(1.0, np.abs(theirs).max()))
    print(f"worst difference {worst:.1e}")
    assert worst <= TOLERANCE


@pytest.mark.parametrize("name", PASSIVE)
def test_accelerations(name, tmp_path):
    """Of every body, from random states in keyframes, where nothing but passive forces acts."""
    sensors = "".join(f'<{kind} name="{body}_{kind}" objtype="xbody" objname="{body}"/>'
                      for body in ("head", "neck", "tail", "fin") for kind in ("framelinacc", "frameangacc"))
    options = dict(density=0, viscosity=0, wind="0 0 0", lift=0, stiffness=0, gravity="", free="<freejoint/>") | PASSIVE[name]
    text = SWIMMER.format(**options, sensors=sensors)
    compare_accelerations(text, tmp_path / "swimmer.xml")


FLIER = """<mujoco><option density="{density}" viscosity="{viscosity}" wind="{wind}" timestep="1e-6"><flag contact="disable"/></option>
  <asset><mesh name="wedge" vertex="0 0 0 0.3 0 0 0 0.2 0 0 0 0.1 0.3 0.2 0.1"/></asset>
  <default><geom fluidshape="ellipsoid"/></default>
  <worldbody><body name="trunk"><freejoint/><geom type="capsule" size="0.05" fromto="0 0 0 0.1 0.2 0.3" fluidcoef="{coef}"/>
    <geom type="box" size="0.3 0.1 0.02" pos="0.1 0 0.2" euler="10 20 30" contype="0" conaffinity="0"/>
    <body name="wing" pos="0 0.3 0"><joint name="w" type="ball"/><geom type="ellipsoid" size="0.4 0.1 0.005" pos="0.2 0 0" fluidcoef="{coef}"/>
      <body name="tip" pos="0.4 0 0"><joint name="t" axis="0 1 1"/><geom type="cylinder" size="0.1 0.02" pos="0.1 0 0"/><geom size="0.05"/>
        <body name="bare" pos="0.2 0 0"><joint name="b" axis="1 0 0"/><geom type="box" size="0.1 0.05 0.02" fluidshape="none"/>{mesh}</body></body></body></body></worldbody>
  <sensor>{sensors}</sensor></mujoco>"""
FLUIDS = {
    "air": dict(density=1.2, viscosity=1.8e-5, wind="0 0 0"),
    "windy water": dict(density=1000, viscosity=0.001, wind="1 -2 0.5"),
    "other coefficients": dict(density=300, viscosity=2, wind="0 1 0", coef="1.1 0.2 0.7 2.5 0.3"),
}


def exact_added_inertia(model) -> None:
    """MuJoCo integrates the masses that a fluid adds by 15 points, to 1e-5; here they get the exact values."""
    special = pytest.importorskip("scipy.special")
    for g in range(model.ngeom):
        if model.geom_fluid[g, 0] == 0:
            continue
        size, kind = model.geom_size[g], mujoco.mjtGeom(model.geom_type[g])
        round_ = {mujoco.mjtGeom.mjGEOM_SPHERE: [size[0]] * 3, mujoco.mjtGeom.mjGEOM_CAPSULE: [size[0], size[0], size[0] + size[1]],
                  mujoco.mjtGeom.mjGEOM_CYLINDER: [size[0], size[0], size[1]]}
        r = np.array(round_.get(kind, size))
        volume = 4 / 3 * np.pi * r.prod()
        kappa = np.array([2 / 3 * r.prod() * special.elliprd(r[i - 2] ** 2, r[i - 1] ** 2, r[i] ** 2) for i in range(3)])
        added = [volume * kappa / (2 - kappa), np.zeros(3)]
        for i in range(3):
            a, b, ka, kb = r[i - 2] ** 2, r[i - 1] ** 2, kappa[i - 2], kappa[i - 1]
            if abs(a - b) > 1e-7 * a:
                added[1][i] = volume / 5 * (a - b) ** 2 * (kb - ka) / (2 * (a - b) + (a + b) * (ka - kb))
        assert np.allclose(np.concatenate(added), model.geom_fluid[g, 6:12], rtol=1e-4, atol=1e-9)  # their integral of a flat ellipsoid is 1e-5 off
        model.geom_fluid[g, 6:12] = np.concatenate(added)


@pytest.mark.parametrize("name", FLUIDS)
def test_ellipsoids_in_a_fluid(name, tmp_path):
    sensors = "".join(f'<{kind} name="{body}_{kind}" objtype="xbody" objname="{body}"/>'
                      for body in ("trunk", "wing", "tip", "bare") for kind in ("framelinacc", "frameangacc"))
    text = FLIER.format(**(dict(coef="0.5 0.25 1.5 1 1", mesh="") | FLUIDS[name]), sensors=sensors)
    compare_accelerations(text, tmp_path / "flier.xml", exact_added_inertia)


def test_a_mesh_in_a_fluid_is_told(tmp_path):
    file = tmp_path / "flier.xml"
    file.write_text(FLIER.format(density=1, viscosity=0, wind="0 0 0", coef="0.5", sensors="", mesh='<geom type="mesh" mesh="wedge"/>'))
    report = check(file)
    assert report.exit_code == PARTIAL
    assert any("fluid forces on meshes" in d.message for d in report.diagnostics)


def rest(text: str, seconds: float, path: Path, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Where a site comes to rest, here and in MuJoCo."""
    path.write_text(text)
    whole(path)
    result = run("simulate", path, "--duration", seconds, "--json")
    assert result.exit_code == OK, result.stderr
    ours = np.asarray(json.loads(result.stdout)["sensors"]["end"][name])
    model = mujoco.MjModel.from_xml_path(str(path))
    data = mujoco.MjData(model)
    while data.time < seconds:
        mujoco.mj_step(model, data)
    return ours, data.sensordata.copy()


FLOOR = """<mujoco><option timestep="0.001"/><worldbody><geom name="floor" type="plane" size="2 2 1" {floor}/>
  <body pos="0 0 0.25"><freejoint/><site name="s"/><geom name="b" {body}/></body></worldbody>
  <contact>{pair}</contact><sensor><framepos name="p" objtype="site" objname="s"/></sensor></mujoco>"""
BOX, BALL = 'type="box" size="0.1 0.1 0.1"', 'size="0.1"'
MARGINS = {
    "none": dict(body=BOX, height=0.1),
    "of the floor": dict(floor='margin="0.02"', body=BOX, height=0.12),
    "add up": dict(floor='margin="0.02"', body=BALL + ' margin="0.01"', height=0.13),
    "gaps do nothing": dict(floor='margin="0.02" gap="0.02"', body=BOX + ' margin="0.01" gap="0.5"', height=0.13),
    "of a pair": dict(floor='margin="0.02"', body=BOX, pair='<pair geom1="floor" geom2="b" margin="0.03" gap="0.01"/>', height=0.13),
    "not those of the geoms of a pair": dict(floor='margin="0.02"', body=BALL, pair='<pair geom1="floor" geom2="b"/>', height=0.1),
}


@pytest.mark.parametrize("name", MARGINS)
def test_margins_of_surfaces(name, tmp_path):
    options = dict(floor="", pair="") | MARGINS[name]
    ours, theirs = rest(FLOOR.format(**options), 1, tmp_path / "floor.xml", "p")
    assert theirs[2] == pytest.approx(options["height"], abs=SINKING)
    assert ours[2] == pytest.approx(options["height"], abs=1e-5)  # gaps within tol_gap are closed


LIMIT = """<mujoco><option timestep="0.001"/><worldbody><body><joint name="j" {joint} damping="1"/>
  <geom size="0.1" pos="0.5 0 0" contype="0" conaffinity="0"/></body></worldbody>
  <sensor><jointpos name="p" joint="j"/></sensor></mujoco>"""


@pytest.mark.parametrize(("joint", "expected"), [
    ('axis="0 1 0" range="-20 10"', np.radians(10)), ('axis="0 1 0" range="-20 10" margin="0.1"', np.radians(10) - 0.1),
    ('type="slide" axis="0 0 1" range="-0.3 0.1" margin="0.05"', -0.25)])
def test_margins_of_limits(joint, expected, tmp_path):
    """They are radians, whatever angles are, and the limit holds from there."""
    ours, theirs = rest(LIMIT.format(joint=joint), 4, tmp_path / "limit.xml", "p")
    assert theirs[0] == pytest.approx(expected, abs=5 * SINKING)
    assert ours[0] == pytest.approx(expected, abs=1e-5)  # gaps within tol_gap are closed


def test_height_field(tmp_path):
    """A ramp: rows run from the largest y down, heights are stretched to those of `size`."""
    text = """<mujoco><option timestep="0.001"/><asset>
      <hfield name="h" nrow="3" ncol="3" size="1 1 0.5 0.1" elevation="4 4 4 3 3 3 2 2 2"/></asset>
      <worldbody><geom type="hfield" hfield="h" condim="6" friction="1 0.1 0.5"/><body pos="0.1 0.2 0.5"><freejoint/><site name="s"/>
      <geom size="0.1" condim="6" friction="1 0.1 0.5"/></body></worldbody><sensor><framepos name="p" objtype="site" objname="s"/></sensor></mujoco>"""
    ours, theirs = rest(text, 0.5, tmp_path / "ramp.xml", "p")
    slope = np.arctan(0.25)
    height = 0.25 * (ours[1] + 1) + 0.1 / np.cos(slope)
    assert ours[2] == pytest.approx(height, abs=1e-4)  # contacts rest within the slop, 1e-4 m
    assert ours == pytest.approx(theirs, abs=5e-3)  # MuJoCo's ball sinks and rolls a little


CHILD = """<mujoco><compiler angle="radian" autolimits="true" eulerseq="zyx"/><option gravity="0 0 0"/>
  <default><geom density="500"/><default class="thin"><geom size="0.02"/><joint damping="0.3" armature="0.02"/></default></default>
  <asset><mesh name="tetra" vertex="0 0 0 0.1 0 0 0 0.1 0 0 0 0.1"/></asset>
  <worldbody><body name="base" pos="1 0 0"><geom size="0.1"/>
    <body name="arm" euler="0.1 0.2 0.3" childclass="thin"><joint name="j" axis="0 1 0" range="-1 1"/>
      <geom type="capsule" fromto="0 0 0 0.3 0 0"/><geom type="mesh" mesh="tetra"/><site name="s" pos="0.3 0 0"/>
      <body name="hand" pos="0.3 0 0"><joint name="k" axis="0 0 1"/><geom size="0.05" class="thin"/></body></body></body></worldbody>
  <tendon><fixed name="both"><joint joint="j" coef="1"/><joint joint="k" coef="-2"/></fixed></tendon>
  <actuator><motor name="m" joint="j" gear="3"/><position name="p" tendon="both" kp="4"/></actuator>
  <sensor><jointpos name="q" joint="k"/></sensor></mujoco>"""
PARENT = """<mujoco><compiler angle="degree"/><default><geom density="2000"/></default>
  <asset><model name="limb" file="limbs/child.xml"/></asset>
  <worldbody><body name="trunk"><freejoint/><geom type="box" size="0.2 0.1 0.3"/>
    <frame pos="0 0.1 0.3" euler="90 0 0"><attach model="limb" body="arm" prefix="left_"/></frame>
    <frame pos="0 -0.1 0.3"><attach model="limb" body="arm" prefix="right_"/></frame>
    <replicate count="2" offset="0.3 0 0"><attach model="limb" body="base" prefix="more_"/></replicate></body></worldbody>
  <actuator><motor name="own" joint="left_k"/></actuator></mujoco>"""


def test_attached_models(tmp_path):
    """Bodies with their classes, meshes, tendons, actuators and sensors, read by the compiler settings of their own file."""
    (tmp_path / "limbs").mkdir()
    (tmp_path / "limbs" / "child.xml").write_text(CHILD)
    file = tmp_path / "parent.xml"
    file.write_text(PARENT)
    whole(file)
    oracle = MujocoOracle(file)
    figure, = json.loads(run("info", file, "--json").stdout)["figures"]
    assert {j["name"] for j in figure["joints"]} >= {"left_j", "right_k", "more_j0", "more_k1"}
    assert figure["mass"] == pytest.approx(sum(oracle.model.body_mass), rel=TOLERANCE)
    model = oracle.model
    reply = run("eval", f"{file}#trunk", stdin=json.dumps({"compute": ["actuator_length", "tendon_length"], "states": [{}]}))
    names = json.loads(reply.stdout)["results"][0]
    assert set(names["actuator_length"]) == {model.actuator(i).name for i in range(model.nu)}
    assert set(names["tendon_length"]) == {model.tendon(i).name for i in range(model.ntendon)}
    rng = np.random.default_rng(5)
    for _ in range(STATES):
        state = oracle.random_state(rng, [j["name"] for j in figure["joints"] if j["nv"] > 0], "trunk")
        reply = evaluate_as_is(f"{file}#trunk", Request(["crba", "rnea"], [state], gravity=oracle.gravity))
        M, tau = oracle.dynamics(reply.dofs, "trunk")
        assert np.asarray(reply.results[0]["crba"]) == pytest.approx(M, abs=TOLERANCE * np.abs(M).max())
        assert np.asarray(reply.results[0]["rnea"]) == pytest.approx(tau, abs=TOLERANCE * np.abs(tau).max())
        damping = {j["name"]: j["coordinates"][0]["damping"] for j in figure["joints"] if j["nv"] == 1}
    assert damping["left_j"] == 0.3


def test_attached_models_attach_others(tmp_path):
    (tmp_path / "limbs").mkdir()
    (tmp_path / "limbs" / "child.xml").write_text(CHILD)
    (tmp_path / "limbs" / "pair.xml").write_text("""<mujoco><default><geom density="100"/></default><asset><model name="c" file="child.xml"/></asset>
      <worldbody><body name="pair"><joint name="p" axis="1 0 0"/><geom size="0.1"/><attach model="c" body="arm" prefix="one_"/>
      <frame pos="0 0.3 0"><attach model="c" body="arm" prefix="two_"/></frame></body></worldbody></mujoco>""")
    file = tmp_path / "whole.xml"
    file.write_text("""<mujoco><asset><model name="m" file="limbs/pair.xml"/></asset>
      <worldbody><attach model="m" body="pair" prefix="x_"/></worldbody></mujoco>""")
    whole(file)
    model = mujoco.MjModel.from_xml_path(str(file))
    figure, = json.loads(run("info", file, "--json").stdout)["figures"]
    assert {j["name"] for j in figure["joints"] if j["nv"]} == {model.joint(j).name for j in range(model.njnt)}
    assert figure["mass"] == pytest.approx(sum(model.body_mass), rel=TOLERANCE)


def test_keyframes_of_attached_models(tmp_path):
    """They are for what was attached; the rest is as at the start. Classes of the same name are those of their own file, and
    quaternions have any length."""
    (tmp_path / "limb.xml").write_text("""<mujoco><default><joint damping="3"/><default class="thin"><geom size="0.2"/></default></default>
      <worldbody><body name="b"><joint name="j" ref="20"/><geom class="thin"/><body name="c" pos="0 0 1"><joint name="ball" type="ball"/>
      <geom class="thin"/></body></body></worldbody><actuator><position name="a" joint="j" kp="7"/></actuator>
      <sensor><jointpos name="q" joint="j"/><jointvel name="v" joint="j"/><ballquat name="turn" joint="ball"/><actuatorfrc name="f" actuator="a"/></sensor>
      <keyframe><key name="home" time="2" qpos="1 2 0 0 1" qvel="2 0 0 0" ctrl="3"/><key name="zero" qpos="0.1 0 0 0 0"/></keyframe></mujoco>""")
    (tmp_path / "two.xml").write_text("""<mujoco><asset><model name="limb" file="limb.xml"/></asset><worldbody>
      <frame pos="1 0 0"><attach model="limb" prefix="one_"/></frame><frame pos="2 0 0"><attach model="limb" prefix="two_"/></frame>
      </worldbody></mujoco>""")
    file = tmp_path / "all.xml"
    file.write_text("""<mujoco><default><default class="thin"><geom size="0.1"/></default></default><asset><model name="two" file="two.xml"/>
      <model name="limb" file="limb.xml"/></asset><worldbody><body name="r"><joint name="own" ref="30"/><geom class="thin"/></body>
      <attach model="limb" prefix=""/><frame pos="0 3 0"><attach model="two" prefix="x_"/></frame></worldbody>
      <sensor><jointpos name="own" joint="own"/></sensor></mujoco>""")
    whole(file)
    m = mujoco.MjModel.from_xml_path(str(file))
    d = mujoco.MjData(m)
    figures = json.loads(run("info", file, "--json").stdout)["figures"]
    assert sum(figure["mass"] for figure in figures) == pytest.approx(sum(m.body_mass), rel=TOLERANCE)
    damping = {j["name"]: j["coordinates"][0]["damping"] for figure in figures for j in figure["joints"] if j["nv"] == 1}
    assert damping == {m.joint(j).name: m.dof_damping[m.jnt_dofadr[j]] for j in range(m.njnt) if m.joint(j).name[-1] != "l"}
    # MuJoCo leaves the outer prefix out of the names of keys that were attached before.
    keys = {("x_" if m.key(k).name[:4] in ("one_", "two_") else "") + m.key(k).name: k for k in range(m.nkey)}
    assert set(keys) == {p + k for p in ("", "x_one_", "x_two_") for k in ("home", "zero")}
    for name, k in keys.items():
        mujoco.mj_resetDataKeyframe(m, d, k)
        mujoco.mj_forward(m, d)
        result = run("simulate", file, "--keyframe", name, "--duration", "1e-9", "--json")
        assert result.exit_code == OK, result.stderr
        ours = json.loads(result.stdout)["sensors"]["start"]
        for s in range(m.nsensor):
            theirs = d.sensordata[m.sensor_adr[s] : m.sensor_adr[s] + m.sensor_dim[s]]
            assert ours[m.sensor(s).name] == pytest.approx(theirs, abs=TOLERANCE), (name, m.sensor(s).name)


@pytest.mark.parametrize(("model", "message"), [
    ('<model name="m" file="none.xml"/>', "cannot read the model"),
    ('<model name="m" file="parent.xml"/>', "attaches itself"),
    ('<model name="m" file="/etc/hostname"/>', "outside of the model's package"),
    ("", "unknown model 'm'")])
def test_models_that_cannot_be_attached(model, message, tmp_path):
    file = tmp_path / "parent.xml"
    file.write_text(f'<mujoco><asset>{model}</asset><worldbody><attach model="m" body="b" prefix="x"/></worldbody></mujoco>')
    assert any(message in d.message for d in check(file).errors), check(file).errors
