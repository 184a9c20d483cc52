"""Models written as MJCF: MuJoCo finds in them the mechanism of the original, and the command reads them back as they were."""

from __future__ import annotations

import json
import re
from collections import Counter
from itertools import combinations
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from kansetsu_protocol import OK, PARTIAL, Request, State, check, data_files, evaluate_as_is, run
from mujoco_oracle import mjcf_models

mujoco = pytest.importorskip("mujoco")

TOLERANCE = 1e-10  # relative: poses are written with all digits, as quaternions and products of a few
STATES = 5


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes a log of its complaints into the working folder."""
    monkeypatch.chdir(tmp_path)


def convert(source: Path | str, target: Path, *options) -> str:
    result = run("convert", source, target, *options)
    assert result.exit_code == OK, result.stderr
    return result.stderr


def same_text(first: Path, second: Path) -> bool:
    """But for the last digits of numbers: turns go through roll, pitch and yaw."""
    # A hull that is only shown is read as its surface.
    a, b = (re.sub(r' face="[^"]*"', "", f.read_text()).replace('"', ' " ').split() for f in (first, second))

    def same(x: str, y: str) -> bool:
        try:
            return x == y or abs(float(x) - float(y)) <= TOLERANCE * max(1.0, abs(float(x)))
        except ValueError:
            return False

    return len(a) == len(b) and all(map(same, a, b))


class Motion:
    """A model in MuJoCo with constraints off, its coordinates in the order of the other's joints."""

    def __init__(self, file: Path, order: Motion | None = None):
        self.m = mujoco.MjModel.from_xml_path(str(file))
        self.d = mujoco.MjData(self.m)
        self.m.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        # Bodies that stand without a name, and joints in the same order: both go depth first.
        assert order is None or (order.m.nq, order.m.nv, order.m.nu, order.m.na) == (self.m.nq, self.m.nv, self.m.nu, self.m.na)

    def at(self, q, v, u, act) -> dict[str, np.ndarray]:
        m, d = self.m, self.d
        d.qpos[:], d.qvel[:], d.ctrl[:], d.act[:] = q, v, u, act
        mujoco.mj_forward(m, d)
        M = np.zeros((m.nv, m.nv))
        mujoco.mj_fullM(m, d, M)
        return {"M": M, "bias": d.qfrc_bias.copy(), "passive": d.qfrc_passive.copy(),
                "actuators": d.qfrc_actuator.copy(), "acceleration": d.qacc.copy(), "activation": d.act_dot.copy(),
                "tendons": np.sort(d.ten_length),
                "sensors": d.sensordata.copy()}


def random_state(m, rng):
    q = rng.uniform(-1, 1, m.nq)
    for j in range(m.njnt):
        at = m.jnt_qposadr[j]
        if m.jnt_type[j] <= 1:  # free, ball
            at += 3 if m.jnt_type[j] == 0 else 0
            q[at:at + 4] = rng.standard_normal(4)
            q[at:at + 4] /= np.linalg.norm(q[at:at + 4])
    return q, rng.uniform(-2, 2, m.nv), rng.uniform(-1, 1, m.nu), rng.uniform(0, 1, m.na)


def compare(first: Path, second: Path, seed: int, ignore=(), tolerance=TOLERANCE) -> None:
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    a = Motion(first)
    b = Motion(second, a)
    for _ in range(STATES):
        state = random_state(a.m, rng)
        x, y = a.at(*state), b.at(*state)
        for what in x:
            if what in ignore:
                continue
            scale = max(1.0, np.abs(x[what]).max(initial=0))
            assert np.abs(x[what] - y[what]).max(initial=0) <= tolerance * scale, what


def geoms(m) -> dict:
    """What may touch what, by friction and masks: the pairs that MuJoCo's rules leave, with their numbers."""
    out = {}
    for g in range(m.ngeom):
        if m.geom_contype[g] or m.geom_conaffinity[g]:
            key = (m.body(m.geom_bodyid[g]).name if m.body_weldid[m.geom_bodyid[g]] else "world", int(m.geom_type[g]))
            out.setdefault(key, []).append((int(m.geom_contype[g]), int(m.geom_conaffinity[g]), int(m.geom_condim[g]),
                                            round(float(m.geom_friction[g, 0]), 9), round(float(m.geom_margin[g]), 9)))
    return {key: sorted(values) for key, values in out.items()}


def body_of(m, geom: int) -> str:
    body = int(m.geom_bodyid[geom])
    return (m.body(body).name or f"body{body}") if m.body_weldid[body] else "world"


