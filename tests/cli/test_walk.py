"""kansetsu walk and track: figures on their own feet."""

from __future__ import annotations

import json
import os
import re
import tarfile
from pathlib import Path

import pytest
from kansetsu_protocol import run

DATA = os.environ.get("KANSETSU_DATA_DIR")


def report(*arguments, code=0):
    result = run(*map(str, arguments), "--json")
    assert result.exit_code == code, result.stderr
    return json.loads(result.stdout)


def test_a_walk_is_reported_and_recorded(tmp_path):
    csv, mcap = tmp_path / "walk.csv", tmp_path / "walk.mcap"
    r = report("walk", "--distance", 1.5, "--speed", 0.6, "--record", csv, "--record", mcap, "--rate", 50)
    assert r["status"] == "ok" and r["steps"] >= 3
    assert abs(r["walked"] - 1.5) < 0.3
    assert r["root_wrench"] == 0
    assert abs(r["vertical_force"] - 1) < 0.01
    assert r["penetration"] < 1e-3
    assert len(csv.read_text().splitlines()) > 50 * (r["seconds"] - 0.1)
    assert mcap.stat().st_size > 10_000


def test_the_same_seed_walks_the_same_way():
    arguments = ["walk", "--distance", 1, "--push", "8Ns@random", "--seed", 5]
    first, second = report(*arguments), report(*arguments)
    assert first["hash"] == second["hash"] and first["pushes"] == second["pushes"]
    other = report(*arguments[:-1], 6)
    assert other["pushes"] != first["pushes"]


def test_a_fall_ends_with_its_cause_and_keeps_the_recording(tmp_path):
    file = tmp_path / "fall.csv"
    r = report("walk", "--push", "400Ns@1s:left", "--record", file, "--rate", 50, code=4)
    assert r["status"] == "fallen" and r["cause"] and r["seconds"] > 1
    assert len(file.read_text().splitlines()) > 50


@pytest.mark.parametrize(("side", "told"), [("left", "to the right"), ("back", "forwards"), ("front", "backwards"), ("45", "45° to the left of straight ahead")])
def test_the_report_says_where_a_push_goes(side: str, told: str):
    result = run("walk", "--distance", "0.2", "--push", f"1Ns@0.5s:{side}")
    assert re.search(f"pushed +1 N·s at 0.500 s, {told}\n", result.stdout), result.stdout


@pytest.mark.parametrize(
    "push, cause",
    [
        ("20", "Ns@"),
        ("Ns@3s", "impulse"),
        ("-5Ns@3s", "impulse"),
        ("nanNs@3s", "impulse"),
        ("5Ns@", "time"),
        ("5Ns@3", "'s'"),
        ("5Ns@3s:up", "direction"),
        ("5Ns@3s,", "':'"),
    ],
)
def test_bad_pushes_are_reported(push, cause):
    result = run("walk", f"--push={push}")
    assert result.exit_code == 2
    assert cause in result.stderr and "20Ns@3s" in result.stderr


def test_bad_use_is_reported(tmp_path):
    assert run("walk", "--speed", "nan").exit_code == 2
    assert run("walk", "--speed", "9").exit_code == 2
    result = run("walk", "--figure", "pendulum")
    assert result.exit_code == 2 and "cannot walk" in result.stderr
    assert run("track", str(tmp_path / "no.bvh")).exit_code == 3
    assert run("generate", "walk", "--depth", "1").exit_code == 2


@pytest.mark.parametrize(("speed", "told"), [("1.3", False), ("1.35", True)])
def test_a_walk_faster_than_the_figure_can_says_so(speed: str, told: bool):
    result = run("walk", "--speed", speed, "--distance", "0.2")
    assert result.exit_code == 0
    assert ("human28 falls" in result.stderr) == told


@pytest.mark.parametrize(("speed", "rise"), [(0.8, 0.03), (1.2, 0.05)])  # [m] of the pelvis in a step; it lunged by 0.04 and 0.1
def test_a_walk_does_not_lunge(speed: float, rise: float, tmp_path):
    file = tmp_path / "walk.csv"
    r = report("walk", "--speed", speed, "--distance", 5, "--record", file, "--rate", 100)
    lines = file.read_text().splitlines()
    height = lines[0].split(",").index("human28/q/base.z")
    z = [float(line.split(",")[height]) for line in lines[1:]]
    step = round(100 * r["step_time"])
    on_the_way = range(300, len(z) - 300, step)
    assert max(max(z[k : k + step]) - min(z[k : k + step]) for k in on_the_way) < rise
    assert r["most_power"] < 3500  # [W]; 6100 when it lunged
    assert r["cost_of_transport"] < 1.2  # 2.3


