"""SDF that is written: read again it is the same mechanism, and writing that gives the same file."""

from __future__ import annotations

import json
import sys
import tomllib
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cross_engine"))
from kansetsu_protocol import BASE_DOFS, OK, PARTIAL, Base, Request, State, check, data_files, evaluate_as_is, run  # noqa: E402

TOLERANCE = 1e-10  # demanded of the product: poses go through a few products and roll, pitch and yaw
STATES = 5
# Scenes leave out what is as usual.
USUAL = {"plug": {}, "socket": {}, "pose": {}, "p": [0, 0, 0], "rpy": [0, 0, 0], "com": [0, 0, 0], "axis": [0, 0, 1], "second_axis": [0, 1, 0]}

ARM = """<sdf version="1.9"><world name="hall"><gravity>0 0 -3.7</gravity><magnetic_field>1 2 3</magnetic_field>
  <physics name="p" type="ode"><max_step_size>0.002</max_step_size></physics>
  <model name="floor"><static>true</static><link name="l"><collision name="c"><geometry><plane><normal>0 1 1</normal></plane></geometry>
    <surface><friction><ode><mu>0.7</mu><mu2>0.7</mu2></ode></friction></surface></collision></link>
    <model name="post"><link name="p"><pose>1 0 0 0 0.1 0</pose><collision name="c"><geometry><box><size>1 2 3</size></box></geometry></collision>
      <visual name="v"><geometry><sphere><radius>0.1</radius></sphere></geometry><material><diffuse>1 0 0 1</diffuse></material></visual></link></model></model>
  <model name="arm"><pose>0.3 0 1 0.1 0.2 0.3</pose><self_collide>true</self_collide>
    <link name="a"><inertial><pose>0.1 0 0 0.3 0 0</pose><mass>2</mass><inertia><ixx>0.1</ixx><ixy>0.01</ixy><ixz>0.02</ixz><iyy>0.2</iyy>
      <iyz>0.03</iyz><izz>0.25</izz></inertia></inertial><collision name="c"><pose>0 0 0.1 0 0 1</pose><geometry><ellipsoid><radii>0.1 0.2 0.3</radii></ellipsoid></geometry>
      <surface><bounce><restitution_coefficient>0.4</restitution_coefficient></bounce><contact><collide_bitmask>3</collide_bitmask></contact>
        <friction><ode><mu>0.5</mu></ode><torsional><coefficient>0.8</coefficient><patch_radius>0.02</patch_radius></torsional></friction></surface></collision></link>
    <link name="b"><pose>0 0.2 0.5 0 0.5 0</pose><gravity>false</gravity><inertial><mass>1</mass><inertia><ixx>0.1</ixx><iyy>0.1</iyy><izz>0.1</izz></inertia></inertial></link>
    <link name="c"><pose>0 0.2 0.9 0 0 0</pose><inertial><mass>1</mass></inertial><collision name="one"><geometry><capsule><radius>0.1</radius><length>0.4</length></capsule></geometry></collision>
      <collision name="two"><geometry><cylinder><radius>0.1</radius><length>0.4</length></cylinder></geometry></collision></link>
    <link name="d"><pose>0 0.2 1.5 0 0 0</pose><inertial><mass>1</mass></inertial></link>
    <link name="e"><pose>0.1 0.2 1.7 0 0.3 0</pose><inertial><mass>1</mass></inertial></link>
    <link name="f"><pose>0.1 0.5 1.7 0 0.3 0</pose><inertial><mass>0.5</mass></inertial></link>
    <frame name="tip" attached_to="c"><pose>0 0 0.2 0.1 0 0</pose></frame>
    <joint name="root" type="revolute"><pose>0 0 -0.1 0 0 0</pose><parent>world</parent><child>a</child><axis><xyz>0 0 1</xyz></axis></joint>
    <joint name="j1" type="revolute"><pose>0 0.1 0 0.3 0 0</pose><parent>a</parent><child>b</child><axis><xyz expressed_in="__model__">1 1 0</xyz>
      <limit><lower>-1</lower><upper>2</upper><effort>30</effort><velocity>4</velocity></limit>
      <dynamics><damping>0.1</damping><friction>0.2</friction><spring_stiffness>3</spring_stiffness><spring_reference>0.1</spring_reference></dynamics></axis></joint>
    <joint name="j2" type="universal"><parent>b</parent><child>c</child><axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2></joint>
    <joint name="j3" type="screw"><parent>c</parent><child>d</child><axis><xyz>0 0 1</xyz></axis><screw_thread_pitch>0.1</screw_thread_pitch></joint>
    <joint name="j4" type="ball"><parent>tip</parent><child>e</child></joint>
    <joint name="j5" type="prismatic"><parent>e</parent><child>f</child><axis><xyz>0 1 0</xyz><limit><upper>0.3</upper></limit></axis></joint>
    <joint name="loop" type="ball"><pose>0 0 0.1 0 0 0</pose><parent>a</parent><child>f</child></joint>
  </model>
  <model name="pair"><pose>3 0 1 0 0 0</pose><link name="x"><inertial><mass>1</mass></inertial></link><link name="y"><pose>1 0 0 0 0 0</pose><inertial><mass>2</mass></inertial></link>
    <model name="inner"><pose>0 0 2 0 0 0.4</pose><link name="z"><inertial><mass>3</mass></inertial></link><link name="w"><pose>0 1 0 0 0 0</pose><inertial><mass>0.3</mass></inertial></link>
      <joint name="k" type="prismatic"><parent>z</parent><child>w</child><axis><xyz>0 1 0</xyz></axis></joint><frame name="mark" attached_to="w"/></model>
    <joint name="m" type="revolute"><parent>x</parent><child>inner::z</child><axis><xyz>1 0 0</xyz></axis></joint></model>
</world></sdf>"""
GEARS = """<sdf version="1.11"><model name="gears"><link name="a"><inertial><mass>1</mass></inertial></link><link name="b"><inertial><mass>1</mass></inertial></link>
  <link name="c"><pose>0.3 0 0 0 0 0</pose><inertial><mass>1</mass></inertial></link><joint name="fix" type="fixed"><parent>world</parent><child>a</child></joint>
  <joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>0 0 1</xyz></axis><drake:rotor_inertia>0.02</drake:rotor_inertia><drake:gear_ratio>3</drake:gear_ratio></joint>
  <joint name="k" type="revolute"><parent>a</parent><child>c</child><axis><xyz>0 0 1</xyz><mimic joint="j"><multiplier>-2</multiplier><offset>0.3</offset><reference>0.1</reference></mimic></axis></joint>
  </model></sdf>"""


