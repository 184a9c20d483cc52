"""`kansetsu conventions` prints the page of the docs, and the page names what the command names."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

PAGE = (Path(__file__).resolve().parents[2] / "docs/conventions.md").read_text(encoding="utf-8")


def kansetsu(*arguments: str) -> str:
    binary = os.environ.get("KANSETSU_BIN") or pytest.skip("KANSETSU_BIN is not set: name the kansetsu binary to test")
    return subprocess.run([binary, *arguments], capture_output=True, encoding="utf-8", check=True).stdout


def test_the_command_prints_the_page():
    assert kansetsu("conventions") == PAGE


@pytest.mark.parametrize("engine", ["Pinocchio", "MuJoCo", "Drake", "ROS"])
def test_every_engine_has_a_section(engine: str):
    assert f"\n### {engine}\n" in PAGE


def test_gravity_is_as_stated():
    stated = "Gravity is (0, 0, −9.81)"
    assert stated in PAGE and json.loads(kansetsu("info", "pendulum", "--json"))["gravity"] == [0, 0, -9.81]


@pytest.mark.parametrize("figure, first, last", [("human28", "base.omega_x", "base.v_z"), ("human28_ball", ".wx", ".wz")])
def test_dofs_are_named_as_stated(figure: str, first: str, last: str):
    dofs = json.loads(kansetsu("info", figure, "--json"))["dofs"]
    for name in (first, last):
        assert f"`{name}`" in PAGE and any(dof.endswith(name) for dof in dofs)
