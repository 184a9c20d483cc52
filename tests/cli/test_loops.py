"""Loops of robots of others close from the neutral posture and from random ones within the limits."""

from __future__ import annotations

import re
import resource
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from zlib import crc32

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cross_engine"))
from kansetsu_protocol import BAD_FILE, OK, data_files, run  # noqa: E402

STARTS = 20
# Whose joints the loop file turns into ball joints: as the hinges of the URDF they hold fewer motions than the loops take.
OTHER_JOINTS = {"digit_like_2legs"}


def _link(name: str, length: float) -> str:
    return (f'<link name="{name}"><inertial><origin xyz="{length / 2} 0 0"/><mass value="1"/>'
            '<inertia ixx="0.01" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/></inertial></link>')


def _joint(name: str, kind: str, parent: str, child: str, x: float) -> str:
    return (f'<joint name="{name}" type="{kind}"><parent link="{parent}"/><child link="{child}"/><origin xyz="{x} 0 0"/>'
            '<axis xyz="0 1 0"/><limit lower="-3.1" upper="3.1" effort="10" velocity="10"/></joint>')


# A crank of 0.3 m, a coupler of 0.8 m and a rocker of 0.5 m between pivots 0.9 m apart: the crank turns round.
FOUR_BAR = ('<robot name="four_bar">' + "".join(
    [_link("base", 0.1), _link("crank", 0.3), _link("coupler", 0.8), _link("rocker", 0.5), _link("end", 0.1), _link("pivot", 0.1),
     _joint("j1", "revolute", "base", "crank", 0), _joint("j2", "revolute", "crank", "coupler", 0.3),
     _joint("j3", "revolute", "coupler", "rocker", 0.8), _joint("j4", "revolute", "rocker", "end", 0.5),
     _joint("mount", "fixed", "base", "pivot", 0.9)]) + "</robot>")


def robots() -> list:
    found = data_files("robots/closed_loop/*/robot.urdf") + data_files("loops/*/robot.urdf")
    others = [pytest.param(p.values[0], id=p.values[0].parent.name) if p.values[0] is not None else p
              for p in found if p.values[0] is None or p.values[0].parent.name not in OTHER_JOINTS]
    return [pytest.param(None, id="four_bar"), *others]


@pytest.fixture
def urdf(request, tmp_path) -> Path:
    """A robot with its loop file; without a path, the four-bar linkage."""
    if request.param is not None:
        return request.param
    folder = tmp_path / "four_bar"
    folder.mkdir()
    (folder / "robot.urdf").write_text(FOUR_BAR)
    (folder / "robot.yaml").write_text("closed_loop: [['end', 'pivot']]\n")
    return folder / "robot.urdf"


def pairs_of(urdf: Path) -> list[tuple[str, str]]:
    pairs = re.findall(r"\[\s*['\"](\w+)['\"],\s*['\"](\w+)['\"]\s*\]", (urdf.parent / "robot.yaml").read_text().split("type:")[0])
    assert pairs
    return pairs


def scene(urdf: Path, q: dict[str, float]) -> str:
    """Loop files name joints as well as links; so may scenes."""
    text = f'[[figure]]\nname = "robot"\nmodel = "{urdf}"\nbase = "fixed"\n'
    if q:
        text += "[figure.q]\n" + "".join(f'"{name}" = {value}\n' for name, value in q.items())
    for a, b in pairs_of(urdf):
        text += f'[[figure.loop]]\nname = "{a}"\na = "{a}"\nb = "{b}"\nkind = "weld"\n'
    return text


def random_posture(urdf: Path, rng: np.random.Generator) -> dict[str, float]:
    q = {}
    for joint in ElementTree.parse(urdf).getroot().iter("joint"):
        if joint.get("type") not in ("revolute", "prismatic", "continuous"):
            continue
        limit = joint.find("limit")
        lower, upper = (float(limit.get(x, 0)) for x in ("lower", "upper")) if limit is not None else (0.0, 0.0)
        if not lower < upper or joint.get("type") == "continuous":
            lower, upper = -1.0, 1.0
        q[joint.get("name")] = float(rng.uniform(max(lower, -3), min(upper, 3)))
    return q


@pytest.mark.parametrize("urdf", robots(), indirect=True)
def test_loops_close(urdf, tmp_path):
    seed = crc32(urdf.parent.name.encode())
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)
    for k in range(1 + STARTS):
        file = tmp_path / f"start{k}.toml"
        file.write_text(scene(urdf, {} if k == 0 else random_posture(urdf, rng)))
        result = run("check", file, "--allow-partial", "--allow-path", urdf.parent)
        assert result.exit_code == OK, (k, result.stderr[-600:])


