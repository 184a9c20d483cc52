"""`kansetsu eval`: what a good request is answered, in which order, and what is taken for granted."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from eval_requests import JOINTS, ask, request, state
from kansetsu_protocol import BASE_DOFS, OK, Base, Reply, Request, State, evaluate

COMPUTE = ["fk", "com", "energy", "rnea", "crba", "aba", "centroidal", "rnea_derivatives", "aba_derivatives"]


def test_dofs_are_depth_first_in_file_order_without_mimic_joints(model: Path):
    reply = evaluate(model, Request(["crba"], [State()]))
    assert (reply.nq, reply.nv, reply.dofs) == (3, 3, JOINTS)


def test_free_base_comes_first(model: Path):
    reply = evaluate(model, Request(["crba"], [State()]), base="free")
    assert (reply.nq, reply.nv, reply.dofs) == (10, 9, [*BASE_DOFS, *JOINTS])


def test_standard_streams_give_the_same_reply_as_files(model: Path):
    asked = Request(COMPUTE, [State(q={"left_hip": 0.3}, v={"right_hip": 1.0})])
    result = ask(model, asked.to_json())
    assert result.exit_code == OK
    assert Reply.from_json(result.stdout) == evaluate(model, asked)


def test_missing_entries_are_zero(model: Path):
    nothing = evaluate(model, Request(COMPUTE, [State()]), base="free")
    base = Base([0] * 3, [0, 0, 0, 1], [0] * 3, [0] * 3, [0] * 3, [0] * 3, [0] * 6)
    zeros = State(base, *[dict.fromkeys(JOINTS, 0)] * 4)
    assert nothing == evaluate(model, Request(COMPUTE, [zeros]), base="free")


def test_gravity_is_9_81_unless_given(model: Path):
    default, given = (json.loads(ask(model, text).stdout) for text in (request(), request(gravity=[0, 0, -9.81])))
    assert default == given


def test_pendulum_in_closed_form(model: Path):
    """2 kg at 0.5 m and 1 kg at 0 m below the left hip: tau = m g l sin(q), as axis y turns the hanging rod forward."""
    angle = 0.4
    reply = evaluate(model, Request(["rnea"], [State(q={"left_hip": angle})]))
    tau = dict(zip(reply.dofs, reply.results[0]["rnea"], strict=True))
    assert tau["left_hip"] == pytest.approx(2 * 9.81 * 0.5 * math.sin(angle), abs=1e-12)  # rounding


def test_several_states_are_answered_in_order(model: Path):
    angles = [0.1, 0.2, 0.3]
    reply = evaluate(model, Request(["rnea"], [State(q={"left_hip": x}) for x in angles]))
    singles = [evaluate(model, Request(["rnea"], [State(q={"left_hip": x})])).results[0] for x in angles]
    assert reply.results == singles


def test_no_states_is_a_good_request(model: Path):
    assert evaluate(model, Request(["rnea"], [])).results == []


def test_mimic_values_may_be_given_if_they_agree(model: Path):
    free = evaluate(model, Request(["fk"], [State(q={"right_hip": 0.1}, v={"right_hip": 1.0})]))
    given = State(q={"right_hip": 0.1, "left_knee": 0.3}, v={"right_hip": 1.0, "left_knee": -2.0})
    assert evaluate(model, Request(["fk"], [given])).results == free.results


def test_torque_on_a_mimic_joint_acts_through_its_gear(model: Path):
    through_gear = evaluate(model, Request(["aba"], [State(tau={"left_knee": 1.0})]))
    direct = evaluate(model, Request(["aba"], [State(tau={"right_hip": -2.0})]))
    assert through_gear.results[0]["aba"] == pytest.approx(direct.results[0]["aba"], rel=1e-12)  # rounding


def test_small_drift_of_a_quaternion_is_forgiven(model: Path):
    assert ask(model, state(base={"quat_xyzw": [0, 0, 0, 1 + 1e-7]}), "--base", "free").exit_code == OK
