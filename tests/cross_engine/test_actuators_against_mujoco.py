"""Tendons, actuators and sensors of models in MJCF equal MuJoCo's with constraints off."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest
from kansetsu_protocol import OK, Request, check, run
from mujoco_oracle import BALL, FREE, MujocoOracle, mjcf_models, sides_differ, without_meshes

mujoco = pytest.importorskip("mujoco")

# Rounding of two programs, relative to the largest number of a kind; wraps end where Newton's method does.
TOLERANCE = 1e-8
STATES = 20
# Sensors of shapes, which are not there where contacts are off; of users' own laws.
NOT_COMPARED = ("rangefinder", "distance", "normal", "fromto", "touch", "contact", "user", "plugin")
# Sensors that differ, and why: the kind, when, the reason.
DEVIATIONS = (
    ("ACCELEROMETER", lambda m, body: m.body_weldid[body] == 0, "of what cannot move MuJoCo's shows nothing, ours gravity"),
    ("FORCE", lambda m, body: in_medium(m), "forces of the medium on links count here, and not in MuJoCo"),
    ("TORQUE", lambda m, body: in_medium(m), "the same"),
    ("FORCE", lambda m, body: m.body_gravcomp.any(), "so do forces that compensate weight"),
    ("TORQUE", lambda m, body: m.body_gravcomp.any(), "the same"),
    ("FORCE", lambda m, body: m.body_weldid[body] == 0, "not read: of what cannot move"),
    ("TORQUE", lambda m, body: m.body_weldid[body] == 0, "the same"),
)
ARM = """
  <worldbody>
    <site name="ceiling" pos="0.1 0.05 1.5"/>
    <body name="upper" pos="0 0 1"><joint name="shoulder" axis="0 1 0" ref="0.2"/><joint name="twist" axis="1 0 0"/>
      <geom name="bone" type="capsule" fromto="0 0 0 0 0 -0.4" size="0.03"/>
      <geom name="roller" type="sphere" size="0.05" pos="0 0 -0.2" mass="0.01"/>
      <site name="a" pos="0.05 0.02 -0.05" euler="20 30 10"/><site name="b" pos="-0.04 0.01 -0.3"/><site name="inside" pos="0 0 -0.4"/>
      <site name="side" pos="0.2 0 -0.4"/>
      <body name="lower" pos="0 0 -0.4"><joint name="elbow" axis="0 1 0"/><joint name="slide" type="slide" axis="0 0 1"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.3" size="0.02"/>
        <geom name="pin" type="cylinder" size="0.03 0.1" euler="90 0 0" mass="0.01"/>
        <site name="c" pos="0.06 0.01 -0.1" euler="0 40 60"/><site name="d" pos="-0.05 -0.02 -0.25"/>
        <body name="hand" pos="0 0 -0.3"><joint name="wrist" type="ball"/><geom size="0.04" mass="0.2"/>
          <site name="tip" pos="0.01 0.02 -0.08" euler="10 20 30"/></body>
      </body>
    </body>
  </worldbody>"""
TENDONS = """
  <tendon>
    <fixed name="sum" stiffness="3" damping="0.2" springlength="0.1"><joint joint="shoulder" coef="0.5"/><joint joint="elbow" coef="-1.5"/></fixed>
    <spatial name="straight"><site site="ceiling"/><site site="b"/><site site="d"/></spatial>
    <spatial name="branches"><site site="ceiling"/><site site="a"/><pulley divisor="2"/><site site="b"/><site site="c"/>
      <pulley divisor="3"/><site site="b"/><site site="d"/><site site="tip"/></spatial>
    <spatial name="sphere"><site site="a"/><geom geom="roller"/><site site="b"/><site site="d"/></spatial>
    <spatial name="sided"><site site="a"/><geom geom="pin" sidesite="side"/><site site="c"/></spatial>
    <spatial name="through"><site site="b"/><geom geom="pin" sidesite="inside"/><site site="d"/></spatial>
    <spatial name="both"><site site="ceiling"/><geom geom="roller"/><site site="b"/><geom geom="pin"/><site site="c"/></spatial>
  </tendon>"""

SMALL = {
    "kinds": f"""<mujoco><option><flag constraint="disable"/></option>{ARM}{TENDONS}<actuator>
        <motor name="m" joint="shoulder" gear="3" ctrlrange="-0.5 0.5"/><position name="p" joint="elbow" kp="30" kv="2" gear="0.5" forcerange="-4 9"/>
        <position name="pr" joint="elbow" kp="20" dampratio="0.7"/><position name="pt" joint="twist" kp="5" timeconst="0.05"/>
        <velocity name="v" joint="twist" kv="4"/><intvelocity name="i" joint="slide" kp="9" actrange="-0.3 0.3"/>
        <damper name="d" joint="elbow" kv="2" ctrlrange="0 1"/><cylinder name="c" joint="slide" diameter="0.3" timeconst="0.2" bias="1 2 3"/>
        <general name="g" joint="shoulder" gaintype="affine" gainprm="1 2 3" biastype="affine" biasprm="4 5 6"/>
        <general name="gi" joint="shoulder" dyntype="integrator" gainprm="2"/><general name="gf" joint="shoulder" dyntype="filter" dynprm="0.3"/>
        <general name="ge" joint="shoulder" dyntype="filterexact" dynprm="0.3" biastype="affine" biasprm="0 -1 -2"/>
        <muscle name="mu" joint="elbow" lengthrange="-2 2"/><muscle name="ms" joint="elbow" force="70" lengthrange="-1 1" gear="-1" tausmooth="0.3" timeconst="0.02 0.05"/>
        </actuator></mujoco>""",
    "transmissions": f"""<mujoco><option><flag constraint="disable"/></option>{ARM}{TENDONS}<actuator>
        <motor name="ball" joint="wrist" gear="1 2 3"/><motor name="ballp" jointinparent="wrist" gear="1 -2 3"/>
        <position name="ball_servo" joint="wrist" gear="1 0.5 0" kp="3"/>
        <motor name="t1" tendon="sum" gear="2"/><position name="t2" tendon="straight" kp="10" kv="1"/><muscle name="t3" tendon="sphere" lengthrange="0.3 0.9"/>
        <position name="t4" tendon="branches" kp="7" dampratio="0.5"/><muscle name="t5" tendon="both" lengthrange="0.3 1.9" force="100"/>
        <motor name="s" site="tip" gear="1 2 3 0.1 0.2 0.3"/>
        <position name="sr" site="tip" refsite="a" gear="1 2 3 0 0 0" kp="2"/><motor name="sr2" site="tip" refsite="c" gear="0 0 0 1 2 3"/>
        <position name="crank" cranksite="c" slidersite="a" cranklength="0.9" gear="2" kp="3"/>
        </actuator></mujoco>""",
    "free base": """<mujoco><option><flag constraint="disable"/></option><worldbody><body name="drone" pos="0 0 1"><freejoint name="root"/>
        <geom type="box" size="0.2 0.1 0.05"/><site name="r1" pos="0.2 0.1 0" euler="0 10 0"/><site name="r2" pos="-0.2 0.1 0.02"/>
        <body name="arm" pos="0.1 0 0"><joint name="j" axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/></body></body></worldbody>
        <actuator><motor name="r1" site="r1" gear="0 0 1 0 0 0.1" ctrlrange="0 9"/><motor name="r2" site="r2" gear="0 0 1 0 0 -0.1"/>
        <motor name="f" joint="root" gear="1 2 3 4 5 6"/><motor name="fp" jointinparent="root" gear="1 2 3 4 5 6"/></actuator></mujoco>""",
    "sites of the world": """<mujoco><option><flag constraint="disable"/></option><worldbody><site name="still" pos="0.1 0.2 0.3" euler="10 20 30"/>
        <body pos="0.5 0 0" euler="0 0 40"><geom size="0.1"/><site name="post" pos="0 0 0.3" euler="0 40 0"/></body>
        <body name="arm" pos="1 0 0"><joint name="j" axis="0 0 1"/><geom type="sphere" size="0.05" pos="0 0.2 0"/><site name="crank" pos="0 0.2 0"/></body>
        <body name="ball" pos="2 0 0.5" euler="20 0 50"><freejoint name="root"/><geom type="box" size="0.1 0.2 0.3"/><site name="ball" pos="0.1 0 0.1"/></body>
        <body name="base" pos="0 3 0" euler="0 0 30"><geom size="0.1"/><body><joint name="k"/><geom size="0.1" pos="0.2 0 0"/><site name="tip" pos="0.3 0 0"/></body></body>
        </worldbody><actuator><motor name="rod" cranksite="crank" slidersite="still" cranklength="2.5" gear="2"/>
        <motor name="pull" site="ball" refsite="still" gear="1 2 3 0 0 0"/><motor name="turn" site="ball" refsite="post" gear="0 0 0 1 2 3"/>
        <position name="back" site="post" refsite="tip" gear="0 1 2 0 0 0" kp="3"/></actuator></mujoco>""",
    "several children of the world": """<mujoco><option><flag constraint="disable"/></option><worldbody>
        <body name="cup" pos="0 0 1"><joint name="x" type="slide" axis="1 0 0"/><joint name="y" axis="0 1 0"/><geom size="0.1"/>
        <site name="cup" pos="0.1 0.2 0"/></body><body name="ball" pos="1 0 0.5" euler="20 0 50"><freejoint name="root"/>
        <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0"/><site name="ball" pos="0 0.1 0.1"/></body>
        <body name="post" pos="0 1 0"><geom size="0.1"/><body><joint name="turn"/><geom size="0.1" pos="0.2 0 0"/><site name="tip" pos="0.3 0 0"/></body></body>
        </worldbody><tendon><spatial name="string" stiffness="3"><site site="ball"/><site site="cup"/></spatial>
        <fixed name="sum"><joint joint="x" coef="2"/><joint joint="turn" coef="-1"/></fixed></tendon>
        <actuator><position name="pull" tendon="string" kp="3"/><motor name="reach" site="tip" refsite="cup" gear="1 2 3 0 0 0"/>
        <motor tendon="sum"/></actuator></mujoco>""",
}

SENSORS = f"""<mujoco><option><flag constraint="disable"/></option>{ARM}{TENDONS}
  <actuator><position name="p" joint="elbow" kp="30" kv="2"/><motor name="t" tendon="straight"/><motor name="u" joint="elbow" gear="3"/></actuator>
  <sensor>
    <accelerometer name="s1" site="tip"/><gyro name="s2" site="tip"/><velocimeter name="s3" site="tip"/><force name="s4" site="c"/><torque name="s5" site="c"/>
    <force name="s4b" site="tip"/><torque name="s5b" site="tip"/><magnetometer name="s6" site="c"/>
    <jointpos name="s7" joint="shoulder"/><jointvel name="s8" joint="elbow"/><jointactuatorfrc name="s9" joint="elbow"/>
    <ballquat name="s10" joint="wrist"/><ballangvel name="s11" joint="wrist"/>
    <tendonpos name="s12" tendon="branches"/><tendonvel name="s13" tendon="both"/><tendonactuatorfrc name="s14" tendon="straight"/>
    <actuatorpos name="s15" actuator="p"/><actuatorvel name="s16" actuator="t"/><actuatorfrc name="s17" actuator="p"/>
    <framepos name="f1" objtype="site" objname="tip"/><framequat name="f2" objtype="site" objname="tip"/>
    <framexaxis name="f3" objtype="site" objname="tip"/><frameyaxis name="f4" objtype="geom" objname="pin"/><framezaxis name="f5" objtype="xbody" objname="hand"/>
    <framelinvel name="f6" objtype="site" objname="tip"/><frameangvel name="f7" objtype="xbody" objname="lower"/>
    <framelinacc name="f8" objtype="site" objname="tip"/><frameangacc name="f9" objtype="site" objname="tip"/>
    <framepos name="g1" objtype="site" objname="tip" reftype="site" refname="a"/><framequat name="g2" objtype="site" objname="tip" reftype="xbody" refname="lower"/>
    <framexaxis name="g3" objtype="site" objname="tip" reftype="site" refname="c"/>
    <framelinvel name="g6" objtype="site" objname="tip" reftype="site" refname="a"/><frameangvel name="g7" objtype="site" objname="tip" reftype="site" refname="a"/>
    <framepos name="h1" objtype="body" objname="lower"/><framelinvel name="h2" objtype="body" objname="lower"/>
    <subtreecom name="t1" body="upper"/><subtreelinvel name="t2" body="lower"/><subtreeangmom name="t3" body="lower"/>
    <clock name="k"/><e_kinetic name="ek"/><e_potential name="ep"/>
    <gyro name="cut" site="tip" cutoff="0.4"/><jointpos name="cut2" joint="elbow" cutoff="0.2"/>
  </sensor></mujoco>"""


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes a log of its complaints into the working folder."""
    monkeypatch.chdir(tmp_path)