def convert(source: Path, target: Path) -> str:
    result = run("convert", source, target)
    assert result.exit_code == OK, result.stderr
    return result.stderr


def same(a, b, where: str = "") -> None:
    """Data of two scenes but for rounding; angles that are the same turn count as the same."""
    if isinstance(a, dict):
        a, b = ({**{key: USUAL[key] for key in USUAL if key in {*a, *b}}, **x} for x in (a, b))
        assert set(a) == set(b), (where, set(a) ^ set(b))
        for key in a:
            if key == "rpy":
                assert np.abs(rotation(a[key]) - rotation(b[key])).max() <= TOLERANCE, where
            else:
                same(a[key], b[key], f"{where}/{key}")
    elif isinstance(a, list):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            same(x, y, f"{where}[{i}]")
    elif isinstance(a, int | float) and not isinstance(a, bool):
        assert a == b or abs(a - b) <= TOLERANCE * max(1.0, abs(a)), (where, a, b)
    elif isinstance(a, str):  # names of surfaces hold their numbers
        x, y = a.split("_"), b.split("_")
        assert len(x) == len(y), (where, a, b)
        for i, j in zip(x, y, strict=True):
            assert i == j or abs(float(i) - float(j)) <= TOLERANCE * max(1.0, abs(float(i))), (where, a, b)
    else:
        assert a == b, (where, a, b)


def rotation(rpy) -> np.ndarray:
    (cr, cp, cy), (sr, sp, sy) = np.cos(rpy), np.sin(rpy)
    return (np.array([[cy, -sy, 0], [sy, cy, 0], [0, 0, 1]]) @ np.array([[cp, 0, sp], [0, 1, 0], [-sp, 0, cp]])
            @ np.array([[1, 0, 0], [0, cr, -sr], [0, sr, cr]]))


def random_state(figure: dict, rng: np.random.Generator) -> State:
    state = State()
    for joint in figure["joints"]:
        n = joint["nv"]
        if n == 0 or any(c.get("dependent") for c in joint.get("coordinates", [])):
            continue
        q = rng.uniform(-1, 1, n).tolist()
        if joint["type"] == "ball":
            q = rng.standard_normal(4)
            q = (q / np.linalg.norm(q)).tolist()
        pick = (lambda x: x) if joint["type"] == "ball" or n > 1 else (lambda x: x[0])
        state.q[joint["name"]] = pick(q)
        state.v[joint["name"]] = pick(rng.uniform(-2, 2, n).tolist())
        state.a[joint["name"]] = pick(rng.uniform(-2, 2, n).tolist())
    if figure["base"] == "free":
        q = rng.standard_normal(4)
        vector = lambda: rng.uniform(-2, 2, 3).tolist()  # noqa: E731
        state.base = Base(vector(), (q / np.linalg.norm(q)).tolist(), vector(), vector(), vector(), vector())
    return state