def place_of(m, d, geom: int) -> tuple:
    """Of the shape in the reference configuration: MuJoCo moves the frames of meshes to their centres."""
    p, mesh = d.geom_xpos[geom].copy(), int(m.geom_dataid[geom])
    if m.geom_type[geom] == mujoco.mjtGeom.mjGEOM_MESH:
        turn, back, whole, shift = np.zeros(4), np.zeros(4), np.zeros(4), np.zeros(3)
        mujoco.mju_mat2Quat(turn, d.geom_xmat[geom])
        mujoco.mju_negQuat(back, m.mesh_quat[mesh])
        mujoco.mju_mulQuat(whole, turn, back)
        mujoco.mju_rotVecQuat(shift, m.mesh_pos[mesh], whole)
        p -= shift
    return body_of(m, geom), int(m.geom_type[geom]), *(round(float(x), 4) + 0.0 for x in p)


def contact_numbers(m, a: int, b: int) -> tuple | None:
    """condim, friction and margin of two geoms by MuJoCo's rules; none: they never touch."""
    if not (m.geom_contype[a] & m.geom_conaffinity[b] or m.geom_contype[b] & m.geom_conaffinity[a]):
        return None
    bodies = [int(m.geom_bodyid[g]) for g in (a, b)]
    welds = [int(m.body_weldid[body]) for body in bodies]
    parents = [int(m.body_weldid[m.body_parentid[weld]]) for weld in welds]
    neighbours = all(welds) and (welds[0] == parents[1] or welds[1] == parents[0])
    filtered = not m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_FILTERPARENT)
    if welds[0] == welds[1] or (neighbours and filtered) or (min(bodies) << 16) + max(bodies) in m.exclude_signature:
        return None
    if m.geom_priority[a] != m.geom_priority[b]:
        chosen = a if m.geom_priority[a] > m.geom_priority[b] else b
        condim, friction = int(m.geom_condim[chosen]), m.geom_friction[chosen]
    else:
        condim, friction = max(m.geom_condim[[a, b]]), np.maximum(m.geom_friction[a], m.geom_friction[b])
    used = [x if condim >= least else 0 for x, least in zip(friction, (3, 4, 6), strict=True)]
    return int(condim), *(round(float(x), 8) for x in used), round(float(m.geom_margin[a] + m.geom_margin[b]), 8)


def contact_pairs(m) -> Counter:
    """All pairs of geoms that may touch, with the numbers of their contacts."""
    d = mujoco.MjData(m)
    mujoco.mj_kinematics(m, d)
    places = [place_of(m, d, g) for g in range(m.ngeom)]
    own = {tuple(sorted((int(m.pair_geom1[p]), int(m.pair_geom2[p])))): p for p in range(m.npair)}
    out: Counter = Counter()
    if m.opt.disableflags & int(mujoco.mjtDisableBit.mjDSBL_CONTACT):
        return out
    for a, b in combinations(range(m.ngeom), 2):
        p = own.get((a, b))
        numbers = contact_numbers(m, a, b) if p is None else (
            "pair", int(m.pair_dim[p]), *(round(float(x), 8) for x in m.pair_friction[p]), round(float(m.pair_margin[p]), 8))
        if numbers:
            out[(*sorted((places[a], places[b])), numbers)] += 1
    return out


MOST_GEOMS = 1500  # a million pairs take ten seconds


@pytest.mark.parametrize("model", mjcf_models())
def test_contacts_of_models_of_others(model, tmp_path):
    """MJCF → scene → MJCF: the same geoms may touch, with the same friction."""
    try:
        theirs = mujoco.MjModel.from_xml_path(str(model))
    except ValueError as reason:
        pytest.skip(f"MuJoCo does not read it: {str(reason)[:80]}")
    if theirs.ngeom > MOST_GEOMS:
        pytest.skip(f"{theirs.ngeom} geoms")
    if check(model).exit_code != OK:
        pytest.skip("not read whole")
    scene, copy = tmp_path / "scene.toml", tmp_path / "copy.xml"
    convert(model, scene)
    convert(scene, copy, "--allow-path", model.parent)
    before, after = contact_pairs(theirs), contact_pairs(mujoco.MjModel.from_xml_path(str(copy)))
    assert before == after, list((before - after).items())[:3] + list((after - before).items())[:3]