def rows(values: np.ndarray, nnz, adr, colind, count: int, nv: int) -> np.ndarray:
    """A sparse matrix of MuJoCo's as a dense one."""
    out = np.zeros((count, nv))
    flat = np.asarray(values).ravel()
    if flat.size == count * nv and colind is None:
        return flat.reshape(count, nv).copy()
    for i in range(count):
        for k in range(int(nnz[i])):
            out[i, int(np.ravel(colind)[int(adr[i]) + k])] = flat[int(adr[i]) + k]
    return out


def tendon_moments(m, d) -> np.ndarray:
    where = d if hasattr(d, "ten_J_rownnz") else m
    return rows(d.ten_J, where.ten_J_rownnz, where.ten_J_rowadr, where.ten_J_colind, m.ntendon, m.nv)


def actuator_moments(m, d) -> np.ndarray:
    return rows(d.actuator_moment, d.moment_rownnz, d.moment_rowadr, d.moment_colind, m.nu, m.nv)


def figures_of(model: Path) -> list[dict]:
    result = run("info", model, "--json")
    assert result.exit_code == OK, result.stderr
    return json.loads(result.stdout)["figures"]


class Comparison:
    def __init__(self):
        self.worst: dict[str, float] = {}
        self.count = 0

    def add(self, what: str, ours, theirs, scale: float = 1.0) -> None:
        ours, theirs = np.atleast_1d(np.asarray(ours, float)), np.atleast_1d(np.asarray(theirs, float))
        assert ours.shape == theirs.shape, what
        if not theirs.size:
            return
        difference = float(np.abs(ours - theirs).max() / max(scale, np.abs(theirs).max()))
        self.worst[what] = max(self.worst.get(what, 0.0), difference)
        self.count += 1

    def check(self) -> None:
        print(self.worst)
        bad = {what: x for what, x in self.worst.items() if not x <= TOLERANCE}
        assert not bad, bad