def figures_of(file: Path) -> list[dict]:
    result = run("info", file, "--json")
    assert result.exit_code == OK, result.stderr
    answer = json.loads(result.stdout)
    return answer.get("figures", [answer])  # a URDF is one


def compare_dynamics(first: Path, second: Path, seed: int, rename=lambda name: name) -> None:
    """M and generalised forces at random states."""
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    theirs = {f["name"]: f for f in figures_of(second)}
    for figure in figures_of(first):
        other = theirs[rename(figure["name"])]
        assert (figure["nv"], figure["base"]) == (other["nv"], other["base"])
        if figure["nv"] == 0:
            continue
        states = [random_state(figure, rng) for _ in range(STATES)]
        a, b = (evaluate_as_is(str(file) if file.suffix == ".urdf" else f"{file}#{name}", Request(["crba", "rnea"], states))
                for file, name in ((first, figure["name"]), (second, other["name"])))
        assert a.dofs == b.dofs
        for x, y in zip(a.results, b.results, strict=True):
            for what in ("crba", "rnea"):
                scale = max(1.0, np.abs(x[what]).max())
                assert np.abs(np.asarray(x[what]) - y[what]).max() <= TOLERANCE * scale, what


def round_trip(source: Path, folder: Path) -> None:
    """SDF, scene, SDF: the same mechanism and the same scene, and from then on the same file."""
    names = [folder / name for name in ("one.toml", "two.sdf", "two.toml", "three.sdf")]
    scene, again, scene_again, third = names
    convert(source, scene)
    print(convert(scene, again))
    compare_dynamics(source, again, crc32(source.stem.encode()))
    if check(source).exit_code == PARTIAL:  # meshes that are not there are not in scenes
        return
    convert(again, scene_again)
    convert(scene_again, third)
    a, b = (tomllib.loads(file.read_text()) for file in (scene, scene_again))
    same(a, b)


@pytest.mark.parametrize("text", [ARM, GEARS], ids=["arm", "gears"])
def test_scenes_survive(text, tmp_path):
    file = tmp_path / "scene.sdf"
    file.write_text(text)
    assert check(file).exit_code == OK, check(file).diagnostics
    round_trip(file, tmp_path)


@pytest.mark.parametrize("model", data_files("robots/urdf/*.urdf"))
def test_robots_survive(model, tmp_path):
    """Robots as SDF: the dynamics of the URDF, and then a round trip."""
    if check(model).exit_code not in (OK, PARTIAL):
        pytest.skip("not read")
    file = tmp_path / "robot.sdf"
    lost = convert(model, file)
    print(lost)
    if "these names" not in lost:
        compare_dynamics(model, file, 1)
    round_trip(file, tmp_path)


def test_what_is_lost_is_told(tmp_path):
    """A model of MuJoCo with all that SDF has not."""
    source = tmp_path / "m.xml"
    source.write_text("""<mujoco><option density="1"/><worldbody><geom name="floor" type="plane" size="1 1 1" friction="0.3"/>
      <body name="b" gravcomp="0.5"><joint name="s" type="slide"/><joint name="h" range="-10 10"/><geom size="0.1" contype="2"/><site name="p"/></body>
      </worldbody><actuator><motor name="m" joint="h"/></actuator><sensor><clock name="c"/></sensor></mujoco>""")
    told = convert(source, tmp_path / "m.sdf")
    for what in ("actuators", "sensors", "the medium", "partial gravity compensation", "different masks",
                 "how these surfaces combine", "massless links"):
        assert what in told, told
    assert check(tmp_path / "m.sdf").exit_code == OK


def test_neighbours_never_meet_in_sdf(tmp_path):
    """Whether that loses anything: what is welded to the world meets its neighbour in MuJoCo; other neighbours do not."""
    def told(root: str, middle: str) -> str:
        source = tmp_path / "m.xml"
        source.write_text(f"""<mujoco><worldbody><body name="a">{root}<geom size="0.1"/><body name="b"><joint/>{middle}<inertial pos="0 0 0" mass="1"
          diaginertia="1 1 1"/><body name="c"><joint axis="0 1 0"/><geom size="0.1"/><body name="d"><joint/><geom size="0.1"/></body></body></body></body>
          </worldbody></mujoco>""")
        return convert(source, tmp_path / "m.sdf")

    geom = '<geom size="0.1"/>'
    assert "contacts between neighbours" in told("", geom)
    for root, middle in (("<freejoint/>", geom), ("<freejoint/>", ""), ("", "")):
        lost = told(root, middle)
        assert "contacts between neighbours" not in lost and "pairs that never collide" not in lost, (root, middle, lost)


def test_what_cannot_be_written(tmp_path):
    """No file is left, and the reason is told."""
    result = run("convert", "human28", tmp_path / "nowhere" / "m.sdf")
    assert result.exit_code == 3 and "SDF082" in result.stderr
