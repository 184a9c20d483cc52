"""kansetsu generate and analyze: motions made, what they take, and what is said of clips that cannot be used."""

from __future__ import annotations

import csv
import json
import math
import os
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import numpy
import pytest
from kansetsu_protocol import BAD_FILE, NUMERICAL, OK, USAGE, run

WEIGHT = 69 * 9.81


@pytest.fixture(scope="module")
def squat(tmp_path_factory) -> Path:
    file = tmp_path_factory.mktemp("clips") / "squat.mcap"
    result = run("generate", "squat", "--count", "1", "--record", str(file))
    assert result.exit_code == OK, result.stderr
    return file


def analysis_of(file: Path, *arguments: str) -> dict:
    result = run("analyze", str(file), "--json", *arguments)
    assert result.exit_code == OK, result.stderr
    return json.loads(result.stdout)


def table_of(file: Path) -> list[dict]:
    with file.open(encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


# --- generate -------------------------------------------------------------------------------------

@pytest.mark.parametrize("arguments, duration", [
    (["squat", "--period", "3", "--count", "2", "--pause", "0.5"], 7.5),
    (["reach", "--hand", "gripL", "--target", "0.5,0.3,1.1"], 2.75),
    (["bar-swing", "--duration", "1", "--rate", "50"], 1.0),
])
def test_every_motion_is_made(arguments: list[str], duration: float):
    result = run("generate", *arguments, "--json")
    assert result.exit_code == OK, result.stderr
    reply = json.loads(result.stdout)
    assert reply["figure"] == "human28"
    assert math.isclose(reply["duration"], duration, rel_tol=1e-9)


def test_a_squat_goes_down(squat: Path):
    reply = json.loads(run("generate", "squat", "--count", "1", "--depth", "0.2", "--json").stdout)
    assert 0.1 < reply["com_high"][2] - reply["com_low"][2] < 0.3


@pytest.mark.parametrize("arguments, code, word", [
    (["jump"], USAGE, "known: squat, reach, bar-swing"),
    (["squat", "--angle", "1"], USAGE, "takes no --angle"),
    (["reach", "--target", "1,2"], USAGE, "2 numbers"),
    (["squat", "--depth", "5"], NUMERICAL, "cannot follow"),
    (["squat", "--depth", "-1"], NUMERICAL, "must be positive"),
    (["squat", "--figure", "chain8"], NUMERICAL, "no frame 'soleL'"),
    (["squat", "--figure", "nobody"], BAD_FILE, "nobody"),
    (["squat", "--count", "1", "--record", "squat.txt"], BAD_FILE, "squat.txt"),
])
def test_what_cannot_be_made_is_reported(arguments: list[str], code: int, word: str):
    result = run("generate", *arguments)
    assert (result.exit_code, result.stdout) == (code, "")
    assert word in result.stderr


# --- analyze --------------------------------------------------------------------------------------

def test_a_squat_leaves_nothing_over(squat: Path, tmp_path: Path):
    table = tmp_path / "squat.csv"
    reply = analysis_of(squat, "--csv", str(table))
    assert math.isclose(reply["weight"], WEIGHT, rel_tol=1e-12)
    assert math.isclose(reply["mean_vertical"], WEIGHT, rel_tol=2e-3)
    assert reply["worst_force"] < 1e-5 and reply["worst_moment"] < 1e-5
    assert [phase["kind"] for phase in reply["phases"]] == ["double support"]
    rows = table_of(table)
    assert len(rows) == reply["frames"]
    # m(g + a) with a from the centre of mass in the table, by central differences.
    height = [float(row["com/z [m]"]) for row in rows]
    step = float(rows[1]["time"]) - float(rows[0]["time"])
    for k in range(1, len(rows) - 1):
        force = sum(float(rows[k][f"{side}/fz [N]"]) for side in ("left", "right"))
        acceleration = (height[k + 1] - 2 * height[k] + height[k - 1]) / step**2
        assert abs(force - 69 * (9.81 + acceleration)) < 1.0  # [N] two kinds of differences, h²
        assert abs(float(rows[k]["left/fz [N]"]) - force / 2) < 1e-3


def test_the_same_clip_as_a_table_and_as_a_recording(squat: Path, tmp_path: Path):
    table = tmp_path / "squat.csv"
    assert run("convert", str(squat), str(table)).exit_code == OK
    first, second = analysis_of(squat), analysis_of(table)
    for key in ("mean_vertical", "positive_work", "joints", "phases"):
        assert first[key] == second[key]


def test_plots_are_pictures_with_words(squat: Path, tmp_path: Path):
    picture = tmp_path / "squat.svg"
    analysis_of(squat, "--svg", str(picture))
    root = ElementTree.parse(picture).getroot()
    words = " ".join(root.itertext())
    for word in ("Vertical force", "Centre of pressure", "Joint torques", "Residual", "time [s]", "N·m", "kneeL_y"):
        assert word in words
    assert "prefers-color-scheme: dark" in words


def test_the_recording_carries_the_forces(squat: Path, tmp_path: Path):
    out = tmp_path / "forces.csv"
    analysis_of(squat, "--record", str(out))
    row = table_of(out)[0]
    assert math.isclose(float(row["left vertical force [N]"]), WEIGHT / 2, rel_tol=1e-3)


def test_a_swing_is_carried_by_the_hands(tmp_path: Path):
    clip = tmp_path / "swing.mcap"
    assert run("generate", "bar-swing", "--duration", "2", "--rate", "200", "--record", str(clip)).exit_code == OK
    reply = analysis_of(clip)
    assert reply["phases"][0]["supports"] == ["left hand", "right hand"]
    assert reply["residual_force"] < 1 and reply["residual_moment"] < 1


def test_text_names_what_matters(squat: Path):
    result = run("analyze", str(squat))
    assert result.exit_code == OK and not result.stderr
    for word in ("mean vertical force", "% of the weight", "residual force", "double support (left, right)", "kneeL_y"):
        assert word in result.stdout


def test_a_figure_on_a_fixed_base_has_torques_only(tmp_path: Path):
    table = tmp_path / "wave.csv"
    lines = ["time,pendulum/q/hinge1"] + [f"{0.01 * k},{0.3 * math.sin(0.05 * k)}" for k in range(100)]
    table.write_text("\n".join(lines) + "\n", encoding="utf-8")
    reply = analysis_of(table, "--figure", "pendulum")
    assert reply["supports"] == [] and reply["joints"]["hinge1"]["torque"] != 0


def test_arrays_of_numpy(tmp_path: Path):
    time = 0.01 * numpy.arange(100)
    arrays = {"time": time, "pendulum/q": 0.3 * numpy.sin(5 * time)[:, None]}
    numpy.savez(tmp_path / "wave.npz", **arrays)
    reply = analysis_of(tmp_path / "wave.npz", "--figure", "pendulum")
    assert reply["frames"] == 100 and reply["clip"] == "wave"
    numpy.savez_compressed(tmp_path / "small.npz", **arrays)
    small = analysis_of(tmp_path / "small.npz", "--figure", "pendulum")
    assert small == {**reply, "clip": "small"}


@pytest.mark.parametrize("name, text, arguments, code, word", [
    ("a.csv", "time,x\n0,1\n", [], BAD_FILE, "REC030"),
    ("a.csv", "time,pendulum/q/hinge1\n0,1\n0.1,nan\n", ["--figure", "pendulum"], BAD_FILE, "a.csv:3: error[REC031]"),
    ("a.csv", "time,pendulum/q/hinge1\n0,1\n0.1,2\n", ["--figure", "pendulum"], NUMERICAL, "three are needed"),
    ("a.csv", "time,pendulum/q/hinge1\n0,1\n1,2\n2,3\n", ["--figure", "pendulum", "--filter", "9"], NUMERICAL, ""),
    ("a.mcap", "no recording", [], BAD_FILE, "REC002"),
    ("a.bvh", "HIERARCHY\nROOT x\n", [], BAD_FILE, "CAP"),
    ("a.txt", "", [], USAGE, "known: .bvh, .amc"),
])
def test_clips_that_cannot_be_used(tmp_path: Path, name: str, text: str, arguments: list[str], code: int, word: str):
    file = tmp_path / name
    file.write_text(text, encoding="utf-8")
    result = run("analyze", str(file), *arguments)
    assert (result.exit_code, result.stdout) == (code, ""), result.stderr
    assert word in result.stderr


def test_a_missing_clip():
    assert run("analyze", "nowhere.mcap").exit_code == BAD_FILE
    assert run("analyze", "nowhere.csv").exit_code == BAD_FILE


def test_forces_of_a_simulated_walk_are_found_again(tmp_path: Path):
    """The world knows its contact forces; the analysis sees nothing but positions."""
    clip, truth, table = tmp_path / "walk.mcap", tmp_path / "walk.npz", tmp_path / "walk.csv"
    result = run("walk", "--distance", "2", "--record", str(clip), "--record", str(truth))
    assert result.exit_code == OK, result.stderr
    reply = analysis_of(clip, "--csv", str(table))
    assert math.isclose(reply["mean_vertical"], WEIGHT, rel_tol=1e-3)
    recorded = numpy.load(truth)
    known = numpy.zeros(len(recorded["time"]))
    numpy.add.at(known, recorded["contacts/frame"], recorded["contacts/force"][:, 2])
    found = numpy.array([float(row["left/fz [N]"]) + float(row["right/fz [N]"]) for row in table_of(table)])
    # A frame holds the forces of the middle of the step that led to it: at the frame itself they are the mean of this step and the next.
    # Landings are impacts, which differences spread over two frames.
    error = numpy.abs(found[1:-1] - 0.5 * (known[1:-1] + known[2:]))
    assert numpy.median(error) < 0.5
    assert numpy.quantile(error, 0.95) < 5


needs_data = pytest.mark.skipif("KANSETSU_DATA_DIR" not in os.environ, reason="KANSETSU_DATA_DIR is not set")


@needs_data
@pytest.mark.parametrize("name", ["asf_amc/02_01.amc", "bvh_cmu_cgspeed/cmu_02_01_walk.bvh"])
def test_a_captured_walk(name: str, tmp_path: Path):
    picture = tmp_path / "walk.svg"
    reply = analysis_of(Path(os.environ["KANSETSU_DATA_DIR"]) / "mocap" / name, "--svg", str(picture))
    assert abs(reply["mean_vertical"] / reply["weight"] - 1) < 0.03
    assert reply["residual_force"] < 0.05 * reply["weight"]
    kinds = [phase["kind"] for phase in reply["phases"]]
    assert kinds.count("double support") >= 4 and kinds.count("single support") >= 4 and "flight" not in kinds
    # Feet take turns, and a step takes as long as people's do.
    single = [phase for phase in reply["phases"] if phase["kind"] == "single support"]
    assert all(a["supports"] != b["supports"] for a, b in zip(single, single[1:]))
    inner = reply["phases"][1:-1]
    assert all(0.05 < phase["end"] - phase["start"] < 0.6 for phase in inner)
    assert picture.exists()


def test_forces_grow_with_the_mass_of_the_person(squat: Path):
    usual, heavy = analysis_of(squat), analysis_of(squat, "--mass", "138")
    assert math.isclose(heavy["mass"], 138)
    assert math.isclose(heavy["supports"][0]["peak_vertical"], 2 * usual["supports"][0]["peak_vertical"], rel_tol=1e-6)


def test_a_clip_tells_how_much_of_its_weight_is_carried(squat: Path):
    reply = analysis_of(squat)
    assert math.isclose(reply["supported"], 1, abs_tol=1e-6)
    assert reply["unsupported_frames"] == 0 and reply["gaps"] == [] and reply["fall"] == 1


@pytest.mark.skipif(not os.environ.get("KANSETSU_DATA_DIR"), reason="KANSETSU_DATA_DIR is not set")
@pytest.mark.parametrize("clip", ["makehuman_walk1", "makehuman_zombieWalk1"])
def test_captures_of_24_frames_a_second_are_analysed(clip: str):
    report = analysis_of(Path(os.environ["KANSETSU_DATA_DIR"]) / "mocap" / "bvh_other_exporters" / f"{clip}.bvh")
    assert 0.5 < report["supported"] < 1.5


@pytest.mark.parametrize("command", ["analyze", "track"])
@pytest.mark.parametrize("ending", ["c3d", "trc"])
def test_who_gives_markers_is_told_to_fit_a_model(command: str, ending: str, tmp_path: Path):
    file = tmp_path / f"walk.{ending}"
    file.write_bytes(b"")
    result = run(command, str(file))
    assert result.exit_code == USAGE
    assert "kansetsu fit" in result.stderr