def compare(model: Path, states: int) -> Comparison:
    oracle = MujocoOracle(model)
    m, d = oracle.model, oracle.data
    seed = crc32(model.stem.encode())
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    out = Comparison()
    names = {"tendon": [m.tendon(i).name for i in range(m.ntendon)], "actuator": actuator_names(m)}
    figures = figures_of(model)
    oracle.name_by_order(figures)
    for figure in figures:
        joints = [j["name"] for j in figure["joints"] if j["nv"] > 0]
        root = figure["name"]
        samples = []
        for _ in range(states):
            state = oracle.random_state(rng, joints, root if figure["base"] == "free" else None)
            samples.append((state, oracle.keep(), rng.uniform(-1.5, 1.5, m.nu), rng.uniform(0, 1, m.na)))
        request = json.loads(Request([], [s[0] for s in samples], gravity=oracle.gravity).to_json())
        request["compute"] = ["tendon_length", "tendon_velocity", "tendon_moment", "actuator_length", "actuator_velocity",
                              "actuator_moment", "actuator_force", "activation_rate", "actuator_torque"]
        # Unnamed ones have names of their own here; models of robots name theirs, or have them in one figure.
        probe = run("eval", f"{model}#{root}",
                    stdin=json.dumps({"compute": ["actuator_length", "tendon_length"], "states": [{}]}))
        assert probe.exit_code == OK, probe.stderr
        reply = json.loads(probe.stdout)["results"][0]
        mine = {kind: match(list(reply[f"{kind}_length"]), names[kind]) for kind in ("tendon", "actuator")}
        for state, (_, _, u, act) in zip(request["states"], samples, strict=True):
            state["u"] = {n: float(u[i]) for n, i in mine["actuator"].items()}
            state["act"] = {n: float(act[m.actuator_actadr[i]]) for n, i in mine["actuator"].items()
                            if m.actuator_actadr[i] >= 0}
        result = run("eval", f"{model}#{root}", stdin=json.dumps(request))
        assert result.exit_code == OK, result.stderr
        answer = json.loads(result.stdout)
        for ours, (_, kept, u, act) in zip(answer["results"], samples, strict=True):
            oracle.go_back(kept)
            d.ctrl[:], d.act[:] = u, act
            mujoco.mj_forward(m, d)
            add_state(out, oracle, answer["dofs"], root, mine, ours)
    return out


