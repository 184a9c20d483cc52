"""SDF beside libsdformat (libsdformat-dev of Debian; skipped where it is absent): where links, mass centres and joints are, seen through
MuJoCo in the model that the command writes."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from kansetsu_protocol import OK, PARTIAL, check, data_files, run

mujoco = pytest.importorskip("mujoco")

HERE = Path(__file__).resolve().parent
TOLERANCE = 1e-9  # libsdformat's texts have twelve digits and more


@pytest.fixture(scope="module")
def oracle(tmp_path_factory):
    """Runs the oracle on a file; KANSETSU_SDF_ORACLE names one that is built already."""
    program = os.environ.get("KANSETSU_SDF_ORACLE")
    if not program:
        flags = shutil.which("pkg-config") and subprocess.run(["pkg-config", "--cflags", "--libs", "sdformat12"],
                                                              capture_output=True, text=True, check=False)
        if not flags or flags.returncode != 0:
            pytest.skip("libsdformat is not installed")
        program = str(tmp_path_factory.mktemp("sdf") / "sdf_oracle")
        subprocess.run(["c++", "-std=c++17", str(HERE / "sdf_oracle.cc"), "-o", program, *flags.stdout.split()], check=True)
    return lambda *arguments: subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False)


NESTED = """<sdf version="1.9"><model name="m"><pose>1 2 3 0.1 0.2 0.3</pose>
  <link name="a"><pose relative_to="f">1 0 0 0.3 0 0</pose><inertial><pose>0.1 0 0 0 0 0</pose><mass>2</mass></inertial></link>
  <frame name="f" attached_to="b"><pose degrees="true">0 0 1 10 20 90</pose></frame>
  <link name="b"><pose>0 2 0 0 0 0.7</pose></link>
  <joint name="j" type="revolute"><pose relative_to="f">0 0 3 0.5 0 0</pose><parent>b</parent><child>a</child>
    <axis><xyz expressed_in="__model__">1 0.5 0</xyz></axis></joint>
  <model name="inner" placement_frame="tip"><pose relative_to="a">0 0 1 0.4 0 0</pose><link name="l"/>
    <frame name="tip"><pose>0 5 0 0 0.2 0</pose></frame></model>
  <joint name="k" type="prismatic"><parent>a</parent><child>inner::tip</child><axis><xyz>0 0 1</xyz></axis></joint></model></sdf>"""
OLD = """<sdf version="1.4"><model name="old"><pose>0 0 1 0 0 1</pose><link name="a"><pose>0 0 1 0 0.5 0</pose></link>
  <link name="b"><pose>1 0 1 0.3 0 0</pose></link><joint name="j" type="revolute"><pose>0 0.1 0 0 0 0.4</pose><parent>a</parent>
  <child>b</child><axis><xyz>1 0 0</xyz></axis></joint></model></sdf>"""
WORLD = """<sdf version="1.7"><world name="w"><frame name="f"><pose>1 0 0 0 0 1</pose></frame>
  <model name="one"><pose relative_to="f">0 0 1 0 0 0</pose><link name="l"/></model>
  <model name="two" canonical_link="y"><pose>0 1 1 0 0 0</pose><link name="x"/><link name="y"><pose>0 0 1 0 1 0</pose></link>
    <joint name="u" type="revolute"><pose>0 0 0.2 0 0 0</pose><parent>x</parent><child>y</child><axis><xyz>0 1 0</xyz></axis></joint>
    <joint name="w" type="fixed"><parent>world</parent><child>x</child></joint></model></world></sdf>"""


def compare(file: Path, truth: list[dict], tmp_path: Path) -> None:
    target = tmp_path / "model.xml"
    result = run("convert", file, target)
    assert result.exit_code == OK, result.stderr
    m = mujoco.MjModel.from_xml_path(str(target))
    d = mujoco.MjData(m)
    mujoco.mj_kinematics(m, d)
    seen = 0
    for part in truth:
        kind = mujoco.mjtObj.mjOBJ_BODY if part["kind"] == "link" else mujoco.mjtObj.mjOBJ_JOINT
        i = mujoco.mj_name2id(m, kind, part["name"])
        if i < 0:
            continue
        seen += 1
        p, q = np.array(part["pose"][:3]), np.array([part["pose"][6], *part["pose"][3:6]])
        if part["kind"] == "link":
            assert np.abs(d.xpos[i] - p).max() <= TOLERANCE and 1 - abs(d.xquat[i] @ q) <= TOLERANCE, part
            if m.body_weldid[i]:
                assert m.body_mass[i] == pytest.approx(part["mass"], rel=TOLERANCE)
                assert np.abs(d.xipos[i] - part["com"]).max() <= TOLERANCE, part
        else:
            assert np.abs(np.cross(d.xanchor[i] - p, d.xaxis[i])).max() <= TOLERANCE, part
            assert np.abs(d.xaxis[i] - part["axis"]).max() <= TOLERANCE, part
    assert seen > 0


@pytest.mark.parametrize("text", [NESTED, OLD, WORLD], ids=["nested", "old", "world"])
def test_frames(text, oracle, tmp_path):
    file = tmp_path / "model.sdf"
    file.write_text(text)
    answer = oracle(file)
    assert answer.returncode == 0, answer.stderr
    compare(file, json.loads(answer.stdout), tmp_path)


@pytest.mark.parametrize("model", data_files("odd_models/sdf/*.sdf"))
def test_odd_files(model, oracle):
    """What libsdformat refuses is refused here, too, or read in part."""
    assert (check(model).exit_code == OK) == (oracle(model).returncode == 0)


@pytest.mark.parametrize("model", data_files("robots/urdf/*.urdf"))
def test_robots(model, oracle, tmp_path):
    """Robots that libsdformat has turned into SDF."""
    answer, text = oracle(model), oracle(model, "--text")
    if answer.returncode != 0 or text.returncode != 0:
        pytest.skip("libsdformat does not read it")
    file = tmp_path / "robot.sdf"
    file.write_text(text.stdout)
    if check(file).exit_code not in (OK, PARTIAL):
        pytest.fail(str(check(file).errors[:3]))
    compare(file, json.loads(answer.stdout), tmp_path)


@pytest.mark.parametrize("text", [NESTED, WORLD], ids=["nested", "world"])
def test_written_frames(text, oracle, tmp_path):
    """What is written stands there as what was read."""
    file, written = tmp_path / "model.sdf", tmp_path / "written.sdf"
    file.write_text(text)
    assert run("convert", file, written).exit_code == OK
    answer = oracle(written)
    assert answer.returncode == 0, answer.stderr
    compare(file, json.loads(answer.stdout), tmp_path)


@pytest.mark.parametrize("model", data_files("robots/urdf/*.urdf"))
def test_written_robots(model, oracle, tmp_path):
    """libsdformat reads what is written, unless it needs a newer version."""
    if check(model).exit_code not in (OK, PARTIAL):
        pytest.skip("not read")
    written = tmp_path / "written.sdf"
    result = run("convert", model, written)
    assert result.exit_code == OK, result.stderr
    if "other programs refuse" in result.stderr:
        pytest.skip("inertias that no body has")
    if 'version="1.11"' in written.read_text():
        pytest.skip("gears are of SDF 1.11")
    answer = oracle(written)
    assert answer.returncode == 0, answer.stderr
    compare(written, json.loads(answer.stdout), tmp_path)
