"""Clips on the command line: check, info and convert of captured motion, with and without a figure that follows it."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, run

JOINTS = [("LeftUpLeg", 0, (9, 0, 0)), ("LeftLeg", 1, (0, -40, 0)), ("LeftFoot", 2, (0, -40, 0)),
          ("RightUpLeg", 0, (-9, 0, 0)), ("RightLeg", 4, (0, -40, 0)), ("RightFoot", 5, (0, -40, 0))]
FRAMES = 40


def skeleton(index: int, indent: str = "") -> str:
    name, _, offset = ("Hips", -1, (0, 0, 0)) if index == 0 else JOINTS[index - 1]
    positions = "6 Xposition Yposition Zposition " if index == 0 else "3 "
    text = (f"{indent}{'JOINT' if index else 'ROOT'} {name}\n{indent}{{\n{indent} OFFSET {offset[0]} {offset[1]} {offset[2]}\n"
            f"{indent} CHANNELS {positions}Zrotation Yrotation Xrotation\n")
    children = [k + 1 for k, (_, parent, _) in enumerate(JOINTS) if parent == index]
    text += "".join(skeleton(child, indent + " ") for child in children)
    if not children:
        text += f"{indent} End Site\n{indent} {{\n{indent}  OFFSET 0 -5 15\n{indent} }}\n"
    return text + f"{indent}}}\n"


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    """Somebody stands and bends a knee, in centimetres, y up, z forward."""
    rows = [[0, 88, 0, 0, 0, 0] + [0, 0, -k] + [0, 0, 2 * k] + [0, 0, -k] + [0] * 9 for k in range(FRAMES)]
    path = tmp_path / "knee.bvh"
    path.write_text("HIERARCHY\n" + skeleton(0) + f"MOTION\nFrames: {FRAMES}\nFrame Time: 0.0125\n" +
                    "\n".join(" ".join(map(str, row)) for row in rows) + "\n")
    return path


def test_check_and_info(clip: Path):
    result = run("check", str(clip))
    assert result.exit_code == OK and result.stdout == f"{clip}: ok, 7 bones, 40 frames\n" and not result.stderr
    report = json.loads(run("info", str(clip), "--json").stdout)
    assert report["frames"] == FRAMES and report["unit"] == 0.01 and report["up"] == "y" and report["table"] == "cgspeed"
    assert report["landmarks"]["kneeL"] == "LeftLeg" and len(report["bones"]) == 7
    assert "80 Hz" in run("info", str(clip)).stdout


@pytest.mark.parametrize("time, reported", [("0.0125", False), ("0.19", False), ("0.21", True), ("80", True)])
def test_frames_that_are_far_apart_are_reported(clip: Path, time: str, reported: bool):
    clip.write_text(clip.read_text().replace("0.0125", time))
    result = run("check", str(clip))
    assert result.exit_code == OK
    assert ("CAP057" in result.stderr) == reported, result.stderr


@pytest.mark.parametrize("number", ["0.0125", " 88 0", "OFFSET 9 0"])
def test_decimal_commas_are_named(clip: Path, number: str):
    clip.write_text(clip.read_text().replace(number, number.replace(" 0", " 0,5").replace(".", ","), 1))
    result = run("check", str(clip))
    assert result.exit_code == BAD_FILE
    assert "not a comma" in result.stderr


def test_joint_centres(clip: Path, tmp_path: Path):
    out = tmp_path / "centres.csv"
    assert run("convert", str(clip), str(out)).exit_code == OK
    rows = list(csv.DictReader(out.open()))
    assert len(rows) == FRAMES
    assert float(rows[0]["LeftFoot.y"]) == pytest.approx(0.09) and float(rows[0]["LeftFoot.z"]) == pytest.approx(0.08)
    assert run("convert", str(clip), str(out), "--unit", "0.02").exit_code == OK
    assert float(next(csv.DictReader(out.open()))["LeftFoot.y"]) == pytest.approx(0.18)


def test_bvh_again(clip: Path, tmp_path: Path):
    again, centres = tmp_path / "again.bvh", [tmp_path / "a.csv", tmp_path / "b.csv"]
    assert run("convert", str(clip), str(again)).exit_code == OK
    for source, out in zip([clip, again], centres):
        assert run("convert", str(source), str(out)).exit_code == OK
    for a, b in zip(*(csv.reader(path.open()) for path in centres)):
        assert a[0] == b[0]
        if a[0] != "time":
            assert [float(x) for x in a] == pytest.approx([float(x) for x in b], abs=1e-9)


@pytest.mark.parametrize("ending", ["mcap", "csv", "npz", "glb"])
def test_a_figure_follows(clip: Path, tmp_path: Path, ending: str):
    out = tmp_path / f"out.{ending}"
    result = run("convert", str(clip), str(out), "--figure", "human28")
    assert result.exit_code == OK and out.stat().st_size > 1000
    assert "left foot" in result.stderr and "kneeL" in result.stderr
    if ending == "csv":
        rows = list(csv.DictReader(out.open()))
        # The thigh turns by −k about x = left: forward, as hip flexion; the knee bends by twice as much.
        assert float(rows[30]["human28/q/kneeL_y"]) == pytest.approx(60 * 3.14159265 / 180, abs=0.03)
        assert float(rows[30]["right heel down"]) == 1


def test_what_is_wrong_is_reported(clip: Path, tmp_path: Path):
    bad = tmp_path / "bad.bvh"
    bad.write_text(clip.read_text().replace("0 0 -3 0 0 6", "0 0 nan 0 0 6"))
    result = run("check", str(bad))
    assert result.exit_code == BAD_FILE and "error[CAP012]" in result.stderr and "frame 3, joint LeftUpLeg" in result.stderr
    assert run("convert", str(bad), str(tmp_path / "x.csv")).exit_code == BAD_FILE
    assert run("convert", str(clip), str(tmp_path / "x.urdf")).exit_code == USAGE
    fixed = run("convert", str(clip), str(tmp_path / "x.mcap"), "--figure", "human28", "--base", "fixed")
    assert fixed.exit_code == BAD_FILE and "MAP002" in fixed.stderr
    foreign = run("convert", str(clip), str(tmp_path / "x.mcap"), "--figure", "chain8")
    assert foreign.exit_code == BAD_FILE and "MAP004" in foreign.stderr


def test_a_table_of_landmarks(clip: Path, tmp_path: Path):
    strange = tmp_path / "strange.bvh"
    strange.write_text(clip.read_text().replace("Left", "Port").replace("Right", "Starboard"))
    out = tmp_path / "x.csv"
    refused = run("convert", str(strange), str(out), "--figure", "human28", "--unit", "0.01", "--up", "y")
    assert refused.exit_code == BAD_FILE and "MAP003" in refused.stderr and "PortLeg" in refused.stderr
    table = tmp_path / "table.toml"
    sides = [("L", "Port"), ("R", "Starboard")]
    table.write_text('[bones]\npelvis = "Hips"\n' + "".join(
        f'hip{m} = "{n}UpLeg"\nknee{m} = "{n}Leg"\nankle{m} = "{n}Foot"\n' for m, n in sides))
    followed = run("convert", str(strange), str(out), "--figure", "human28", "--unit", "0.01", "--landmarks", str(table))
    assert followed.exit_code == OK and "table table" in followed.stderr