def add_state(out: Comparison, oracle: MujocoOracle, dofs: list[str], root: str, mine: dict, ours: dict) -> None:
    m, d = oracle.model, oracle.data
    columns, T = oracle.columns(dofs, root), transform(oracle, dofs, root)
    on_tendon = [i for i in range(m.nu) if m.actuator_trntype[i] == mujoco.mjtTrn.mjTRN_TENDON]
    old = {i for i in on_tendon if sides_differ(m, m.actuator_trnid[i, 0])}
    for n, i in mine["tendon"].items():
        if sides_differ(m, i):
            continue
        out.add("tendon length", ours["tendon_length"][n], d.ten_length[i])
        out.add("tendon velocity", ours["tendon_velocity"][n], d.ten_velocity[i])
        out.add("tendon moment", ours["tendon_moment"][n], T.T @ tendon_moments(m, d)[i, columns])
    moments = actuator_moments(m, d)
    for n, i in mine["actuator"].items():
        if i in old:
            continue
        out.add("actuator length", ours["actuator_length"][n], d.actuator_length[i])
        out.add("actuator velocity", ours["actuator_velocity"][n], d.actuator_velocity[i])
        out.add("actuator moment", ours["actuator_moment"][n], T.T @ moments[i, columns])
        if not m.actuator_actearly[i]:
            out.add("actuator force", ours["actuator_force"][n], d.actuator_force[i])
        if m.actuator_actadr[i] >= 0:
            out.add("activation rate", ours["activation_rate"][n], d.act_dot[m.actuator_actadr[i]])
    if len(mine["actuator"]) == m.nu and not m.actuator_actearly.any() and not old:
        out.add("torque", ours["actuator_torque"], T.T @ d.qfrc_actuator[columns])