WELDED = """<mujoco><worldbody><body name="mount" pos="0 0 1"><geom name="plate" type="box" size="0.2 0.2 0.01"/>
  <body name="base" pos="0 0 -0.2"><geom name="block" type="box" size="0.05 0.05 0.05"/>
    <body name="arm" pos="0.1 0 0"><joint name="j" axis="0 1 0"/><geom name="rod" type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body>
  </body></body></worldbody><contact><exclude body1="base" body2="arm"/></contact></mujoco>"""


def test_exclusions_of_one_of_several_welded_bodies(tmp_path):
    """The arm passes through the base, but not through the plate that is welded to the base; also where a scene takes the model."""
    model, scene, copy, taken = (tmp_path / name for name in ("m.xml", "s.toml", "copy.xml", "taken.toml"))
    model.write_text(WELDED)
    taken.write_text('[[figure]]\nname = "taken"\nmodel = "m.xml"\n')
    convert(model, scene)
    expected = contact_pairs(mujoco.MjModel.from_xml_path(str(model)))
    assert [sorted((a[0], b[0])) for a, b, _ in expected] == [["arm", "world"]]
    for source in (model, scene):
        convert(source, copy)
        assert contact_pairs(mujoco.MjModel.from_xml_path(str(copy))) == expected, source
    convert(taken, copy)  # the friction is the scene's own
    pairs = contact_pairs(mujoco.MjModel.from_xml_path(str(copy)))
    assert [pair[:2] for pair in pairs] == [pair[:2] for pair in expected]


@pytest.mark.parametrize("model", mjcf_models())
def test_models_of_others(model, tmp_path):
    try:
        theirs = mujoco.MjModel.from_xml_path(str(model))
    except ValueError as reason:
        pytest.skip(f"MuJoCo does not read it: {str(reason)[:80]}")
    report = check(model)
    if report.exit_code == PARTIAL:
        pytest.skip("not read whole: " + "; ".join(sorted({d.message for d in report.diagnostics if d.partial}))[:120])
    assert report.exit_code == OK
    first, second = tmp_path / "first.xml", tmp_path / "second.xml"
    lost = convert(model, first)
    print(lost)
    # Accelerations, and sensors of forces, magnify rounding where links hardly weigh anything; rays meet hulls instead of ellipsoids.
    # MuJoCo has meshes in single precision, and what weighs by them.
    compare(model, first, crc32(model.stem.encode()), ignore=("acceleration", "sensors"),
            tolerance=1e-9 if theirs.nmesh > 0 else TOLERANCE)
    convert(first, second, "--allow-path", model.parent)
    assert same_text(first, second)


