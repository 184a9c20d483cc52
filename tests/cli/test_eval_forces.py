"""kansetsu eval: what acts inside a mechanism. Reactions and gear torques, response operators, assembly, generated motions."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from kansetsu_protocol import BAD_FILE, NUMERICAL, OK, USAGE, run

ROOT = Path(__file__).resolve().parents[2]
STATE = {"q": {"elbowL_y": -0.7, "kneeR_y": 0.4, "hipL_x": 0.2}, "v": {"elbowL_y": 1.5, "hipL_x": -0.4}}
GRAVITY = 9.81


def evaluate(model: str, compute: list[str], state: dict, **more) -> dict:
    result = run("eval", model, stdin=json.dumps({"compute": compute, "states": [state], **more}))
    assert result.exit_code == OK, result.stderr + result.stdout
    reply = json.loads(result.stdout)
    return reply["results"][0] | {"dofs": reply["dofs"]}


def test_what_the_joints_carry_is_what_inverse_dynamics_asks_for():
    found = evaluate("human28", ["rnea", "reactions"], STATE)
    torque = found["reactions"]["torque"]
    tau = dict(zip(found["dofs"], found["rnea"]))
    assert all(np.isclose(torque[name][0], tau[name], atol=1e-10) for name in torque)  # rounding
    assert set(found["reactions"]["wrench"]) >= {"LowerArmL", "FootR"}


def test_a_hanging_rod_pulls_at_its_joint_with_its_weight():
    found = evaluate("pendulum", ["reactions", "fk"], {})
    wrench = next(np.array(w) for w in reversed(list(found["reactions"]["wrench"].values())))
    info = json.loads(run("info", "pendulum", "--json").stdout)
    assert np.isclose(np.linalg.norm(wrench[3:]), info["mass"] * GRAVITY, rtol=1e-3)


GEARED = """
<robot name='geared'>
  <link name='base'/>
  <link name='one'><inertial><origin xyz='0 0 0.1'/><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>
  <link name='two'><inertial><origin xyz='0 0 0.1'/><mass value='1'/><inertia ixx='0.1' iyy='0.1' izz='0.1' ixy='0' ixz='0' iyz='0'/></inertial></link>
  <joint name='motor' type='continuous'><parent link='base'/><child link='one'/><axis xyz='0 0 1'/></joint>
  <joint name='follower' type='continuous'><parent link='base'/><child link='two'/><axis xyz='0 0 1'/><mimic joint='motor' multiplier='3'/></joint>
