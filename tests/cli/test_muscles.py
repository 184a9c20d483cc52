"""kansetsu analyze --muscles: which muscles of an OpenSim model carry the moments of a motion under measured forces."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

import pytest
from kansetsu_protocol import BAD_FILE, OK, USAGE, run

WALK = Path(os.environ.get("KANSETSU_DATA_DIR", "")) / "grf" / "opensim_walk_gait2392"
needs_data = pytest.mark.skipif("KANSETSU_DATA_DIR" not in os.environ, reason="KANSETSU_DATA_DIR is not set")


def walk(*arguments: str):
    given = [WALK / "subject01_walk1_ik.mot", "--figure", WALK / "subject01.osim", "--loads", WALK / "subject01_walk1_grf.xml"]
    return run("analyze", *map(str, given), *arguments)


@needs_data
def test_muscles_of_a_walk_are_told_in_every_form(tmp_path):
    table, page = tmp_path / "walk.csv", tmp_path / "walk.html"
    result = walk("--muscles", "--json", "--csv", str(table), "--report", str(page))
    assert result.exit_code == OK, result.stderr
    summary = json.loads(result.stdout)
    assert len(summary["muscles"]) == 54
    assert summary["unsolved_frames"] == 0
    weights = summary["joint_loads"]["tibia_r"] / (summary["mass"] * 9.80665)
    assert 2 < weights < 6  # instrumented knees bear 2 to 3, this model gives more
    assert "subtalar_angle_r: reserve of" in result.stderr
    with table.open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == summary["frames"]
    largest = max(float(row["soleus_r_activation"]) for row in rows)
    assert largest == pytest.approx(summary["muscles"]["soleus_r"]["largest_activation"])
    assert {"soleus_r_force", "knee_angle_r_moment", "knee_angle_r_reserve", "tibia_r_load_z"} <= set(rows[0])
    assert "Activations" in page.read_text()
    assert "soleus_r" in page.read_text()


@needs_data
def test_without_muscles_nothing_is_told_of_them():
    assert "muscles" not in json.loads(walk("--json").stdout)


@needs_data
def test_muscles_need_measured_forces_and_what_cannot_be_drawn_is_refused():
    motion = [str(WALK / "subject01_walk1_ik.mot"), "--figure", str(WALK / "subject01.osim")]
    result = run("analyze", *motion, "--muscles")
    assert result.exit_code == USAGE
    assert "--muscles needs measured forces" in result.stderr
    result = walk("--svg", "walk.svg")
    assert result.exit_code == USAGE
    assert "--report draws these" in result.stderr


@needs_data
def test_a_model_without_muscles_is_reported(tmp_path):
    text = (WALK / "subject01.osim").read_text().replace("Thelen2003Muscle", "SpringGeneralizedForce")
    bare = tmp_path / "bare.osim"
    bare.write_text(text)
    arguments = [WALK / "subject01_walk1_ik.mot", "--figure", bare, "--loads", WALK / "subject01_walk1_grf.xml", "--muscles"]
    result = run("analyze", *map(str, arguments))
    assert result.exit_code == BAD_FILE
    assert "has no muscle of a known type" in result.stderr
    assert "<SpringGeneralizedForce> is not used (54 times" in result.stderr