def actuator_names(m: mujoco.MjModel) -> list[str]:
    """Those without a name are named after the joint or tendon they act on, as here."""
    out: list[str] = [m.actuator(i).name for i in range(m.nu)]
    for i in range(m.nu):
        kind, target = mujoco.mjtTrn(m.actuator_trntype[i]), m.actuator_trnid[i, 0]
        joint = kind in (mujoco.mjtTrn.mjTRN_JOINT, mujoco.mjtTrn.mjTRN_JOINTINPARENT)
        if joint and m.jnt_type[target] == FREE:
            continue  # by their order
        on = m.joint(target).name if joint else m.tendon(target).name if kind == mujoco.mjtTrn.mjTRN_TENDON else ""
        name, number = f"{on}_motor", 1
        while name in out:
            number += 1
            name = f"{on}_motor_{number}"
        out[i] = out[i] or (name if on else "")
    return out


def match(ours: list[str], theirs: list[str]) -> dict[str, int]:
    """MuJoCo's number of each of ours: by name, or by the order of those without one."""
    named = {n: i for i, n in enumerate(theirs) if n}
    rest = iter([i for i, n in enumerate(theirs) if not n])
    return {n: named[n] if n in named else next(rest) for n in ours}


def transform(oracle: MujocoOracle, dofs: list[str], root: str) -> np.ndarray:
    """MuJoCo's velocities per ours: the base's are in its own axes here."""
    T = np.eye(len(dofs))
    if dofs and dofs[0].startswith("base."):
        body = oracle.body(root)
        q = oracle.model.jnt_qposadr[oracle.model.body_jntadr[body]]
        R = np.zeros(9)
        mujoco.mju_quat2Mat(R, oracle.data.qpos[q + 3 : q + 7])
        T[3:6, 3:6] = R.reshape(3, 3)
    return T


