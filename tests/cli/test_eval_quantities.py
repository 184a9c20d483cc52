"""`kansetsu eval`: what single quantities mean, joints of several coordinates, the pose of a fixed base, and places of faults."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from eval_requests import JOINTS, ask, request
from kansetsu_protocol import BAD_FILE, NUMERICAL, OK, Base, Reply, Request, State, evaluate

STATE = State(q={"right_hip": 0.3, "right_ankle": -0.4, "left_hip": 0.7}, v={"right_hip": 1.0, "left_hip": -2.0},
              a={"right_ankle": 3.0}, tau={"left_hip": 5.0}, fext={"left_tip": [1.0, -2.0, 3.0, -4.0, 5.0, -6.0]})
STEP = 1e-6  # of central differences: truncation 1e-12, rounding 1e-9
HUMAN = Path("human28_ball")


def result_of(model: Path, state: State, *quantities: str, base: str = "fixed") -> dict:
    return evaluate(model, Request(list(quantities), [state]), base).results[0]


def turned(axis: str, angle: float) -> list[float]:
    return [math.sin(angle / 2) * (axis == a) for a in "xyz"] + [math.cos(angle / 2)]


# --- quantities -----------------------------------------------------------------------------------

@pytest.mark.parametrize("base", ["fixed", "free"])
@pytest.mark.parametrize("i, j", [("left", "right_foot"), ("left_tip", "left_tip"), ("base", "left_tip")])
def test_response_is_the_acceleration_of_j_per_wrench_on_i(model: Path, base: str, i: str, j: str):
    names = [f"response:{i}:{j}", f"jacobian:{i}", f"jacobian:{j}", "crba"]
    result = result_of(model, STATE, *names, base=base)
    response, J_i, J_j, M = (np.array(result[name]) for name in names)
    assert response.shape == (6, 6)
    assert response == pytest.approx(J_j @ np.linalg.solve(M, J_i.T), abs=1e-12)  # rounding


@pytest.mark.parametrize("quantity, given", [("rnea", "a"), ("aba", "tau")])
def test_derivatives_are_differences_with_external_forces(model: Path, quantity: str, given: str):
    derivatives = result_of(model, STATE, f"{quantity}_derivatives")[f"{quantity}_derivatives"]
    for section in ("q", "v", given):
        moved = [State(**{**vars(STATE), section: {**getattr(STATE, section), joint: getattr(STATE, section).get(joint, 0) + h}})
                 for joint in JOINTS for h in (STEP, -STEP)]
        values = np.array([r[quantity] for r in evaluate(model, Request([quantity], moved)).results])
        differences = (values[::2] - values[1::2]).T / (2 * STEP)
        assert np.array(derivatives["d" + section]) == pytest.approx(differences, abs=1e-6)  # central differences: step², and rounding over the step


def test_a_quantity_asked_for_twice_is_answered_once(model: Path):
    reply = ask(model, request(compute=["rnea", "crba", "rnea"]))
    assert reply.exit_code == OK and reply.stdout.count('"rnea"') == 1


def test_numbers_read_back_exactly(model: Path):
    """And are no longer than they must be; Python's own are the shortest."""
    text = ask(model, Request(["crba"], [STATE]).to_json()).stdout
    numbers = [x for row in json.loads(text, parse_float=str)["results"][0]["crba"] for x in row if isinstance(x, str)]
    assert numbers and all(len(x) <= len(repr(float(x))) for x in numbers)


def test_no_centre_of_mass_without_mass(tmp_path: Path):
    path = tmp_path / "massless.urdf"
    path.write_text('<robot name="r"><link name="a"/></robot>')
    result = ask(path, request(compute=["com"], states=[{}, {}]))
    assert result.exit_code == NUMERICAL
    assert ["com" in r["error"] for r in Reply.from_json(result.stdout).results] == [True, True]


# --- bases ----------------------------------------------------------------------------------------

def test_a_fixed_base_may_be_given_a_pose(model: Path):
    """Its links move along, and gravity acts from another side."""
    posed = [State(base=Base(p=[1, 2, 3])), State(base=Base(quat_xyzw=turned("y", math.pi / 2))), State()]
    shifted, tilted, plain = evaluate(model, Request(["fk", "rnea"], posed)).results
    assert shifted["fk"]["left"]["p"] == pytest.approx(np.array(plain["fk"]["left"]["p"]) + [1, 2, 3])
    assert shifted["rnea"] == pytest.approx(plain["rnea"])
    hip = JOINTS.index("left_hip")
    assert plain["rnea"][hip] == pytest.approx(0, abs=1e-12)  # rounding
    assert tilted["rnea"][hip] == pytest.approx(2 * 9.81 * 0.5)  # 2 kg at 0.5 m, now level