</robot>
"""


def test_a_gear_transmits_the_torque_of_its_follower(tmp_path):
    file = tmp_path / "geared.urdf"
    file.write_text(GEARED)
    found = evaluate(str(file), ["reactions", "rnea", "response_operators"], {"a": {"motor": 2.0}})
    torque = found["reactions"]["torque"]
    assert np.isclose(torque["motor"][0], 0.1 * 2) and np.isclose(torque["follower"][0], 0.1 * 6)  # I·α of each
    assert np.isclose(found["rnea"][0], 0.1 * 2 + 3 * 0.1 * 6)
    group = found["response_operators"]["groups"][0]
    assert set(group["members"]) == {"one", "two"} and group["dofs"] == ["motor"]
    assert np.isclose(group["D_inv"][0][0], 1 / (0.1 + 9 * 0.1))  # 1/(I + γ²·I)


def test_operators_give_the_response_of_a_link():
    """−Θ of a member is the inverse inertia that its link shows: the response of the link to itself, in its own axes."""
    found = evaluate("chain8", ["response_operators", "response:link8:link8"], {"q": {}})
    groups = {g["members"][0]: g for g in found["response_operators"]["groups"]}
    theta = np.array(groups["link8"]["Theta"][0])
    world = np.array(found["response:link8:link8"])
    assert np.allclose(np.linalg.eigvalsh(-(theta + theta.T) / 2), np.linalg.eigvalsh((world + world.T) / 2), atol=1e-9)
    for g in groups.values():
        J, D = np.array(g["J"][0]), np.array(g["D_inv"])
        assert np.allclose(np.array(g["S"][0]), J @ D @ J.T, atol=1e-12)  # rounding


@pytest.mark.parametrize("method", ["assembly", "serial_assembly"])
@pytest.mark.parametrize("model, state", [("human28", STATE | {"tau": {"elbowL_y": 3.0}}), ("chain64", {"v": {}})])
def test_assembly_gives_accelerations_and_wrenches_of_the_articulated_bodies(method, model, state):
    found = evaluate(model, ["aba", method], state)
    assert np.allclose(found["aba"], found[method]["vdot"], rtol=1e-9, atol=1e-8)
    if model != "human28":
        return
    torque = found[method]["torque"]
    assert np.isclose(torque["elbowL_y"][0], 3.0, atol=1e-8)
    assert np.isclose(torque["kneeR_y"][0], 0.0, atol=1e-8)


def test_a_balanced_order_has_few_levels():
    found = evaluate("chain64", ["assembly", "serial_assembly"], {})
    assert found["assembly"]["levels"] < found["serial_assembly"]["levels"]


GENERATION = {"holds": [{"frame": "FootL"}, {"frame": "FootR"}], "tasks": [{"frame": "LowerArmL", "directions": ["x", "y", "z"], "acceleration": [0, 0, 0, 0.2, 0.1, 1.0]}]}


@pytest.mark.parametrize("method", ["levels", "pseudo-inverse"])
def test_equations_22_and_23_move_a_hand_while_the_feet_stay(method):
    found = evaluate("human28", ["generation", "jacobian:LowerArmL", "jacobian:FootL", "crba"], {}, generation=GENERATION | {"method": method})
    motion = found["generation"]
    assert motion["status"] == "exact" and len(motion["holds"]) == 2
    vdot, tau = np.array(motion["vdot"]), np.array(motion["tau"])
    assert np.allclose(np.array(found["jacobian:LowerArmL"])[3:] @ vdot, [0.2, 0.1, 1.0], atol=1e-8)  # (22), at rest: no drift
    assert np.allclose(np.array(found["jacobian:FootL"]) @ vdot, 0, atol=1e-8)  # (8)
    assert np.allclose(tau[:6], 0)
    # (23), first row: A·v̇ + b = τ + Hᵀ·f, b from inverse dynamics at v̇ = 0
    bias = np.array(evaluate("human28", ["rnea"], {})["rnea"])
    held = sum(np.array(evaluate("human28", [f"jacobian:{sole}"], {})[f"jacobian:{sole}"]).T @ np.array(w)
               for sole, w in zip(("FootL", "FootR"), motion["holds"]))
    assert np.allclose(np.array(found["crba"]) @ vdot + bias, tau + held, atol=1e-6)
    assert sum(w[5] for w in motion["holds"]) > 0


def test_bad_requests_for_generation_are_told_together():
    bad = {"holds": [{"frame": "nose"}, {"frame": "soleL", "directions": ["up"]}], "tasks": [{"frame": "gripL"}], "method": "guess"}
    result = run("eval", "human28", stdin=json.dumps({"compute": ["generation"], "states": [{}], "generation": bad}))
    assert result.exit_code in (BAD_FILE, USAGE)
    for words in ("generation.holds[0].frame", "generation.holds[1].directions", "generation.tasks[0].acceleration", "generation.method"):
        assert words in result.stderr
    result = run("eval", "human28", stdin=json.dumps({"compute": ["generation"], "states": [{}], "generation": []}))
    assert result.exit_code == BAD_FILE and "generation" in result.stderr


def test_what_assembly_cannot_take_is_an_error_of_the_state(tmp_path):
    file = tmp_path / "point.urdf"
    file.write_text(GEARED.replace("ixx='0.1' iyy='0.1' izz='0.1'", "ixx='0' iyy='0' izz='0'"))
    result = run("eval", str(file), stdin=json.dumps({"compute": ["assembly"], "states": [{}]}))
    assert result.exit_code == NUMERICAL and "assembly:" in json.loads(result.stdout)["results"][0]["error"]
