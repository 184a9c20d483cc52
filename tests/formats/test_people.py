"""Forces from motion alone beside force plates, and belts beside floors."""

from __future__ import annotations

import csv
import os
import sys
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path[:0] = [str(ROOT / "tests" / "cross_engine"), str(ROOT / "tools")]
from kansetsu_protocol import OK, run  # noqa: E402
from validate_people import Walk, clips  # noqa: E402

DATA = Path(os.environ.get("KANSETSU_DATA_DIR", "none"))
BINARY = Path(os.environ.get("KANSETSU_BIN", "kansetsu"))
pytestmark = pytest.mark.skipif(not (DATA / "grf").is_dir(), reason="needs recorded files")


@pytest.fixture(scope="module")
def walk(tmp_path_factory) -> Walk:
    return Walk(BINARY, DATA, tmp_path_factory.mktemp("walk"))


def test_landings_and_leavings_are_those_of_the_plates(walk: Walk):
    events = numpy.abs(walk.events())
    assert len(events) == 12
    assert events.max() < 15  # [ms]


def test_forces_are_those_of_the_plates(walk: Walk):
    for vertical, anterior, lateral, correlation in walk.forces().values():
        assert vertical < 5 and anterior < 10 and lateral < 15 and correlation > 0.98
    assert numpy.mean(walk.peaks()) < 8  # [%]
    assert walk.pressure() < 25  # [mm]


def test_a_belt_is_found_and_changes_no_force(walk: Walk, tmp_path: Path):
    assert abs(walk.belt - 1.13) < 0.03  # [m/s], of the soles in the middle of stances
    source = (walk.data / "subject01_walk1_ik.mot").read_text().splitlines()
    begin = [line.strip() for line in source].index("endheader")
    names = source[begin + 1].split()
    rows = [[float(x) for x in line.split()] for line in source[begin + 2 :] if line.strip()]
    for row in rows:
        row[names.index("pelvis_tx")] += walk.belt * (row[0] - rows[0][0])
    overground = tmp_path / "overground.mot"
    overground.write_text("\n".join(source[: begin + 2]) + "\n" +
                          "".join("\t".join(repr(x) for x in row) + "\n" for row in rows))
    result = run("analyze", str(overground), "--figure", str(walk.data / "subject01.osim"), "--csv",
                 str(tmp_path / "out.csv"))
    assert result.exit_code == OK and "on a belt" not in result.stderr
    with (tmp_path / "out.csv").open(encoding="utf-8") as stream:
        table = list(csv.DictReader(stream))
    for side in ("left", "right"):
        ours = numpy.array([float(row[f"{side}/fz [N]"]) for row in table])
        theirs = walk.column(f"{side}/fz [N]")
        assert numpy.sqrt(numpy.mean((ours - theirs) ** 2)) < 0.02 * numpy.ptp(theirs)


@pytest.mark.parametrize("name", ["asf_amc/02_01.amc", "asf_amc/02_05.amc", "bvh_cmu_cgspeed/cmu_02_01_walk.bvh"])
def test_who_stays_on_the_ground_is_carried(name: str):
    (told,) = clips(BINARY, [DATA / "mocap" / name])
    assert told["lacking"] == 0 and told["gaps"] == 0
    assert abs(told["supported"] - 100) < 0.5
