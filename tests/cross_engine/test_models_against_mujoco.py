"""Whole models of others against MuJoCo, meshes and all: masses, mass matrix and bias forces with constraints off."""

from __future__ import annotations

import json
from zlib import crc32

import numpy as np
import pytest
from kansetsu_protocol import OK, PARTIAL, Request, check, evaluate_as_is, run
from mujoco_oracle import MujocoOracle, mjcf_models

# Rounding of two programs at matrices and forces of up to 1e4; meshes add that of surfaces of 1e5 triangles.
TOLERANCE = 1e-8
STATES = 20


@pytest.fixture(autouse=True)
def somewhere_else(tmp_path, monkeypatch):
    """MuJoCo writes a log of its complaints into the working folder."""
    monkeypatch.chdir(tmp_path)


def test_spring_dampers(tmp_path):
    """Stiffness and damping by the inertia that a joint feels in the reference configuration."""
    model = tmp_path / "model.xml"
    model.write_text("""<mujoco><worldbody><body><joint name="a" axis="0 1 0" springdamper="0.3 0.7"/><geom type="capsule" size="0.1 0.3"
        pos="0.2 0 0.1"/><body pos="0.4 0 0.3"><joint name="b" type="slide" axis="1 0 1" springdamper="0.1 1.5" stiffness="5"/>
        <joint name="c" damping="2"/><geom type="box" size="0.1 0.2 0.3"/></body></body></worldbody></mujoco>""")
    m = MujocoOracle(model).model
    for joint in json.loads(run("info", model, "--json").stdout)["figures"][0]["joints"]:
        j, ours = m.joint(joint["name"]).id, joint["coordinates"][0]
        assert ours["stiffness"] == pytest.approx(m.jnt_stiffness[j], rel=1e-9)  # numbers of files, converted once
        assert ours["damping"] == pytest.approx(m.dof_damping[m.jnt_dofadr[j]], rel=1e-9)


def poses(oracle: MujocoOracle, fk: dict) -> list:
    """Places of the bodies that both know by name, ours and theirs."""
    m, d = oracle.model, oracle.data
    bodies = {m.body(b).name: b for b in range(1, m.nbody)}
    return [(fk[name]["p"], d.xpos[b]) for name, b in bodies.items() if name in fk]


@pytest.mark.parametrize("model", mjcf_models())
def test_masses_and_dynamics(model):
    try:
        oracle = MujocoOracle(model)
    except ValueError as reason:
        pytest.skip(f"MuJoCo does not read it: {str(reason)[:80]}")
    report = check(model)
    if report.exit_code == PARTIAL:
        left_out = sorted({d.message for d in report.diagnostics if d.partial})
        structure = [m for m in left_out if any(f"<{tag}>" in m for tag in ("composite", "flexcomp"))]
        if any(d.code == "MJCF070" for d in report.diagnostics):
            pytest.skip("meshes outside of the model's package")
        if structure:
            pytest.skip("; ".join(structure))
    else:
        assert report.exit_code == OK, report.errors
    result = run("info", model, "--json")
    assert result.exit_code == OK, result.stderr
    figures = json.loads(result.stdout)["figures"]
    assert sum(figure["nv"] for figure in figures) == oracle.model.nv
    oracle.name_by_order(figures)
    moving = [b for b in range(1, oracle.model.nbody) if oracle.model.body_weldid[b] != 0
              and oracle.model.body_mocapid[b] < 0]
    ours = sum(figure["mass"] for figure in figures)
    assert ours >= sum(oracle.model.body_mass[b] for b in moving) * (1 - TOLERANCE)
    assert ours <= (sum(oracle.model.body_mass) + 1e-12) * (1 + TOLERANCE)
    seed = crc32(model.stem.encode())
    rng = np.random.default_rng(seed)
    worst = 0.0
    for figure in figures:
        joints = [j["name"] for j in figure["joints"] if j["nv"] > 0]
        root = figure["name"]
        if figure["nv"] == 0:  # a mocap body
            continue
        states, kept = [], []
        for _ in range(STATES):
            states.append(oracle.random_state(rng, joints, root if figure["base"] == "free" else None))
            kept.append(oracle.keep())
        reply = evaluate_as_is(f"{model}#{root}", Request(["crba", "rnea", "fk"], states, gravity=oracle.gravity))
        for ours, state in zip(reply.results, kept, strict=True):
            oracle.go_back(state)
            M, tau = oracle.dynamics(reply.dofs, root)
            for mine, theirs in [(ours["crba"], M), (ours["rnea"], tau), *poses(oracle, ours["fk"])]:
                worst = max(worst, np.abs(np.asarray(mine) - theirs).max() / max(1.0, np.abs(theirs).max()))
    print(f"seed {seed}, worst difference {worst:.2e}")
    assert worst <= TOLERANCE