ROUND = """<mujoco model="round"><compiler angle="degree"/><option timestep="0.001" density="1.2" wind="1 0 0"/>
  <asset><mesh name="tetra" vertex="0 0 0 0.1 0 0 0 0.1 0 0 0 0.1"/>
    <hfield name="hills" nrow="2" ncol="3" size="1 1 0.5 0.1" elevation="0 1 2 3 4 5"/></asset>
  <worldbody><geom name="floor" type="plane" size="0 0 1" friction="0.7"/><site name="peg" pos="0 0 1"/>
    <geom name="ground" type="hfield" hfield="hills" pos="3 0 0"/>
    <body name="shelf" pos="2 0 0"><geom name="board" type="box" size="0.1 0.2 0.01" condim="4" friction="0.5 0.01 0"/></body>
    <body name="torso" pos="0.1 0.2 1" euler="10 20 30"><freejoint name="root"/>
      <inertial pos="0.01 0 0" mass="2" fullinertia="0.1 0.2 0.15 0.01 0.02 0.03"/>
      <geom name="chest" type="capsule" fromto="0 0 -0.1 0 0 0.1" size="0.05" contype="2" conaffinity="3"/>
      <site name="imu" pos="0 0 0.1" euler="0 90 0"/>
      <body name="arm" pos="0 0.2 0"><joint name="s1" axis="1 0 0" range="-90 45" ref="20" damping="0.1" stiffness="2"
          springref="5"/><inertial pos="0 0.1 0" mass="1" diaginertia="0.02 0.01 0.02"/><joint name="s2" axis="0 1 0" pos="0 0 0.02" armature="0.01" frictionloss="0.2"/>
        <geom type="mesh" mesh="tetra" condim="6" friction="0.9 0.02 0.001" priority="1"/>
        <geom name="drum" type="cylinder" size="0.03 0.1" pos="0 0.1 0" contype="0" conaffinity="0"/>
        <body name="hand" pos="0 0.3 0" gravcomp="0.5"><joint name="wrist" type="ball" damping="0.01" range="0 60"/>
          <geom type="box" size="0.02 0.03 0.04" margin="0.001"/><site name="palm"/>
          <body name="finger" pos="0 0.05 0"><joint name="f" type="slide" axis="0 1 0" range="-0.01 0.02"/>
            <geom name="tip" type="sphere" size="0.01"/></body></body></body></body>
    <body name="crank" pos="1 0 0.5"><joint name="c" axis="0 1 0"/><geom type="box" size="0.1 0.01 0.01" pos="0.1 0 0"/>
      <site name="pin" pos="0.2 0 0"/></body></worldbody>
  <contact><exclude body1="torso" body2="hand"/><exclude body1="shelf" body2="finger"/>
    <pair geom1="tip" geom2="floor" friction="0.3 0.3 0.01 0.001 0.001" condim="4"/></contact>
  <tendon><spatial name="cord" range="0.1 2" stiffness="3" springlength="0.2 0.4" damping="0.1"><site site="imu"/>
      <geom geom="drum"/><site site="palm"/></spatial>
    <fixed name="sum" actuatorfrcrange="-3 3"><joint joint="s1" coef="1"/><joint joint="f" coef="-2"/></fixed></tendon>
  <equality><joint joint1="s2" joint2="s1" polycoef="0.1 0.5 0.2 0 0"/><connect body1="crank" body2="finger" anchor="0.2 0 0"
      active="false"/><tendon tendon1="sum" polycoef="0.1 0 0 0 0"/></equality>
  <actuator><motor name="m" joint="s1" gear="3" ctrlrange="-0.5 0.5"/><position name="p" joint="s2" kp="20" kv="2"
      forcerange="-4 4"/><velocity name="v" tendon="sum" kv="0.3"/><general name="site" site="palm" refsite="imu"
      gear="1 2 3 4 5 6" dyntype="filter" dynprm="0.1"/><muscle name="muscle" tendon="cord" lengthrange="0.1 0.8" force="20"/>
    <motor name="thrust" joint="root" gear="0 0 1 0 0 0"/><motor name="turn" joint="wrist" gear="1 0 2"/>
    <adhesion name="suck" body="hand" ctrlrange="0 2" gain="3"/></actuator>
  <sensor><gyro name="gyro" site="imu" noise="0.1"/><framepos name="where" objtype="site" objname="palm" reftype="xbody"
      refname="torso"/><jointpos joint="s1"/><tendonpos tendon="cord" cutoff="5"/><actuatorfrc actuator="p"/>
    <touch name="feel" site="palm"/><subtreecom body="arm"/><clock/></sensor>
  <keyframe><key name="k" time="1" qpos="0 0 1 1 0 0 0 0.1 0.2 0.6 0 0.8 0 0.01 0.3" ctrl="0.1 0.2 0 0 0.5 0 0 1"
    act="0.2 0.3" qvel="1 2 3 4 5 6 0.1 0.2 0.3 0.4 0.5 0.6 0.7"/></keyframe></mujoco>"""


def test_every_part(tmp_path):
    """All kinds of parts in one model: what MuJoCo computes, contacts and keyframes, and that a second writing changes nothing."""
    source, first, second = tmp_path / "round.xml", tmp_path / "first.xml", tmp_path / "second.xml"
    source.write_text(ROUND)
    assert check(source).exit_code == OK, [d.message for d in check(source).diagnostics]
    print(convert(source, first))
    compare(source, first, 3)
    a, b = (mujoco.MjModel.from_xml_path(str(f)) for f in (source, first))
    assert geoms(a) == geoms(b)
    assert (b.npair, b.neq, b.ntendon, b.nu) == (a.npair, a.neq, a.ntendon, a.nu)
    assert np.allclose(a.key_qpos, b.key_qpos[-1:]) and np.allclose(a.key_qvel, b.key_qvel[-1:])
    order = [[m.actuator(i).name for i in range(m.nu)] for m in (a, b)]
    by_name = [order[1].index(name) for name in order[0]]
    assert np.allclose(a.key_ctrl[0], b.key_ctrl[-1][by_name])
    convert(first, second)
    assert same_text(first, second)


