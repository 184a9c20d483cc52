"""A joint that moves nothing massive is a warning at load and a named failure of forward dynamics, never a NaN."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kansetsu_protocol import NUMERICAL, OK, Request, State, check, data_files, evaluate, run
from pin_oracle import PinOracle
from random_states import random_states
from singularity import dofs_without_inertia, smallest_eigenvalue

SEED = 20260101
each_base = pytest.mark.parametrize("base", ["fixed", "free"])


def is_singular(oracle: PinOracle, states: list[State]) -> bool:
    return smallest_eigenvalue(oracle, states) == 0.0


def singular_joints(model: Path, base: str) -> tuple[list[State], list[str]]:
    """States and the joints without inertia; no joints if the model is not singular."""
    print(f"seed {SEED}")
    oracle = PinOracle(model, base)
    states = random_states(oracle, count=5, seed=SEED)
    if not is_singular(oracle, states):
        return states, []
    return states, [dof for dof in dofs_without_inertia(oracle, states[0]) if not dof.startswith("base.")]


@pytest.mark.parametrize("model", data_files("robots/urdf/*.urdf"))
def test_check_warns_of_joints_without_inertia(model: Path):
    _, joints = singular_joints(model, "fixed")
    report = check(model, "--allow-partial")  # their meshes are not there
    assert report.exit_code == OK and report.ok
    messages = " ".join(d.message for d in report.warnings)
    assert all(joint in messages for joint in joints)


@each_base
@pytest.mark.parametrize("model", data_files("robots/urdf/*.urdf"))
def test_forward_dynamics_names_joints_without_inertia(model: Path, base: str):
    states, joints = singular_joints(model, base)
    for quantity in ("aba", "aba_derivatives"):
        reply = evaluate(model, Request([quantity], states[:1]), base, exit_code=NUMERICAL if joints else OK)
        error = reply.results[0].get("error", "")
        assert bool(error) == bool(joints)
        assert all(joint in error for joint in joints)


@each_base
@pytest.mark.parametrize("model", data_files("robots/urdf/robotiq_c2_model.urdf"))
def test_massless_model_has_no_centre_of_mass(model: Path, base: str):
    """Whether zero or an error is answered: it is JSON without NaN."""
    result = run("eval", model, "--base", base, stdin=Request(["com", "centroidal"], [State()]).to_json())
    assert result.exit_code in (OK, NUMERICAL)
    assert "nan" not in result.stdout.lower() and "null" not in result.stdout
    assert json.loads(result.stdout)["results"]
