"""kansetsu ik: requests by flags and files, what it says when it fails, and the motion it records."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, NUMERICAL, OK, USAGE, run

ROOT = Path(__file__).resolve().parents[2]


def reply_of(result) -> dict:
    return json.loads(result.stdout)


def forward(model, reply, link):
    """The link's position at a reply's configuration, by another command."""
    state = {"q": reply["q"]}
    if "base" in reply:
        state["base"] = reply["base"]
    request = {"compute": ["fk"], "states": [state]}
    result = run("eval", model, stdin=json.dumps(request))
    return json.loads(result.stdout)["results"][0]["fk"][link]["p"]


def test_a_position_by_flag_is_reached():
    result = run("ik", "chain8", "--target", "link8:0.6,0.3,0.4")
    assert result.exit_code == OK, result.stderr
    reply = reply_of(result)
    assert reply["status"] == "solved"
    assert reply["tasks"][0]["met"]
    assert math.dist(forward("chain8", reply, "link8"), [0.6, 0.3, 0.4]) < 1e-6


def test_out_of_reach_is_reported_with_the_distance():
    result = run("ik", "chain8", "--target", "link8:100,0,0")
    assert result.exit_code == NUMERICAL
    reply = reply_of(result)
    assert reply["status"] in ("unreachable", "limits active", "not converged")
    assert 90 < reply["distance"] < 100


def test_levels_from_a_file(tmp_path):
    request = {"tasks": [{"type": "stay", "frame": "soleL", "orientation": True},
                         {"type": "position", "frame": "gripL", "p": [0.3, 0.2, 0.2], "level": 1, "name": "hand"},
                         {"type": "com", "p": [0, 0, 0], "axes": [1, 1, 0], "level": 2}]}
    file = tmp_path / "request.json"
    file.write_text(json.dumps(request), encoding="utf-8")
    motion = tmp_path / "motion.csv"
    result = run("ik", "human28", "--in", str(file), "--record", str(motion))
    assert result.exit_code == OK, result.stderr
    reply = reply_of(result)
    assert [task["name"] for task in reply["tasks"]] == ["task 0", "hand", "task 2"]
    assert reply["tasks"][0]["error"] < 1e-7 and reply["tasks"][1]["error"] < 1e-6
    lines = [line for line in motion.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
    assert len(lines) == 62  # names, and a second at 60 frames
    assert len({len(line.split(",")) for line in lines}) == 1


def test_a_clearance_is_kept():
    goal = [0.5, 0.1, 0.3]
    request = {"tasks": [{"type": "position", "frame": "link8", "p": goal}],
               "clearances": [{"first": {"link": "link8", "sphere": 0.05}, "second": {"sphere": 0.1, "p": goal}, "least": 0.02}]}
    result = run("ik", "chain8", "--in", "-", stdin=json.dumps(request))
    assert result.exit_code == NUMERICAL
    reply = reply_of(result)
    assert reply["status"] == "limits active"
    assert math.dist(forward("chain8", reply, "link8"), goal) >= 0.17 - 1e-6


@pytest.mark.parametrize("arguments, word", [
    (["--target", "link9:1,2,3"], "link9"),
    (["--target", "link8:1,2"], "2 numbers"),
    (["--target", "link8"], "no ':'"),
    (["--target", "link8:1,2,x"], "not a number"),
    ([], "nothing to do"),
])
def test_misuse_is_reported(arguments, word):
    result = run("ik", "chain8", *arguments)
    assert result.exit_code == USAGE
    assert word in result.stderr


def test_a_bad_request_lists_everything():
    request = {"tasks": [{"type": "pose", "frame": "nowhere"}, {"type": "reach"}, {"type": "com", "p": [1, 2]}]}
    result = run("ik", "chain8", "--in", "-", stdin=json.dumps(request))
    assert result.exit_code in (USAGE, BAD_FILE)
    for word in ("nowhere", "reach", "tasks[2].p"):
        assert word in result.stderr


def test_several_solutions_differ():
    result = run("ik", "chain8", "--target", "link8:0.6,0.3,0.4", "--solutions", "3")
    assert result.exit_code == OK, result.stderr
    found = reply_of(result)["solutions"]
    assert len(found) >= 2
    assert found[0]["q"] != found[1]["q"]


def test_only_the_named_joints_count():
    request = {"tasks": [{"type": "position", "frame": "link8", "p": [0.6, 0.3, 0.4]},
                         {"type": "joints", "q": {"joint1": 0.25}, "level": 1, "name": "first"}]}
    result = run("ik", "chain8", "--in", "-", stdin=json.dumps(request))
    assert result.exit_code == OK, result.stderr
    reply = reply_of(result)
    assert reply["tasks"][1]["met"]
    assert abs(reply["q"]["joint1"] - 0.25) < 1e-7


def test_the_loop_of_a_scene_stays_closed():
    scene = str(ROOT / "examples/scenes/four_bar.toml")
    request = {"tasks": [{"type": "joints", "q": {"crank": 0.9}}], "options": {"starts": 1}}
    result = run("ik", scene, "--in", "-", stdin=json.dumps(request))
    assert result.exit_code == OK, result.stderr
    tasks = {task["name"]: task for task in reply_of(result)["tasks"]}
    assert tasks["closure"]["met"] and tasks["task 0"]["met"]
