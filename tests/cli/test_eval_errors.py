"""`kansetsu eval`: exit codes, messages that list what is known, and no half-written reply."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from eval_requests import JOINTS, LINKS, ask, request, state
from kansetsu_protocol import BAD_FILE, NUMERICAL, USAGE, Reply, run

# --- unknown names: exit 2, with the known ones ---------------------------------------------------

UNKNOWN_NAMES = {
    "quantity": (request(compute=["rnea", "torque"]), "torque", ["rnea", "crba", "aba"]),
    "joint in q": (state(q={"elbow": 1}), "elbow", JOINTS),
    "joint in v": (state(v={"elbow": 1}), "elbow", JOINTS),
    "joint in a": (state(a={"elbow": 1}), "elbow", JOINTS),
    "joint in tau": (state(tau={"elbow": 1}), "elbow", JOINTS),
    "link in fext": (state(fext={"toe": [0] * 6}), "toe", LINKS),
    "link of a jacobian": (request(compute=["jacobian:toe"]), "toe", LINKS),
    "entry of a request": (request(statez=[]), "statez", ["compute", "states", "gravity"]),
    "entry of a state": (state(qq={}), "qq", ["q", "v", "a", "tau", "fext", "base"]),
    "entry of a base": (state(base={"position": [0, 0, 0]}), "position", ["p", "quat_xyzw", "omega"]),
}


@pytest.mark.parametrize("text, name, known", UNKNOWN_NAMES.values(), ids=UNKNOWN_NAMES.keys())
def test_unknown_name(model: Path, text: str, name: str, known: list[str]):
    result = ask(model, text)
    assert result.exit_code == USAGE and result.stdout == ""
    assert all(word in result.stderr for word in [name, *known]), result.stderr


@pytest.mark.parametrize("arguments, name, known", [
    (["eval", "MODEL", "--results", "x"], "--results", ["--out", "--in", "--base"]),
    (["eval", "MODEL", "--base", "floating"], "floating", ["fixed", "free"]),
    (["evaluate", "MODEL"], "evaluate", ["eval", "check", "convert"]),
])
def test_unknown_option(model: Path, arguments: list[str], name: str, known: list[str]):
    result = run(*[model if word == "MODEL" else word for word in arguments], stdin=request())
    assert result.exit_code == USAGE and result.stdout == ""
    assert all(word in result.stderr for word in [name, *known]), result.stderr


def test_missing_model_argument():
    assert run("eval").exit_code == USAGE


# --- bad content: nothing is computed from it -----------------------------------------------------

NOT_JSON = {
    "empty": "", "open brace": "{", "trailing text": request() + "}", "plain text": "rnea", "comma": '{"compute": [,]}',
    "NaN": request().replace("{}", '{"q": {"left_hip": NaN}}'),
    "infinity": request().replace("{}", '{"q": {"left_hip": Infinity}}'),
    "number out of range": request().replace("{}", '{"q": {"left_hip": 1e999}}'),
    "broken UTF-16 pair": request().replace("rnea", r"\ud800"),
    "deep": "[" * 100_000,
}
BAD_SHAPES = {
    "a list": "[]",
    "compute is a name": request(compute="rnea"),
    "compute is missing": '{"states": [{}]}',
    "states is an object": request(states={}),
    "gravity of two numbers": request(gravity=[0, -9.81]),
    "gravity of text": request(gravity=["0", "0", "-9.81"]),
}
BAD_STATES = {  # name: (state, what the message must name)
    "position of two numbers": ({"base": {"p": [0, 0]}}, "p"),
    "quaternion of three numbers": ({"base": {"quat_xyzw": [0, 0, 1]}}, "quat_xyzw"),
    "quaternion off unit length": ({"base": {"quat_xyzw": [0, 0, 0, 1.001]}}, "quat_xyzw"),
    "zero quaternion": ({"base": {"quat_xyzw": [0, 0, 0, 0]}}, "quat_xyzw"),
    "omega of four numbers": ({"base": {"omega": [0, 0, 0, 0]}}, "omega"),
    "base wrench of three numbers": ({"base": {"tau": [0, 0, 0]}}, "tau"),
    "two numbers for one dof": ({"q": {"left_hip": [0, 0]}}, "left_hip"),
    "text for a number": ({"q": {"left_hip": "nan"}}, "left_hip"),
    "null for a number": ({"v": {"left_hip": None}}, "left_hip"),
    "truth for a number": ({"tau": {"left_hip": True}}, "left_hip"),
    "wrench of five numbers": ({"fext": {"left": [0, 0, 0, 0, 0]}}, "left"),
    "mimic value that disagrees": ({"q": {"right_hip": 0.1, "left_knee": 0.0}}, "left_knee"),
    "mimic speed that disagrees": ({"v": {"right_hip": 0.1, "left_knee": 0.2}}, "left_knee"),
}


@pytest.mark.parametrize("text", [*NOT_JSON.values(), *BAD_SHAPES.values()], ids=[*NOT_JSON, *BAD_SHAPES])
def test_bad_request_is_a_bad_file(model: Path, text: str):
    result = ask(model, text)
    assert result.exit_code == BAD_FILE and result.stdout == "" and result.stderr


@pytest.mark.parametrize("bad, name", BAD_STATES.values(), ids=BAD_STATES.keys())
def test_bad_state_is_refused(model: Path, bad: dict, name: str):
    """As a bad file, or as a failed state whose slot says so beside the good ones."""
    result = ask(model, request(states=[{}, bad]), "--base", "free")
    if result.exit_code == BAD_FILE:
        assert result.stdout == "" and name in result.stderr
    else:
        assert result.exit_code == NUMERICAL
        good, failed = Reply.from_json(result.stdout).results
        assert "rnea" in good and name in failed["error"]


def test_bad_model_is_a_bad_file(tmp_path: Path):
    path = tmp_path / "bad.urdf"
    path.write_text("<robot")
    assert ask(path, request()).exit_code == BAD_FILE


# --- the reply file is whole or not there ---------------------------------------------------------

@pytest.mark.parametrize("text, exit_code", [("{", BAD_FILE), (request(compute=["torque"]), USAGE)])
@pytest.mark.parametrize("before", [None, "precious"])
def test_failure_leaves_the_reply_file_alone(
        model: Path, tmp_path: Path, text: str, exit_code: int, before: str | None):
    reply_file = tmp_path / "reply.json"
    if before:
        reply_file.write_text(before)
    assert ask(model, text, "--out", str(reply_file)).exit_code == exit_code
    assert (reply_file.read_text() if reply_file.exists() else None) == before
    leftovers = {path.name for path in tmp_path.iterdir()} - {"robot.urdf", "reply.json"}
    assert not leftovers


def test_missing_request_file(model: Path, tmp_path: Path):
    assert ask(model, "", "--in", str(tmp_path / "missing.json")).exit_code == BAD_FILE


def test_reply_file_in_a_missing_folder(model: Path, tmp_path: Path):
    result = ask(model, request(), "--out", str(tmp_path / "missing" / "reply.json"))
    assert result.exit_code in (USAGE, BAD_FILE) and "reply.json" in result.stderr


def test_a_base_that_stands_nowhere_leaves_other_states_their_answers():
    states = [{}, {"base": {"p": [0, 0, 1e19]}}, {}]
    result = run("eval", "pendulum", stdin=json.dumps({"compute": ["fk"], "states": states}))
    first, bad, last = json.loads(result.stdout)["results"]
    assert result.exit_code == NUMERICAL and "out of range" in bad["error"] and first == last and "fk" in first