@pytest.mark.parametrize("name", SMALL)
def test_small_models(name, tmp_path):
    model = tmp_path / "small.xml"
    model.write_text(SMALL[name])
    result = compare(model, STATES)
    result.check()
    assert result.count > 0


@pytest.mark.parametrize("model", mjcf_models())
def test_models_of_others(model, tmp_path):
    """As they are, or without meshes where these are not there."""
    try:
        oracle = MujocoOracle(model)
    except ValueError:
        model = without_meshes_or_skip(model, tmp_path)
        oracle = MujocoOracle(model)
    if oracle.model.nu + oracle.model.ntendon == 0:
        pytest.skip("nothing to compare: no tendon, no actuator")
    result = compare(model, STATES)
    result.check()
    assert result.count > 0


def without_meshes_or_skip(model: Path, tmp_path: Path) -> Path:
    try:
        file = without_meshes(model, tmp_path / model.name)
        mujoco.MjModel.from_xml_path(str(file))
    except (ValueError, SyntaxError) as reason:
        pytest.skip(f"MuJoCo does not read it: {str(reason)[:80]}")
    return file


def in_medium(m: mujoco.MjModel) -> bool:
    return m.opt.density > 0 or m.opt.viscosity > 0


def deviates(m: mujoco.MjModel, sensor: int) -> bool:
    kind = mujoco.mjtSensor(m.sensor_type[sensor]).name.removeprefix("mjSENS_")
    if not any(kind == k for k, _, _ in DEVIATIONS):
        return False
    body = m.site_bodyid[m.sensor_objid[sensor]]
    return any(kind == k and when(m, body) for k, when, _ in DEVIATIONS)


def add_values(out: Comparison, model: mujoco.MjModel, data: mujoco.MjData, ours: dict[str, list[float]]) -> None:
    for k in range(model.nsensor):
        if deviates(model, k):
            continue
        theirs = data.sensordata[model.sensor_adr[k] : model.sensor_adr[k] + model.sensor_dim[k]]
        values = np.asarray(ours[model.sensor(k).name])
        quaternion = model.sensor_datatype[k] == int(mujoco.mjtDataType.mjDATATYPE_QUATERNION)
        if quaternion and values @ theirs < 0:
            values = -values
        # Rounding of the largest acceleration of all reaches the others, through levers of a centimetre here.
        late = model.sensor_needstage[k] == int(mujoco.mjtStage.mjSTAGE_ACC)
        scale = max(1.0, 0.01 * np.abs(data.qacc).max()) if late else 1.0
        out.add(f"{model.sensor(k).name} ({mujoco.mjtSensor(model.sensor_type[k]).name})", values, theirs, scale)