def test_a_fixed_base_does_not_move(model: Path):
    states = [{"base": {"omega": [0, 0, 0]}}, {"base": {"omega": [0, 0, 1]}}, {"base": {"tau": [0, 0, 0, 0, 0, 1]}}]
    result = ask(model, request(states=states))
    assert result.exit_code == NUMERICAL
    good, turning, pushed = Reply.from_json(result.stdout).results
    assert "rnea" in good and "--base free" in turning["error"] and "--base free" in pushed["error"]


def test_free_fall(model: Path):
    reply = evaluate(model, Request(["aba"], [State(base=Base(quat_xyzw=turned("x", 0.5)))]), base="free")
    acceleration = dict(zip(reply.dofs, reply.results[0]["aba"], strict=True))
    assert acceleration["base.v_y"] == pytest.approx(-9.81 * math.sin(0.5))
    assert acceleration["base.v_z"] == pytest.approx(-9.81 * math.cos(0.5))
    assert [acceleration[joint] for joint in JOINTS] == pytest.approx([0, 0, 0], abs=1e-12)


# --- joints of several coordinates ----------------------------------------------------------------

def test_a_ball_joint_is_a_quaternion():
    dofs = evaluate(HUMAN, Request([], []), base="free").dofs
    assert {"hipL.wx", "hipL.wy", "hipL.wz"} <= set(dofs)
    bent = State(q={"hipL": turned("y", -0.5)}, v={"hipL": [0, 1, 0]})
    result = result_of(HUMAN, bent, "fk", "jacobian:FootL", base="free")
    assert result["fk"]["UpperLegL"]["quat_xyzw"] == pytest.approx(turned("y", -0.5))
    turning = np.array(result["jacobian:FootL"])[:3, dofs.index("hipL.wy")]
    assert turning == pytest.approx([0, 1, 0])


@pytest.mark.parametrize("q, exit_code", [([0, 0, 0, 1], OK), ([0, 0, 1], BAD_FILE), (1, BAD_FILE),
                                          ([0, 0, 0, 1.01], NUMERICAL), ([0, 0, 0, 1 + 1e-7], OK)])
def test_coordinates_of_a_ball_joint(q, exit_code: int):
    result = ask(HUMAN, request(states=[{"q": {"hipL": q}}]))
    assert result.exit_code == exit_code
    assert exit_code == OK or "hipL" in result.stderr + result.stdout


def test_a_number_may_stand_in_brackets(model: Path):
    plain, bracketed = (ask(model, request(states=[{"q": {"left_hip": x}}])).stdout for x in (0.5, [0.5]))
    assert plain == bracketed


def test_fixed_joints_have_no_coordinates(tmp_path: Path):
    path = tmp_path / "fixed.urdf"
    path.write_text('<robot name="r"><link name="a"/><link name="b"/>'
                    '<joint name="weld" type="fixed"><parent link="a"/><child link="b"/></joint></robot>')
    result = ask(path, request(states=[{"q": {"weld": 0}}]))
    assert result.exit_code == BAD_FILE and "weld" in result.stderr and "fixed" in result.stderr


# --- where a fault is -----------------------------------------------------------------------------

@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "nan", "inf", "1e999", "-1e999"])
def test_the_line_and_column_of_a_number_that_is_none(model: Path, number: str):
    result = ask(model, '{"compute": ["rnea"],\n "states": [{},\n  {"q": {"left_hip": ' + number + "}}]}")
    assert result.exit_code == BAD_FILE
    place = result.stderr.split(": ")[0]
    line, column = map(int, place.split(":")[1:])
    assert line == 3 and 22 <= column <= 22 + len(number)


def test_a_key_given_twice_is_refused(model: Path):
    result = ask(model, '{"compute": ["rnea"], "states": [{"q": {"left_hip": 1, "left_hip": 2}}]}')
    assert result.exit_code == BAD_FILE and "'left_hip' is given twice" in result.stderr


def test_all_faults_are_reported_at_once(model: Path):
    result = ask(model, request(gravity=[1], states=[{"q": {"left_hip": "x"}}, {"fext": {"left": [1]}}]))
    assert result.exit_code == BAD_FILE
    assert all(path in result.stderr for path in ["gravity:", "states[0].q.left_hip:", "states[1].fext.left:"])


def test_misspelt_names_are_guessed(model: Path):
    assert "did you mean 'left_hip'?" in ask(model, request(states=[{"q": {"lefthip": 1}}])).stderr


def test_many_states_keep_their_order(model: Path):
    angles = np.linspace(-1, 1, 500)
    reply = evaluate(model, Request(["fk"], [State(q={"left_hip": float(x)}) for x in angles]))
    turns = [2 * math.atan2(r["fk"]["left"]["quat_xyzw"][1], r["fk"]["left"]["quat_xyzw"][3]) for r in reply.results]
    assert turns == pytest.approx(angles.tolist())