FLOATING = """<robot name="r"><link name="world"/>
  <link name="hull"><inertial><origin xyz="0.1 0 0.05"/><mass value="3"/><inertia ixx="0.1" iyy="0.2" izz="0.25" ixy="0.01" ixz="0" iyz="0.02"/></inertial></link>
  <link name="arm"><inertial><origin xyz="0 0.2 0"/><mass value="1"/><inertia ixx="0.02" iyy="0.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="probe"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/><inertia ixx="0.02" iyy="0.01" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="reference" type="floating"><parent link="world"/><child link="hull"/><origin xyz="0 0 1" rpy="0.1 0.2 0.3"/></joint>
  <joint name="j" type="continuous"><parent link="hull"/><child link="arm"/><origin xyz="0 0.1 0"/><axis xyz="1 0 0"/></joint>
  <joint name="loose" type="floating"><parent link="arm"/><child link="probe"/><origin xyz="0 0.3 0" rpy="0.4 0 0"/></joint></robot>"""


def test_free_joints_within_a_tree(tmp_path):
    """They are slides and a ball: the same masses and weights where nothing is turned, and the same fall from a start that is."""
    urdf, mjcf = tmp_path / "r.urdf", tmp_path / "r.xml"
    urdf.write_text(FLOATING)
    convert(urdf, mjcf)
    mujoco.MjModel.from_xml_path(str(mjcf))
    place = {"reference": [0.1, 0.2, 0.3], "loose": [-0.1, 0.05, 0.2]}
    state = State(q={"j": 0.7} | {name: [*p, 0, 0, 0, 1] for name, p in place.items()})
    slides = State(q={"j": 0.7} | {f"{name}/{axis}": x for name, p in place.items() for axis, x in zip("xyz", p, strict=True)})
    a = evaluate_as_is(str(urdf), Request(["crba", "rnea"], [state]))
    b = evaluate_as_is(f"{mjcf}", Request(["crba", "rnea"], [slides]))

    def theirs(dof: str) -> str:
        joint, _, part = dof.partition(".")
        if not part:
            return dof
        return f"{joint}/{part[-1]}" if part.startswith("v_") else f"{joint}.w{part[-1]}"

    order = [b.dofs.index(theirs(dof)) for dof in a.dofs]
    for what in ("crba", "rnea"):
        x, y = np.asarray(a.results[0][what]), np.asarray(b.results[0][what])
        y = y[np.ix_(order, order)] if y.ndim == 2 else y[order]
        assert np.abs(x - y).max() <= TOLERANCE * max(1.0, np.abs(x).max()), what

    scene, copy = tmp_path / "s.toml", tmp_path / "copy.xml"
    half = np.sqrt(0.5)
    scene.write_text(f"""[[figure]]
name = "r"
model = "r.urdf"
[figure.q]
reference = [0.1, 0.2, 0.3, 0, {half}, 0, {half}]
loose = [0, 0.1, 0, {half}, 0, 0, {half}]
[figure.v]
reference = [0.3, 0.2, -0.4, 1, 2, 3]
loose = [1, -1, 0.5, 0.2, -0.3, 0.1]
j = 0.5
[[sensor]]
name = "p"
kind = "frame_position"
at = {{ figure = "r", link = "probe" }}
""")
    convert(scene, copy)
    m = mujoco.MjModel.from_xml_path(str(copy))
    d = mujoco.MjData(m)
    mujoco.mj_resetDataKeyframe(m, d, 0)
    mujoco.mj_forward(m, d)
    result = run("simulate", scene, "--duration", 0.2, "--step", 0.0002, "--json")
    assert result.exit_code == OK, result.stderr
    sensors = json.loads(result.stdout)["sensors"]
    assert np.allclose(sensors["start"]["p"], d.body("probe").xpos, atol=1e-12)  # rounding of three poses in a row
    m.opt.timestep, m.opt.integrator = 0.0002, mujoco.mjtIntegrator.mjINT_RK4
    while d.time < 0.2 - 1e-9:
        mujoco.mj_step(m, d)
    moved = np.abs(np.asarray(sensors["end"]["p"]) - sensors["start"]["p"]).max()
    difference = np.abs(np.asarray(sensors["end"]["p"]) - d.body("probe").xpos).max()
    print(f"moved {moved:.3f} m, difference {difference:.1e} m")
    assert difference <= 1e-5 * moved  # our steps are of second order: (0.2 ms)² times what moves at some 10 rad/s


@pytest.mark.parametrize("model", [p for p in data_files("robots/urdf/*.urdf")][:12])
def test_urdf_in_mujoco(model, tmp_path):
    """A robot in URDF loads in MuJoCo after conversion, unless the report says why not."""
    if check(model).exit_code not in (OK, PARTIAL):
        pytest.skip("not read")
    target = tmp_path / "robot.xml"
    lost = convert(model, target)
    if "MuJoCo will not read them" in lost:
        pytest.skip("meshes of other formats")
    mujoco.MjModel.from_xml_path(str(target))