def test_a_generated_walk_is_followed(tmp_path):
    clip = tmp_path / "walk.mcap"
    result = run("generate", "walk", "--distance", "1.5", "--record", str(clip))
    assert result.exit_code == 0, result.stderr
    r = report("track", clip)
    assert r["status"] == "ok" and r["root_wrench"] == 0 and r["joint_error"] < 0.2


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
@pytest.mark.parametrize("clip", ["asf_amc/02_01.amc", "bvh_cmu_cgspeed/cmu_02_01_walk.bvh"])
def test_a_captured_walk_is_followed_to_its_end(clip):
    r = report("track", Path(DATA) / "mocap" / clip)
    assert r["status"] == "ok" and r["seconds"] > 2.5
    assert r["root_wrench"] == 0
    assert r["joint_error"] < 0.15 and r["shift"] < 0.3


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
def test_a_captured_run_is_followed_through_its_flights():
    r = report("track", Path(DATA) / "mocap" / "asf_amc" / "02_03.amc")
    assert r["status"] == "ok" and r["root_wrench"] == 0 and r["joint_error"] < 0.3


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
@pytest.mark.parametrize(
    ("clip", "least"),
    [
        ("jump__118_30", 0.1),  # a jump on the spot
        ("sit_bend_lift__137_06", 0.2),  # squats on the toes, feet that the clip has above the floor
    ],
)
def test_clips_beyond_walking_are_followed(clip, least, tmp_path):
    with tarfile.open(Path(DATA) / "mocap" / "bvh_cmu_more.tar.xz") as more:
        more.extract(f"cmu_more/{clip}.bvh", tmp_path, filter="data")
    r = report("track", tmp_path / "cmu_more" / f"{clip}.bvh")
    assert r["status"] == "ok" and r["root_wrench"] == 0 and r["joint_error"] < least


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
def test_a_fall_names_what_the_clip_rests_on():
    r = report("track", Path(DATA) / "mocap" / "bvh_cmu_cgspeed" / "cmu_43_02_grip_bar_swing_body.bvh", "--tries", 0, code=4)
    assert "s into 7.5" in r["cause"] and "rests on its right hand" in r["cause"]
    assert r["seconds"] > 1  # it holds on to the bar: without it falls at once


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
def test_a_search_finds_a_jump_that_does_not_fall():
    jump = Path(DATA) / "mocap" / "bvh_cmu_cgspeed" / "cmu_16_01_jump.bvh"
    fallen = report("track", jump, "--tries", 0, code=4)
    assert fallen["corrections"] == []
    first, second = report("track", jump), report("track", jump)
    assert first["status"] == "ok" and first["root_wrench"] == 0 and first["corrections"]
    assert first["hash"] == second["hash"]  # the search is a computation like any other
    assert first["path_error"] < 0.2 and first["foot_slide"] < 0.02 and first["peak_weights"] < 8  # [m, m]; measured 0.09, 0.002, 4.6


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
def test_what_a_search_finds_holds_from_the_start():
    # A correction of a foothold must not act before it begins: the run from the start would be another one than that of the search.
    r = report("track", Path(DATA) / "mocap" / "asf_amc" / "11_01.amc")
    assert r["status"] == "ok" and r["corrections"]


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
def test_the_report_says_how_a_clip_is_followed():
    result = run("track", str(Path(DATA) / "mocap" / "asf_amc" / "02_01.amc"))
    assert result.exit_code == 0, result.stderr
    for line in ("joint error to the clip", "path error to the clip", "jerk of the joints", "corrections of the clip", "peak vertical force", "farthest slide of a foot"):
        assert re.search(rf"^ *{line} ", result.stdout, re.MULTILINE), line
    assert re.search(r"corrections of the clip +none", result.stdout)


@pytest.mark.skipif(not DATA, reason="KANSETSU_DATA_DIR is not set")
def test_a_robot_walks_from_its_urdf():
    atlas = Path(DATA) / "robots" / "urdf" / "atlas_minimal_contact.urdf"
    r = report("walk", "--figure", atlas, "--speed", 0.6, "--distance", 1.5)
    assert r["status"] == "ok" and r["root_wrench"] == 0 and r["infeasible"] == 0
    assert abs(r["vertical_force"] - 1) < 0.01
    assert r["penetration"] < 3e-3  # [m] a foot that lands on an edge turns down within a step; what it sinks in is undone after it