@pytest.mark.parametrize("model", mjcf_models())
def test_sensors_of_others(model, tmp_path):
    """Values at the start of a simulation, from random states in keyframes of the model as MuJoCo writes it."""
    try:
        probe = mujoco.MjModel.from_xml_path(str(model))
    except ValueError:
        model = without_meshes_or_skip(model, tmp_path)
        probe = mujoco.MjModel.from_xml_path(str(model))
    if probe.nsensor == 0:
        pytest.skip("nothing to compare: no sensor")
    if any(d.code == "MJCF070" for d in check(model).diagnostics):
        pytest.skip("meshes outside of the model's package")
    file = tmp_path / "flat.xml"
    mujoco.mj_saveLastXML(str(file), probe)
    root = ElementTree.parse(file).getroot()
    compiler = root.find("compiler")
    for folder in ("meshdir", "texturedir"):
        compiler.set(folder, str(model.parent / compiler.get(folder, "")))
    meshes = compiler.get("meshdir") if Path(compiler.get("meshdir")).is_dir() else model.parent
    option = root.find("option") if root.find("option") is not None else ElementTree.SubElement(root, "option")
    flag = option.find("flag") if option.find("flag") is not None else ElementTree.SubElement(option, "flag")
    flag.set("constraint", "disable")
    for old in root.findall("keyframe"):
        root.remove(old)
    for section in root.findall("sensor"):
        for number, sensor in enumerate(list(section)):
            if sensor.tag in NOT_COMPARED:
                section.remove(sensor)
            sensor.attrib.setdefault("name", f"sensor {number}")
            sensor.attrib.pop("noise", None)
    keys = ElementTree.SubElement(root, "keyframe")
    seed = crc32(model.stem.encode())
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    states = []
    for i in range(STATES):
        q, v = rng.uniform(-1, 1, probe.nq), rng.uniform(-2, 2, probe.nv)
        u, act = rng.uniform(-1, 1, probe.nu), rng.uniform(0, 1, probe.na)
        for j in range(probe.njnt):
            at = probe.jnt_qposadr[j] + (3 if probe.jnt_type[j] == FREE else 0)
            if probe.jnt_type[j] in (FREE, BALL):
                q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
        numbers = {"qpos": q, "qvel": v, "ctrl": u, "act": act}
        text = {name: " ".join(repr(float(x)) for x in values) for name, values in numbers.items() if values.size}
        ElementTree.SubElement(keys, "key", name=f"k{i}", **text)
        states.append((q, v, u, act))
    ElementTree.ElementTree(root).write(file)
    compiled = mujoco.MjModel.from_xml_path(str(file))
    compiled.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(compiled)
    out = Comparison()
    for i, (q, v, u, act) in enumerate(states):
        data.qpos[:], data.qvel[:], data.ctrl[:], data.act[:] = q, v, u, act
        mujoco.mj_forward(compiled, data)
        mujoco.mj_forward(compiled, data)
        result = run("simulate", file, "--keyframe", f"k{i}", "--duration", "1e-9", "--json", "--allow-partial", "--allow-path", meshes)
        assert result.exit_code == OK, result.stderr
        add_values(out, compiled, data, json.loads(result.stdout)["sensors"]["start"])
    out.check()


def test_sensors(tmp_path):
    """Values at the start of a simulation, from random states in keyframes."""
    probe = mujoco.MjModel.from_xml_string(SENSORS)
    seed = 7
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    keys, states = [], []
    for i in range(STATES):
        q = rng.uniform(-1, 1, probe.nq)
        q[4:8] /= np.linalg.norm(q[4:8])
        v, u = rng.uniform(-2, 2, probe.nv), rng.uniform(-1, 1, probe.nu)
        text = [" ".join(repr(float(x)) for x in values) for values in (q, v, u)]
        keys.append(f'<key name="k{i}" qpos="{text[0]}" qvel="{text[1]}" ctrl="{text[2]}"/>')
        states.append((q, v, u))
    file = tmp_path / "sensors.xml"
    file.write_text(SENSORS.replace("</mujoco>", "<keyframe>" + "".join(keys) + "</keyframe></mujoco>"))
    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.enableflags |= int(mujoco.mjtEnableBit.mjENBL_ENERGY)
    data = mujoco.MjData(model)
    out = Comparison()
    for i, (q, v, u) in enumerate(states):
        data.qpos[:], data.qvel[:], data.ctrl[:] = q, v, u
        mujoco.mj_forward(model, data)
        mujoco.mj_forward(model, data)  # its sensor of kinetic energy gives that of the call before
        result = run("simulate", file, "--keyframe", f"k{i}", "--duration", "0.001", "--json")
        assert result.exit_code == OK, result.stderr
        ours = json.loads(result.stdout)["sensors"]["start"]
        assert list(ours) == [model.sensor(k).name for k in range(model.nsensor)]  # in the order of the file
        add_values(out, model, data, ours)
    out.check()