@pytest.mark.parametrize("urdf", robots(), indirect=True)
def test_what_scipy_closes_closes_here(urdf, tmp_path):
    """Damped least squares of SciPy over Pinocchio's kinematics, from the same starts and within the same limits."""
    optimize = pytest.importorskip("scipy.optimize")
    pin = pytest.importorskip("pinocchio")
    model = pin.buildModelFromUrdf(str(urdf))
    data = model.createData()
    frames = [(model.getFrameId(a), model.getFrameId(b)) for a, b in pairs_of(urdf)]
    seed = crc32(urdf.parent.name.encode()) + 1
    print(f"seed {seed}")
    rng = np.random.default_rng(seed)

    def gaps(x: np.ndarray) -> np.ndarray:
        pin.framesForwardKinematics(model, data, configuration(x))
        return np.concatenate([pin.log6(data.oMf[a].actInv(data.oMf[b])).vector for a, b in frames])

    def configuration(x: np.ndarray) -> np.ndarray:
        q = pin.neutral(model)
        for joint in model.joints[1:]:
            value = x[joint.idx_v]
            q[joint.idx_q : joint.idx_q + joint.nq] = [value] if joint.nq == 1 else [np.cos(value), np.sin(value)]
        return q

    lower = np.full(model.nv, -np.inf)
    upper = np.full(model.nv, np.inf)
    for joint in model.joints[1:]:
        if joint.nq == 1 and model.lowerPositionLimit[joint.idx_q] < model.upperPositionLimit[joint.idx_q]:
            lower[joint.idx_v], upper[joint.idx_v] = model.lowerPositionLimit[joint.idx_q], model.upperPositionLimit[joint.idx_q]
    closed = 0
    for k in range(1 + STARTS):
        start = {} if k == 0 else random_posture(urdf, rng)
        x = np.zeros(model.nv)
        for name, value in start.items():
            x[model.joints[model.getJointId(name)].idx_v] = value
        found = optimize.least_squares(gaps, np.clip(x, lower, upper), bounds=(lower, upper), xtol=1e-15, ftol=1e-15, gtol=1e-15)
        if np.abs(found.fun).max() > 1e-7:  # the digits of the files
            continue
        closed += 1
        file = tmp_path / f"start{k}.toml"
        file.write_text(scene(urdf, start))
        result = run("check", file, "--allow-partial", "--allow-path", urdf.parent)
        assert result.exit_code == OK, (k, result.stderr[-600:])
    print(f"SciPy closes {closed} of {1 + STARTS}")
    assert closed > 0


def test_a_loop_that_cannot_close_is_an_error(tmp_path):
    (tmp_path / "arm.urdf").write_text(
        """<robot name="arm"><link name="a"/><link name="b"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"
        ixy="0" ixz="0" iyz="0"/></inertial></link><joint name="j" type="continuous"><parent link="a"/><child link="b"/>
        <axis xyz="0 0 1"/></joint></robot>""")
    file = tmp_path / "scene.toml"
    text = '[[figure]]\nname = "arm"\nmodel = "arm.urdf"\nbase = "fixed"\n[[figure.loop]]\na = "a"\nb = "b"\nname = "l"\nkind = "point"\n'
    file.write_text(text + "pose_a = { p = [1, 0, 0.1] }\npose_b = { p = [0, 1, 0] }\n")  # a circle 0.1 m below the point
    result = run("check", file)
    assert result.exit_code == BAD_FILE
    assert "WORLD002" in result.stderr and "0.1 m" in result.stderr
    file.write_text(text + "pose_a = { p = [1, 0, 1e-8] }\npose_b = { p = [0, 1, 0] }\n")  # no more than the file's digits
    assert run("check", file).exit_code == OK


@pytest.mark.parametrize("links, closes", [(100, True), (2000, False)])
def test_the_search_for_a_closed_posture_is_bounded(links: int, closes: bool, tmp_path: Path):
    """A rope whose far end is out of reach: a hundred links get all starts, two thousand took a minute of the processor, more links
    hours. One that is within reach is closed."""
    scene = tmp_path / "rope.toml"
    scene.write_text(f"""
[scene]
name = "tied"
[[figure]]
name = "rope"
model = "rope{links}"
base = "fixed"
[[connection]]
name = "knot"
a = {{p = [{0.01 if closes else 65536.0}, 0.0, 0.0]}}
b = {{figure = "rope", link = "link{links}"}}
kind = "point"
hold = "together"
""")
    start = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    result = run("check", scene)
    assert (result.exit_code == OK) == closes, result.stderr
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - start < 30  # [s]; it takes two
