"""Makes the protocol module of ../cross_engine importable; gives tests a small robot."""

import signal
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "cross_engine"))

# Commands under test hear signals even where the tests run in the background, whose SIGINT a shell ignores.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)

ROBOT = """<robot name="r">
  <link name="base"><inertial><mass value="5"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left"><inertial><origin xyz="0 0 -0.5"/><mass value="2"/>
    <inertia ixx="0" iyy="0" izz="0" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="left_tip"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <link name="right_foot"><inertial><mass value="1"/>
    <inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="right_hip" type="continuous"><parent link="base"/><child link="right"/><axis xyz="0 1 0"/></joint>
  <joint name="left_hip" type="continuous"><parent link="base"/><child link="left"/><axis xyz="0 1 0"/></joint>
  <joint name="left_knee" type="continuous"><parent link="left"/><child link="left_tip"/><axis xyz="0 1 0"/>
    <mimic joint="right_hip" multiplier="-2" offset="0.5"/></joint>
  <joint name="right_ankle" type="continuous"><parent link="right"/><child link="right_foot"/>
    <axis xyz="0 1 0"/></joint>
</robot>
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "robot.urdf"
    path.write_text(ROBOT)
    return path


@pytest.fixture(autouse=True)
def in_a_folder_of_its_own(tmp_path, monkeypatch):
    """Scenes record below the current folder."""
    monkeypatch.chdir(tmp_path)
